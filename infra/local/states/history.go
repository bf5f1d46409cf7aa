package states

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

// maxHistory is how many events an execution may have; at the last one it fails.
// https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
const maxHistory = 25_000

// An event is an event of an execution's history. Key names the details, without "EventDetails".
type event struct {
	ID       int64
	Previous int64
	Time     stamp
	Type     string
	Key      string
	Details  details
}

// details are those of all types of events; each type has some of them.
type details struct {
	Name          string     `json:"name,omitempty"`
	Input         *string    `json:"input,omitempty"`
	InputDetails  *truncated `json:"inputDetails,omitempty"`
	Output        *string    `json:"output,omitempty"`
	OutputDetails *truncated `json:"outputDetails,omitempty"`
	RoleARN       string     `json:"roleArn,omitempty"`
	Resource      string     `json:"resource,omitempty"`
	ResourceType  string     `json:"resourceType,omitempty"`
	Region        string     `json:"region,omitempty"`
	Parameters    *string    `json:"parameters,omitempty"`
	Timeout       int64      `json:"timeoutInSeconds,omitempty"`
	Error         string     `json:"error,omitempty"`
	Cause         string     `json:"cause,omitempty"`
	Index         *int       `json:"index,omitempty"`
	Length        *int       `json:"length,omitempty"`
}

type truncated struct {
	Truncated bool `json:"truncated"`
}

// notTruncated says that a payload is complete.
var notTruncated = &truncated{}

const suffix = "EventDetails"

// MarshalJSON writes an event as GetExecutionHistory returns it.
func (e *event) MarshalJSON() ([]byte, error) {
	out := map[string]any{"id": e.ID, "previousEventId": e.Previous, "timestamp": e.Time, "type": e.Type}
	if e.Key != "" {
		out[e.Key+suffix] = e.Details
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *event) UnmarshalJSON(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	var errs []error
	for name, value := range fields {
		var into any
		switch name {
		case "id":
			into = &e.ID
		case "previousEventId":
			into = &e.Previous
		case "timestamp":
			into = &e.Time
		case "type":
			into = &e.Type
		default:
			e.Key, into = strings.TrimSuffix(name, suffix), &e.Details
		}
		errs = append(errs, json.Unmarshal(value, into))
	}
	return errors.Join(errs...)
}

// ends is the final status that the event gives its execution, or "".
func (e *event) ends() string {
	switch e.Type {
	case "ExecutionSucceeded":
		return succeeded
	case "ExecutionFailed":
		return failed
	case "ExecutionTimedOut":
		return timedOut
	case "ExecutionAborted":
		return aborted
	}
	return ""
}

// append adds an event to an execution's history and returns its ID. An execution that has ended gets no more events.
// If the history has room for one more event only, the execution fails, unless the event ends it. The lock must be
// held.
func (s *Service) append(e *execution, ev *event, top bool) (int64, error) {
	n := int64(len(e.history))
	if e.ended() {
		return n, nil
	}
	if n == maxHistory-1 && ev.ends() == "" {
		ev = &event{Time: ev.Time, Type: string(asl.ExecutionFailed), Key: "executionFailed", Details: details{
			Error: asl.Runtime, Cause: "The execution reached the maximum number of history events (25000)."}}
		top = false
	}
	ev.ID = n + 1
	if ev.Previous == 0 && n > 1 { // as on AWS the first state follows nothing, not the start
		ev.Previous = n
	}
	if err := s.journal.Append(record{Of: e.ARN, Top: top, Event: ev}); err != nil {
		return n, err
	}
	e.add(ev, top)
	return ev.ID, nil
}

type historyQuery struct {
	page
	ARN     string `json:"executionArn"`
	Reverse bool   `json:"reverseOrder"`
	Data    *bool  `json:"includeExecutionData"`
}

type historyPage struct {
	Events []*event `json:"events"`
	Token  string   `json:"nextToken,omitempty"`
}

func (s *Service) executionHistory(q historyQuery) (historyPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.execution(q.ARN)
	if err != nil {
		return historyPage{}, err
	}
	out := historyPage{Events: []*event{}}
	if q.Reverse {
		out.Events, out.Token, err = q.backwards(e.history)
	} else {
		var from, to int
		if from, to, out.Token, err = q.cut(len(e.history)); err == nil {
			out.Events = slices.Clone(e.history[from:to])
		}
	}
	if q.Data != nil && !*q.Data {
		for i, ev := range out.Events {
			bare := *ev
			bare.Details.Input, bare.Details.Output, bare.Details.Parameters = nil, nil, nil
			out.Events[i] = &bare
		}
	}
	return out, err
}

// backwards pages from the newest event. The token is a position, so that new events do not shift the pages.
func (p page) backwards(history []*event) ([]*event, string, error) {
	most, err := p.most()
	if err != nil {
		return nil, "", err
	}
	to := len(history)
	if p.Token != "" {
		if to, err = p.place(len(history)); err != nil {
			return nil, "", err
		}
	}
	from, next := max(0, to-most), ""
	if from > 0 {
		next = token(from)
	}
	out := slices.Clone(history[from:to])
	slices.Reverse(out)
	return out, next, nil
}
