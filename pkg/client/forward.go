package client

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/stackwright/stackwright/pkg/fault"
)

// forwarded are the headers of a request that Forward sends on.
var forwarded = []string{"Accept", "Content-Type", "Idempotency-Key", "If-None-Match"}

// An Answer is the answer of the API to a request that was forwarded.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Forward sends the request of another program once, as a request of the caller: with its signature or token. Headers that the API
// does not read are left out. An answer with an error of the API is an Answer; that no API has answered, or that
// API Gateway has refused the request, is an error.
func (c *Client) Forward(ctx context.Context, method string, to *url.URL, header http.Header, body []byte) (Answer, error) {
	target := c.url + to.EscapedPath()
	if to.RawQuery != "" {
		target += "?" + to.RawQuery
	}
	r, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return Answer{}, fault.New(fault.Invalid, "%s %s: %w", method, to.Path, err)
	}
	for _, name := range forwarded {
		if value := header.Get(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	if err := c.authorize(ctx, r, body); err != nil {
		return Answer{}, err
	}
	got, err := c.http.Do(r)
	if err != nil {
		return Answer{}, unanswered(ctx, "the API at "+c.url, err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return Answer{}, unanswered(ctx, "the API at "+c.url, err)
	}
	if got.StatusCode >= http.StatusBadRequest && got.Header.Get("Content-Type") != "application/problem+json" {
		return Answer{}, c.refused(request{method: method, path: to.Path}, got, text)
	}
	return Answer{got.StatusCode, got.Header, text}, nil
}
