package wire

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/aws/eventbridge"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/download"
)

// The rule of the function notify matches the events that runs send.
func TestRuleMatchesEventsOfRuns(t *testing.T) {
	if p := trigger.Runs(); !slices.Equal(p.Source, []string{eventbridge.Source}) || !slices.Equal(p.DetailType, []string{eventbridge.DetailType}) || p.Detail != nil {
		t.Errorf("%+v", p)
	}
}

// Events are posted to public addresses only. An answer says how long to wait, in seconds; other forms say nothing.
func TestServers(t *testing.T) {
	retry := ""
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", retry)
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer site.Close()
	roots, address := x509.NewCertPool(), "93.184.216.34"
	roots.AddCert(site.Certificate())
	s := servers{download.Client{Roots: roots, Time: 5 * time.Second,
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(address)}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", site.Listener.Addr().String())
		},
	}}
	for said, want := range map[string]time.Duration{"7": 7 * time.Second, "": 0, "-1": 0, "Wed, 21 Oct 2026 07:28:00 GMT": 0} {
		retry = said
		if got, err := s.Post(t.Context(), "https://example.com/x", map[string]string{"A": "b"}, []byte("{}")); err != nil || got.Status != http.StatusTooManyRequests || got.RetryAfter != want {
			t.Errorf("%q: %+v, %v", said, got, err)
		}
	}
	for _, private := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"} {
		address = private
		if got, err := s.Post(t.Context(), "https://example.com/x", nil, nil); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %+v, %v", private, got, err)
		}
	}
}
