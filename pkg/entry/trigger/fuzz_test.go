package trigger_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

var (
	anID      = regexp.MustCompile(`^[a-z2-7]{20}$`)
	aProject  = regexp.MustCompile(`^[A-Za-z][-A-Za-z0-9]{0,63}@[A-Za-z0-9][-A-Za-z0-9]{0,63}$`)
	anyObject = object{text: `{"operation":"refresh"}`}
)

// Whatever bytes come as an event are understood as one thing, the same thing
// each time, or refused as Invalid in few words.
func FuzzEvent(f *testing.F) {
	for _, key := range []string{"projects/shop/prod.zip", "projects/shop/default.tar.gz", "requests/shop/prod/1.json", "projects/../prod.zip", "requests/shop/prod/.json"} {
		f.Add(written(f, put(f, key)))
	}
	const id = "abcdefghijklmnopqrs2"
	f.Add(written(f, stood(f, id+"-12", "FAILED", `{"run":"`+id+`","epoch":12}`)))
	f.Add(written(f, stood(f, id+"-12", "TIMED_OUT", "")))
	f.Add(written(f, stood(f, id+"-012", "ABORTED", "[]")))
	f.Add([]byte(`{"source":"aws.cloudformation","detail-type":"CloudFormation Stack Status Change","detail":{"status-details":{"status":"UPDATE_COMPLETE"},"client-request-token":"sw-` + id + `-0-1"}}`))
	f.Add([]byte(`{"source":"aws.events","detail-type":"Scheduled Event","detail":{},"time":"2026-03-01T12:00:00Z"}`))
	f.Add([]byte(`{"source":"aws.s3","detail-type":"Object Created","detail":null}`))
	f.Add([]byte(`{"source":"stackwright.schedule","detail-type":"Stackwright Schedule","detail":` + nightly + `,"time":"2026-03-01T03:00:00Z"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var first, second understood
		contract.Memory(t, len(text), 1<<20, 500, func() { first = understand(t, text) })
		if second = understand(t, text); !cmp.Equal(first, second) {
			t.Errorf("the second time it is another thing:\n%s", cmp.Diff(first, second))
		}
		if len(first.Refused) > 1000+10*len(text) {
			t.Errorf("of %d bytes, %d are in the message", len(text), len(first.Refused))
		}
		if first.Request != nil {
			sound(t, *first.Request)
		}
		if d := first.Execution; d != nil && (!anID.MatchString(d.Run) || d.Epoch < 1 || !strings.Contains(string(text), strconv.Itoa(d.Epoch))) {
			t.Errorf("run %q, epoch %d", d.Run, d.Epoch)
		}
		if h := first.Stack; h != nil && h.Status == "" {
			t.Errorf("an event without a status has one")
		}
	})
}

// What an event is understood as: one of these.
type understood struct {
	Scheduled bool
	Execution *engine.ExecutionInput
	Request   *run.Request
	Stack     *engine.StackEvent
	Refused   string
}

// understand reads an event as the functions do: start, and stack-event.
func understand(t *testing.T, text []byte) understood {
	t.Helper()
	var u understood
	handler := lambda.NewHandler(func(ctx context.Context, e events.EventBridgeEvent) (struct{}, error) {
		if trigger.IsSweep(e) {
			u.Scheduled = true
			return struct{}{}, nil
		}
		if trigger.IsExecutionEvent(e) {
			d, err := trigger.FailedExecution(e)
			u.Execution = &d
			return struct{}{}, err
		}
		if h, err := trigger.StackEvent(e); err == nil {
			u.Stack = &h
			if run, _, _, ok := action.ParseToken(h.Token); !ok && run != "" {
				t.Errorf("the token %q is not ours, and of run %q", h.Token, run)
			}
			return struct{}{}, nil
		}
		if trigger.IsScheduleCall(e) {
			q, err := trigger.ScheduleRequest(e)
			u.Request = &q
			return struct{}{}, err
		}
		q, err := trigger.Request(ctx, e, anyObject)
		u.Request = &q
		return struct{}{}, err
	})
	if _, err := handler.Invoke(t.Context(), text); err != nil {
		if json.Valid(text) && (u.Request != nil || u.Execution != nil) && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", fault.KindOf(err), err)
		}
		return understood{Refused: err.Error()}
	}
	return u
}

// sound says whether a request is one that the engine takes.
func sound(t *testing.T, q run.Request) {
	t.Helper()
	if !anID.MatchString(q.ID) || !aProject.MatchString(q.Project) && (q.Project != trigger.Unnamed || len(q.Problems) == 0) || q.Operation == "" {
		t.Errorf("ID %q, project %q, operation %q", q.ID, q.Project, q.Operation)
	}
	if q.Upload && (q.Operation != "deploy" || q.Source.Key == "" || q.Source.Version == "" || len(q.Problems) > 0) {
		t.Errorf("an upload makes %+v", q)
	}
	if q.Of != "" && !anID.MatchString(q.Of) && len(q.Problems) == 0 {
		t.Errorf("it is about run %q", q.Of)
	}
	size := len(q.Operation) + len(q.Source.Key) + len(q.Source.Version) + len(q.Of)
	for _, p := range q.Problems {
		size += len(p)
	}
	if size > 100_000 {
		t.Errorf("%d bytes are stored of it", size) // an item has room for 400 KB
	}
}

// Whatever a request object holds is a request that the engine takes, and that
// is the same when it is written out again, or one that says all that is wrong.
func FuzzRequest(f *testing.F) {
	for _, text := range []string{
		`{"operation":"plan",` + zip + `}`, `{"operation":"plan",` + zip + `,"options":{"only":["a","b"]}}`, `{"operation":"rollback-to","options":{"to":"previous"}}`, `{"operation":"extend","options":{"for":"1d12h"}}`, `{"operation":"extend","options":{"until":"2026-03-01T12:00:00+01:00"}}`, `{"operation":"replace",` + zip + `,"options":{"only":["a"],"retain":["a:T*"]}}`, `{"operation":"plan",` + zip + `,"options":{"only":["a*"],"exclude":["tag:a"],"with_dependencies":false,"with_dependents":true,"changed_since":"abcdefghijklmnopqrs2"}}`, `{"operation":"deploy","key":"projects/shop/prod.tar.gz","version":"v7","options":{"rollback":true,"refuse":true}}`,
		`{"operation":"destroy",` + zip + `,"options":{}}`, ` {"operation":"refresh","options":{"who":"ann"}} ` + "\n", `{"operation":"retry","options":{` + that + `,"force":true,"max_deletions":7}}`,
		`{"operation":"unlock","options":{` + that + `,"reason":"a"}}`, `{"operation":"cancel","options":{` + that + `,"rollback":true}}`, `{"operation":"pause","options":{` + that + `}}`,
		``, `{`, `[]`, `null`, `{"operation":"deploy",` + zip + `}{}`, `{"operation":"deploy","options":{"max":1}}`, `{"operation":"drift"}`, `{"OPERATION":"plan","operation":"destroy"}`,
		`{"operation":"plan","key":"revisions/shop/prod/../x.zip","version":"1"}`, `{"operation":"deploy",` + zip + `,"options":{"max_deletions":-1e400}}`,
	} {
		f.Add([]byte(text))
	}
	e := put(f, "requests/shop/prod/1.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		var q run.Request
		var err error
		contract.Memory(t, len(text), 1<<20, 200, func() { q, err = trigger.Request(t.Context(), e, object{text: string(text)}) })
		if err != nil {
			t.Fatal(err)
		}
		if sound(t, q); q.Project != "shop@prod" || q.Upload {
			t.Errorf("it makes %+v", q)
		}
		if slices.Contains(q.Problems, "") {
			t.Errorf("%d problems of which one says nothing", len(q.Problems))
		}
		if len(q.Problems) > 0 {
			return
		}
		again, err := trigger.Request(t.Context(), e, object{text: string(runRequested(t, q))})
		if diff := cmp.Diff(q, again); diff != "" || err != nil {
			t.Errorf("written out it is another (%v):\n%s", err, diff)
		}
	})
}

// requested writes a request out.
func runRequested(t *testing.T, q run.Request) []byte {
	t.Helper()
	options := map[string]any{"run": q.Of, "force": q.Force, "who": q.Claim, "reason": q.Reason, "rollback": q.Rollback, "refuse": q.Refuse, "to": q.To}
	if q.Only != nil {
		options["only"] = q.Only
	}
	if q.Exclude != nil {
		options["exclude"] = q.Exclude
	}
	if q.WithDependencies != nil {
		options["with_dependencies"] = *q.WithDependencies
	}
	if q.WithDependents {
		options["with_dependents"] = true
	}
	if q.ChangedSince != "" {
		options["changed_since"] = q.ChangedSince
	}
	if q.Retain != nil {
		options["retain"] = q.Retain
	}
	if q.MaxDeletions != nil {
		options["max_deletions"] = *q.MaxDeletions
	}
	if q.For != 0 {
		options["for"] = q.For
	}
	if !q.Until.IsZero() {
		options["until"] = q.Until
	}
	return written(t, map[string]any{"operation": q.Operation, "key": q.Source.Key, "version": q.Source.Version, "options": options})
}

func written(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
