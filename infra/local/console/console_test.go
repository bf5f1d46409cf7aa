package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A request of the page itself is signed, and one of another site is refused.
func TestConsole(t *testing.T) {
	for site, want := range map[string]bool{"same-origin": true, "cross-site": false} {
		signed := false
		c := New("eu-west-1", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			signed = strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/execute-api/")
		}))
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/projects", nil)
		r.Host = "127.0.0.1:4567"
		r.Header.Set("Sec-Fetch-Site", site)
		if c.ServeHTTP(w, r); signed != want || (w.Code == http.StatusForbidden) == want {
			t.Errorf("%s: %d, signed: %v", site, w.Code, signed)
		}
	}
}
