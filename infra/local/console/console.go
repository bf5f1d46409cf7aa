// Package console serves the page and the HTTP API to a browser on this machine. Requests are not signed, so it
// answers only those that a page of its own address has sent, or a program on this machine.
package console

import (
	"net/http"

	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/page"
)

// New serves the page, and passes on requests of the API as if the account of the installation had signed them.
func New(region string, next http.Handler) http.Handler {
	signed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/"+region+"/execute-api/aws4_request, SignedHeaders=host, Signature=0")
		next.ServeHTTP(w, r)
	})
	return page.Page{}.Here(api.Streaming(signed))
}
