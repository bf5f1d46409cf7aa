package plan_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
)

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
