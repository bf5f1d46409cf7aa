package gateway

import (
	"math/rand/v2"
	"net/http"
	"sync"
)

// Failure replaces the answer to a request. The request is refused or, with After, carried out and only its answer
// lost.
type Failure struct {
	Status int // of HTTP
	Fault
	After bool
}

// Fail makes requests fail from now on: if of returns a Failure, the request ends with it. nil ends that. Requests are
// concurrent, and so are the calls of of.
func (g *Gateway) Fail(of func(Request) *Failure) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fail = of
}

// serve passes the request to its service, unless it is to fail.
func (g *Gateway) serve(service http.Handler, w http.ResponseWriter, r *http.Request, q Request) {
	g.mu.Lock()
	fail := g.fail
	g.mu.Unlock()
	var t *Failure
	if fail != nil {
		t = fail(q)
	}
	switch {
	case t == nil:
		service.ServeHTTP(w, r)
		return
	case t.After:
		service.ServeHTTP(&Recorder{}, r)
	}
	Refuse(w, r, t.Status, t.Fault)
}

// throttled is the throttling error of each service.
var throttled = map[string]Failure{
	"s3":             {Status: http.StatusServiceUnavailable, Fault: Fault{"SlowDown", "Please reduce your request rate."}},
	"dynamodb":       {Status: http.StatusBadRequest, Fault: Fault{"ThrottlingException", "Throughput exceeds the current capacity of your table or index."}},
	"cloudformation": {Status: http.StatusBadRequest, Fault: Fault{"Throttling", "Rate exceeded"}},
	"sts":            {Status: http.StatusBadRequest, Fault: Fault{"Throttling", "Rate exceeded"}},
	"states":         {Status: http.StatusBadRequest, Fault: Fault{"ThrottlingException", "Rate exceeded"}},
	"events":         {Status: http.StatusBadRequest, Fault: Fault{"ThrottlingException", "Rate exceeded"}},
	"scheduler":      {Status: http.StatusTooManyRequests, Fault: Fault{"ThrottlingException", "Rate exceeded"}},
	"organizations":  {Status: http.StatusBadRequest, Fault: Fault{"TooManyRequestsException", "You have sent too many requests in too short a period of time."}},
	"autoscaling":    {Status: http.StatusBadRequest, Fault: Fault{"Throttling", "Rate exceeded"}},
	"monitoring":     {Status: http.StatusBadRequest, Fault: Fault{"ThrottlingException", "Rate exceeded"}},
	"lambda":         {Status: http.StatusTooManyRequests, Fault: Fault{"TooManyRequestsException", "Rate Exceeded."}},
}

// internalErrors is the internal error of each service.
var internalErrors = map[string]Failure{
	"s3":             {Status: http.StatusInternalServerError, Fault: Fault{"InternalError", "We encountered an internal error. Please try again."}},
	"dynamodb":       {Status: http.StatusInternalServerError, Fault: Fault{"InternalServerError", "Internal server error"}},
	"cloudformation": {Status: http.StatusInternalServerError, Fault: Fault{"InternalFailure", ""}},
	"sts":            {Status: http.StatusInternalServerError, Fault: Fault{"InternalFailure", ""}},
	"states":         {Status: http.StatusInternalServerError, Fault: Fault{"InternalFailure", ""}},
	"events":         {Status: http.StatusInternalServerError, Fault: Fault{"InternalException", "An internal error occurred"}},
	"scheduler":      {Status: http.StatusInternalServerError, Fault: Fault{"InternalServerException", "An internal error occurred"}},
	"autoscaling":    {Status: http.StatusInternalServerError, Fault: Fault{"InternalFailure", "Internal error"}},
	"monitoring":     {Status: http.StatusInternalServerError, Fault: Fault{"InternalServiceFault", "Internal error"}},
	"lambda":         {Status: http.StatusInternalServerError, Fault: Fault{"ServiceException", "An error occurred and the request cannot be processed."}},
}

// RandomFailures makes a share of all requests fail with the service's own errors: throttled, which is not carried out;
// or with a 5xx, before or after it is carried out. The failures follow from the seed and the order of the requests.
func RandomFailures(share float64, seed uint64) func(Request) *Failure {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 5))
	return func(q Request) *Failure {
		mu.Lock()
		defer mu.Unlock()
		if rng.Float64() >= share {
			return nil
		}
		t := throttled[q.Service]
		switch rng.IntN(3) {
		case 1:
			t = internalErrors[q.Service]
		case 2:
			t = internalErrors[q.Service]
			t.After = true
		}
		if t.Status == 0 {
			return nil // a service without entries in the tables
		}
		return &t
	}
}
