package run_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// expect sets how long steps take, by ID.
func expect(r *run.Run, seconds map[string]plan.Seconds) *run.Run {
	for i := range r.Steps {
		r.Steps[i].Expected = seconds[r.Steps[i].ID]
	}
	return r
}

// The steps with the longest chain after them start first.
func TestCriticalPathFirst(t *testing.T) {
	for name, c := range map[string]struct {
		steps   string
		seconds map[string]plan.Seconds
		want    string
	}{
		"nothing is known":                     {"a b c d<c e<d f<b", nil, "[2 1 0]"},
		"all alike":                            {"a b c", nil, "[0 1 2]"},
		"a slow step":                          {"a b c d<c", map[string]plan.Seconds{"a": 10, "b": 600, "c": 30, "d": 30}, "[1 2 0]"},
		"a slow dependent":                     {"a b c<b d<c", map[string]plan.Seconds{"a": 50, "d": 600}, "[1 0]"},
		"the longest of several chains counts": {"a b c<b d<b e<a", map[string]plan.Seconds{"c": 10, "d": 90, "e": 95}, "[0 1]"},
		"dependents that are skipped do not":   {"a:failed b c d<b,a:skipped", map[string]plan.Seconds{"c": 10, "d": 900}, "[2 1]"},
	} {
		r := expect(parse(t, c.steps), c.seconds)
		if got := fmt.Sprint(r.Ready(now, 9)); got != c.want {
			t.Errorf("%s: ready are %s, want %s", name, got, c.want)
		}
	}
}

// A step that may change nothing probably finds nothing to change.
func TestPossibleStepsCountAsShort(t *testing.T) {
	r := expect(parse(t, "a b"), map[string]plan.Seconds{"a": 600, "b": 60})
	r.Steps[0].Possible = true
	if got := fmt.Sprint(r.Ready(now, 1)); got != "[1]" {
		t.Errorf("ready is %s", got)
	}
}

// A run starts no more steps than its limits allow, each for the stacks of a prefix.
func TestMaxParallel(t *testing.T) {
	all := []project.Limit{{Most: 2}}
	data := []project.Limit{{Most: 3}, {Prefix: "data/", Most: 1}}
	for name, c := range map[string]struct {
		steps  string
		limits []project.Limit
		ready  string
		state  run.State
		next   time.Duration // 0 is at once
	}{
		"no limit":                          {"a b c", nil, "[0 1 2]", run.StateReady, 0},
		"of the project":                    {"a b c", all, "[0 1]", run.StateReady, 0},
		"what runs counts":                  {"a:running+9 b c", all, "[1]", run.StateReady, 0},
		"full":                              {"a:running+9 b:running+8 c", all, "[]", run.StateWatch, 8 * time.Second},
		"what is done does not count":       {"a:done b:failed c:running+8 d", all, "[3]", run.StateReady, 0},
		"of a group":                        {"data/a data/b web/a web/b web/c", data, "[0 2 3]", run.StateReady, 0},
		"of a named group":                  {"data/a data/b web/a web/b web/c", []project.Limit{{Group: "odd", Most: 1}}, "[0 1 2 3]", run.StateReady, 0},
		"a named group that is full":        {"data/a data/b web/a:running+9 web/b web/c", []project.Limit{{Group: "odd", Most: 1}}, "[0 1 3]", run.StateReady, 0},
		"a group that is full":              {"data/a:running+9 data/b web/a", data, "[2]", run.StateReady, 0},
		"a full group alone":                {"data/a:running+9 data/b", data, "[]", run.StateWatch, 9 * time.Second},
		"a full project, and a group":       {"web/a:running+9 web/b:running+9 web/c:running+7 data/b", data, "[]", run.StateWatch, 7 * time.Second},
		"a step that may start later waits": {"data/a+5 data/b+6", data, "[]", run.StateWatch, 5 * time.Second},
	} {
		r := parse(t, c.steps)
		r.MaxParallel = c.limits
		for i := range r.Steps {
			r.Steps[i].Group = map[bool]string{true: "odd"}[r.Steps[i].Node == "web/a" || r.Steps[i].Node == "web/c"]
		}
		if got := fmt.Sprint(r.Ready(now, 9)); got != c.ready {
			t.Errorf("%s: ready are %s, want %s", name, got, c.ready)
		}
		if got := r.Next(now); got != c.state {
			t.Errorf("%s: it is %s", name, got)
		}
		want := time.Time{}
		if c.next > 0 {
			want = now.Add(c.next)
		}
		if got := r.NextPoll(now); !got.Equal(want) {
			t.Errorf("%s: the next poll is at %s, want %s", name, got, want)
		}
	}
}

// The barrier has no stack, so no limit holds it back.
func TestNoLimitIsForTheBarrier(t *testing.T) {
	r := parse(t, "a:running+9 barrier")
	r.Steps[1].Node, r.MaxParallel = "", []project.Limit{{Most: 1}}
	if got := fmt.Sprint(r.Ready(now, 9)); got != "[1]" {
		t.Errorf("ready is %s", got)
	}
}
