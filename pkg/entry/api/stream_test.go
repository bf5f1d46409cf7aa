package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/api"
)

// A pages answers requests for events as the API does: a number of pages of two events, of a run that ends with the last.
type pages struct {
	count int
	tried []string
}

// ServeHTTP answers with the page behind a cursor, which is the number of the page.
func (l *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.tried = append(l.tried, r.Header.Get("Accept")+" "+r.URL.RawQuery)
	at := 0
	if after := r.URL.Query().Get("after"); after != "" {
		if _, err := fmt.Sscanf(after, "c%d", &at); err != nil {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"detail":"no cursor"}`)
			return
		}
	}
	page := map[string]any{"events": []any{}, "after": r.URL.Query().Get("after"), "state": "running"}
	if at < l.count {
		page["events"], page["after"] = []any{map[string]any{"id": fmt.Sprint(2 * at)}, map[string]any{"id": fmt.Sprint(2*at + 1), "text": "a\nb"}}, fmt.Sprintf("c%d", at+1)
	}
	if at >= l.count-1 {
		page["state"] = "succeeded"
	}
	_ = json.NewEncoder(w).Encode(page)
}

// streamOf requests a stream of events, and returns the answer with its body.
func streamOf(t *testing.T, l *pages, query string, headers ...string) (*http.Response, string) {
	t.Helper()
	s := httptest.NewServer(api.Streaming(l))
	defer s.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/projects/shop/prod/runs/"+newest+"/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, "=")
		r.Header.Set(name, value)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got, string(text)
}

// A stream has all events of a run, each on one line, the cursor of each page as an ID, and says when the run has ended. A caller that connects again
// gets what is behind the last ID, and after the end an answer that makes browsers stop.
func TestStream(t *testing.T) {
	const end = "event: end\ndata: {\"state\":\"succeeded\"}\n\n"
	second := `data: {"id":"2"}` + "\n\nid: c2\n" + `data: {"id":"3","text":"a\nb"}` + "\n\n" + end
	l := &pages{count: 2}
	got, text := streamOf(t, l, "?limit=2")
	if want := `data: {"id":"0"}` + "\n\nid: c1\n" + `data: {"id":"1","text":"a\nb"}` + "\n\n" + second; text != want || got.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%v\n%s\nwant\n%s", got.Header, text, want)
	}
	if tried := fmt.Sprintf("%q", l.tried); tried != `["application/json limit=2" "application/json after=c1&limit=2"]` {
		t.Error(tried)
	}
	if _, text := streamOf(t, l, "", "Last-Event-ID=c1"); text != second {
		t.Errorf("connected again: %s", text)
	}
	if got, text := streamOf(t, l, "", "Last-Event-ID=c2"); got.StatusCode != http.StatusNoContent || text != "" {
		t.Errorf("after the end: %s %s", got.Status, text)
	}
	if got, text := streamOf(t, l, "?after=c2"); got.StatusCode != http.StatusOK || !strings.HasSuffix(text, end) {
		t.Errorf("of a run that has ended: %s %s", got.Status, text)
	}
	if got, text := streamOf(t, l, "?after=x"); got.StatusCode != http.StatusBadRequest || text != `{"detail":"no cursor"}` || got.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("of a cursor that is none: %s %s", got.Status, text)
	}
}

// What has happened is sent before the run has ended, and nothing is read any more once the caller is gone. Other requests are passed on.
func TestStreamIsLive(t *testing.T) {
	polls, waits, gone := make(chan int, 100), make(chan bool), make(chan bool)
	s := httptest.NewServer(api.Streaming(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := len(polls)
		polls <- n
		if n == 2 {
			close(waits)
			<-r.Context().Done() // as a long poll that ends with the connection
			close(gone)
			return
		}
		_, _ = fmt.Fprintf(w, `{"events":[{"id":"%d"}],"after":"c%d","state":"running"}`, n, n)
	})))
	defer s.Close()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/projects/shop/prod/runs/"+newest+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	lines := bufio.NewScanner(got.Body)
	for seen := 0; seen < 2 && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data:") {
			seen++
		}
	}
	<-waits
	leave()
	<-gone
	if n := len(polls); n != 3 {
		t.Errorf("%d requests were made", n)
	}
	for path, accept := range map[string]string{"/projects": "text/event-stream", "/projects/shop/prod/runs/" + newest + "/events": "application/json"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept", accept)
		api.Streaming(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })).ServeHTTP(w, r)
		if w.Code != http.StatusTeapot {
			t.Errorf("%s of %s: %d", accept, path, w.Code)
		}
	}
}
