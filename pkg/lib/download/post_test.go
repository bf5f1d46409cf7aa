package download

import (
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A body is sent once, whatever the server answers, with the headers of the caller and no others of its own but the agent.
func TestPost(t *testing.T) {
	for _, status := range []int{200, 302, 404, 429, 503} {
		var body string
		s, c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			sent, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			body = string(sent)
			w.Header().Set("Location", "https://example.com/other")
			w.WriteHeader(status)
		})
		got, err := c.Post(t.Context(), "https://example.com/x", http.Header{"Idempotency-Key": {"t"}}, []byte("hello"), 0)
		if err != nil || got.Status != status || len(got.Body) > 0 || len(s.requests) != 1 || body != "hello" {
			t.Fatalf("%d: got %+v, %v, after %d requests, %q", status, got, err, len(s.requests), body)
		}
		r := s.requests[0]
		if r.Method != http.MethodPost || r.Header.Get("Idempotency-Key") != "t" || r.Header.Get("User-Agent") != "Stackwright" || r.Header.Get("Authorization")+r.Header.Get("Cookie") != "" {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
	}
}

// The caller says how much of an answer is read.
func TestPostReadsTheAnswer(t *testing.T) {
	_, c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		_, _ = io.WriteString(w, "hello, server") // the client may be gone
	})
	got, err := c.Post(t.Context(), "https://example.com/x", nil, nil, 5)
	if err != nil || string(got.Body) != "hello" || got.Header.Get("Retry-After") != "7" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Nothing is sent to addresses that are not public, to other ports, without TLS, or to a server with another name. Only what
// another attempt cannot change is ErrFinal.
func TestPostRefuses(t *testing.T) {
	for name, x := range map[string]struct {
		url, address string
		want         string
		final        bool
	}{
		"private":     {"https://example.com/", "10.0.0.1", "example.com has the address 10.0.0.1, which is not one of the public Internet", true},
		"metadata":    {"https://example.com/", "169.254.169.254", "which is not one of the public Internet", true},
		"loopback":    {"https://example.com/", "::1", "which is not one of the public Internet", true},
		"literal":     {"https://127.0.0.1/", "127.0.0.1", "which is not one of the public Internet", true},
		"a port":      {"https://example.com:8443/", "93.184.216.34", "only port 443 is used", false},
		"no TLS":      {"http://example.com/", "93.184.216.34", "the URL is no https URL", true},
		"no URL":      {"https://exa mple.com/", "93.184.216.34", "the URL is no https URL", true},
		"wrong name":  {"https://other.test/", "93.184.216.34", "the certificate of the server is not valid for it", true},
		"unknown":     {"https://unknown.test/", "", "the name unknown.test cannot be resolved", false},
		"own machine": {"https://example.com/", "127.0.0.1", "which is not one of the public Internet", true},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := serve(t, func(w http.ResponseWriter, _ *http.Request) {})
			if x.address != "" {
				for _, host := range []string{"example.com", "127.0.0.1", "other.test"} {
					s.names[host] = []string{x.address}
				}
			}
			status, err := c.Post(t.Context(), x.url, nil, []byte("secret"), 10)
			if err == nil || !strings.Contains(err.Error(), x.want) || errors.Is(err, ErrFinal) != x.final || len(s.requests) > 0 || status.Status != 0 {
				t.Errorf("%+v, %v after %d requests", status, err, len(s.requests))
			}
			if x.address != "93.184.216.34" && len(s.dialled) > 0 {
				t.Errorf("connected to %v", s.dialled)
			}
		})
	}
	_, c := serve(t, func(http.ResponseWriter, *http.Request) {})
	c.Roots = x509.NewCertPool()
	if _, err := c.Post(t.Context(), "https://example.com/", nil, nil, 0); !errors.Is(err, ErrFinal) {
		t.Errorf("an unknown signer: %v", err)
	}
}

// A server that does not answer, or whose answer has no end, holds nobody up.
func TestPostEndsInTime(t *testing.T) {
	ends := make(chan struct{})
	_, c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/endless" {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
		}
		<-ends
	})
	defer close(ends)
	if got, err := c.Post(t.Context(), "https://example.com/endless", nil, nil, 0); got.Status != http.StatusOK || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	c.Time = 200 * time.Millisecond
	if _, err := c.Post(t.Context(), "https://example.com/endless", nil, nil, 10); err == nil || errors.Is(err, ErrFinal) {
		t.Errorf("a body without an end: %v", err)
	}
	if _, err := c.Post(t.Context(), "https://example.com/", nil, nil, 0); err == nil || err.Error() != "there is no answer within 200ms" || errors.Is(err, ErrFinal) {
		t.Errorf("%v", err)
	}
}
