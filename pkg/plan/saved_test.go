package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// What a user reads when a saved plan is of another project, of another operation, or out of date.
func TestSavedPlanIsRefused(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{{ID: "vpc/update", Node: "vpc", Verb: plan.Update}}}
	basis := []plan.Basis{{Stack: "vpc", Files: "f", Live: "l"}}
	saved := plan.Changes{Project: "shop", Environment: "prod", Operation: "plan", Revision: "7", Basis: basis, Digest: p.Digest(basis)}
	if err := saved.Refuse("shop@prod", "7", p, basis); err != nil {
		t.Fatal(err)
	}
	err := saved.Refuse("shop@prod", "8", p, basis)
	if got := fault.Messages(err); len(got) != 2 || got[1] != "the files: those of the plan are revision 7, and those of this run 8" {
		t.Errorf("with other files: %q", got)
	}
	saved.Digest = "0123456789abcdef"
	destroy := saved
	destroy.Operation = "plan-destroy"
	const outdated = "plan 0123456789ab is out of date, so nothing was done: plan again, and review that plan. This has changed since:"
	for _, c := range []struct {
		saved   plan.Changes
		project string
		now     []plan.Basis
		want    []string
	}{
		{saved, "mine@prod", basis, []string{"plan 0123456789ab is a plan of shop@prod, and this run is of mine@prod: make a plan of mine@prod, and use that one"}},
		{saved, "shop@dev", basis, []string{"plan 0123456789ab is a plan of shop@prod, and this run is of shop@dev: make a plan of shop@dev, and use that one"}},
		{destroy, "shop@prod", basis, []string{"plan 0123456789ab was made by plan-destroy, and a deploy carries out only plans that plan has made: plan again"}},
		{saved, "shop@prod", []plan.Basis{{Stack: "vpc", Files: "g", Live: "l"}}, []string{outdated, "stack vpc: the project says something else about it"}},
		{saved, "shop@prod", []plan.Basis{{Stack: "vpc", Files: "g", Live: "m"}, {Stack: "web", Files: "f", Live: "l"}}, []string{
			outdated, "stack vpc: the project says something else about it",
			"stack vpc: it has changed in AWS: ",
			"stack web: the plan does nothing with it, and now it would be changed too",
		}},
		{saved, "shop@prod", []plan.Basis{{Stack: "vpc", Files: "f", Inputs: "i", Live: "l"}}, []string{outdated, "stack vpc: a stack that it depends on has other outputs"}},
		{saved, "shop@prod", nil, []string{outdated, "stack vpc: the plan changes it, and now nothing would be done with it"}},
		{saved, "shop@prod", basis, []string{outdated, "the steps of the stacks, or their order"}},
	} {
		err := c.saved.Refuse(c.project, "7", p, c.now)
		if d := cmp.Diff(c.want, fault.Messages(err)); d != "" || !fault.Is(err, fault.Refused) {
			t.Errorf("%s (-want +got):\n%s", c.project, d)
		}
	}
}

// The plan that is shown and that of the deploy have one digest. It changes with the files of each stack, and with each
// change of a stack in AWS.
func TestDigestIsOfEverythingThatAPlanDoes(t *testing.T) {
	digest := func(change func(f fixture)) string {
		t.Helper()
		f := newFixture()
		f.want("a b<a c")
		if change != nil {
			change(f)
		}
		p, err := plan.Deploy(f.View)
		if err != nil {
			t.Fatal(err)
		}
		basis, err := f.View.Basis(p)
		if err != nil || len(basis) == 0 {
			t.Fatalf("%v, %v", basis, err)
		}
		return p.Digest(basis)
	}
	usual := digest(nil)
	if digest(nil) != usual || len(usual) != 64 {
		t.Error("one plan has two digests")
	}
	for what, change := range map[string]func(f fixture){
		"a timeout": func(f fixture) { n := f.Desired.Nodes["a"]; n.Timeout = 99; f.Desired.Nodes["a"] = n },
		"a stack":   func(f fixture) { f.want("a b<a c d") },
		"an output": func(f fixture) { f.Live["a"] = plan.Live{Outputs: map[string]string{"Arn": "new"}} },
		"an order":  func(f fixture) { f.want("a b c<a") },
	} {
		if digest(change) == usual {
			t.Errorf("%s does not change the digest", what)
		}
	}
}
