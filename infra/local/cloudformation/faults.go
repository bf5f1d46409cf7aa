package cloudformation

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"time"
)

// Fault is something that goes wrong on purpose. Each kind has its fields; the
// others stay empty.
type Fault struct {
	// Stack is a name or a glob (path.Match) of stacks; "" is all.
	Stack string `json:"stack,omitempty"`

	// A stack that fails: Operation is create, update, delete, rollback or *, Resource
	// the logical ID that fails (else one of the last), Reason what it says.
	Operation string `json:"operation,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Times is how often a failing stack, a refusal or an error happens; 0 is until cleared.
	Times int `json:"times,omitempty"`

	// A slow or a fast stack: seconds for an operation; negative is no time at all.
	Seconds float64 `json:"seconds,omitempty"`

	// Throttling: below 1 the share of all requests that are refused, else how many of the next.
	Throttle float64 `json:"throttle,omitempty"`

	// Rate is how many requests of each operation are answered in a second, and ten
	// seconds' worth of them at once; the others are refused as throttled.
	Rate float64 `json:"rate,omitempty"`

	// An error instead of an answer, or instead of the answer to what was carried out.
	Error *FaultError `json:"error,omitempty"`

	// DropEvents says that nothing is told to EventBridge.
	DropEvents bool `json:"drop_events,omitempty"`
}

// FaultError is an error that a request ends with.
type FaultError struct {
	Action  string `json:"action,omitempty"` // as CreateStack; "" is all
	Code    string `json:"code"`
	Status  int    `json:"status,omitempty"` // of HTTP; 0 is 400
	Message string `json:"message,omitempty"`
	// After says that the request is carried out first: only its answer is lost.
	After bool `json:"after,omitempty"`
}

// faults are the faults in force; what is used up is dropped.
type faults struct {
	All []Fault
	// Owed is the part of a throttled request that earlier ones add up to.
	Owed float64
}

// Inject puts a fault into force until it is used up or cleared. It outlives the
// service if that keeps its state. The error is one of the fault's form, or of keeping it.
func (s *Service) Inject(f Fault) error {
	if _, err := path.Match(f.Stack, ""); err != nil {
		return fmt.Errorf("fault for stack %q: %w", f.Stack, err)
	}
	if f == (Fault{Stack: f.Stack, Times: f.Times}) {
		return fmt.Errorf("fault for stack %q: nothing goes wrong: give operation, seconds, throttle, rate, error or drop_events", f.Stack)
	}
	if f.Operation == "" && (f.Reason != "" || f.Resource != "") {
		return fmt.Errorf("fault for stack %q: say which operation fails: create, update, delete, rollback or *", f.Stack)
	}
	switch f.Operation {
	case "", "create", "update", "delete", "rollback", "*":
	default:
		return fmt.Errorf("fault for stack %q: operation %q is none of create, update, delete, rollback, *", f.Stack, f.Operation)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.All = append(s.faults.All, f)
	return s.store.saveFaults(s.faults)
}

// Mend ends all faults.
func (s *Service) ClearFaults() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults{}
	return s.store.saveFaults(s.faults)
}

// serveFaults is Inject (POST), Mend (DELETE) and a list (GET) over HTTP.
func (s *Service) serveFaults(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.Method {
	case http.MethodPost:
		var f Fault
		decoder := json.NewDecoder(io.LimitReader(r.Body, 1<<20))
		decoder.DisallowUnknownFields()
		if err = decoder.Decode(&f); err == nil {
			err = s.Inject(f)
		}
	case http.MethodDelete:
		err = s.ClearFaults()
	case http.MethodGet:
	default:
		err = fmt.Errorf("method %s: use GET, POST or DELETE", r.Method)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	all := s.faults.All
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	// An error of writing means that nobody listens any more.
	_ = json.NewEncoder(w).Encode(map[string]any{"faults": append([]Fault{}, all...)})
}

func (f Fault) matches(stack string) bool {
	if f.Stack == "" {
		return true
	}
	// The pattern was checked when the fault was injected.
	ok, _ := path.Match(f.Stack, stack)
	return ok
}

// use takes one of a fault's times; it is dropped with the last.
func (s *Service) useFault(i int) error {
	all := append([]Fault(nil), s.faults.All...)
	switch {
	case all[i].Times > 1:
		all[i].Times--
	case all[i].Times == 1:
		all = append(all[:i], all[i+1:]...)
	}
	s.faults.All = all
	return s.store.saveFaults(s.faults)
}

// strike lets an operation fail if a fault says so: at one resource, or as a
// whole if there is none to fail at.
func (s *Service) applyFault(st *stack, operation string, f *stackOperation) {
	for i, fault := range s.faults.All {
		if fault.Operation != operation && fault.Operation != "*" || !fault.matches(st.Name) {
			continue
		}
		if err := s.useFault(i); err != nil && s.saveError == nil {
			s.saveError = err
		}
		reason := fault.Reason
		if reason == "" {
			reason = "Resource handler returned message: \"injected fault\" (HandlerErrorCode: GeneralServiceException)"
		}
		if !failStep(f.Levels, fault.Resource, reason) {
			f.Failure = reason
		}
		return
	}
}

// aim lets one step fail: the one named, else the first of the last level that can.
func failStep(all [][]step, logical, reason string) bool {
	for i := len(all) - 1; i >= 0; i-- {
		for j := range all[i] {
			one := &all[i][j]
			if one.Action != retain && (logical == "" || one.Resource.Logical == logical) {
				one.Failure = reason
				return true
			}
		}
	}
	return false
}

// span is how long an operation of the stack takes.
func (s *Service) duration(st *stack) time.Duration {
	seconds := s.options.Seconds
	for _, fault := range s.faults.All {
		if fault.Seconds != 0 && fault.matches(st.Name) {
			seconds = fault.Seconds
		}
	}
	return time.Duration(max(seconds, 0) * float64(time.Second))
}

func (f faults) dropsEvents() bool {
	for _, one := range f.All {
		if one.DropEvents {
			return true
		}
	}
	return false
}

// throttled says whether this request is refused.
func (s *Service) throttled(action string) (bool, error) {
	for i := range s.faults.All {
		f := s.faults.All[i]
		switch {
		case f.Throttle >= 1:
			all := append([]Fault(nil), s.faults.All...)
			all[i].Throttle--
			if all[i].Throttle < 1 {
				all = append(all[:i], all[i+1:]...)
			}
			s.faults.All = all
			return true, s.store.saveFaults(s.faults)
		case f.Throttle > 0:
			s.faults.Owed += f.Throttle
			if s.faults.Owed >= 1 {
				s.faults.Owed--
				return true, nil
			}
		case f.Rate > 0 && s.exceedsRate(action, f.Rate, time.Now()):
			return true, nil
		}
	}
	return false, nil
}

// erring is the error that a request of an action for a stack is to end with; nil if none.
func (s *Service) errorFault(action, stack string, after bool) (*problem, error) {
	for i, f := range s.faults.All {
		if f.Error == nil || f.Error.After != after || !f.matches(stack) || f.Error.Action != "" && f.Error.Action != action {
			continue
		}
		p := &problem{status: f.Error.Status, code: f.Error.Code, message: f.Error.Message}
		if p.status == 0 {
			p.status = http.StatusBadRequest
		}
		return p, s.useFault(i)
	}
	return nil, nil
}
