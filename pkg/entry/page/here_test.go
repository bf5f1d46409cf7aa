package page

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A page is served only at addresses of this machine.
func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "example.com:80", "192.168.1.2:0", "127.0.0.1", "[::]:0"} {
		if l, err := Listen(address); err == nil {
			t.Errorf("%s: listens at %s", address, l.Addr())
			_ = l.Close()
		}
	}
	taken, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := Listen(taken.Addr().String()); err == nil || !strings.Contains(err.Error(), "choose another address, or off") {
		t.Errorf("an address that is taken: %v", err)
	}
	var all []net.Listener
	for range 2 { // the second one finds the usual address taken, if the first one has not
		l, err := Listen("auto")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	for _, l := range all {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Only the page itself, and programs, are answered.
func TestGuard(t *testing.T) {
	answered := false
	c := Page{}.Here(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { answered = true }))
	for _, x := range []struct {
		host, origin, site string
		want               bool
	}{
		{"127.0.0.1:4567", "", "", true},
		{"127.0.0.1:4567", "http://127.0.0.1:4567", "same-origin", true},
		{"localhost:4567", "http://localhost:4567", "same-origin", true},
		{"[::1]:4567", "", "none", true},
		{"evil.example:4567", "", "", false}, // its name leads to 127.0.0.1
		{"evil.example:4567", "http://evil.example:4567", "same-origin", false},
		{"127.0.0.1", "", "", true},
		{"evil.example", "", "", false},
		{"", "", "", false},
		{"127.0.0.1.evil.example:4567", "", "", false},
		{"any.localhost:4567", "", "none", true}, // browsers find it on this machine, without asking anybody
		{"192.168.1.2:4567", "", "", false},
		{"127.0.0.1:4567", "http://evil.example", "cross-site", false},
		{"127.0.0.1:4567", "http://127.0.0.1:8080", "same-site", false}, // another server of this machine
		{"127.0.0.1:4567", "https://127.0.0.1:4567", "", false},
		{"127.0.0.1:4567", "null", "", false},
		{"127.0.0.1:4567", "", "cross-site", false},
	} {
		for _, to := range []string{"GET /projects", "POST /projects", "POST /", "DELETE /page/main.js"} {
			answered = false
			w := httptest.NewRecorder()
			method, path, _ := strings.Cut(to, " ")
			r := httptest.NewRequest(method, path, nil)
			r.Host = x.host
			if x.origin != "" {
				r.Header.Set("Origin", x.origin)
			}
			if x.site != "" {
				r.Header.Set("Sec-Fetch-Site", x.site)
			}
			c.ServeHTTP(w, r)
			if answered != x.want || (w.Code == http.StatusForbidden) == x.want {
				t.Errorf("%s of %+v: %d, answered: %v", to, x, w.Code, answered)
			}
		}
	}
}

// A link from another site opens the page, but not under another name of this machine.
func TestLinks(t *testing.T) {
	c := Page{}.Here(http.NotFoundHandler())
	for host, want := range map[string]int{"127.0.0.1:4567": 200, "evil.example:4567": 403} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		c.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("the page at %s: %d, want %d", host, w.Code, want)
		}
	}
}
