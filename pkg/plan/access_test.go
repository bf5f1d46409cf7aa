package plan_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// deny makes some stacks unreadable.
func (w fixture) deny(names ...string) {
	for _, name := range names {
		w.Live[name] = plan.Live{AccessError: "denied"}
	}
}

// A stack that may not be read has a step that fails when it starts, and only its
// dependents wait for that. It is never treated as gone: its record stays.
func TestInaccessibleStack(t *testing.T) {
	w := newFixture()
	w.have("CREATE_COMPLETE", "vpc here old<away away")
	w.want("vpc here app<vpc,here new")
	w.deny("vpc", "old", "away", "new")
	p, err := plan.Deploy(w.View)
	expect(t, p, err, `
here/update
vpc/update
app/create ← here/update vpc/update
new/update
barrier ← app/create here/update new/update vpc/update
old/delete ← barrier
away/delete ← barrier old/delete
`)
	p, err = plan.Destroy(w.View)
	expect(t, p, err, `
old/delete
away/delete ← old/delete
here/delete
vpc/delete
`)
}

// A stack that may not be read counts among the deletions, and among the dependents
// of a stack.
func TestInaccessibleStackCounts(t *testing.T) {
	w := newFixture()
	w.have("CREATE_COMPLETE", "vpc app<vpc other")
	w.want("other")
	w.deny("app")
	w.Desired.MaxDeletions = new(1)
	_, err := plan.Deploy(w.View)
	expect(t, plan.Plan{}, err, "2 of the 3 recorded stacks would be deleted for good (app, vpc), and at most 1 may be: "+
		"if that is meant, write max_deletions: 2 in the project file, or deploy with --max-deletions 2 (options.max_deletions of a request)")
	w.Only = []string{"vpc"}
	_, err = plan.Destroy(w.View)
	expect(t, plan.Plan{}, err, "stack vpc would be deleted, and is used by app: name app too, or do not name vpc")
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
		"called anew":     {[]project.Node{node("vpc", europe)}, "vpc"},
		"both":            {[]project.Node{node("vpc@europe", europe), node("vpc@us", us)}, "vpc@europe"},
		"elsewhere":       {[]project.Node{node("vpc", us)}, "id"},
	} {
		p := project.Project{Nodes: make(map[string]project.Node)}
		for _, n := range c.nodes {
			p.Nodes[n.Name] = n
		}
		all, _, _ := plan.Rename(p, record)
		if r, ok := all[c.want]; !ok || len(all) != 1 || r.StackID != "id" {
			t.Errorf("%s: recorded as %v, want %s", what, all, c.want)
		}
	}
}

// A stack may be named without its target, which means all of them.
func TestOnlyInSomeTargets(t *testing.T) {
	for only, want := range map[string]string{"vpc": "vpc@eu/create\nvpc@us/create\n", "vpc@us": "vpc@us/create\n", "app@eu": "vpc@eu/create\napp@eu/create ← vpc@eu/create\n"} {
		w := newFixture()
		w.want("vpc@eu vpc@us app@eu<vpc@eu app@us<vpc@us vpc2")
		w.Only = []string{only}
		p, err := plan.Deploy(w.View)
		expect(t, p, err, want)
	}
}
