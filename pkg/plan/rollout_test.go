package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// roll makes nodes part of the rollout of the stack before the @, each in a wave: "net@a=0 net@b=1".
func (f fixture) roll(bake time.Duration, alarms []string, waves string) {
	for word := range strings.FieldsSeq(waves) {
		name, number, _ := strings.Cut(word, "=")
		stack, target, _ := strings.Cut(name, "@")
		n := f.Desired.Nodes[name]
		n.Target = project.Target{Name: target, Account: "111122223333", Region: "eu-west-1"}
		n.Rollout = &project.Rollout{Stack: stack, Wave: int(number[0] - '0'), Bake: project.Timeout(bake), Alarms: alarms}
		f.Desired.Nodes[name] = n
	}
}

// same makes nodes unchanged.
func (f fixture) same(list string) {
	for _, name := range strings.Fields(list) {
		n := f.Desired.Nodes[name]
		got, err := n.Resolve(nil)
		if err != nil {
			panic(err)
		}
		r, live := f.Recorded[name], f.Live[name]
		r.Digest, r.Outputs, live.Outputs = got.Digest, nil, nil
		f.Recorded[name], f.Live[name] = r, live
	}
}

// A wave begins after the one before it has baked, also if some of it has failed. Unchanged waves without a time to bake and without alarms have
// no step, and nothing bakes after the last wave that changes.
func TestRollout(t *testing.T) {
	const minutes = 10 * time.Minute
	alarms := []string{"errors"}
	for name, c := range map[string]struct {
		want, have, same, waves string
		bake                    time.Duration
		alarms                  []string
		plan                    string
	}{
		"new": {want: "net@a net@b net@c", waves: "net@a=0 net@b=1 net@c=1", plan: `
			net@a/create
			bake:net.1 1 {} ⇐ net@a/create
			net@b/create ← bake:net.1
			net@c/create ← bake:net.1`},
		"three waves, with others": {want: "vpc net@a<vpc net@b net@c app<net@a", waves: "net@a=0 net@b=5 net@c=7", bake: minutes, plan: `
			vpc/create
			net@a/create ← vpc/create
			app/create ← net@a/create
			bake:net.1 1 {"for":"10m"} ⇐ net@a/create
			net@b/create ← bake:net.1
			bake:net.2 1 {"for":"10m"} ⇐ net@b/create
			net@c/create ← bake:net.2`},
		"only the last wave changes": {want: "net@a net@b net@c", have: "net@a net@b", same: "net@a net@b", waves: "net@a=0 net@b=1 net@c=2", plan: `
			net@c/create`},
		"only the last wave changes, and the others bake": {want: "net@a net@b net@c", have: "net@a net@b", same: "net@a net@b", waves: "net@a=0 net@b=1 net@c=2", bake: minutes, plan: `
			bake:net.1 1 {"for":"10m","since":"2030-01-01T00:00:00Z"}
			bake:net.2 1 {"for":"10m","since":"2030-01-01T00:00:00Z"} ← bake:net.1
			net@c/create ← bake:net.2`},
		"only the first wave changes": {want: "net@a net@b", have: "net@b", same: "net@b", waves: "net@a=0 net@b=1", bake: minutes, alarms: alarms, plan: `
			net@a/create`},
		"a wave changes in part": {want: "net@a net@b net@c", have: "net@a", same: "net@a", waves: "net@a=0 net@b=0 net@c=1", bake: minutes, plan: `
			net@b/create
			bake:net.1 1 {"for":"10m","since":"2030-01-01T00:00:00Z"} ⇐ net@b/create
			net@c/create ← bake:net.1`},
		"alarms": {want: "net@a net@b", waves: "net@a=0 net@b=1", alarms: alarms, plan: `
			net@a/create
			bake:net.1 1 {"alarms":["errors"],"targets":[{"name":"a","account":"111122223333","region":"eu-west-1"}]} ⇐ net@a/create
			net@b/create ← bake:net.1`},
		"nothing changes": {want: "net@a net@b", have: "net@a net@b", same: "net@a net@b", waves: "net@a=0 net@b=1", bake: minutes, alarms: alarms, plan: ``},
	} {
		f := newFixture()
		f.want(c.want)
		f.have("CREATE_COMPLETE", c.have)
		f.roll(c.bake, c.alarms, c.waves)
		f.same(c.same)
		p, err := plan.Deploy(f.View)
		want := strings.ReplaceAll(strings.TrimPrefix(c.plan, "\n"), "\t", "")
		if got := strings.TrimSuffix(p.String(), "\n"); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
		for _, s := range p.Steps {
			if s.Verb == plan.Bake && (!s.Idle || s.Rollout != "net" || s.Node != "" || s.Tolerant && s.Expected != plan.SecondsOf(c.bake)) {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if why := inOrder(p); why != "" {
			t.Errorf("%s: %s", name, why)
		}
	}
}

// A stack that has to be created again is deleted in its wave, unless a stack of an earlier wave waits for that.
func TestRolloutDeletesInItsWave(t *testing.T) {
	f := newFixture()
	f.want("net@a net@b")
	f.have("ROLLBACK_COMPLETE", "net@a net@b")
	f.roll(0, nil, "net@a=0 net@b=1")
	p, err := plan.Deploy(f.View)
	if want := "net@a/delete\nnet@a/create ← net@a/delete\nbake:net.1 1 {} ⇐ net@a/create\nnet@b/delete ← bake:net.1\nnet@b/create ← bake:net.1 net@b/delete\n"; err != nil || p.String() != want {
		t.Errorf("%v\n%s", err, p)
	}
	f = newFixture()
	f.want("hub net@a<hub net@b<hub")
	f.have("DELETE_FAILED", "hub net@a<hub net@b<hub")
	f.roll(0, nil, "net@a=0 net@b=1")
	if p, err = plan.Deploy(f.View); err != nil || slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.ID == "net@b/delete" && len(s.After) > 0 }) {
		t.Errorf("%v\n%s", err, p)
	}
}

// A rollback goes back in all targets at once, and any number of failures is tolerated.
func TestRollbackHasNoWaves(t *testing.T) {
	f := newFixture()
	f.want("net@a net@b")
	f.have("CREATE_COMPLETE", "net@a net@b")
	f.roll(time.Hour, []string{"errors"}, "net@a=0 net@b=1")
	f.Desired.MaxFailures = []project.Limit{{Most: 1}, {Rollout: "net"}}
	for name, c := range map[string]struct {
		plan func(plan.View) (plan.Plan, error)
		want string
	}{
		"deploy": {plan.Deploy, "3 2"}, "rollback": {plan.Rollback, "2 0"}, "rollback-to": {plan.RollbackTo, "2 0"},
	} {
		p, err := c.plan(f.View)
		if got := fmt.Sprint(len(p.Steps), " ", len(p.MaxFailures)); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s", name, err, p)
		}
		for _, s := range f.View.Counted(p.Steps) {
			if s.Rollout != "net" {
				t.Errorf("%s: %s is of no rollout", name, s.ID)
			}
		}
	}
	if f.Desired.Nodes["net@b"].Rollout.Wave != 1 {
		t.Error("the view has changed")
	}
}

// One step watches the alarms of a few targets. Stacks that are not selected have no part in the rollout.
func TestRolloutOfManyTargets(t *testing.T) {
	f := newFixture()
	list, waves := "net@last", "net@last=1"
	for i := range 45 {
		list, waves = list+fmt.Sprintf(" net@t%02d", i), waves+fmt.Sprintf(" net@t%02d=0", i)
	}
	f.want(list)
	f.roll(time.Minute, []string{"errors"}, waves)
	p, err := plan.Deploy(f.View)
	if err != nil {
		t.Fatal(err)
	}
	var targets []int
	for _, s := range p.Steps {
		if s.Verb == plan.Bake {
			var b plan.Baking
			if err := s.Arguments.Read(plan.BakingVersion, &b); err != nil || len(s.After) != 45 {
				t.Errorf("%s: %v, after %d steps", s.ID, err, len(s.After))
			}
			targets = append(targets, len(b.Targets))
		}
	}
	if last := p.Steps[len(p.Steps)-1]; fmt.Sprint(targets) != "[20 20 5]" || last.Node != "net@last" || len(last.After) != 3 {
		t.Errorf("the steps watch %v targets, and %s comes after %d", targets, last.ID, len(last.After))
	}
	f.Only = []string{"net@last"}
	if p, err = plan.Deploy(f.View); err != nil || len(p.Steps) != 1 {
		t.Errorf("%v\n%s", err, p)
	}
	f.Only = nil
	f.roll(time.Minute, []string{strings.Repeat("€", 255), strings.Repeat("₤", 255), strings.Repeat(`"`, 255), strings.Repeat(`\`, 255), strings.Repeat("€", 255)}, waves)
	if _, err := plan.Deploy(f.View); !fault.Is(err, fault.Invalid) || !strings.HasSuffix(fmt.Sprint(err), ": give its alarms shorter names") {
		t.Errorf("got %v", err)
	}
}
