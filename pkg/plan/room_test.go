package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A plan needs room for the stacks that it creates and does not delete before, in each account and region. All that are full are named at once.
func TestNeeds(t *testing.T) {
	eu, also := project.Target{Name: "eu", Account: "111122223333", Region: "eu-west-1"}, project.Target{Name: "also", Account: "111122223333", Region: "eu-west-1"}
	us := project.Target{Name: "us", Account: "444455556666", Region: "us-east-1"}
	v := plan.View{Desired: project.Project{Nodes: map[string]project.Node{"a": {Target: eu}, "b": {Target: also}, "c": {Target: us}, "d": {Target: eu}, "e": {}}}}
	step := func(node string, verb plan.Verb, t project.Target) plan.Step {
		return plan.Step{Node: node, Verb: verb, Where: t.Where()}
	}
	p := plan.Plan{Steps: []plan.Step{
		step("a", plan.Create, eu), step("b", plan.Create, also), step("c", plan.Delete, eu), step("c", plan.Create, us), // it moves to another account
		step("d", plan.Delete, eu), step("d", plan.Create, eu), step("x", plan.Delete, us), step("e", plan.Create, project.Target{}), step("c", plan.Update, us),
	}}
	is := func(v plan.Verb) func(plan.Step) bool { return func(s plan.Step) bool { return s.Verb == v } }
	needs := v.Needs(p, is(plan.Create), is(plan.Delete))
	if d := cmp.Diff(map[string]plan.Need{eu.Where(): {Target: also, Stacks: 2}, us.Where(): {Target: us, Stacks: 1}}, needs); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	for _, c := range []struct {
		eu, us plan.Room
		want   []string
	}{
		{plan.Room{Limit: 2000, Stacks: 1998}, plan.Room{Limit: 2000, Stacks: 1999}, nil},
		{plan.Room{}, plan.Room{Stacks: 9000}, nil}, // unknown
		{plan.Room{Limit: 2000, Stacks: 1999}, plan.Room{Limit: 2000, Stacks: 2000}, []string{
			"account 111122223333, region eu-west-1: CloudFormation lets it have 2000 stacks, it has 1999, and the plan creates 2: delete stacks, or raise the quota Stack count of AWS CloudFormation there in Service Quotas",
			"account 444455556666, region us-east-1: CloudFormation lets it have 2000 stacks, it has 2000, and the plan creates 1: delete stacks, or raise the quota Stack count of AWS CloudFormation there in Service Quotas",
		}},
	} {
		err := plan.RefuseFull(needs, map[string]plan.Room{eu.Where(): c.eu, us.Where(): c.us})
		if (err != nil) != (c.want != nil) || err != nil && (cmp.Diff(c.want, fault.Messages(err)) != "" || !fault.Is(err, fault.Refused)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
