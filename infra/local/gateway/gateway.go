// Package gateway routes an AWS request to the service it was signed for.
package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Call is one operation of one service: {"cloudformation", "CreateStack"}.
type Call struct{ Service, Operation string }

// Mutates reports whether the operation may change something, by the verb that its name begins with.
func (c Call) Mutates() bool {
	for _, verb := range readingVerbs {
		if strings.HasPrefix(c.Operation, verb) {
			return false
		}
	}
	return true
}

// readingVerbs begin the names of operations that change nothing.
var readingVerbs = []string{"Get", "List", "Describe", "Head", "Query", "Scan", "BatchGet", "TransactGet", "Estimate", "Validate"}

// Request is a call with its time and its access key ("" if unsigned).
type Request struct {
	Call
	Time      time.Time
	AccessKey string
}

// Gateway is an http.Handler in front of the services. It counts the requests. Use New.
type Gateway struct {
	services map[string]http.Handler
	ids      atomic.Uint64

	mu        sync.Mutex
	calls     map[Call]int
	recordAll bool
	mutating  []Request
	fail      func(Request) *Failure
}

// New makes a gateway to the services, keyed by their names in SigV4 signatures: s3, dynamodb, states, events, …
func New(services map[string]http.Handler) *Gateway {
	return &Gateway{services: maps.Clone(services), calls: map[Call]int{}}
}

// ServeHTTP passes the request to its service. A request to a service that is not emulated is refused with a 400, so
// that no SDK repeats it.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if greeting(r) {
		g.setRequestID(w)
		return
	}
	call, err := Identify(r)
	if err != nil {
		Refuse(w, r, http.StatusBadRequest, Fault{Code: "InvalidRequest", Message: err.Error()})
		return
	}
	id := g.ids.Add(1)
	w.Header().Set("X-Amzn-Requestid", fmt.Sprintf("00000000-0000-4000-8000-%012x", id))
	service, ok := g.services[call.Service]
	if !ok {
		message := fmt.Sprintf("there is no local emulator of %s, only of %s; set AWS_ENDPOINT_URL_<SERVICE> to use another endpoint for it",
			call.Service, strings.Join(g.names(), ", "))
		Refuse(w, r, http.StatusBadRequest, Fault{Code: "UnknownService", Message: message})
		return
	}
	key, _, _ := Scope(r)
	q := Request{Call: call, Time: time.Now(), AccessKey: key}
	g.record(q)
	g.serve(service, w, r, q)
}

// Calls counts the requests since the start or the last Reset.
func (g *Gateway) Calls() map[Call]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.calls)
}

// Record turns the list of mutating requests on or off; turning it on empties it.
func (g *Gateway) Record(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.recordAll = on
	if on {
		g.mutating = nil
	}
}

// Recorded lists the mutating requests since Record(true), in order.
func (g *Gateway) Recorded() []Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.mutating)
}

// Reset sets the counts to zero.
func (g *Gateway) Reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls, g.mutating = map[Call]int{}, nil
}

func (g *Gateway) record(q Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls[q.Call]++
	if g.recordAll && q.Mutates() {
		g.mutating = append(g.mutating, q)
	}
}

func (g *Gateway) names() []string { return slices.Sorted(maps.Keys(g.services)) }

// greeting reports whether a browser or a health check requests the root.
func greeting(r *http.Request) bool {
	_, _, signed := Scope(r)
	return r.Method == http.MethodGet && r.URL.Path == "/" && r.URL.RawQuery == "" && !signed && !toAPI(r) && r.Header.Get("X-Amz-Target") == ""
}

func (g *Gateway) setRequestID(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "running", "services": g.names()}) // the caller is gone if this fails
}
