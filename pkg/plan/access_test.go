package plan_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// deny makes the live stacks of some nodes inaccessible.
func (f fixture) deny(names ...string) {
	for _, name := range names {
		f.Live[name] = plan.Live{AccessError: "denied"}
	}
}

// A stack that cannot be read has a step, which fails when it starts; only its
// dependents are skipped then. The stack is not treated as gone: its record stays.
func TestInaccessibleStack(t *testing.T) {
	f := newFixture()
	f.have("CREATE_COMPLETE", "vpc here old<away away")
	f.want("vpc here app<vpc,here new")
	f.deny("vpc", "old", "away", "new")
	p, err := plan.Deploy(f.View)
	expect(t, p, err, `
here/update
vpc/update
app/create ← here/update vpc/update
new/create
barrier ← app/create here/update new/create vpc/update
old/delete ← barrier
away/delete ← barrier old/delete
`)
	p, err = plan.Destroy(f.View)
	expect(t, p, err, `
old/delete
away/delete ← old/delete
here/delete
vpc/delete
`)
}

// A stack that cannot be read counts as a deletion, and as a dependent of the stacks
// that it needs.
func TestInaccessibleStackCounts(t *testing.T) {
	f := newFixture()
	f.have("CREATE_COMPLETE", "vpc app<vpc other")
	f.want("other")
	f.deny("app")
	f.Desired.MaxDeletions = new(1)
	_, err := plan.Deploy(f.View)
	expect(t, plan.Plan{}, err, "2 of the 3 recorded stacks would be deleted permanently (app, vpc), and at most 1 may be: "+
		"if this is intended, write max_deletions: 2 in the project file, or deploy with --max-deletions 2 (options.max_deletions of a request)")
	f.Only = []string{"vpc"}
	_, err = plan.Destroy(f.View)
	expect(t, plan.Plan{}, err, "stack vpc would be deleted, but other stacks depend on it (app): name these too, or do not name vpc")
}

// A stack that gets a second target, or whose target gets another name, keeps its
// record. In another account or region it is another stack.
func TestRenameAmongTargets(t *testing.T) {
	eu := project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}
	us := project.Target{Name: "us", Account: "111111111111", Region: "us-west-2"}
	europe := eu
	europe.Name = "europe"
	record := map[string]plan.Record{"vpc": {Node: "vpc", Stack: "shop-vpc", Target: eu, StackID: "id"}}
	node := func(name string, at project.Target) project.Node {
		return project.Node{Name: name, Stack: "shop-vpc", Target: at}
	}
	for what, c := range map[string]struct {
		nodes []project.Node
		want  string // the name that the record has then
	}{
		"one more target": {[]project.Node{node("vpc@eu", eu), node("vpc@us", us)}, "vpc@eu"},
		"target renamed":  {[]project.Node{node("vpc", europe)}, "vpc"},
		"both":            {[]project.Node{node("vpc@europe", europe), node("vpc@us", us)}, "vpc@europe"},
		"elsewhere":       {[]project.Node{node("vpc", us)}, "id"},
	} {
		p := project.Project{Nodes: make(map[string]project.Node)}
		for _, n := range c.nodes {
			p.Nodes[n.Name] = n
		}
		all, _, _ := plan.Rename(p, record, plan.Selection{})
		if r, ok := all[c.want]; !ok || len(all) != 1 || r.StackID != "id" {
			t.Errorf("%s: recorded as %v, want %s", what, all, c.want)
		}
	}
}

// A stack name without a target means the stack in all targets.
func TestOnlyInSomeTargets(t *testing.T) {
	for only, want := range map[string]string{"vpc": "vpc@eu/create\nvpc@us/create\n", "vpc@us": "vpc@us/create\n", "app@eu": "vpc@eu/create\napp@eu/create ← vpc@eu/create\n"} {
		f := newFixture()
		f.want("vpc@eu vpc@us app@eu<vpc@eu app@us<vpc@us vpc2")
		f.Only = []string{only}
		p, err := plan.Deploy(f.View)
		expect(t, p, err, want)
	}
}
