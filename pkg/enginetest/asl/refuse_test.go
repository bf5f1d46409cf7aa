package asl_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

// task is a machine of one task with some more fields.
func task(fields string) string {
	return single(`{"Type":"Task","Resource":"f"` + fields + `}`)
}

const waits = `"Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken"`

// What would not run as it does on AWS, or could lose its way, is refused: each time with the state's path and the reason.
func TestRefusals(t *testing.T) {
	inner := func(states string) string {
		return single(`{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{` + states + `}}}`)
	}
	for _, c := range []struct{ machine, want string }{
		{`{`, "JSON"},
		{`{} {}`, "JSON"},
		{`[]`, "machine: must be an object"},
		{`null`, "machine: must be an object"},
		{strings.Repeat(" ", asl.MaxDefinition+1), "more than 1048576"},
		{`{"StartAt":"S"}`, `machine: field "States" is missing`},
		{`{"States":{}}`, `machine: field "StartAt" is missing`},
		{`{"StartAt":"S","States":[]}`, `field "States" must be an object`},
		{`{"StartAt":"S","States":{}}`, `machine: StartAt leads to "S", which is no state here`},
		{`{"StartAt":7,"States":{"S":{"Type":"Succeed"}}}`, `field "StartAt" must be a string, not 7`},
		{`{"startAt":"S","States":{"S":{"Type":"Succeed"}}}`, `no field "startAt"`},
		{`{"StartAt":"S","States":{"S":{"Type":"Succeed"}},"Tag":1}`, `machine: a machine has no field "Tag"`},
		{`{"StartAt":"S","StartAt":"S","States":{"S":{"Type":"Succeed"}}}`, `field "StartAt" stands there twice`},
		{`{"StartAt":"S","States":{"S":{"Type":"Succeed","Type":"Fail"}}}`, `States/S: field "Type" stands there twice`},
		{`{"StartAt":"S","States":{"S":{"Type":"Succeed"}},"QueryLanguage":"JSONata"}`, `machine: QueryLanguage "JSONata" is not understood`},
		{`{"StartAt":"S","States":{"S":{"Type":"Succeed","QueryLanguage":"JSONata"}}}`, `S: QueryLanguage "JSONata" is not understood`},
		{`{"StartAt":"S","States":{"S":{"Type":"Succeed"}},"Version":"2.0"}`, `field "Version" must be "1.0"`},
		{`{"StartAt":"S","States":{"S":{"Type":"Succeed"}},"TimeoutSeconds":0}`, `machine: field "TimeoutSeconds" must be a whole number from 1`},

		{`{"StartAt":"S","States":{"S":{}}}`, `S: field "Type" is missing`},
		{`{"StartAt":"S","States":{"S":null}}`, `S: must be an object`},
		{`{"StartAt":"S","States":{"S":{"Type":"Parallel","Branches":[],"End":true}}}`, `S: type "Parallel" is not understood`},
		{`{"StartAt":"","States":{"":{"Type":"Succeed"}}}`, "1 to 80 characters"},
		{strings.ReplaceAll(`{"StartAt":"N","States":{"N":{"Type":"Succeed"}}}`, "N", strings.Repeat("n", 81)), "1 to 80 characters"},
		{`{"StartAt":"S","States":{"S":{"Type":"Pass"}}}`, `S: needs either Next or "End": true`},
		{`{"StartAt":"S","States":{"S":{"Type":"Pass","Next":"S","End":true}}}`, `S: needs either Next or "End": true`},
		{`{"StartAt":"S","States":{"S":{"Type":"Pass","Next":"T"}}}`, `S: leads to "T", which is no state here`},
		{`{"StartAt":"S","States":{"S":{"Type":"Pass","Next":"S"}}}`, `S: no way leads from it to an end`},
		{`{"StartAt":"S","States":{"S":{"Type":"Succeed"},"T":{"Type":"Succeed"}}}`, `T: nothing leads to it from "S"`},
		{`{"StartAt":"S","States":{"S":{"Type":"Succeed"},"T":{"Type":"Pass","Next":"U"},"U":{"Type":"Pass","Next":"T"}}}`, `T: nothing leads to it`},
		{`{"StartAt":"S","States":{"S":{"Type":"Succeed","End":true}}}`, `a Succeed state has no field "End"`},
		{`{"StartAt":"S","States":{"S":{"Type":"Fail","ErrorPath":"$.e"}}}`, `a Fail state has no field "ErrorPath"`},
		{`{"StartAt":"S","States":{"S":{"Type":"Fail","InputPath":"$.e"}}}`, `a Fail state has no field "InputPath"`},

		{single(`{"Type":"Pass","Retry":[]}`), `a Pass state has no field "Retry"`},
		{single(`{"Type":"Pass","Assign":{}}`), `a Pass state has no field "Assign"`},
		{single(`{"Type":"Pass","InputPath":7}`), `field "InputPath" must be a path`},
		{single(`{"Type":"Pass","InputPath":"a"}`), `"a" is no path`},
		{single(`{"Type":"Pass","InputPath":"$.a[*]"}`), `[*] is neither a quoted name nor an index`},
		{single(`{"Type":"Pass","InputPath":"$..a"}`), "only names and indexes are understood"},
		{single(`{"Type":"Pass","InputPath":"$.a[?(@.b)]"}`), "neither a quoted name nor an index"},
		{single(`{"Type":"Pass","InputPath":"$.a[-1]"}`), "neither a quoted name nor an index"},
		{single(`{"Type":"Pass","InputPath":"$.a["}`), "only names and indexes are understood"},
		{single(`{"Type":"Pass","InputPath":"$a"}`), "only names and indexes are understood"},
		{single(`{"Type":"Pass","ResultPath":"$.a[0]"}`), "no place to put a result"},
		{single(`{"Type":"Pass","ResultPath":"$$.Execution.Name"}`), "no place to put a result"},
		{single(`{"Type":"Pass","Parameters":7}`), `field "Parameters" must be an object`},
		{single(`{"Type":"Pass","Parameters":null}`), `field "Parameters" must be an object`},
		{single(`{"Type":"Pass","Parameters":{"a.$":7}}`), `field "a.$" must be a path`},
		{single(`{"Type":"Pass","Parameters":{"a.$":"States.UUID()"}}`), "intrinsic functions are not understood"},
		{single(`{"Type":"Pass","Parameters":{"b":[{"a.$":"x"}]}}`), `"x" is no path`},
		{single(`{"Type":"Pass","Parameters":{"a":1,"a.$":"$.x"}}`), `"a" and "a.$" are one field`},
		{single(`{"Type":"Pass","Parameters":{"a.$":"$$.Execution.StartTime"}}`), "the context object has no $$.Execution.StartTime"},
		{single(`{"Type":"Pass","Parameters":{"a.$":"$$"}}`), "the context object has no $$ "},
		{single(`{"Type":"Pass","Parameters":{"a.$":"$$.Task.Token"}}`), "S: $$.Task.Token is only there in a task that waits for its token"},
		{single(`{"Type":"Pass","Parameters":{"a.$":"$$.Map.Item.Value"}}`), "S: $$.Map.Item.Value is only there in a Map"},

		{single(`{"Type":"Task"}`), `S: field "Resource" is missing`},
		{single(`{"Type":"Task","Resource":"arn:aws:states:::sns:publish"}`), "neither a Lambda function nor"},
		{single(`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.sync","Parameters":{"FunctionName":"f"}}`), "neither a Lambda function nor"},
		{single(`{"Type":"Task","Resource":"${Plan}"}`), "neither a Lambda function nor"},
		{task(`,"HeartbeatSeconds":5`), `a Task state has no field "HeartbeatSeconds"`},
		{task(`,"Credentials":{}`), `a Task state has no field "Credentials"`},
		{task(`,"TimeoutSeconds":0`), `field "TimeoutSeconds" must be a whole number from 1`},
		{task(`,"TimeoutSeconds":1.5`), `field "TimeoutSeconds" must be a whole number from 1`},
		{task(`,"TimeoutSeconds":"5"`), `field "TimeoutSeconds" must be a whole number from 1`},
		{task(`,"TimeoutSeconds":5,"TimeoutSecondsPath":"$.n"`), "both TimeoutSeconds and TimeoutSecondsPath"},
		{single(`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke"}`), "lambda:invoke needs a FunctionName"},
		{single(`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{}}`), "lambda:invoke needs a FunctionName"},
		{single(`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"a b"}}`), "is no Lambda function"},
		{single(`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f","InvocationType":"Event"}}`), `lambda:invoke has no field "InvocationType"`},
		{single(`{"Type":"Task",` + waits + `,"Parameters":{"FunctionName":"f","Payload":{}}}`), "S: waits for a token that it gives to nobody"},

		{task(`,"Retry":{}`), `field "Retry" must be a list`},
		{task(`,"Retry":[]`), `field "Retry" is empty`},
		{task(`,"Retry":[{}]`), `S/Retry[0]: field "ErrorEquals" is missing`},
		{task(`,"Retry":[{"ErrorEquals":[]}]`), `field "ErrorEquals" is empty`},
		{task(`,"Retry":[{"ErrorEquals":["States.Nope"]}]`), "the language knows no error States.Nope"},
		{task(`,"Retry":[{"ErrorEquals":["States.Runtime"]}]`), "cannot be named"},
		{task(`,"Retry":[{"ErrorEquals":["States.ALL","A"]}]`), "must stand alone"},
		{task(`,"Retry":[{"ErrorEquals":["States.ALL"]},{"ErrorEquals":["A"]}]`), "must come last"},
		{task(`,"Retry":[{"ErrorEquals":["A"],"IntervalSeconds":0}]`), `"IntervalSeconds" must be a whole number from 1`},
		{task(`,"Retry":[{"ErrorEquals":["A"],"MaxAttempts":-1}]`), `"MaxAttempts" must be a whole number from 0`},
		{task(`,"Retry":[{"ErrorEquals":["A"],"BackoffRate":0.5}]`), `"BackoffRate" must be a number from 1`},
		{task(`,"Retry":[{"ErrorEquals":["A"],"MaxDelaySeconds":1}]`), "MaxDelaySeconds must be more than IntervalSeconds"},
		{task(`,"Retry":[{"ErrorEquals":["A"],"JitterStrategy":"HALF"}]`), `JitterStrategy "HALF" is neither FULL nor NONE`},
		{task(`,"Retry":[{"ErrorEquals":["A"],"Next":"S"}]`), `a retrier has no field "Next"`},
		{`{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"f","Next":"","Catch":[{"ErrorEquals":["A"],"Next":"E"}]},"E":{"Type":"Succeed"}}}`, `S: field "Next" must name a state`},
		{task(`,"Catch":[{"ErrorEquals":["A"],"Next":""}]`), `S/Catch[0]: field "Next" must name a state`},
		{choice(`{"Variable":"$.a","IsPresent":true,"Next":""}`), `C/Choices[0]: field "Next" must name a state`},
		{task(`,"Catch":[{"ErrorEquals":["A"]}]`), `S/Catch[0]: field "Next" is missing`},
		{task(`,"Catch":[{"ErrorEquals":["A"],"Next":"T"}]`), `S: leads to "T", which is no state here`},
		{task(`,"Catch":[{"ErrorEquals":["States.ALL"],"Next":"S"},{"ErrorEquals":["A"],"Next":"S"}]`), "must come last"},
		{task(`,"Catch":[{"ErrorEquals":["A"],"Next":"S","Assign":{}}]`), `a catcher has no field "Assign"`},

		{choice(``), `field "Choices" is empty`},
		{choice(`{"Variable":"$.a","StringEquals":"x"}`), `C/Choices[0]: field "Next" is missing`},
		{choice(`{"StringEquals":"x","Next":"A"}`), `field "Variable" is missing`},
		{choice(`{"Variable":"$.a","Next":"A"}`), "exactly one comparison that is understood, not 0"},
		{choice(`{"Variable":"$.a","StringEquals":"x","IsPresent":true,"Next":"A"}`), "exactly one comparison that is understood, not 2"},
		{choice(`{"Variable":"$.a","StringMatches":"x*","Next":"A"}`), `a choice rule has no field "StringMatches"`},
		{choice(`{"Variable":"$.a","NumericEquals":"1","Next":"A"}`), `"NumericEquals" must be a number`},
		{choice(`{"Variable":"$.a","BooleanEquals":null,"Next":"A"}`), `"BooleanEquals" must be true or false`},
		{choice(`{"And":[],"Next":"A"}`), `field "And" is empty`},
		{choice(`{"Not":[],"Next":"A"}`), `C/Choices[0]/Not[0]: must be an object`},
		{choice(`{"And":[{"Variable":"$.a","IsPresent":true,"Next":"B"}],"Next":"A"}`), `C/Choices[0]/And[0]: a choice rule has no field "Next"`},
		{choice(strings.Repeat(`{"Not":`, 12) + `{"Variable":"$.a","IsPresent":true}` + strings.Repeat("}", 11) + `,"Next":"A"}`), "rules are nested more than 8 deep"},
		{`{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Variable":"$.a","IsPresent":true,"Next":"C"}]}}}`, "C: no way leads from it to an end"},
		{`{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Variable":"$.a","IsPresent":true,"Next":"X"}],"Default":"Y"}}}`, `leads to "Y"`},

		{single(`{"Type":"Wait"}`), "needs Seconds or SecondsPath"},
		{single(`{"Type":"Wait","Timestamp":"2030-01-01T00:00:00Z"}`), `a Wait state has no field "Timestamp"`},
		{single(`{"Type":"Wait","Seconds":-1}`), `field "Seconds" must be a whole number from 0`},
		{single(`{"Type":"Wait","Seconds":1,"SecondsPath":"$.n"}`), "both Seconds and SecondsPath"},

		{single(`{"Type":"Map"}`), `S: field "ItemProcessor" is missing`},
		{single(`{"Type":"Map","Iterator":{}}`), `a Map state has no field "Iterator"`},
		{single(`{"Type":"Map","ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"I","States":{"I":{"Type":"Succeed"}}}}`), `S/ProcessorConfig: Mode "DISTRIBUTED" is not understood`},
		{single(`{"Type":"Map","MaxConcurrency":-1,"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Succeed"}}}}`), `"MaxConcurrency" must be a whole number`},
		{single(`{"Type":"Map","ToleratedFailureCount":1,"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Succeed"}}}}`), `a Map state has no field "ToleratedFailureCount"`},
		{single(`{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Succeed"}},"Retry":[]}}`), `S/ItemProcessor: an ItemProcessor has no field "Retry"`},
		{inner(`"I":{"Type":"Pass","Next":"S"}`), `S/I: leads to "S", which is no state here`},
		{inner(`"I":{"Type":"Succeed"},"J":{"Type":"Succeed"}`), `S/J: nothing leads to it from "I"`},
		{inner(`"J":{"Type":"Succeed"}`), `S: StartAt leads to "I", which is no state here`},
		{inner(`"I":{"Type":"Pass","Next":"S"},"S":{"Type":"Succeed"}`), "a state of this name is also at S"},
		{nested(10), "Maps are nested more than 8 deep"},
	} {
		_, err := asl.Parse([]byte(c.machine))
		if err == nil {
			t.Errorf("%.300s\nwas not refused: %s", c.machine, c.want)
			continue
		}
		if !strings.Contains(err.Error()+" ", c.want) {
			t.Errorf("%.300s\nwas refused with %v\nnot with %s", c.machine, err, c.want)
		}
	}
}

// nested is a machine with Maps in Maps.
func nested(depth int) string {
	out := `{"StartAt":"X","States":{"X":{"Type":"Succeed"}}}`
	for i := range depth {
		out = strings.ReplaceAll(`{"StartAt":"N","States":{"N":{"Type":"Map","End":true,"ItemProcessor":`, "N", "S"+strings.Repeat("i", i)) + out + `}}}`
	}
	return out
}

// All that is wrong is said at once.
func TestRefuseAllAtOnce(t *testing.T) {
	_, err := asl.Parse([]byte(`{"StartAt":"A","States":{"A":{"Type":"Wait","Next":"B"},"B":{"Type":"Task","End":true,"X":1}}}`))
	want := "asl: A: needs Seconds or SecondsPath\nasl: B: field \"Resource\" is missing\nasl: B: a Task state has no field \"X\" that is understood"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// Names are put in where they stand, as JSON; a name too few or too many is an error.
func TestSubstitute(t *testing.T) {
	body := `{"a":"${Plan}","b":"x${Poll_2}y${Plan}"}`
	out, err := asl.Substitute([]byte(body), map[string]string{"Plan": `arn:"q"\`, "Poll_2": "-"})
	if want := `{"a":"arn:\"q\"\\","b":"x-yarn:\"q\"\\"}`; err != nil || string(out) != want {
		t.Errorf("%s %v", out, err)
	}
	for _, c := range []struct {
		body   string
		values map[string]string
		want   string
	}{
		{`"${A} ${B}"`, map[string]string{"A": "1"}, "asl: substitute: nothing is known for ${B}"},
		{`"${A}"`, map[string]string{"A": "1", "C": "2", "B": "3"}, "asl: substitute: the machine has no ${B}, ${C}"},
		{`"${A b}"`, map[string]string{"A": "1"}, "asl: substitute: nothing is known for ${A b}"},
		{`"${A`, map[string]string{"A": "1"}, "asl: substitute: nothing is known for ${A"},
	} {
		if _, err := asl.Substitute([]byte(c.body), c.values); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, not %s", c.body, err, c.want)
		}
	}
}
