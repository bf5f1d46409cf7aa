package gateway

import (
	"math/rand/v2"
	"net/http"
	"sync"
)

// Trouble is what becomes of a request instead of an answer: it is refused or, with After, carried out, and only the
// answer to it is lost.
type Failure struct {
	Status int // of HTTP
	Fault
	After bool
}

// Fail has what of decides go wrong from now on: where it returns a Trouble, the request ends with that. nil ends it.
// Requests run side by side, and so does of.
func (g *Gateway) Fail(of func(Request) *Failure) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fail = of
}

// pass hands the request to its service, unless it is to fail.
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

// throttled is how each service says that it was asked too often.
var throttled = map[string]Failure{
	"s3":             {Status: http.StatusServiceUnavailable, Fault: Fault{"SlowDown", "Please reduce your request rate."}},
	"dynamodb":       {Status: http.StatusBadRequest, Fault: Fault{"ThrottlingException", "Throughput exceeds the current capacity of your table or index."}},
	"cloudformation": {Status: http.StatusBadRequest, Fault: Fault{"Throttling", "Rate exceeded"}},
	"sts":            {Status: http.StatusBadRequest, Fault: Fault{"Throttling", "Rate exceeded"}},
	"states":         {Status: http.StatusBadRequest, Fault: Fault{"ThrottlingException", "Rate exceeded"}},
	"events":         {Status: http.StatusBadRequest, Fault: Fault{"ThrottlingException", "Rate exceeded"}},
	"scheduler":      {Status: http.StatusTooManyRequests, Fault: Fault{"ThrottlingException", "Rate exceeded"}},
	"lambda":         {Status: http.StatusTooManyRequests, Fault: Fault{"TooManyRequestsException", "Rate Exceeded."}},
}

// broken is how each service says that the fault is its own.
var internalErrors = map[string]Failure{
	"s3":             {Status: http.StatusInternalServerError, Fault: Fault{"InternalError", "We encountered an internal error. Please try again."}},
	"dynamodb":       {Status: http.StatusInternalServerError, Fault: Fault{"InternalServerError", "Internal server error"}},
	"cloudformation": {Status: http.StatusInternalServerError, Fault: Fault{"InternalFailure", ""}},
	"sts":            {Status: http.StatusInternalServerError, Fault: Fault{"InternalFailure", ""}},
	"states":         {Status: http.StatusInternalServerError, Fault: Fault{"InternalFailure", ""}},
	"events":         {Status: http.StatusInternalServerError, Fault: Fault{"InternalException", "An internal error occurred"}},
	"scheduler":      {Status: http.StatusInternalServerError, Fault: Fault{"InternalServerException", "An internal error occurred"}},
	"lambda":         {Status: http.StatusInternalServerError, Fault: Fault{"ServiceException", "An error occurred and the request cannot be processed."}},
}

// Unsteady makes that share of all requests fail, in each service's own words: as throttled, of which nothing was
// carried out; with a 5xx, before it was; or with a 5xx after it was. What fails follows from the seed and the order of
// the requests.
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
			return nil // a service that nobody has words for
		}
		return &t
	}
}
