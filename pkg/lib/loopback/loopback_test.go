package loopback_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/loopback"
)

func TestCheck(t *testing.T) {
	for address, allowed := range map[string]bool{
		"127.0.0.1:4566": true, "localhost:0": true, "[::1]:4566": true,
		"0.0.0.0:4566": false, ":4566": false, "[::]:4566": false, "192.0.2.1:80": false, "example.com:80": false, "127.0.0.1": false,
	} {
		if err := loopback.Check(address); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Each guard lets some requests pass. An empty header is not sent.
func TestGuards(t *testing.T) {
	passes := func(guard func(http.Handler) http.Handler, host, origin, site string) bool {
		passed := false
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host = host
		for name, value := range map[string]string{"Origin": origin, "Sec-Fetch-Site": site} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true })).ServeHTTP(w, r)
		if passed == (w.Code == http.StatusForbidden) {
			t.Errorf("%q %q %q: passed %v, answer %d", host, origin, site, passed, w.Code)
		}
		return passed
	}
	for _, c := range []struct {
		host, origin, site       string
		hosts, ownPage, programs bool
	}{
		{"127.0.0.1:4566", "", "", true, true, true},
		{"127.0.0.1", "", "none", true, true, true},
		{"[::1]:4566", "", "", true, true, true},
		{"api.localhost:4566", "", "", true, true, true},
		{"127.0.0.1:4566", "http://127.0.0.1:4566", "same-origin", true, true, false},
		{"127.0.0.1:4566", "", "same-origin", true, true, false},
		{"127.0.0.1:4566", "http://127.0.0.1:8080", "same-site", true, false, false},
		{"127.0.0.1:4566", "https://evil.example", "", true, false, false},
		{"127.0.0.1:4566", "null", "cross-site", true, false, false},
		{"127.0.0.1:4566", "", "cross-site", true, false, false},
		{"evil.example:4566", "", "", false, true, true},
		{"127.0.0.1.evil.example", "", "", false, true, true},
		{"192.0.2.1:4566", "", "", false, true, true},
		{"", "", "", false, true, true},
	} {
		got := [3]bool{
			passes(loopback.Hosts, c.host, c.origin, c.site), passes(loopback.OwnPage, c.host, c.origin, c.site),
			passes(loopback.Programs, c.host, c.origin, c.site),
		}
		if want := [3]bool{c.hosts, c.ownPage, c.programs}; got != want {
			t.Errorf("%+v: passed %v", c, got)
		}
	}
}
