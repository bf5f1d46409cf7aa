package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A folder is a data folder whose servers come and go.
type folder struct {
	nobody
	holders []string // the URL that each question gives, "" while a process opens or closes the folder; after the last one nobody has it
	own     *hostOf
	started int
}

// Holder is Laptop.
func (f *folder) Holder(string) (string, bool, error) {
	if len(f.holders) == 0 {
		return "", false, nil
	}
	url := f.holders[0]
	f.holders = f.holders[1:]
	return url, true, nil
}

// Start is Laptop.
func (f *folder) Start(context.Context, Hosting) (Host, error) {
	if f.own == nil || len(f.holders) > 0 {
		return nil, fault.New(fault.Busy, "another process has the folder")
	}
	f.started++
	return f.own, nil
}

// A hostOf is a server of this process.
type hostOf struct{ *httptest.Server }

func (h *hostOf) URL() string               { return h.Server.URL }
func (h *hostOf) Page() string              { return "" }
func (h *hostOf) Idle(context.Context) bool { return true }
func (h *hostOf) Delivering() bool          { return false }
func (h *hostOf) Failed() <-chan error      { return nil }
func (h *hostOf) Close() error              { h.Server.Close(); return nil }

// The server that a command found may end before the command's next request. The request goes to the next server of
// the folder, or to one that the command hosts itself.
func TestRequestGoesToTheNextServerOfTheFolder(t *testing.T) {
	named := func(name string) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Server", name) }))
	}
	ended, next, own := named("ended"), named("next"), named("own")
	ended.Close()
	t.Cleanup(next.Close)
	t.Cleanup(own.Close)
	for name, c := range map[string]struct {
		holders []string
		server  string
		started int
	}{
		"another process serves it":         {[]string{ended.URL, next.URL}, "next", 0},
		"its address stays for a moment":    {[]string{ended.URL, ended.URL, ended.URL, next.URL}, "next", 0},
		"nobody serves it":                  {[]string{ended.URL}, "own", 1},
		"another process is about to do so": {[]string{ended.URL, "", "", next.URL}, "next", 0},
	} {
		t.Run(name, func(t *testing.T) {
			laptop := &folder{holders: c.holders, own: &hostOf{own}}
			caller := &call{Shell: Shell{Laptop: laptop, Getenv: func(string) string { return "" }}}
			d, err := caller.openConnection(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url(), strings.NewReader("a body that is sent once"))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := d.client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if got := answer.Header.Get("Server"); got != c.server || laptop.started != c.started || (d.hosted() != nil) != (c.started > 0) {
				t.Errorf("server %s answered and %d were started, want %s and %d", got, laptop.started, c.server, c.started)
			}
		})
	}
}
