package asl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
)

// Whatever is parsed either is refused, with the place of each fault, or runs
// until it ends or the host stops it, with the same events both times and in little memory.
func FuzzParse(f *testing.F) {
	for _, l := range laws {
		if len(l.machine) < 2000 {
			f.Add([]byte(l.machine), []byte(`{"s":"a","n":1,"l":[1,{"x":2}]}`))
		}
	}
	f.Add(deployed(f), []byte(`{"run":"r","epoch":1}`))
	f.Add([]byte(strings.Repeat(`{"a":`, 5000)+"1"+strings.Repeat("}", 5000)), []byte(`{}`))
	f.Add([]byte(single(`{"Type":"Pass","Parameters":{"a.$":"$","b.$":"$"},"ResultPath":"$.x"}`)), []byte(`[[[[[[]]]]]]`))
	f.Fuzz(func(t *testing.T, machine, input []byte) {
		var m *asl.Machine
		var err error
		contract.Memory(t, len(machine), 4<<20, 500, func() { m, err = asl.Parse(machine) })
		_, again := asl.Parse(machine)
		if diff := cmp.Diff(fmt.Sprint(err), fmt.Sprint(again)); diff != "" {
			t.Errorf("parsed again it has other errors: %s", diff)
		}
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "asl: ") && !strings.Contains(string(machine), "\\") && !strings.Contains(string(machine), "\n") {
					t.Errorf("%q says no place", line)
				}
			}
			return
		}
		if !json.Valid(input) {
			return
		}
		one, before := lived(t, m, input)
		two, after := lived(t, m, input)
		if one != two || !slices.Equal(before, after) {
			t.Errorf("once it is %s, after %d events, and then %s after %d", one, len(before), two, len(after))
		}
	})
}

// lived runs a machine until it has ended or taken 150 events, and tells how.
func lived(t *testing.T, m *asl.Machine, input []byte) (end string, kinds []string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r := &asl.Runner{Host: &host{answer: fails("A", asl.Timeout)}, Serial: true, Jitter: func() float64 { return 0.5 }, Now: func() time.Time { return time.Time{} }, Observe: func(e asl.Event) int64 {
		if kinds = append(kinds, string(e.Kind)); len(kinds) > 150 {
			stop()
		}
		return int64(len(kinds))
	}}
	var out json.RawMessage
	var err error
	// Each event may make a payload, which takes some multiple of its size as values.
	contract.Memory(t, 150, 16<<20, 8*asl.MaxPayload, func() { out, err = r.Run(ctx, m, input) })
	if err == nil && (!json.Valid(out) || len(out) > asl.MaxPayload && len(out) > len(input)) {
		t.Errorf("the output of %d bytes is %.100s", len(out), out)
	}
	if e := (*asl.Error)(nil); err != nil && !errors.As(err, &e) && ctx.Err() == nil && !strings.HasPrefix(err.Error(), "asl: ") {
		t.Errorf("it ends with %v", err)
	}
	return outcome(out, err), kinds
}

// deployed is the machine that is deployed.
func deployed(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("../../../stepfn/run.asl.json")
	if err != nil {
		t.Fatal(err)
	}
	arn := func(name string) string { return "arn:aws:lambda:us-east-1:111122223333:function:" + name }
	text, err = asl.Substitute(text, map[string]string{"Plan": arn("plan"), "ExecuteStep": arn("execute"), "WaitStatus": arn("wait")})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// For any input and any answers of its functions, the deployed machine calls only
// its functions, each with the fields that it takes, and ends in one of its end
// states or with a failure that says why.
func FuzzInput(f *testing.F) {
	m := parse(f, string(deployed(f)))
	for _, answers := range []string{
		`{"run":"r","epoch":1,"state":"ready","ready":[1,2],"wait":5}` + "\n{}\n!Throttled\n" + `{"run":"r","epoch":1,"state":"succeeded","ready":[],"wait":5}`,
		`{"state":"waiting"}`, `{"state":"poll","wait":30}` + "\n!States.Timeout\n" + `{"state":"refused"}`, `{"state":"ready"}`, `{"state":"ready","ready":{}}`, `{"state":"poll","wait":-1}`,
		`{"state":7,"wait":1e9}`, `[]`, `null`, ``, `!Lambda.Unknown`, `{"state":"poll","wait":1.5}`, `{"state":"ready","ready":[` + strings.Repeat("1,", 2000) + `1]}`, "!States.ALL\n!", `{"state":"fenced off"}{}`,
	} {
		f.Add([]byte(`{"run":"abcdefghijklmnopqrs2","epoch":1}`), answers)
	}
	f.Add([]byte(`[]`), `{"state":"ready","run":{},"epoch":[],"ready":[{}]}`)
	f.Add([]byte(`"`+strings.Repeat("x", 1000)+`"`), `{"state":"ready","ready":[null],"run":1}`)
	f.Fuzz(func(t *testing.T, input []byte, answers string) {
		if !json.Valid(input) {
			return
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		w := &host{answer: script(answers)}
		events := 0
		r := &asl.Runner{Host: w, Serial: true, Observe: func(asl.Event) int64 {
			if events++; events > 2000 {
				stop()
			}
			return int64(events)
		}}
		out, err := r.Run(ctx, m, input)
		for _, c := range w.calls {
			called(t, c)
		}
		e := (*asl.Error)(nil)
		switch {
		case err == nil && (!json.Valid(out) || len(out) > asl.MaxPayload):
			t.Errorf("the output of %d bytes is %.100s", len(out), out)
		case err != nil && errors.As(err, &e) && e.Name == "":
			t.Errorf("it fails and does not say why: %v", err)
		case err != nil && e == nil && ctx.Err() == nil && !strings.HasPrefix(err.Error(), "asl: JSON"):
			t.Errorf("it ends with %v", err)
		}
	})
}

// script answers with the lines of a text, again and again; a line of ! is the name of an error.
func script(text string) func(asl.Call) (string, error) {
	lines, n := strings.Split(text, "\n"), 0
	return func(asl.Call) (string, error) {
		line := lines[n%len(lines)]
		n++
		if name, fails := strings.CutPrefix(line, "!"); fails && name != "" {
			return "", &asl.Error{Name: name, Cause: "because"}
		}
		return line, nil
	}
}

// called says whether a function was given what it takes.
func called(t *testing.T, c asl.Call) {
	t.Helper()
	_, name, _ := strings.Cut(c.Function, ":function:")
	var given map[string]any
	if err := json.Unmarshal(c.Payload, &given); name != "plan" && err != nil || len(c.Payload) > asl.MaxPayload {
		t.Errorf("%s is given %d bytes: %v", name, len(c.Payload), err)
	}
	want := map[string][]string{"plan": nil, "execute": {"entered", "loop", "retries"}, "wait": {"entered", "loop", "retries", "token"}}
	keys, known := want[name]
	if !known {
		t.Errorf("%s is called", c.Function)
	}
	for _, key := range keys {
		if _, ok := given[key]; !ok || len(given) != len(keys) {
			t.Errorf("%s is given %.200s", name, c.Payload)
		}
	}
	if name == "wait" && (c.Token == "" || given["token"] != c.Token || c.Timeout <= 0) {
		t.Errorf("a poll has the token %q and is given %.200s, for %s", c.Token, c.Payload, c.Timeout)
	}
}

// What holds something many times over is refused before it is written out.
func TestWhatGrowsIsNeverWrittenOut(t *testing.T) {
	fields := make([]string, 50_000)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"f%d.$":"$"`, i)
	}
	all := strings.Join(fields, ",")
	input := []byte("[" + strings.Repeat("0,", asl.MaxPayload/2-2) + "0]")
	for _, state := range []string{
		`{"Type":"Pass","Parameters":{` + all + `}}`,
		`{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:111122223333:function:f","Parameters":{` + all + `}}`,
	} {
		m := parse(t, single(state))
		contract.Memory(t, len(input)+len(state), 16<<20, 100, func() {
			_, err := (&asl.Runner{Host: &host{}, Serial: true}).Run(t.Context(), m, input)
			if e := (*asl.Error)(nil); !errors.As(err, &e) || e.Name != asl.DataLimitExceeded {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// A payload is written as encoding/json does, and what it is measured to have is what it has then.
func FuzzEncode(f *testing.F) {
	for _, text := range []string{`[null,0,10,-1,1e9,"<>"]`, `{"b":{"z":1,"a":[]},"a":"é"}`, `{"a":[1,2.50,true,false,null,"x"],"b":{}}`, `"\u2028 \ud800 \u0001 \b\f\n\"\\ ä €😀 <&>"`, `[]`, `""`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := asl.Decode(text)
		if err != nil {
			return
		}
		b, err := asl.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil || want.String() != string(b)+"\n" {
			t.Errorf("%s is written, not %s (%v)", b, &want, err)
		}
		if n := asl.Size(v); n != len(b) {
			t.Errorf("%s has %d bytes, measured %d", b, len(b), n)
		}
	})
}

// A run of some hundred states costs little.
func BenchmarkRun(b *testing.B) {
	m := parse(b, `{"StartAt":"Plan","States":{"Plan":{"Type":"Task","Resource":"plan","Next":"Standing"},
		"Standing":{"Type":"Choice","Choices":[{"Variable":"$.state","StringEquals":"ready","Next":"Execute"}],"Default":"Over"},
		"Execute":{"Type":"Map","ItemsPath":"$.ready","ItemSelector":{"run.$":"$.run","step.$":"$$.Map.Item.Value"},"ItemProcessor":{"StartAt":"Step","States":{"Step":{"Type":"Task","Resource":"step","End":true}}},"ResultPath":null,"Next":"Watch"},
		"Watch":{"Type":"Task","Resource":"watch","Next":"Standing"},"Over":{"Type":"Succeed"}}}`)
	for b.Loop() {
		polls := 0
		r := &asl.Runner{Serial: true, Host: &host{answer: func(c asl.Call) (string, error) {
			switch {
			case c.Function == "step":
				return "{}", nil
			case polls == 30:
				return `{"state":"over"}`, nil
			}
			polls++
			return `{"run":"r","epoch":1,"state":"ready","ready":["00001","00002","00003","00004","00005"],"wait":30}`, nil
		}}}
		if _, err := r.Run(b.Context(), m, json.RawMessage(`{"run":"r"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
