package asl_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stackwright/stackwright/pkg/asl"
)

// Whatever is parsed either is refused or runs, without a panic, until it ends or the world has had enough.
func FuzzParse(f *testing.F) {
	for _, l := range laws {
		if len(l.machine) < 2000 {
			f.Add([]byte(l.machine), []byte(`{"s":"a","n":1,"l":[1,{"x":2}]}`))
		}
	}
	f.Fuzz(func(t *testing.T, machine, input []byte) {
		m, err := asl.Parse(machine)
		if err != nil || !json.Valid(input) {
			return
		}
		states := 0
		r := &asl.Runner{World: &world{answer: fails("A", asl.Timeout)}, Serial: true, Observe: func(asl.Event) int64 { states++; return int64(states) },
			Checkpoint: func(string, any) error {
				if states > 200 {
					return errors.New("enough")
				}
				return nil
			}}
		out, err := r.Run(context.Background(), m, input)
		if err == nil && !json.Valid(out) {
			t.Errorf("the output is no JSON: %s", out)
		}
	})
}

// What a payload is measured to have is what it has when it is written.
func FuzzSize(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.50,true,false,null,"x"],"b":{}}`, `"\u2028 \ud800 \u0001 \b\f\n\"\\ ä €😀 <&>"`, `[]`, `""`} {
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
		looks := 0
		r := &asl.Runner{Serial: true, World: &world{answer: func(c asl.Call) (string, error) {
			switch {
			case c.Function == "step":
				return "{}", nil
			case looks == 30:
				return `{"state":"over"}`, nil
			}
			looks++
			return `{"run":"r","drive":1,"state":"ready","ready":["00001","00002","00003","00004","00005"],"wait":30}`, nil
		}}}
		if _, err := r.Run(b.Context(), m, json.RawMessage(`{"run":"r"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
