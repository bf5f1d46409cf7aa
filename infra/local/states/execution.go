package states

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

// The statuses of an execution.
const (
	running   = "RUNNING"
	succeeded = "SUCCEEDED"
	failed    = "FAILED"
	timedOut  = "TIMED_OUT"
	aborted   = "ABORTED"
)

// An execution is one execution of a machine. Its status follows from its history.
type execution struct {
	ARN      string `json:"executionArn"`
	Machine  string `json:"stateMachineArn"`
	Revision string `json:"revisionId"`
	Name     string `json:"name"`
	Input    string `json:"input"`
	Started  stamp  `json:"startDate"`

	history []*event
	current *event                  // the last state entered outside of a Map
	stop    context.CancelCauseFunc // set while it is being executed
}

// add adds an event to the history.
func (e *execution) add(ev *event, top bool) {
	e.history = append(e.history, ev)
	if top {
		e.current = ev
	}
}

// end is the event that ended the execution, or nil.
func (e *execution) end() *event {
	if len(e.history) == 0 {
		return nil
	}
	if last := e.history[len(e.history)-1]; last.ends() != "" {
		return last
	}
	return nil
}

func (e *execution) ended() bool { return e.end() != nil }

func (e *execution) status() string {
	if end := e.end(); end != nil {
		return end.ends()
	}
	return running
}

type startExecution struct {
	Machine string  `json:"stateMachineArn"`
	Name    string  `json:"name"`
	Input   *string `json:"input"`
}

type startedExecution struct {
	ARN     string `json:"executionArn"`
	Started stamp  `json:"startDate"`
}

func (s *Service) startExecution(q startExecution) (startedExecution, error) {
	q.Name = cmp.Or(q.Name, newID())
	if err := checkName(q.Name); err != nil {
		return startedExecution{}, err
	}
	input := "{}"
	if q.Input != nil {
		input = *q.Input
	}
	if !json.Valid([]byte(input)) || len(input) > asl.MaxPayload {
		return startedExecution{}, faultf("InvalidExecutionInput", "Invalid State Machine Execution Input: must be JSON of at most %d bytes", asl.MaxPayload)
	}
	s.mu.Lock()
	m, err := s.machine(q.Machine)
	if err != nil {
		s.mu.Unlock()
		return startedExecution{}, err
	}
	arn := s.arn("execution", m.Name+":"+q.Name)
	if old := s.executions[arn]; old != nil {
		defer s.mu.Unlock()
		if old.Input == input && !old.ended() {
			return startedExecution{ARN: arn, Started: old.Started}, nil
		}
		return startedExecution{}, faultf("ExecutionAlreadyExists", "Execution Already Exists: '%s'", arn)
	}
	e := &execution{ARN: arn, Machine: m.ARN, Revision: m.Revision, Name: q.Name, Input: input, Started: now()}
	if err = s.create(e, m); err != nil {
		s.mu.Unlock()
		return startedExecution{}, err
	}
	n := e.description()
	s.mu.Unlock()
	s.emit(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start(e)
	return startedExecution{ARN: arn, Started: e.Started}, nil
}

// create stores a new execution and the first event of its history. The lock must be held.
func (s *Service) create(e *execution, m *machine) error {
	if err := s.write(record{Execution: e}); err != nil {
		return err
	}
	s.executions[e.ARN] = e
	s.order = append(s.order, e)
	_, err := s.append(e, &event{Time: e.Started, Type: string(asl.ExecutionStarted), Key: "executionStarted",
		Details: details{Input: &e.Input, InputDetails: notTruncated, RoleARN: m.RoleARN}}, false)
	return err
}

type ofExecution struct {
	ARN string `json:"executionArn"`
}

type stopExecution struct {
	ARN          string `json:"executionArn"`
	Error, Cause string
}

type stoppedExecution struct {
	Stopped stamp `json:"stopDate"`
}

func (s *Service) stopExecution(q stopExecution) (stoppedExecution, error) {
	s.mu.Lock()
	e, err := s.execution(q.ARN)
	if err != nil {
		s.mu.Unlock()
		return stoppedExecution{}, err
	}
	if end := e.end(); end != nil {
		s.mu.Unlock()
		return stoppedExecution{Stopped: end.Time}, nil
	}
	n, err := s.abort(e, details{Error: q.Error, Cause: q.Cause})
	s.mu.Unlock()
	if err != nil {
		return stoppedExecution{}, err
	}
	s.emit(n)
	return stoppedExecution{Stopped: *n.Stopped}, nil
}

// abort ends a running execution. The lock must be held.
func (s *Service) abort(e *execution, why details) (description, error) {
	if _, err := s.append(e, &event{Time: now(), Type: "ExecutionAborted", Key: "executionAborted", Details: why}, false); err != nil {
		return description{}, err
	}
	if e.stop != nil {
		e.stop(errEnded)
	}
	return e.description(), nil
}

func (s *Service) describeExecution(q ofExecution) (description, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.execution(q.ARN)
	if err != nil {
		return description{}, err
	}
	return e.description(), nil
}

type listExecutions struct {
	page
	Machine string `json:"stateMachineArn"`
	Status  string `json:"statusFilter"`
}

type executionList struct {
	Executions []executionItem `json:"executions"`
	Token      string          `json:"nextToken,omitempty"`
}

type executionItem struct {
	ARN     string `json:"executionArn"`
	Machine string `json:"stateMachineArn"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Started stamp  `json:"startDate"`
	Stopped *stamp `json:"stopDate,omitempty"`
}

// listExecutions lists the newest first. The token is a position in the order of starts, so that new executions do not
// shift the pages.
func (s *Service) listExecutions(q listExecutions) (executionList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.machine(q.Machine); err != nil {
		return executionList{}, err
	}
	most, err := q.most()
	if err != nil {
		return executionList{}, err
	}
	from := len(s.order)
	if q.Token != "" {
		if from, err = q.place(len(s.order)); err != nil {
			return executionList{}, err
		}
	}
	out := executionList{Executions: []executionItem{}}
	for i := from - 1; i >= 0; i-- {
		e := s.order[i]
		if e.Machine != q.Machine || q.Status != "" && e.status() != q.Status {
			continue
		}
		if len(out.Executions) == most {
			out.Token = token(i + 1)
			break
		}
		n := e.description()
		out.Executions = append(out.Executions, executionItem{ARN: n.ARN, Machine: n.Machine, Name: n.Name, Status: n.Status,
			Started: n.Started, Stopped: n.Stopped})
	}
	return out, nil
}

// execution finds an execution by its ARN. The lock must be held.
func (s *Service) execution(arn string) (*execution, error) {
	if !strings.HasPrefix(arn, "arn:") || !strings.Contains(arn, ":execution:") {
		return nil, faultf("InvalidArn", "Invalid Arn: '%s'", arn)
	}
	e := s.executions[arn]
	if e == nil {
		return nil, faultf("ExecutionDoesNotExist", "Execution Does Not Exist: '%s'", arn)
	}
	return e, nil
}

// most is the size of a page.
func (p page) most() (int, error) {
	if p.Most < 0 || p.Most > 1000 {
		return 0, faultf("ValidationException", "maxResults must be from 0 to 1000, not %d", p.Most)
	}
	return cmp.Or(p.Most, 100), nil
}

// place reads a token: a number up to n.
func (p page) place(n int) (int, error) {
	b, err := base64.RawURLEncoding.DecodeString(p.Token)
	at, bad := strconv.Atoi(string(b))
	if err != nil || bad != nil || at < 0 || at > n {
		return 0, faultf("InvalidToken", "Invalid Token: '%s'", p.Token)
	}
	return at, nil
}

// cut returns the part of n results on the page, and the token of the next one.
func (p page) cut(n int) (from, to int, next string, err error) {
	most, err := p.most()
	if err != nil {
		return 0, 0, "", err
	}
	if p.Token != "" {
		if from, err = p.place(n); err != nil {
			return 0, 0, "", err
		}
	}
	if to = min(n, from+most); to < n {
		next = token(to)
	}
	return from, to, next, nil
}

func token(at int) string { return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(at))) }
