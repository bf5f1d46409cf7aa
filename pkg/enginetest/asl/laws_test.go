package asl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

const (
	spec = "https://states-language.net/spec.html"
	docs = "https://docs.aws.amazon.com/step-functions/latest/dg/"
)

// A law is one sentence of the language, with the place where it stands.
type law struct {
	says, where string
	machine     string
	input       string
	answer      func(asl.Call) (string, error)
	want        string // the output, or "fails NAME"
	calls       string // the calls, if given
	slept       []time.Duration
}

var big = `"` + strings.Repeat("x", asl.MaxPayload) + `"`

const tail = `,"Next":"E"},"E":{"Type":"Pass","End":true}}}`

var laws = []law{
	{says: "a Pass hands its input on", where: spec + "#pass-state",
		machine: single(`{"Type":"Pass"}`), input: `{"a":1}`, want: `{"a":1}`},
	{says: "a Pass's Result is its output", where: spec + "#pass-state",
		machine: single(`{"Type":"Pass","Result":{"x":[1,null]},"ResultPath":"$.r"}`), input: `{"a":1}`, want: `{"a":1,"r":{"x":[1,null]}}`},
	{says: "numbers keep their digits", where: spec + "#data",
		machine: single(`{"Type":"Pass"}`), input: `[12345678901234567890,1.50]`, want: `[12345678901234567890,1.50]`},
	{says: "a Fail ends the machine with its error", where: spec + "#fail-state",
		machine: `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"Oh","Cause":"no"}}}`, input: `{}`, want: "fails Oh"},
	{says: "a Succeed ends the machine with its input", where: spec + "#succeed-state",
		machine: `{"StartAt":"F","States":{"F":{"Type":"Succeed","InputPath":"$.a"}}}`, input: `{"a":2}`, want: "2"},

	{says: "InputPath chooses what a state sees; the result replaces the whole input", where: spec + "#filters",
		machine: single(`{"Type":"Task","Resource":"f","InputPath":"$.a[1]"}`), input: `{"a":[1,{"b":2}]}`, calls: `f {"b":2}`, want: `{"b":2}`},
	{says: "a null InputPath is an empty object", where: spec + "#filters",
		machine: single(`{"Type":"Task","Resource":"f","InputPath":null}`), input: `{"a":1}`, calls: `f {}`, want: `{}`},
	{says: "a null OutputPath is an empty object", where: spec + "#filters",
		machine: single(`{"Type":"Pass","OutputPath":null}`), input: `{"a":1}`, want: `{}`},
	{says: "ResultPath puts the result into the raw input, not into what InputPath chose", where: spec + "#using-paths",
		machine: single(`{"Type":"Task","Resource":"f","InputPath":"$.a","ResultPath":"$.x.y"}`), input: `{"a":{"b":2}}`, want: `{"a":{"b":2},"x":{"y":{"b":2}}}`},
	{says: "a null ResultPath drops the result", where: spec + "#filters",
		machine: single(`{"Type":"Task","Resource":"f","ResultPath":null}`), input: `{"a":1}`, answer: gives("7"), want: `{"a":1}`},
	{says: "a result cannot be put into what is no object", where: spec + "#appendix-a",
		machine: single(`{"Type":"Pass","ResultPath":"$.a.b"}`), input: `{"a":1}`, want: "fails States.ResultPathMatchFailure"},
	{says: "OutputPath chooses of the state's output", where: spec + "#filters",
		machine: single(`{"Type":"Task","Resource":"f","ResultPath":"$.r","OutputPath":"$.r"}`), input: `{"a":1}`, answer: gives("7"), want: `7`},
	{says: "an InputPath that leads nowhere fails at run time", where: docs + "concepts-error-handling.html",
		machine: single(`{"Type":"Pass","InputPath":"$.no"}`), input: `{}`, want: "fails States.Runtime"},
	{says: "Parameters are a template, also within lists", where: spec + "#payload-template",
		machine: single(`{"Type":"Pass","Parameters":{"a.$":"$.x","b":{"c":[1,{"d.$":"$['y z']"}]},"e.$":"$$.Execution.Input.x"}}`),
		input:   `{"x":1,"y z":2}`, want: `{"a":1,"b":{"c":[1,{"d":2}]},"e":1}`},
	{says: "a path in Parameters that leads nowhere fails, and no catcher helps", where: docs + "concepts-error-handling.html",
		machine: `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"f","Parameters":{"a.$":"$.x"},"Catch":[{"ErrorEquals":["States.ALL"],"Next":"E"}]` + tail,
		input:   `{}`, want: "fails States.Runtime"},
	{says: "ResultSelector is made of the result", where: spec + "#payload-template",
		machine: single(`{"Type":"Task","Resource":"f","ResultSelector":{"n.$":"$.m","k":1}}`), input: `{}`, answer: gives(`{"m":5}`), want: `{"k":1,"n":5}`},
	{says: "the context object names execution, machine and state", where: docs + "input-output-contextobject.html",
		machine: single(`{"Type":"Pass","Parameters":{"a.$":"$$.Execution.Name","b.$":"$$.StateMachine.Name","c.$":"$$.State.Name","d.$":"$$.Execution.Id"}}`),
		input:   `{}`, want: `{"a":"run-1","b":"m","c":"S","d":"arn:run-1"}`},

	{says: "lambda:invoke wraps what the function returned", where: docs + "connect-lambda.html",
		machine: single(`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f","Payload.$":"$"}}`),
		input:   `{"a":1}`, calls: `f {"a":1}`, want: `{"ExecutedVersion":"$LATEST","Payload":{"a":1},"StatusCode":200}`},
	{says: "a task that waits for its token gives what the token was answered with", where: docs + "connect-to-resource.html#connect-wait-token",
		machine: single(`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken","Parameters":{"FunctionName":"f","Payload":{"t.$":"$$.Task.Token"}}}`),
		input:   `{}`, calls: `f {"t":"token-1"}`, want: `{"t":"token-1"}`},
	{says: "a function's result that is no JSON fails at run time", where: docs + "concepts-error-handling.html",
		machine: single(`{"Type":"Task","Resource":"f"}`), input: `{}`, answer: gives("{"), want: "fails States.Runtime"},
	{says: "a timeout's path must lead to a positive whole number", where: spec + "#task-state",
		machine: single(`{"Type":"Task","Resource":"f","TimeoutSecondsPath":"$.n"}`), input: `{"n":0}`, want: "fails States.Runtime"},

	{says: "a retrier tries three times, after 1, 2 and 4 seconds, by default", where: spec + "#errors",
		machine: single(`{"Type":"Task","Resource":"f","Retry":[{"ErrorEquals":["A"]}]}`), input: `1`, answer: fails("A", "A", "A", "A"),
		want: "fails A", slept: []time.Duration{1e9, 2e9, 4e9}},
	{says: "MaxDelaySeconds bounds the pauses", where: spec + "#errors",
		machine: single(`{"Type":"Task","Resource":"f","Retry":[{"ErrorEquals":["A"],"IntervalSeconds":2,"BackoffRate":3,"MaxDelaySeconds":5,"MaxAttempts":9}]}`),
		input:   `1`, answer: fails("A", "A", "A"), want: "1", slept: []time.Duration{2e9, 5e9, 5e9}},
	{says: "full jitter takes a part of the pause by chance", where: spec + "#errors",
		machine: single(`{"Type":"Task","Resource":"f","Retry":[{"ErrorEquals":["A"],"IntervalSeconds":8,"JitterStrategy":"FULL"}]}`),
		input:   `1`, answer: fails("A"), want: "1", slept: []time.Duration{2e9}},
	{says: "each retrier counts its own attempts; no attempts are none", where: spec + "#errors",
		machine: single(`{"Type":"Task","Resource":"f","Retry":[{"ErrorEquals":["A"],"MaxAttempts":1},{"ErrorEquals":["B"],"MaxAttempts":0}]}`),
		input:   `1`, answer: fails("A", "B"), want: "fails B", slept: []time.Duration{1e9}},
	{says: "the retries so far are known", where: docs + "input-output-contextobject.html",
		machine: single(`{"Type":"Task","Resource":"f","Parameters":{"n.$":"$$.State.RetryCount"},"Retry":[{"ErrorEquals":["A"]}]}`),
		input:   `1`, answer: fails("A"), want: `{"n":1}`, slept: []time.Duration{1e9}},
	{says: "a Retry comes before a Catch", where: spec + "#errors",
		machine: `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"f","Retry":[{"ErrorEquals":["States.ALL"],"MaxAttempts":1}],"Catch":[{"ErrorEquals":["A"],"ResultPath":"$.e","Next":"E"}]` + tail,
		input:   `{"k":1}`, answer: fails("A", "A"), want: `{"e":{"Cause":"because","Error":"A"},"k":1}`, slept: []time.Duration{1e9}},
	{says: "a Catch without ResultPath replaces the input with the error", where: spec + "#errors",
		machine: `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"f","Catch":[{"ErrorEquals":["B"],"Next":"E"},{"ErrorEquals":["States.ALL"],"Next":"E"}]` + tail,
		input:   `{}`, answer: fails("A"), want: `{"Cause":"because","Error":"A"}`},
	{says: "States.TaskFailed is any failure but a timeout", where: docs + "concepts-error-handling.html",
		machine: `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"f","Catch":[{"ErrorEquals":["States.TaskFailed"],"ResultPath":null,"Next":"E"}]` + tail,
		input:   `{}`, answer: fails("A"), want: `{}`},
	{says: "a timeout is no States.TaskFailed", where: docs + "concepts-error-handling.html",
		machine: `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"f","Catch":[{"ErrorEquals":["States.TaskFailed"],"ResultPath":null,"Next":"E"}]` + tail,
		input:   `{}`, answer: fails(asl.Timeout), want: "fails States.Timeout"},
	{says: "a timeout can be caught by its name", where: docs + "concepts-error-handling.html",
		machine: `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"f","TimeoutSeconds":3,"Catch":[{"ErrorEquals":["States.Timeout"],"ResultPath":null,"Next":"E"}]` + tail,
		input:   `{}`, answer: fails(asl.Timeout), want: `{}`},
	{says: "States.ALL is not a result that is too large", where: docs + "concepts-error-handling.html",
		machine: `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"f","Catch":[{"ErrorEquals":["States.ALL"],"Next":"E"}]` + tail,
		input:   `{}`, answer: gives(big), want: "fails States.DataLimitExceeded"},
	{says: "a result that is too large can be caught by its name", where: docs + "concepts-error-handling.html",
		machine: `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"f","ResultPath":"$.r","Catch":[{"ErrorEquals":["States.DataLimitExceeded"],"ResultPath":null,"Next":"E"}]` + tail,
		input:   `{}`, answer: gives(big), want: `{}`},
	{says: "an output that grows too large fails", where: docs + "service-quotas.html",
		machine: single(`{"Type":"Task","Resource":"f","Parameters":{},"ResultPath":"$.r"}`), input: `{"a":` + big[:200000] + `"}`, answer: gives(big[:200000] + `"`),
		want: "fails States.DataLimitExceeded"},

	{says: "a Choice takes the first rule that holds", where: spec + "#choice-state",
		machine: choice(`{"Variable":"$.s","StringEquals":"b","Next":"A"},{"Variable":"$.s","StringEquals":"a","Next":"B"},{"Variable":"$.s","StringEquals":"a","Next":"A"}`),
		input:   `{"s":"a"}`, want: `"B"`},
	{says: "a Choice without a rule that holds takes its Default", where: spec + "#choice-state",
		machine: choice(`{"Variable":"$.s","StringEquals":"b","Next":"A"},{"Variable":"$.s","StringEquals":"c","Next":"B"}`), input: `{"s":"a"}`, want: `"D"`},
	{says: "a value of another kind is not equal", where: spec + "#choice-state",
		machine: choice(`{"Variable":"$.s","NumericEquals":1,"Next":"A"},{"Variable":"$.s","BooleanEquals":true,"Next":"B"}`), input: `{"s":"1"}`, want: `"D"`},
	{says: "numbers are compared as numbers", where: spec + "#choice-state",
		machine: choice(`{"Variable":"$.s","NumericLessThan":10,"Next":"A"},{"Variable":"$.s","NumericGreaterThan":10,"Next":"B"}`), input: `{"s":10.5}`, want: `"B"`},
	{says: "equal numbers may be written differently", where: spec + "#choice-state",
		machine: choice(`{"Variable":"$.s","NumericEquals":10,"Next":"A"},{"Variable":"$.s","BooleanEquals":true,"Next":"B"}`), input: `{"s":1.0e1}`, want: `"A"`},
	{says: "at most and at least hold of the number itself", where: spec + "#choice-state",
		machine: choice(`{"And":[{"Variable":"$.s","NumericLessThanEquals":10},{"Variable":"$.s","NumericGreaterThanEquals":10}],"Next":"A"},{"Variable":"$.s","BooleanEquals":true,"Next":"B"}`), input: `{"s":10}`, want: `"A"`},
	{says: "true is true", where: spec + "#choice-state",
		machine: choice(`{"Variable":"$.s","BooleanEquals":false,"Next":"A"},{"Variable":"$.s","BooleanEquals":true,"Next":"B"}`), input: `{"s":true}`, want: `"B"`},
	{says: "a rule can test whether a value is absent", where: spec + "#choice-state",
		machine: choice(`{"Variable":"$.no.where","IsPresent":true,"Next":"A"},{"Variable":"$.no","IsPresent":false,"Next":"B"}`), input: `{}`, want: `"B"`},
	{says: "what is absent cannot be compared", where: spec + "#choice-state",
		machine: choice(`{"Variable":"$.no","StringEquals":"a","Next":"A"},{"Variable":"$.no","IsPresent":false,"Next":"B"}`), input: `{}`, want: "fails States.Runtime"},
	{says: "And stops at what is false, Or at what is true, and Not turns about", where: spec + "#choice-state",
		machine: choice(`{"And":[{"Variable":"$.no","IsPresent":true},{"Variable":"$.no","StringEquals":"a"}],"Next":"A"},
			{"Or":[{"Not":{"Variable":"$.s","StringEquals":"x"}},{"Variable":"$.no","StringEquals":"a"}],"Next":"B"}`), input: `{"s":"a"}`, want: `"B"`},
	{says: "a Choice without a Default may find nothing", where: spec + "#appendix-a",
		machine: `{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Variable":"$.s","StringEquals":"b","Next":"A"}]},"A":{"Type":"Succeed"}}}`,
		input:   `{"s":1}`, want: "fails States.NoChoiceMatched"},

	{says: "a Wait waits, and hands its input on", where: spec + "#wait-state",
		machine: single(`{"Type":"Wait","Seconds":90}`), input: `{"n":3}`, want: `{"n":3}`, slept: []time.Duration{90e9}},
	{says: "a Wait can take its time from the input", where: spec + "#wait-state",
		machine: single(`{"Type":"Wait","SecondsPath":"$.n"}`), input: `{"n":3}`, want: `{"n":3}`, slept: []time.Duration{3e9}},
	{says: "a Wait's seconds are a whole number", where: spec + "#wait-state",
		machine: single(`{"Type":"Wait","SecondsPath":"$.n"}`), input: `{"n":"3"}`, want: "fails States.Runtime"},

	{says: "a Map gives the results in the items' order", where: spec + "#map-state",
		machine: single(`{"Type":"Map","ItemsPath":"$.l","ItemProcessor":{"ProcessorConfig":{"Mode":"INLINE"},"StartAt":"I","States":{"I":{"Type":"Task","Resource":"f","End":true}}}}`),
		input:   `{"l":[3,1,2]}`, want: `[3,1,2]`},
	{says: "ItemSelector sees the Map's input, the item and its index", where: spec + "#map-state",
		machine: single(`{"Type":"Map","ItemsPath":"$.l","ItemSelector":{"r.$":"$.r","v.$":"$$.Map.Item.Value.x","i.$":"$$.Map.Item.Index"},"MaxConcurrency":1,"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Task","Resource":"f","End":true}}}}`),
		input:   `{"r":"R","l":[{"x":1},{"x":2}]}`, want: `[{"i":0,"r":"R","v":1},{"i":1,"r":"R","v":2}]`},
	{says: "without items there is nothing to do", where: spec + "#map-state",
		machine: single(`{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Task","Resource":"f","End":true}}}}`), input: `[]`, want: `[]`},
	{says: "what is no list cannot be mapped", where: spec + "#map-state",
		machine: single(`{"Type":"Map","ItemsPath":"$.l","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}}}`), input: `{"l":{}}`, want: "fails States.Runtime"},
	{says: "one item's failure is the Map's, which can be caught", where: spec + "#map-state",
		machine: `{"StartAt":"S","States":{"S":{"Type":"Map","MaxConcurrency":1,"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Task","Resource":"f","End":true}}},"Catch":[{"ErrorEquals":["A"],"Next":"E"}]` + tail,
		input:   `[1,2,3]`, answer: fails("A"), want: `{"Cause":"because","Error":"A"}`, calls: "f 1"},
	{says: "a Map can be tried again as a whole", where: spec + "#map-state",
		machine: single(`{"Type":"Map","MaxConcurrency":1,"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Task","Resource":"f","End":true}}},"Retry":[{"ErrorEquals":["A"]}]}`),
		input:   `[1,2]`, answer: fails("A"), want: `[1,2]`, calls: "f 1; f 1; f 2", slept: []time.Duration{1e9}},
	{says: "in an iteration the item is still known", where: docs + "input-output-contextobject.html",
		machine: single(`{"Type":"Map","ItemSelector":{},"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","Parameters":{"v.$":"$$.Map.Item.Value"},"End":true}}}}`),
		input:   `[7]`, want: `[{"v":7}]`},
}

// choice is a machine that says where its rules led.
func choice(rules string) string {
	end := func(name string) string { return `,"` + name + `":{"Type":"Pass","Result":"` + name + `","End":true}` }
	return `{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[` + rules + `],"Default":"D"}` + end("A") + end("B") + end("D") + `}}`
}

// Every law holds, and whether items run one after another or at once makes no difference.
func TestLaws(t *testing.T) {
	for _, l := range laws {
		modes := []bool{true, false}
		if l.answer != nil { // a script of answers is used once
			modes = modes[:1]
		}
		for _, serial := range modes {
			t.Run(fmt.Sprintf("%s/serial=%v", l.says, serial), func(t *testing.T) {
				w := &host{answer: l.answer}
				r := &asl.Runner{Host: w, Serial: serial, Jitter: func() float64 { return 0.25 },
					Execution: asl.Execution{ID: "arn:run-1", Name: "run-1", Machine: "arn:m", MachineName: "m"}}
				got := outcome(r.Run(t.Context(), parse(t, l.machine), json.RawMessage(l.input)))
				if got != l.want {
					t.Errorf("got %.200s, want %s (%s)", got, l.want, l.where)
				}
				if l.calls != "" && w.inputs() != l.calls {
					t.Errorf("calls %s, not %s (%s)", w.inputs(), l.calls, l.where)
				}
				if !slices.Equal(w.slept, l.slept) {
					t.Errorf("slept %v, not %v (%s)", w.slept, l.slept, l.where)
				}
			})
		}
	}
}

// A run that is taken up at a state goes on as if it had never stopped.
func TestResume(t *testing.T) {
	const text = `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"a","ResultPath":"$.a","Next":"B"},
		"B":{"Type":"Map","ItemsPath":"$.l","ResultPath":"$.b","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Task","Resource":"i","End":true}}},"Next":"C"},
		"C":{"Type":"Wait","Seconds":1,"End":true}}}`
	m, input := parse(t, text), json.RawMessage(`{"l":[1,2]}`)
	type stop struct {
		state string
		input json.RawMessage
	}
	var stops []stop
	whole := &asl.Runner{Host: &host{}, Serial: true, Checkpoint: func(state string, in any) error {
		b, err := asl.Encode(in)
		stops = append(stops, stop{state, b})
		return err
	}}
	want := outcome(whole.Run(t.Context(), m, input))
	if len(stops) != 3 {
		t.Fatalf("%d checkpoints, not one for each of A, B and C", len(stops))
	}
	for _, s := range stops {
		r := &asl.Runner{Host: &host{}, Serial: true}
		if got := outcome(r.Resume(t.Context(), m, s.state, s.input)); got != want {
			t.Errorf("from %s: %s, not %s", s.state, got, want)
		}
	}
	if _, err := whole.Resume(t.Context(), m, "I", input); err == nil {
		t.Error("an inner state is none to resume at")
	}
	halt := &asl.Runner{Host: &host{}, Serial: true, Checkpoint: func(string, any) error { return errors.New("enough") }}
	if got := outcome(halt.Run(t.Context(), m, input)); got != "breaks enough" {
		t.Error(got)
	}
}

// A host's error that is no *Error ends the run as it is: no catcher handles it.
func TestBrokenHost(t *testing.T) {
	m := parse(t, `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"f","Catch":[{"ErrorEquals":["States.ALL"],"Next":"E"}]`+tail)
	r := &asl.Runner{Host: &host{answer: func(asl.Call) (string, error) { return "", errors.New("host broken") }}}
	if got := outcome(r.Run(t.Context(), m, json.RawMessage(`{}`))); got != "breaks asl: S: host broken" {
		t.Error(got)
	}
}

// What was in progress when the context ended has not failed: there is no event of it, and no catcher handles it.
func TestInterrupted(t *testing.T) {
	m := parse(t, `{"StartAt":"S","States":{"S":{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Task","Resource":"f","End":true}}},"Catch":[{"ErrorEquals":["States.ALL"],"Next":"E"}]`+tail)
	over := errors.New("lights out")
	for _, serial := range []bool{true, false} {
		ctx, cancel := context.WithCancelCause(t.Context())
		events := make(chan asl.Kind, 100)
		r := &asl.Runner{Serial: serial,
			Host:    &host{answer: func(asl.Call) (string, error) { cancel(over); return "", &asl.Error{Name: "A"} }},
			Observe: func(e asl.Event) int64 { events <- e.Kind; return 1 }}
		_, err := r.Run(ctx, m, json.RawMessage(`[1,2]`))
		if !errors.Is(err, over) {
			t.Errorf("serial=%v: %v", serial, err)
		}
		close(events)
		for kind := range events {
			if strings.Contains(string(kind), "Fail") || strings.Contains(string(kind), "Abort") {
				t.Errorf("serial=%v: %s was observed", serial, kind)
			}
		}
	}
}
