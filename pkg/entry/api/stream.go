package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// streamType is the content type of server-sent events.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
const streamType = "text/event-stream"

// streamable is the path of the events of a run.
var streamable = regexp.MustCompile(`^/projects/[^/]+/[^/]+/runs/[^/]+/events$`)

// Streaming serves the events of runs as server-sent events to callers that accept them, and passes on all other requests. It reads the events
// from next, one page after the other, so next decides about each request. HTTP APIs of API Gateway send no answer before it is whole:
// Streaming is for servers on this machine.
func Streaming(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), streamType) || !streamable.MatchString(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		stream(w, r, next)
	})
}

// A streamed is a page of events, as they are sent on.
type streamed struct {
	Events []json.RawMessage
	After  string
	State  run.State
	More   bool
}

// over reports whether the run sends no event after those of the page.
func (p streamed) over() bool { return p.State.Over() && !p.More }

// stream sends the events of a run until it has ended, or the caller is gone. The ID of each page is its cursor, with which a browser goes on
// after a lost connection.
func stream(w http.ResponseWriter, r *http.Request, next http.Handler) {
	query := r.URL.Query()
	again := r.Header.Get("Last-Event-ID")
	if again != "" {
		query.Set("after", again)
	}
	for first := true; r.Context().Err() == nil; first = false {
		got := readPage(next, r, query)
		var page streamed
		if got.status != http.StatusOK || json.Unmarshal(got.body.Bytes(), &page) != nil {
			if first {
				maps.Copy(w.Header(), got.header)
				w.WriteHeader(got.status)
				_, _ = got.body.WriteTo(w) // the caller is gone if this fails
			}
			return // the caller connects again, and learns why
		}
		if first && again != "" && len(page.Events) == 0 && page.over() {
			w.WriteHeader(http.StatusNoContent) // so that a browser does not connect again
			return
		}
		if first {
			w.Header().Set("Content-Type", streamType)
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a server without one has no such limit
		}
		if send(w, page) != nil || page.over() {
			return
		}
		query.Set("after", page.After)
	}
}

// send sends a page of events. One without events is a comment, which keeps the connection alive.
func send(w http.ResponseWriter, page streamed) error {
	var text bytes.Buffer
	for i, e := range page.Events {
		if i == len(page.Events)-1 {
			fmt.Fprintf(&text, "id: %s\n", page.After)
		}
		fmt.Fprintf(&text, "data: %s\n\n", e)
	}
	if len(page.Events) == 0 {
		text.WriteString(": nothing has happened\n\n")
	}
	if page.over() {
		fmt.Fprintf(&text, "event: end\ndata: {\"state\":%q}\n\n", page.State)
	}
	if _, err := text.WriteTo(w); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// readPage reads a page of events.
func readPage(next http.Handler, r *http.Request, query url.Values) *buffered {
	q := r.Clone(r.Context())
	q.Header.Set("Accept", "application/json")
	for _, name := range []string{"Accept-Encoding", "If-None-Match", "Last-Event-ID"} {
		q.Header.Del(name)
	}
	q.URL.RawQuery, q.RequestURI, q.Body = query.Encode(), "", io.NopCloser(strings.NewReader(""))
	k := &buffered{header: make(http.Header), status: http.StatusOK}
	next.ServeHTTP(k, q)
	return k
}

// A buffered is an answer that is not sent.
type buffered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (k *buffered) Header() http.Header { return k.header }

// WriteHeader implements http.ResponseWriter.
func (k *buffered) WriteHeader(status int) { k.status = status }

// Write implements http.ResponseWriter.
func (k *buffered) Write(b []byte) (int, error) { return k.body.Write(b) }
