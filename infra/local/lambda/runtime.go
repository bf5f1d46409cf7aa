package lambda

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// routes is Lambda's Runtime API; each process has a path of its own:
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
func (b *Binaries) routes() http.Handler {
	mux := http.NewServeMux()
	const base = "/{process}/2018-06-01/runtime/"
	mux.HandleFunc("GET "+base+"invocation/next", b.of(next))
	mux.HandleFunc("POST "+base+"invocation/{id}/response", b.of(response))
	mux.HandleFunc("POST "+base+"invocation/{id}/error", b.of(reportError))
	mux.HandleFunc("POST "+base+"init/error", b.of(initError))
	return mux
}

func (b *Binaries) of(serve func(*child, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := b.child(r.PathValue("process"))
		if c == nil {
			http.Error(w, "no such process", http.StatusForbidden)
			return
		}
		serve(c, w, r)
	}
}

// next gives the process its next invocation, as soon as there is one.
func next(c *child, w http.ResponseWriter, r *http.Request) {
	select {
	case j := <-c.work:
		c.begin(j)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", j.id)
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(j.timeout).UnixMilli(), 10))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", j.arn)
		w.Header().Set("Lambda-Runtime-Trace-Id", "Root=1-00000000-"+strings.ReplaceAll(j.id, "-", "")[8:]+";Sampled=0")
		_, _ = w.Write(j.payload) // wait notices a process that has ended
	case <-r.Context().Done():
	}
}

func response(c *child, w http.ResponseWriter, r *http.Request) {
	answer, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload+1))
	var long *http.MaxBytesError
	if err != nil && !errors.As(err, &long) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidRequest", Message: err.Error()})
		return
	}
	result := result{answer: answer}
	if long != nil {
		result.err = tooLong(r.PathValue("id"), make([]byte, maxPayload+1))
	}
	accept(c, w, r, result)
}

func reportError(c *child, w http.ResponseWriter, r *http.Request) {
	report, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload))
	if err != nil {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidRequest", Message: err.Error()})
		return
	}
	accept(c, w, r, result{err: failure(report)})
}

func accept(c *child, w http.ResponseWriter, r *http.Request, result result) {
	if !c.finish(r.PathValue("id"), result) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidRequestID", Message: "this is not what the process works on"})
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// initError is the report of a process that cannot start; it exits by itself.
func initError(c *child, w http.ResponseWriter, r *http.Request) {
	report, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload))
	if err != nil {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidRequest", Message: err.Error()})
		return
	}
	c.mu.Lock()
	c.failed = report
	c.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
}
