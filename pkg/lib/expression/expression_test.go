package expression_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/expression"
)

type base struct {
	Name  string `json:"name"`
	Other string `json:"other"`
}

type thing struct {
	base
	Other  []part            `json:"other"`
	Count  int               `json:"count"`
	On     bool              `json:"on,omitempty"`
	Any    any               `json:"any"`
	Tags   map[string]string `json:"tags"`
	Before *string           `json:"before"`
	Hidden string            `json:"-"`
}

type part struct {
	Kind string `json:"kind"`
}

var language = func() *expression.Language {
	l, err := expression.New(map[string]any{"thing": thing{}, "time": time.Time{}, "who": ""})
	if err != nil {
		panic(err)
	}
	return l
}()

var values = map[string]any{
	"thing": expression.Plain(thing{
		base: base{Name: "a", Other: "x"}, Other: []part{{"k"}, {"l"}}, Count: 3,
		Any: map[string]any{"deep": []any{map[string]any{"on": true}}, "size": "big"}, Tags: map[string]string{"Team": "shop"},
	}),
	"time": time.Date(2026, 12, 24, 23, 30, 0, 0, time.UTC), "who": "ann",
}

func TestEvaluate(t *testing.T) {
	for text, want := range map[string]string{
		`thing.name == "a" && who == "ann"`:                      "true",
		`thing.other.exists(o, o.kind == "l")`:                   "true",
		`thing.other[0].kind == "l"`:                             "false",
		`thing.count > 2 && !thing.on`:                           "true",
		`thing.any.deep[0].on`:                                   "its result", // see below: any is not a condition
		`thing.any.deep[0].on == true`:                           "true",
		`has(thing.any.nothing)`:                                 "false",
		`has(thing.any.size) && has(thing.name)`:                 "true",
		`has(thing.before)`:                                      "false",
		`thing.before == ""`:                                     "true",
		`thing.any.nothing == 1`:                                 "no such key: nothing",
		`thing.any.size > 3`:                                     "no such overload",
		`"Team" in thing.tags && thing.tags["Team"] == "shop"`:   "true",
		`thing.tags["Cost"] == "1"`:                              "no such key: Cost",
		`time.getDayOfWeek("Europe/Berlin") == 5`:                "true", // a Friday there
		`time >= timestamp("2026-12-24T00:00:00Z")`:              "true",
		`time.getHours("Nowhere/Atall") == 1`:                    "unknown time zone Nowhere/Atall",
		`thing.name.matches("^a+$")`:                             "true",
		`[1, 2, 3].all(x, x < 4)`:                                "true",
		`thing.count / 0 == 1`:                                   "division by zero",
		`thing.other.map(o, o.kind).filter(k, k > "k") == ["l"]`: "true",
	} {
		x, err := language.Compile(text)
		if err != nil {
			if text != `thing.any.deep[0].on` {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		holds, cost, err := x.Evaluate(t.Context(), values, 1000)
		got := map[bool]string{true: "true", false: "false"}[holds]
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || cost == 0 {
			t.Errorf("%s: %s, want %s; cost %d", text, got, want, cost)
		}
	}
}

func TestCompileSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`thing.nam == "a"`:                "1:6 thing has no field nam: did you mean name?",
		`thing.hidden == "a"`:             "1:6 thing has no field hidden",
		`thing.other.exists(o, o.knd)`:    "1:24 part has no field knd",
		`thng.name == "a"`:                "1:1 there is no variable or function thng: did you mean thing?",
		`thing.name == 1`:                 "1:12 == cannot be applied to (string, int)",
		`thing.name`:                      "1:1 expected a condition, which is true or false, found a value of type string",
		`thing.any`:                       "found a value of type dyn",
		`thing.name == `:                  "the expression ends too early",
		"thing.on &&\n  thing.nothing":    "2:8 thing has no field nothing",
		``:                                "the expression ends too early",
		`now() > time`:                    "there is no variable or function now",
		strings.Repeat("(", 200) + "true": "expression recursion limit exceeded: 50",
		`"` + strings.Repeat("a", 5000) + `" == ""`:     "expression code point size exceeds limit",
		"true" + strings.Repeat(" || true", 490) + " =": "syntax error: ",
	} {
		_, err := language.Compile(text)
		if err == nil {
			t.Errorf("%.50s compiles", text)
			continue
		}
		got := err.Error()
		if p, ok := errors.AsType[*expression.Problem](err); ok {
			got = fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Text)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%.50s: %s, want %s", text, got, want)
		}
	}
}

// An expression that loops costs no more than its limit, however it is written.
func TestEvaluateIsBounded(t *testing.T) {
	numbers := "[" + strings.TrimSuffix(strings.Repeat("1,", 50), ",") + "]"
	for _, text := range []string{
		numbers + ".all(a, " + numbers + ".all(b, " + numbers + ".all(c, " + numbers + ".all(d, a + b + c + d > 0))))",
		numbers + ".map(a, " + numbers + ".map(b, " + numbers + ".map(c, a + b + c))).size() > 0",
		`thing.tags.all(k, ` + numbers + `.all(a, ` + numbers + `.all(b, ` + numbers + `.all(c, !thing.name.matches("(a*)*b")))))`,
	} {
		x, err := language.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		_, cost, err := x.Evaluate(t.Context(), values, 10_000)
		if !errors.Is(err, expression.ErrCost) || cost < 10_000 || cost > 20_000 {
			t.Errorf("%.40s: %v, cost %d", text, err, cost)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, cost, err := x.Evaluate(ended, values, 1<<40); !errors.Is(err, context.Canceled) || cost > 10_000 {
			t.Errorf("%.40s: %v, cost %d", text, err, cost)
		}
	}
}

func TestUses(t *testing.T) {
	x, err := language.Compile(`thing.other.exists(who, who.kind == "k")`)
	if err != nil || !x.Uses("thing") || x.Uses("time") {
		t.Error(err, x.Uses("thing"), x.Uses("time"))
	}
}

func TestNewRefusesTypes(t *testing.T) {
	if _, err := expression.New(map[string]any{"x": struct {
		F func() `json:"f"`
	}{}}); err == nil {
		t.Error("a function has a type")
	}
}
