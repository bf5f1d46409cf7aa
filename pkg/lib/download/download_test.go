package download

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

const most = 1000

// A site is a web server with TLS on this machine that has the name example.com. Names resolve as the test says; every connection to
// a public address leads to the server.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	dialled  []netip.AddrPort
	names    map[string][]string
}

func serve(t *testing.T, handle http.HandlerFunc) (*site, Client) {
	t.Helper()
	s := &site{names: map[string][]string{"example.com": {"93.184.216.34"}}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, Client{Roots: roots, Resolve: s.resolve, Dial: s.dial, Time: 5 * time.Second}
}

func (s *site) resolve(_ context.Context, host string) (all []netip.Addr, err error) {
	if s.names[host] == nil {
		return nil, errors.New("no such host")
	}
	for _, a := range s.names[host] {
		all = append(all, netip.MustParseAddr(a))
	}
	return all, nil
}

func (s *site) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	s.mu.Lock()
	s.dialled = append(s.dialled, to)
	s.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, "tcp", s.Listener.Addr().String())
}

func anything(string) error { return nil }

func TestGet(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1") // nothing listens there
	s, c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
			http.Redirect(w, r, "/new?x=1", http.StatusFound)
			return
		}
		fmt.Fprint(w, r.URL)
	})
	var urls []string
	body, err := c.Get(t.Context(), "https://example.com/old", most, func(url string) error {
		urls = append(urls, url)
		return nil
	})
	if err != nil || string(body) != "/new?x=1" {
		t.Fatalf("%q, %v", body, err)
	}
	if got := strings.Join(urls, " "); got != "https://example.com/old https://example.com/new?x=1" {
		t.Errorf("it called permit with %s", got)
	}
	for _, r := range s.requests {
		for _, name := range []string{"Cookie", "Authorization", "Referer"} {
			if v := r.Header.Get(name); v != "" {
				t.Errorf("%s: the header %s is %q", r.URL, name, v)
			}
		}
		if r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("it accepts %q", r.Header.Get("Accept-Encoding"))
		}
	}
}

// The address is checked after the name was resolved, and the connection goes to the address that was checked, however DNS answers later.
func TestOnlyPublicAddresses(t *testing.T) {
	for _, at := range []string{
		"0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1",
		"192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::a00:1", "100::1", "2001::1", "2001:db8::1", "2002:a00:1::1",
		"3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
	} {
		if Public(netip.MustParseAddr(at)) {
			t.Errorf("%s is public", at)
		}
		s, c := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") })
		s.names["example.com"] = []string{at}
		body, err := c.Get(t.Context(), "https://example.com/", most, anything)
		if err == nil || !strings.Contains(err.Error(), "not one of the public Internet") || len(s.dialled) > 0 {
			t.Errorf("%s: got %q, %v; connected to %v", at, body, err, s.dialled)
		}
	}
	for _, at := range []string{"93.184.216.34", "1.1.1.1", "172.32.0.1", "2606:2800:220:1::1", "::ffff:1.1.1.1"} {
		if !Public(netip.MustParseAddr(at)) {
			t.Errorf("%s is not public", at)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is public")
	}
	s, c := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	s.names["example.com"] = []string{"10.0.0.1", "::ffff:93.184.216.34"}
	times := 0
	c.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
		if times++; times > 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return s.resolve(ctx, host)
	}
	if body, err := c.Get(t.Context(), "https://example.com/", most, anything); err != nil || string(body) != "ok" || fmt.Sprint(s.dialled) != "[93.184.216.34:443]" {
		t.Errorf("got %q, %v; connected to %v", body, err, s.dialled)
	}
	// Without a dialer of the test, the address is checked once more.
	if _, err := connect(t.Context(), netip.MustParseAddrPort(s.Listener.Addr().String())); err == nil || !strings.Contains(err.Error(), "not one of the public Internet") {
		t.Errorf("a connection to this machine: %v", err)
	}
}

// What servers can do wrong is refused with a reason, and nothing is read without a limit.
func TestGetRefuses(t *testing.T) {
	long := strings.Repeat("x", most+1)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	to := func(url string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", url)
			w.WriteHeader(http.StatusFound)
		}
	}
	for name, x := range map[string]struct {
		handle http.HandlerFunc
		want   string
		times  int // requests
	}{
		"not found": {http.NotFound, "the server answers 404 Not Found: write a URL that anybody can read", 1},
		"denied":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "the server answers 403 Forbidden: write a URL that anybody can read", 1},
		"broken":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "the server answers 502 Bad Gateway: write a URL that anybody can read", 3},
		"partial":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusPartialContent) }, "the server answers 206 Partial Content: write a URL that anybody can read", 1},
		"too long":  {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, long) }, "the file has more than 1000 bytes", 1},
		"half a GB": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "524288000")
			fmt.Fprint(w, long)
		}, "the file has more than 1000 bytes", 1},
		"bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		}, "the file has more than 1000 bytes", 1},
		"no gzip": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "x")
		}, "the answer says that it is gzip, and is not", 1},
		"other coding": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "x")
		}, "the server sends an encoding that was not requested: save the file in the project", 1},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			fmt.Fprint(w, "x")
		}, "the connection ended before the answer was complete", 3},
		"endless":       {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) }, "the server redirects more than 5 times: write the last URL", 6},
		"to nowhere":    {to(""), "the server redirects, and does not say where to", 1},
		"to inside":     {to("https://inside.example.com/"), "inside.example.com has the address 10.0.0.1, which is not one of the public Internet: save the file in the project", 1},
		"to unknown":    {to("https://other.example.com/"), "the name other.example.com cannot be resolved", 3},
		"to a port":     {to("https://example.com:8443/"), "only port 443 is used", 3},
		"to the denied": {to("https://denied.example.com/"), "denied", 1},
		"many headers": {func(w http.ResponseWriter, _ *http.Request) {
			for i := range 200 {
				w.Header().Set(fmt.Sprint("X-", i), long)
			}
		}, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := serve(t, x.handle)
			s.names["inside.example.com"] = []string{"10.0.0.1"}
			body, err := c.Get(t.Context(), "https://example.com/x", most, func(url string) error {
				if strings.Contains(url, "denied") {
					return errors.New("denied")
				}
				return nil
			})
			if err == nil || x.want != "" && err.Error() != x.want {
				t.Errorf("got %d bytes, %v\nwant %s", len(body), err, x.want)
			}
			if len(s.requests) != x.times {
				t.Errorf("%d requests, want %d", len(s.requests), x.times)
			}
		})
	}
}

// What a server sends as gzip although nobody requested it is unpacked.
func TestGetGzip(t *testing.T) {
	_, c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, "text")
		if err := z.Close(); err != nil {
			t.Error(err)
		}
	})
	if body, err := c.Get(t.Context(), "https://example.com/", most, anything); err != nil || string(body) != "text" {
		t.Errorf("%q, %v", body, err)
	}
}

// A server that does not end its answer does not hold anybody up.
func TestGetEndsInTime(t *testing.T) {
	_, c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < 100 && r.Context().Err() == nil; i++ {
			fmt.Fprint(w, "x")
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	})
	c.Time = 200 * time.Millisecond
	_, err := c.Get(t.Context(), "https://example.com/", most, anything)
	if err == nil || err.Error() != "there is no whole answer within 200ms: make the file smaller, or save it in the project" {
		t.Errorf("got %v", err)
	}
}

// The certificate must be valid for the name.
func TestGetVerifies(t *testing.T) {
	s, c := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "x") })
	s.names["other.test"] = []string{"93.184.216.34"}
	_, err := c.Get(t.Context(), "https://other.test/", most, anything)
	if err == nil || !strings.Contains(err.Error(), "the certificate of the server is not valid for it") {
		t.Errorf("another name: %v", err)
	}
	c.Roots = x509.NewCertPool()
	if _, err = c.Get(t.Context(), "https://example.com/", most, anything); err == nil || !strings.Contains(err.Error(), "the certificate of the server is not valid for it") {
		t.Errorf("an unknown signer: %v", err)
	}
	if len(s.requests) > 0 {
		t.Errorf("%d requests were sent", len(s.requests))
	}
}
