package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// selecting is a project with folders, targets and tags, of which nothing is deployed but old, that the files no longer have.
func selecting() fixture {
	f := newFixture()
	f.want("net/vpc net/eu/dns data/db<net/vpc app/web@eu<data/db app/web@us<data/db ops<app/web@eu")
	tag := func(name, key string, value project.Text) {
		n := f.Desired.Nodes[name]
		n.Tags = map[string]project.Text{key: value}
		f.Desired.Nodes[name] = n
	}
	tag("data/db", "team", project.Literal("data"))
	tag("ops", "team", project.Literal("ops"))
	tag("net/eu/dns", "zone", project.Text{{Node: "net/vpc", Output: "Zone"}})
	f.have("UPDATE_COMPLETE", "old<net/vpc")
	live := f.Live["old"]
	live.Tags = map[string]string{"team": "data"}
	f.Live["old"] = live
	return f
}

// A selection has names, folders, globs and tags; adds dependencies and dependents; leaves out what is excluded, and what only that would
// add; and says what it has added and left out, and why.
func TestSelection(t *testing.T) {
	yes, no := new(true), new(false)
	for _, c := range []struct {
		name  string
		s     plan.Selection
		steps string // the stacks with steps
		says  []string
	}{
		{"a name in all targets", plan.Selection{Only: []string{"app/web"}, WithDependencies: yes}, "app/web@eu app/web@us data/db net/vpc", []string{"added: data/db (app/web@eu depends on it)", "added: net/vpc (data/db depends on it)", "left out: 3 stacks (not selected)"}},
		{"a folder", plan.Selection{Only: []string{"net/"}}, "net/eu/dns net/vpc", []string{"left out: 5 stacks (not selected)"}},
		{"a glob of one folder", plan.Selection{Only: []string{"net/*"}}, "net/vpc", []string{"left out: 6 stacks (not selected)"}},
		{"a glob of folders", plan.Selection{Only: []string{"**/d?s", "n*/vpc"}}, "net/eu/dns net/vpc", []string{"left out: 5 stacks (not selected)"}},
		{"a glob of targets", plan.Selection{Only: []string{"app/*@us"}}, "app/web@us data/db net/vpc", []string{"added: data/db (app/web@us depends on it)", "added: net/vpc (data/db depends on it)", "left out: 4 stacks (not selected)"}},
		{"a tag of the files and of a live stack", plan.Selection{Only: []string{"tag:team=data"}}, "data/db net/vpc old", []string{"added: net/vpc (data/db depends on it)", "left out: 4 stacks (not selected)"}},
		{"a tag without its value", plan.Selection{Only: []string{"tag:team", "tag:zone"}, Exclude: []string{"ops"}}, "data/db net/eu/dns net/vpc old", []string{"added: net/vpc (data/db depends on it)", "left out: ops (excluded by --exclude ops)", "left out: 2 stacks (not selected)"}},
		{"an exclusion alone", plan.Selection{Exclude: []string{"app/", "ops", "old"}}, "data/db net/eu/dns net/vpc", []string{"left out: app/web@eu, app/web@us (excluded by --exclude app/)", "left out: old (excluded by --exclude old)", "left out: ops (excluded by --exclude ops)"}},
		{"dependents", plan.Selection{Only: []string{"net/vpc"}, WithDependents: true}, "app/web@eu app/web@us data/db net/vpc old ops", []string{"added: app/web@eu, app/web@us (it depends on data/db)", "added: data/db, old (it depends on net/vpc)", "added: ops (it depends on app/web@eu)", "left out: 1 stack (not selected)"}},
		{"dependents but those of what is excluded", plan.Selection{Only: []string{"net/vpc"}, WithDependents: true, Exclude: []string{"data/*"}}, "net/vpc old", []string{"added: old (it depends on net/vpc)", "left out: data/db (excluded by --exclude 'data/*')", "left out: 4 stacks (not selected)"}},
		{"no dependencies", plan.Selection{Only: []string{"net/"}, WithDependencies: no}, "net/eu/dns net/vpc", []string{"left out: 5 stacks (not selected)"}},
	} {
		f := selecting()
		f.Selection = c.s
		p, err := plan.Deploy(f.View)
		var steps []string
		for _, s := range p.Steps {
			if s.Node != "" && !slices.Contains(steps, s.Node) {
				steps = append(steps, s.Node)
			}
		}
		slices.Sort(steps)
		if got := strings.Join(steps, " "); err != nil || got != c.steps {
			t.Errorf("%s: %q, want %q: %v", c.name, got, c.steps, err)
		}
		if got := f.SayingSelection(); !slices.Equal(got, c.says) {
			t.Errorf("%s says %q, want %q", c.name, got, c.says)
		}
	}
}

// A selection is refused with all reasons: patterns that match nothing, what is left out and not deployed, and what lacks an output. What is
// deployed may be left out.
func TestSelectionRefused(t *testing.T) {
	refused := func(name string, f fixture, want ...string) {
		t.Helper()
		_, err := plan.Deploy(f.View)
		got := fault.Messages(err)
		if err == nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	f := selecting()
	f.Selection = plan.Selection{Only: []string{"app/wob", "x*", "tag:team=dato", "tag:teem"}, Exclude: []string{"nets/"}}
	refused("unknown", f,
		"only: there is no stack app/wob, neither in the project's files nor recorded: did you mean app/web?",
		"only: no stack matches x*, neither in the project's files nor recorded: available: app/, app/web, app/web@eu, app/web@us, data/, data/db, net/, net/eu/, net/eu/dns, net/vpc, old, ops",
		"only: no stack has the tag team=dato: did you mean tag:team=data?",
		"only: no stack has the tag teem: did you mean tag:team?",
		"exclude: there is no stack nets/, neither in the project's files nor recorded: did you mean net/?")
	f.Selection = plan.Selection{Only: []string{"net/"}, Exclude: []string{"net/**"}}
	refused("nothing is left", f, "exclude: it leaves out all stacks that are selected: exclude less")
	f.Selection = plan.Selection{Exclude: []string{"net/vpc", "app/*"}}
	refused("not deployed", f,
		"stack data/db depends on net/vpc, which is not deployed yet, and the selection leaves net/vpc out (--exclude net/vpc): select net/vpc too, deploy it first, or leave data/db out as well",
		"stack ops depends on app/web@eu, which is not deployed yet, and the selection leaves app/web@eu out (--exclude 'app/*'): select app/web@eu too, deploy it first, or leave ops out as well")

	f = newFixture()
	f.want("vpc db<vpc")
	n := f.Desired.Nodes["db"]
	n.Parameters = map[string]project.Text{"Vpc": {{Node: "vpc", Output: "New"}}}
	f.Desired.Nodes["db"] = n
	f.have("UPDATE_COMPLETE", "vpc")
	f.Selection = plan.Selection{Only: []string{"db"}, WithDependencies: new(false)}
	refused("no output", f, "stack db depends on vpc, which has no output New yet, and the selection leaves vpc out (--with-dependencies=false): select vpc too, deploy it first, or leave db out as well")
	live := f.Live["vpc"]
	live.Outputs = map[string]string{"New": "value"}
	f.Live["vpc"] = live
	p, err := plan.Deploy(f.View)
	if got := fmt.Sprint(p); err != nil || !strings.Contains(got, "db/create ← vpc/read") {
		t.Errorf("a stack whose dependency is deployed: %s %v", got, err)
	}
	for _, status := range []plan.Status{"ROLLBACK_COMPLETE", "CREATE_IN_PROGRESS"} {
		live.Status = status
		f.Live["vpc"] = live
		refused("dead", f, fmt.Sprintf("stack db depends on vpc, which is %s, and the selection leaves vpc out (--with-dependencies=false): select vpc too, deploy it first, or leave db out as well", status))
	}
}

// A stack with dependencies that are left out is unchanged if it has the values that these have now, whatever the files say of them.
func TestUnselectedDependencyStays(t *testing.T) {
	f := newFixture()
	f.deployed(t, "vpc db<vpc")
	n := f.Desired.Nodes["vpc"]
	n.Template.Digest = "another"
	f.Desired.Nodes["vpc"] = n
	f.Selection = plan.Selection{Only: []string{"db"}, WithDependencies: new(false)}
	if p, err := plan.Deploy(f.View); err != nil || len(p.Steps) > 0 || !slices.Equal(p.Unchanged, []string{"db"}) {
		t.Errorf("%v, unchanged %v: %v", p, p.Unchanged, err)
	}
	f.Selection = plan.Selection{Only: []string{"db"}}
	if p, err := plan.Deploy(f.View); err != nil || len(p.Steps) != 2 {
		t.Errorf("with its dependencies: %v: %v", p, err)
	}
}

// What has changed since a revision is what its files say otherwise, also a stack that they have no more.
func TestSelectionSince(t *testing.T) {
	before, now := newFixture(), newFixture()
	before.want("vpc db<vpc web<db gone")
	now.want("vpc db<vpc web<db new")
	n := now.Desired.Nodes["db"]
	n.Template.Digest = "another"
	now.Desired.Nodes["db"] = n
	now.have("UPDATE_COMPLETE", "vpc db<vpc web<db gone older")
	for _, c := range []struct{ only, steps, says string }{
		{"", "db gone new vpc", "added: vpc (db depends on it)|left out: 2 stacks (the files are those of run before)"},
		{"db,web", "db vpc", "added: vpc (db depends on it)|left out: 1 stack (the files are those of run before)|left out: 3 stacks (not selected)"},
		{"web", "", "left out: 1 stack (the files are those of run before)|left out: 5 stacks (not selected)"},
	} {
		s := plan.Selection{ChangedSince: "before"}
		if c.only != "" {
			s.Only = strings.Split(c.only, ",")
		}
		var err error
		if now.Selection, err = s.Since(before.Desired, now.Desired); err != nil {
			t.Fatal(err)
		}
		p, err := plan.Deploy(now.View)
		for _, step := range p.Steps {
			if step.Node != "" && !strings.Contains(c.steps, step.Node) {
				t.Errorf("since, of %q: %s", c.only, step.ID)
			}
		}
		if got := strings.Join(now.SayingSelection(), "|"); err != nil || got != c.says {
			t.Errorf("since, of %q: %s, want %s (%v)", c.only, got, c.says, err)
		}
	}
}

// What is wrong with a selection, whatever stacks there are, is said at once.
func TestSelectionProblems(t *testing.T) {
	s := plan.Selection{Only: nil, Exclude: []string{"", "tag:", "tag:=a", strings.Repeat("a", 257)}, WithDependencies: new(true), WithDependents: true}
	var got []string
	for _, p := range s.Problems() {
		got = append(got, string(p.Option)+": "+p.Text)
	}
	want := []string{
		"exclude: it contains an empty name: remove it",
		"exclude: tag: names no tag: write tag:KEY or tag:KEY=VALUE, such as tag:team=shop",
		"exclude: tag:=a names no tag: write tag:KEY or tag:KEY=VALUE, such as tag:team=shop",
		"exclude: a pattern has 257 bytes, at most 256 are allowed",
		"with_dependencies: it is about the dependencies of the stacks that only or changed_since selects: give one of these too, or leave it out",
		"with_dependents: it adds to the stacks that only or changed_since selects: give one of these too, or leave it out",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if all := (plan.Selection{Only: []string{"a", "tag:team"}, WithDependents: true}).Problems(); len(all) > 0 {
		t.Errorf("a sound selection: %v", all)
	}
}

// What people are shown of the selection of a large project fits on a screen. Programs get all of it.
func TestSelectionOfManyStacks(t *testing.T) {
	f := newFixture()
	for i := range 300 {
		f.want(fmt.Sprintf("vpc%d db%d<vpc%d web%d<db%d", i, i, i, i, i))
	}
	f.Selection = plan.Selection{Only: []string{"db*"}, WithDependents: true, Exclude: []string{"web?", "web??"}}
	lines := f.SayingSelection()
	if len(lines) > 16 || !slices.Contains(lines, "added: 494 stacks more") || !slices.Contains(lines, "left out: web10, web11, web12, web13, web14, web15 and 84 more (excluded by --exclude 'web??')") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	p, err := plan.Deploy(f.View)
	if c := f.Describe(p, func(string) (*template.Template, error) { return nil, errors.New("none") }); err != nil || c.Selection == nil || len(c.Selection.Added) != 500 || len(c.Selection.LeftOut) != 100 || c.Selection.Selected != 800 {
		t.Errorf("%+v, %v", c.Selection, err)
	}
}

// A deletion of a stack on which an excluded one depends is refused, and says so.
func TestExcludedDependents(t *testing.T) {
	f := newFixture()
	f.have("UPDATE_COMPLETE", "vpc db<vpc web<db")
	f.Selection = plan.Selection{Exclude: []string{"we*"}}
	_, err := plan.Destroy(f.View)
	want := "stack db would be deleted, but other stacks depend on it that are excluded (web): do not exclude these, or exclude db too"
	if errors.Is(err, nil) || !slices.Contains(fault.Messages(err), want) {
		t.Errorf("%v", err)
	}
	f.Selection = plan.Selection{Only: []string{"vpc"}, WithDependents: true}
	if p, err := plan.Destroy(f.View); err != nil || len(p.Steps) != 3 {
		t.Errorf("with dependents: %v, %v", p, err)
	}
	f.Selection = plan.Selection{Only: []string{"web"}, WithDependencies: new(true)}
	if p, err := plan.Destroy(f.View); err != nil || len(p.Steps) != 3 {
		t.Errorf("with dependencies: %v, %v", p, err)
	}
}
