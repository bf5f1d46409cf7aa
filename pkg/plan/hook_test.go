package plan_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A hook that deletes data is a data loss of its stack.
func TestDescribeHooksThatDeleteData(t *testing.T) {
	for _, loses := range []string{"", "all objects"} {
		h := project.Hook{Name: "h", Type: "empty_bucket", Loses: loses, Values: map[string]project.Text{"empty_bucket": project.Literal("data")}}
		arguments, err := plan.NewArguments(plan.HookVersion, plan.HookCall{Hook: h, Moment: project.BeforeDelete, Stack: "gone"})
		if err != nil {
			t.Fatal(err)
		}
		p := plan.Plan{Steps: []plan.Step{{ID: "gone/hook:h", Node: "gone", Verb: plan.Hook, Arguments: arguments}, {ID: "gone/delete", Node: "gone", Verb: plan.Delete}}}
		c := newStacks().Describe(p, func(string) (*template.Template, error) { return nil, fault.New(fault.Missing, "none") })
		if len(c.Stacks) != 1 || c.Stacks[0].DataLoss != (loses != "") || c.Stacks[0].Hooks[0].Loses != loses || c.Summary.HookDataLoss != len(loses)/len("all objects") {
			t.Errorf("%q: %+v", loses, c)
		}
	}
}

// A retry calls the hooks after the deletion of stacks that are gone, and not those of stacks that exist again or will.
func TestUncalledHooks(t *testing.T) {
	f := newFixture()
	f.deployed(t, "vpc db<vpc")
	for _, node := range []string{"db", "web", "old"} {
		f.Uncalled = append(f.Uncalled, plan.Step{Node: node, Verb: plan.Hook, Qualifier: "tell"})
	}
	if got := ids(plan.Destroy(f.View)); got != "db/delete old/hook:tell vpc/delete web/hook:tell" {
		t.Errorf("destroyed by %s", got)
	}
	f.want("vpc db<vpc web")
	if got := ids(meant(f.View)(f.View)); got != "web/create barrier old/hook:tell" {
		t.Errorf("deployed by %s", got)
	}
	f.Only = []string{"old"}
	if got := ids(plan.Destroy(f.View)); got != "old/hook:tell" {
		t.Errorf("destroyed only by %s", got)
	}
}
