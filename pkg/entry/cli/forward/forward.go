// Package forward serves the page on this machine to one person, and forwards its requests to the API of an installation with the
// person's own credentials.
package forward

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/stackwright/stackwright/pkg/client"
	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/page"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
)

// KeyHeader has the key of the browser in each of its requests to the API. It is no cookie: a browser would send a cookie
// to all servers of this machine, at whatever port, and so to those of its other users.
// https://www.rfc-editor.org/rfc/rfc6265#section-8.5
const KeyHeader = "Stackwright-Key"

// exchange is the path at which a browser gets the key for the code in the address of the page.
const exchange = "POST " + page.Folder + "key"

// mostBody is how many bytes a request may have: API Gateway takes no more.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
const mostBody = 10 << 20

// A Proxy is an http.Handler. Use New.
type Proxy struct {
	http.Handler
	client *client.Client
	key    string // that each request needs

	mu   sync.Mutex
	code string // for which a browser gets the key, once; then ""
}

// New returns a proxy that sends requests by a client.
func New(c *client.Client) *Proxy {
	p := &Proxy{client: c, key: rand.Text(), code: rand.Text()}
	routes := http.NewServeMux()
	for _, route := range api.Routes() {
		routes.HandleFunc(route, p.forward)
	}
	guarded := http.NewServeMux()
	guarded.HandleFunc(exchange, p.exchange)
	guarded.Handle("/", p.keyed(api.Streaming(routes)))
	p.Handler = page.Page{SignIn: page.SignIn{By: page.ByAddress}}.Here(guarded)
	return p
}

// Address is the address that opens the page at a server, for one browser. Who opens it first acts with the person's
// credentials. The code comes after the # sign, which browsers send to nobody.
func (p *Proxy) Address(server string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return server + "/#code=" + p.code
}

// exchange answers with the key, once.
func (p *Proxy) exchange(w http.ResponseWriter, r *http.Request) {
	var said struct{ Code string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&said); err != nil {
		problem(w, http.StatusBadRequest, fault.New(fault.Invalid, "the body has no code: open the address that stackwright open has printed"))
		return
	}
	p.mu.Lock()
	right := p.code != "" && same(said.Code, p.code)
	if right {
		p.code = ""
	}
	p.mu.Unlock()
	if !right {
		problem(w, http.StatusUnauthorized, fault.New(fault.Denied, "this address was opened before, or is of another server: end stackwright open with Ctrl-C, run it again, and open the address that it prints. "+
			"If you have not opened it, somebody else has, who may act as you until the command ends"))
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	answer(w, http.StatusOK, "application/json", map[string]string{"key": p.key})
}

// same compares two secrets in a time that does not depend on them.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// keyed refuses requests without the key.
func (p *Proxy) keyed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !same(r.Header.Get(KeyHeader), p.key) {
			problem(w, http.StatusUnauthorized, fault.New(fault.Denied, "this browser has not opened the page: run stackwright open, and open the address that it prints"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// forward sends a request to the API, and passes on the answer.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		problem(w, http.StatusRequestEntityTooLarge, fault.New(fault.Invalid, "the body has more than %d bytes", mostBody))
		return
	}
	if err != nil {
		return // the browser is gone
	}
	got, err := p.client.Forward(r.Context(), r.Method, r.URL, r.Header, body)
	if err != nil {
		problem(w, statusOf(err), err)
		return
	}
	for _, name := range []string{"Allow", "Content-Type", "Cache-Control", "Content-Security-Policy", "Etag", "Location", "Ratelimit-Policy", "Retry-After"} {
		if value := got.Header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(got.Status)
	_, _ = w.Write(got.Body) // the browser is gone if this fails
}

// statusOf is the status for the error of a request that the API has not answered.
func statusOf(err error) int {
	switch {
	case fault.Is(err, fault.Denied):
		return http.StatusForbidden
	case fault.Is(err, fault.Throttled):
		return http.StatusTooManyRequests
	case fault.Is(err, fault.Unavailable):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadGateway
}

// problem answers with a problem document.
func problem(w http.ResponseWriter, status int, err error) {
	kind, messages := fault.KindOf(err), fault.Messages(err)
	answer(w, status, "application/problem+json", report.Problem{
		Type: "urn:stackwright:problem:" + strings.ToLower(string(kind)), Title: http.StatusText(status), Status: status,
		Detail: strings.Join(messages, "; "), Kind: kind, Messages: messages,
	})
}

// answer answers with a value as JSON.
func answer(w http.ResponseWriter, status int, media string, value any) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the browser is gone if this fails
}
