package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// changing are the operations that are written to the journal.
var changing = []string{"PutRule", "PutTargets"}

// ServeHTTP speaks EventBridge's JSON protocol.
func (b *Bus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "SerializationException", Message: err.Error()})
		return
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	answer, err := b.serve(operation, bytes.TrimSpace(body))
	if err != nil {
		status, fault := http.StatusInternalServerError, gateway.Fault{Code: "InternalException", Message: err.Error()}
		if known := (*refusal)(nil); errors.As(err, &known) {
			status, fault = http.StatusBadRequest, gateway.Fault{Code: known.code, Message: known.message}
		}
		gateway.Refuse(w, r, status, fault)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(answer) // the caller is gone if this fails
}

func (b *Bus) serve(operation string, body []byte) (any, error) {
	if operation == "PutEvents" {
		return b.putEvents(body)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(changing, operation) {
		answer, err := b.change(operation, body)
		if err != nil {
			return nil, err
		}
		return answer, b.log.Append(record{Operation: operation, Body: body})
	}
	in, err := read(body)
	if err != nil {
		return nil, err
	}
	return b.query(operation, in)
}

func (b *Bus) query(operation string, in input) (any, error) {
	switch operation {
	case "DescribeRule":
		r, err := b.rule(in.Name)
		if err != nil {
			return nil, err
		}
		return b.describe(r), nil
	case "ListRules":
		list := []any{}
		for _, name := range slices.Sorted(maps.Keys(b.rules)) {
			list = append(list, b.describe(b.rules[name]))
		}
		return map[string]any{"Rules": list}, nil
	default:
		return nil, &refusal{"UnknownOperationException", "the local emulator of EventBridge has no " + operation}
	}
}

func (b *Bus) describe(r *rule) any {
	is := map[string]string{"Name": r.Name, "Arn": b.arn(r.Name), "State": r.State, "EventBusName": "default"}
	for field, value := range map[string]string{
		"Description": r.Description, "EventPattern": r.EventPattern, "ScheduleExpression": r.ScheduleExpression,
	} {
		if value != "" {
			is[field] = value
		}
	}
	return is
}

// entry is one event as PutEvents has it; Time is seconds since 1970.
type entry struct {
	Source, DetailType, Detail, EventBusName string
	Resources                                []string
	Time                                     float64
}

type accepted struct {
	EventID      string `json:"EventId,omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

func (b *Bus) putEvents(body []byte) (any, error) {
	var in struct{ Entries []entry }
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, invalid("%v", err)
	}
	if len(in.Entries) == 0 || len(in.Entries) > 10 {
		return nil, invalid("Value at 'entries' failed to satisfy constraint: Member must have length between 1 and 10")
	}
	results, fails := []accepted{}, 0
	for _, e := range in.Entries {
		result, err := b.putEntry(e)
		if err != nil {
			return nil, err
		}
		if result.ErrorCode != "" {
			fails++
		}
		results = append(results, result)
	}
	return map[string]any{"FailedEntryCount": fails, "Entries": results}, nil
}

func (b *Bus) putEntry(e entry) (accepted, error) {
	var detail map[string]json.RawMessage
	switch {
	case e.Source == "" || e.DetailType == "" || e.Detail == "":
		return accepted{ErrorCode: "InvalidArgument", ErrorMessage: "Parameter Source, DetailType or Detail is not valid. Reason: it is a required argument."}, nil
	case strings.HasPrefix(e.Source, "aws."):
		return accepted{ErrorCode: "NotAuthorizedForSourceException", ErrorMessage: "Not authorized for the source."}, nil
	case json.Unmarshal([]byte(e.Detail), &detail) != nil:
		return accepted{ErrorCode: "MalformedDetail", ErrorMessage: "Detail is malformed."}, nil
	}
	at := time.Now().UTC()
	if e.Time != 0 {
		at = time.Unix(int64(e.Time), 0).UTC()
	}
	event := Event{DetailType: e.DetailType, Source: e.Source, Time: at, Resources: e.Resources,
		Detail: json.RawMessage(e.Detail), Region: b.opts.Region, Account: b.opts.Account}
	if err := b.put(&event); err != nil {
		return accepted{}, err
	}
	return accepted{EventID: event.ID}, nil
}
