package journal

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Request is an HTTP request that changed something: the parts that are needed to repeat it.
type Request struct {
	Time   time.Time         `json:"time"`
	Method string            `json:"method"`
	Host   string            `json:"host,omitempty"`
	Target string            `json:"target"` // path and query, as on the wire
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`
}

// Keep makes a record of r with the body that was read from it. It keeps the header fields that the filter accepts,
// never credentials.
func Keep(r *http.Request, body []byte, keep func(name string) bool) Request {
	header := map[string]string{}
	for name := range r.Header {
		if name != "Authorization" && name != "X-Amz-Security-Token" && keep(name) {
			header[name] = r.Header.Get(name)
		}
	}
	return Request{Time: time.Now().UTC(), Method: r.Method, Host: r.Host, Target: r.URL.RequestURI(), Header: header, Body: body}
}

// HTTP is the request as a server sees it.
func (q Request) HTTP() (*http.Request, error) {
	r, err := http.NewRequest(q.Method, q.Target, io.NopCloser(bytes.NewReader(q.Body)))
	if err != nil {
		return nil, fmt.Errorf("replay %s %s: %w", q.Method, q.Target, err)
	}
	for name, value := range q.Header {
		r.Header.Set(name, value)
	}
	r.Host, r.RequestURI, r.ContentLength = q.Host, q.Target, int64(len(q.Body))
	r.Header.Set("Content-Length", strconv.Itoa(len(q.Body)))
	return r, nil
}
