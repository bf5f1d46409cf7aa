package cloudformation

import (
	"encoding/json"
	"fmt"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"io"
	"net/http"
	"path"
	"time"
)

// Fault makes requests or operations fail on purpose. Each kind of fault has its own fields; the others are empty.
type Fault struct {
	// Stack is a name, or a glob (path.Match) of names; "" stands for all stacks.
	Stack string `json:"stack,omitempty"`

	// An operation that fails: Operation is create, update, delete, import, refactor (its
	// execution), refuse (its creation), rollback or *. Resource is the logical ID of the
	// resource that fails; without it, one of the last. Reason is the reason of its event.
	Operation string `json:"operation,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Times is how often an operation fails, a request is refused or an error occurs; 0 is until the fault is deleted.
	Times int `json:"times,omitempty"`

	// Seconds is the duration of each operation of the stack; a negative one is no time at all.
	Seconds float64 `json:"seconds,omitempty"`

	// Throttle below 1 is the share of all requests that are throttled; otherwise the number of the next requests.
	Throttle float64 `json:"throttle,omitempty"`

	// Rate is the number of requests of each operation in a second. A burst of ten seconds' worth is answered; other
	// requests are throttled.
	Rate float64 `json:"rate,omitempty"`

	// Error replaces the answer to a request, before or after the request is carried out.
	Error *FaultError `json:"error,omitempty"`

	// Lag is by how many seconds the status, the times and the outputs that DescribeStacks shows are older than the events
	// of the stack.
	Lag float64 `json:"lag,omitempty"`

	// Drift changes Resource at once, without CloudFormation. It is no fault that stays.
	Drift *Drift `json:"drift,omitempty"`

	// DropEvents says that no event is sent to EventBridge.
	DropEvents bool `json:"drop_events,omitempty"`
}

// FaultError is the error that a request ends with.
type FaultError struct {
	Action  string `json:"action,omitempty"` // as CreateStack; "" stands for all
	Code    string `json:"code"`
	Status  int    `json:"status,omitempty"` // of HTTP; 0 is 400
	Message string `json:"message,omitempty"`
	// After says that the request is carried out before it fails: only the answer is lost.
	After bool `json:"after,omitempty"`
}

// faults are the active faults. A fault that has been used up is removed.
type faults struct {
	All []Fault
	// Owed accumulates the share of throttled requests until it makes one request.
	Owed float64
}

// Inject activates a fault until it is used up or deleted. If the service stores its state, the fault survives a
// restart. The error says what is wrong with the fault, or that it could not be stored.
func (s *Service) Inject(f Fault) error {
	if _, err := path.Match(f.Stack, ""); err != nil {
		return fmt.Errorf("fault for stack %q: %w", f.Stack, err)
	}
	if f == (Fault{Stack: f.Stack, Times: f.Times}) {
		return fmt.Errorf("fault for stack %q: nothing goes wrong: give operation, seconds, throttle, rate, error, lag, drift or drop_events", f.Stack)
	}
	if f.Lag < 0 || f.Lag > maxLag.Seconds() {
		return fmt.Errorf("fault for stack %q: a lag of %v seconds: give 0 to %v", f.Stack, f.Lag, maxLag.Seconds())
	}
	if f.Drift != nil {
		return s.locked(func() error { return s.change(f) })
	}
	if f.Operation == "" && (f.Reason != "" || f.Resource != "") {
		return fmt.Errorf("fault for stack %q: say which operation fails: create, update, delete, import, refactor, refuse, rollback or *", f.Stack)
	}
	switch f.Operation {
	case "", "create", "update", "delete", "import", "refactor", "refuse", "rollback", "*":
	default:
		return fmt.Errorf("fault for stack %q: operation %q is none of create, update, delete, import, refactor, refuse, rollback, *", f.Stack, f.Operation)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.All = append(s.faults.All, f)
	return s.store.saveFaults(s.faults)
}

// ClearFaults deletes all faults.
func (s *Service) ClearFaults() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults{}
	return s.store.saveFaults(s.faults)
}

// serveFaults offers Inject (POST), ClearFaults (DELETE) and a list (GET) over HTTP.
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
	// If the write fails, the client has disconnected.
	_ = json.NewEncoder(w).Encode(map[string]any{"faults": append([]Fault{}, all...)})
}

func (f Fault) matches(stack string) bool {
	if f.Stack == "" {
		return true
	}
	// Inject has checked the pattern.
	ok, _ := path.Match(f.Stack, stack)
	return ok
}

// useFault counts one use of a fault, and removes the fault with the last.
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

// applyFault makes an operation fail if a fault says so: at one resource, or as a whole if there is no resource to fail
// at.
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
		if !failStep(f.Levels, fault.Resource, reason) && len(f.Skipped) == 0 {
			f.Failure = reason
		}
		return
	}
}

// failStep makes one step fail: that of the named resource, or else the first of the last level that can fail.
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

// duration is how long an operation of the stack takes.
func (s *Service) duration(st *stack) time.Duration {
	seconds := s.options.Seconds
	for _, fault := range s.faults.All {
		if fault.Seconds != 0 && fault.matches(st.Name) {
			seconds = fault.Seconds
		}
	}
	if st.Deployment.Mode == types.DeploymentConfigModeExpress {
		seconds /= expressFactor
	}
	return time.Duration(max(seconds, 0) * float64(time.Second))
}

// lag is by how much the descriptions of the stack are older than its events.
func (s *Service) lag(st *stack) time.Duration {
	seconds := 0.0
	for _, fault := range s.faults.All {
		if fault.Lag != 0 && fault.matches(st.Name) {
			seconds = fault.Lag
		}
	}
	return time.Duration(seconds * float64(time.Second))
}

func (f faults) dropsEvents() bool {
	for _, one := range f.All {
		if one.DropEvents {
			return true
		}
	}
	return false
}

// throttled reports whether a fault throttles this request.
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

// errorFault is the error that a fault gives to a request of an action for a stack; nil if there is none.
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
