package plan_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A fixture is a view that a test builds. In its lists of nodes, "db<vpc" is db, which
// depends on vpc.
type fixture struct{ plan.View }

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func newFixture() fixture {
	return fixture{plan.View{
		Desired:  project.Project{Name: "shop", Environment: "default", Nodes: make(map[string]project.Node), MaxDeletions: new(1000)},
		Recorded: make(map[string]plan.Record), Live: make(map[string]plan.Live),
	}}
}

// each calls do for each node of a list like "vpc db<vpc app<db,vpc".
func each(list string, do func(name string, needs []string)) {
	for _, word := range strings.Fields(list) {
		name, on, _ := strings.Cut(word, "<")
		var needs []string
		if on != "" {
			needs = strings.Split(on, ",")
			slices.Sort(needs)
		}
		do(name, needs)
	}
}

// want adds desired nodes, with a template that no record has.
func (f fixture) want(list string) {
	each(list, func(name string, needs []string) {
		f.Desired.Nodes[name] = project.Node{
			Name: name, Stack: "shop-" + name, Needs: needs, Template: project.Template{Digest: "new", Pinned: true},
		}
	})
}

// have adds recorded nodes, whose live stacks have the status.
func (f fixture) have(status plan.Status, list string) {
	each(list, func(name string, needs []string) {
		f.Recorded[name] = plan.Record{
			Node: name, Stack: "shop-" + name, StackID: "id-" + name, Needs: needs, Digest: "old", LastUpdated: epoch,
			Outputs: map[string]string{"Id": "of " + name},
		}
		f.Live[name] = plan.Live{StackID: "id-" + name, Status: status, LastUpdated: epoch, Outputs: map[string]string{"Id": "of " + name}}
	})
}

// deployed adds nodes that are desired, and were deployed so.
func (f fixture) deployed(t *testing.T, list string) {
	t.Helper()
	f.want(list)
	f.have("UPDATE_COMPLETE", list)
	each(list, func(name string, _ []string) {
		r := f.Recorded[name]
		resolved, err := f.Desired.Nodes[name].Resolve(func(node, output string) (string, error) { return "of " + node, nil })
		if err != nil {
			t.Fatal(err)
		}
		r.Digest = resolved.Digest
		f.Recorded[name] = r
	})
}

// set changes the status of a live stack.
func (f fixture) set(name string, s plan.Status) {
	l := f.Live[name]
	l.Status = s
	f.Live[name] = l
}

// expect compares a plan, or the messages of its refusal, with the expected text.
func expect(t *testing.T, p plan.Plan, err error, want string) {
	t.Helper()
	got := p.String()
	if err != nil {
		got = strings.Join(fault.Messages(err), "\n") + "\n"
	}
	if want = strings.ReplaceAll(strings.TrimSpace(want), "\t", "") + "\n"; got != want && got+"\n" != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// meant returns the operation that brings about what is desired: Destroy if that is
// nothing, and else Deploy.
func meant(v plan.View) func(plan.View) (plan.Plan, error) {
	if len(v.Desired.Nodes) == 0 {
		return plan.Destroy
	}
	return plan.Deploy
}

// ids lists the IDs of a plan's steps, or returns the error.
func ids(p plan.Plan, err error) string {
	if err != nil {
		return err.Error()
	}
	var ids []string
	for _, s := range p.Steps {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

// Capabilities belong to a request and not to a stack, so other capabilities alone are nothing to deploy.
func TestOtherCapabilitiesNeedNoUpdate(t *testing.T) {
	f := newFixture()
	f.deployed(t, "vpc")
	n := f.Desired.Nodes["vpc"]
	n.Capabilities = []string{"CAPABILITY_IAM"}
	f.Desired.Nodes["vpc"] = n
	p, err := plan.Deploy(f.View)
	if got := ids(p, err); got != "" || !slices.Equal(p.Unchanged, []string{"vpc"}) {
		t.Errorf("the steps are %q, %q are unchanged", got, p.Unchanged)
	}
}

// Each rule for edges, in a plan of its own. The numbers are those of the comments in
// builder.go.
func TestEdges(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(fixture)
		want string
	}{
		{"(1) a node is deployed after its dependencies", func(f fixture) { f.want("vpc db<vpc app<db,vpc") }, `
			vpc/create
			db/create ← vpc/create
			app/create ← db/create vpc/create`},
		{"(2) a node is deleted after its recorded dependents", func(f fixture) { f.have("CREATE_COMPLETE", "vpc db<vpc app<db,vpc") }, `
			app/delete
			db/delete ← app/delete
			vpc/delete ← app/delete db/delete`},
		{"(2) but not if the node stays and its stack was never created: nothing uses that", func(f fixture) {
			f.have("ROLLBACK_COMPLETE", "db")
			f.have("UPDATE_COMPLETE", "app<db")
			f.want("db")
		}, `
			db/delete
			db/create ← db/delete
			barrier ← db/create
			app/delete ← barrier`},
		{"(2) nor if its creation is in progress", func(f fixture) {
			f.have("CREATE_IN_PROGRESS", "db")
			f.have("UPDATE_COMPLETE", "app<db")
			f.want("db")
		}, `
			db/wait
			db/delete ← db/wait
			db/update ← db/delete
			barrier ← db/update
			app/delete ← barrier`},
		{"(3) a node is deployed after it was deleted", func(f fixture) {
			f.have("ROLLBACK_COMPLETE", "vpc")
			f.want("vpc app<vpc")
		}, `
			vpc/delete
			vpc/create ← vpc/delete
			app/create ← vpc/create`},
		{"(2b) a dependent that stays is updated first, even if the node is created again", func(f fixture) {
			f.have("DELETE_FAILED", "vpc")
			f.have("UPDATE_COMPLETE", "app<vpc")
			f.want("vpc app")
		}, `
			app/update
			app/wait:cleanup ← app/update
			vpc/delete ← app/wait:cleanup
			vpc/create ← vpc/delete`},
		{"(2b) is left out where it would make a cycle", func(f fixture) {
			f.have("DELETE_FAILED", "b")
			f.have("UPDATE_COMPLETE", "a<b c")
			f.want("a<c c<b b")
		}, `
			b/delete
			b/create ← b/delete
			c/update ← b/create
			a/update ← c/update`},
		{"(4) a permanent deletion waits for all stacks that stay", func(f fixture) {
			f.have("UPDATE_COMPLETE", "vpc x y<x")
			f.want("vpc new")
		}, `
			new/create
			vpc/update
			barrier ← new/create vpc/update
			y/delete ← barrier
			x/delete ← barrier y/delete`},
		{"(4) but not if a deploy waits for it", func(f fixture) {
			f.have("DELETE_FAILED", "db")
			f.have("UPDATE_COMPLETE", "app<db other")
			f.want("db new")
		}, `
			app/delete
			db/delete ← app/delete
			db/create ← db/delete
			new/create
			barrier ← db/create new/create
			other/delete ← barrier`},
		{"(4) every deletion waits for the cleanups that are in progress", func(f fixture) {
			f.have("UPDATE_COMPLETE", "vpc x y<x")
			f.have("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "a b")
			f.want("vpc a b")
		}, `
			a/update
			a/wait
			b/update
			b/wait
			vpc/update
			barrier ← a/update b/update vpc/update
			barrier:cleanup ← a/wait b/wait
			y/delete ← barrier barrier:cleanup
			x/delete ← barrier barrier:cleanup y/delete`},
		{"no barrier where nothing stays", func(f fixture) { f.have("CREATE_COMPLETE", "a b") }, "a/delete\nb/delete"},
		{"a phase is in order", func(f fixture) {
			f.have("ROLLBACK_IN_PROGRESS", "a")
			f.want("a b<a")
		}, `
			a/wait
			a/delete ← a/wait
			a/update ← a/delete
			b/create ← a/update`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture()
			c.make(f)
			p, err := meant(f.View)(f.View)
			expect(t, p, err, c.want)
		})
	}
}

// A stack that is as desired has no step. If anything may differ, it has one.
func TestUnchanged(t *testing.T) {
	change := func(name string, do func(*plan.Record, *plan.Live, *project.Node)) func(fixture) {
		return func(f fixture) {
			r, l, n := f.Recorded[name], f.Live[name], f.Desired.Nodes[name]
			do(&r, &l, &n)
			f.Recorded[name], f.Live[name], f.Desired.Nodes[name] = r, l, n
		}
	}
	for _, c := range []struct {
		name, want, possible string
		make                 func(fixture)
	}{
		{"nothing", "", "", func(fixture) {}},
		{"restored by a rollback", "", "", change("vpc", func(_ *plan.Record, l *plan.Live, _ *project.Node) { l.Status = "UPDATE_ROLLBACK_COMPLETE" })},
		{"cleaning up", "", "", change("vpc", func(_ *plan.Record, l *plan.Live, _ *project.Node) { l.Status = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS" })},
		{"another template", "web/update", "", change("web", func(_ *plan.Record, _ *plan.Live, n *project.Node) { n.Template.Digest = "newer" })},
		{"dependents of a change", "vpc/update db/update app/update", "db/update app/update", change("vpc", func(_ *plan.Record, _ *plan.Live, n *project.Node) { n.Protect = true })},
		{"not pinned", "web/update", "", change("web", func(_ *plan.Record, _ *plan.Live, n *project.Node) { n.Template.Pinned = false })},
		{"changed outside Stackwright", "web/update", "", change("web", func(_ *plan.Record, l *plan.Live, _ *project.Node) { l.LastUpdated = epoch.Add(1) })},
		{"failed since", "web/update", "", change("web", func(_ *plan.Record, l *plan.Live, _ *project.Node) { l.Status = "UPDATE_FAILED" })},
		{"unknown digest", "web/update", "", change("web", func(r *plan.Record, _ *plan.Live, _ *project.Node) { r.Digest = "" })},
		{"other needs", "web/update", "", change("web", func(_ *plan.Record, _ *plan.Live, n *project.Node) { n.Needs = []string{"vpc"} })},
		{"another output", "db/update app/update", "app/update", change("vpc", func(r *plan.Record, l *plan.Live, _ *project.Node) {
			r.Outputs, l.Outputs = map[string]string{"Id": "other"}, map[string]string{"Id": "other"}
		})},
		{"no such output any more", "db/update app/update", "app/update", change("vpc", func(r *plan.Record, l *plan.Live, _ *project.Node) { r.Outputs, l.Outputs = nil, nil })},
		{"an output was recorded wrongly", "vpc/update db/update app/update", "vpc/update db/update app/update", change("vpc", func(r *plan.Record, _ *plan.Live, _ *project.Node) { r.Outputs = map[string]string{"Id": "other"} })},
		{"no output was recorded", "vpc/update db/update app/update", "vpc/update db/update app/update", change("vpc", func(r *plan.Record, _ *plan.Live, _ *project.Node) { r.Outputs = nil })},
		{"an output that was recorded wrongly was passed on", "vpc/update db/update app/update", "vpc/update app/update", change("vpc", func(_ *plan.Record, l *plan.Live, _ *project.Node) { l.Outputs = map[string]string{"Id": "other"} })},
		{"created by our token", "web/update", "", change("web", func(_ *plan.Record, l *plan.Live, n *project.Node) {
			l.StackID, l.CreatedByToken, l.LastUpdated = "id-other", true, epoch.Add(1)
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture()
			f.want("vpc db<vpc app<db web")
			n := f.Desired.Nodes["db"]
			n.Parameters = map[string]project.Text{"Vpc": {{Node: "vpc", Output: "Id"}}}
			f.deployed(t, "vpc db<vpc app<db web")
			f.Desired.Nodes["db"] = n
			resolved, err := n.Resolve(func(node, _ string) (string, error) { return "of " + node, nil })
			if err != nil {
				t.Fatal(err)
			}
			r := f.Recorded["db"]
			r.Digest = resolved.Digest
			f.Recorded["db"] = r
			c.make(f)
			p, err := plan.Deploy(f.View)
			if got := ids(p, err); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			var possible []string
			for _, s := range p.Steps {
				if s.Possible {
					possible = append(possible, s.ID)
				}
			}
			if got := strings.Join(possible, " "); got != c.possible {
				t.Errorf("possible changes are %q, want %q", got, c.possible)
			}
			if got := len(p.Unchanged) + len(p.Steps); got != 4 {
				t.Errorf("%v and %v are not all", p.Unchanged, p.Steps)
			}
		})
	}
}

// All refusals are reported at once.
func TestRefusals(t *testing.T) {
	f := newFixture()
	f.want("dead foreign lost odd ring<dead tagged")
	f.have("ROLLBACK_COMPLETE", "dead")
	f.have("CREATE_COMPLETE", "kept free")
	f.have("IMPORT_ROLLBACK_FAILED", "lost")
	f.have("ODD", "odd")
	for _, name := range []string{"dead", "kept"} {
		l := f.Live[name]
		l.Protected = true
		f.Live[name] = l
	}
	dead := f.Desired.Nodes["dead"]
	dead.Protect = true
	f.Desired.Nodes["dead"] = dead
	f.Live["foreign"] = plan.Live{StackID: "theirs", Status: "CREATE_COMPLETE"}
	f.Live["tagged"] = plan.Live{StackID: "theirs-too", Status: "CREATE_COMPLETE", Project: "other@prod"}
	p, err := plan.Deploy(f.View)
	expect(t, p, err, `
		stack dead: it is ROLLBACK_COMPLETE and must be created again, but is protected: set protect: false first
		stack foreign: shop-foreign exists (CREATE_COMPLETE) and is not managed by Stackwright: to take it over, write adopt: true under the stack in the project file, or use stackwright adopt or deploy --adopt; otherwise write another name under stack_name:
		stack lost: it is IMPORT_ROLLBACK_FAILED, and Stackwright cannot repair it: see its events in CloudFormation
		stack odd: its status ODD is unknown to this version
		stack tagged: shop-tagged exists (CREATE_COMPLETE), and its tag stackwright:project says that it belongs to project other@prod: write another name under stack_name:, or forget it in that project first and adopt it here
		stack kept: it is protected, and so it is not deleted: deploy it with protect: false first`)
	if !fault.Is(err, fault.Refused) || len(p.Steps) > 0 {
		t.Errorf("got %v of kind %s", p.Steps, fault.KindOf(err))
	}
	f = newFixture()
	f.want("a<b b<a")
	p, err = plan.Deploy(f.View)
	expect(t, p, err, "cycle: a → b → a")
	f.want("b<x")
	p, err = plan.Deploy(f.View)
	expect(t, p, err, "stack b needs x, which is not in project shop")
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("it is of kind %s", fault.KindOf(err))
	}
}

// If somebody deleted our stack and created another of its name, that stack is not ours
// and is never deleted.
func TestNotOurs(t *testing.T) {
	f := newFixture()
	f.have("CREATE_COMPLETE", "vpc")
	l := f.Live["vpc"]
	l.StackID, l.Protected = "theirs", true
	f.Live["vpc"] = l
	if got := ids(plan.Destroy(f.View)); got != "vpc/forget" {
		t.Errorf("got %s", got)
	}
	l.CreatedByToken, l.Protected = true, false // its first event has our token, so it is ours
	f.Live["vpc"] = l
	if got := ids(plan.Destroy(f.View)); got != "vpc/delete" {
		t.Errorf("got %s", got)
	}
}

// If a node gets another physical stack, the old stack is recorded under its stack ID,
// and deleted last.
func TestRename(t *testing.T) {
	f := newFixture()
	f.have("CREATE_COMPLETE", "vpc app<vpc unknown other")
	f.want("vpc app<vpc unknown other")
	rename := func(name string) {
		n := f.Desired.Nodes[name]
		n.Stack = "new-" + name
		f.Desired.Nodes[name] = n
	}
	rename("vpc")
	rename("unknown")
	r := f.Recorded["unknown"]
	r.StackID = "" // CloudFormation has not answered yet
	f.Recorded["unknown"] = r
	n := f.Desired.Nodes["other"]
	n.Target.Region = "eu-west-1"
	f.Desired.Nodes["other"] = n
	all, leave, take := plan.Rename(f.Desired, f.Recorded, plan.Selection{})
	moved := make(map[string]string)
	for _, r := range leave {
		moved[r.FormerName] = r.Node
	}
	if len(take) != 0 {
		t.Errorf("no record gets a node's name, got %v", take)
	}
	if len(f.Recorded) != 4 || f.Recorded["vpc"].FormerName != "" {
		t.Error("the given records are changed")
	}
	if len(all) != 4 || len(moved) != 3 || all["id-vpc"].FormerName != "vpc" || all["id-vpc"].Node != "id-vpc" || moved["vpc"] != "id-vpc" || moved["other"] != "id-other" {
		t.Errorf("got %v, moved %v", all, moved)
	}
	if again, more, back := plan.Rename(f.Desired, all, plan.Selection{}); len(more)+len(back) != 0 || len(again) != 4 {
		t.Errorf("renamed again: %v %v", more, back)
	}
	for name := range moved {
		f.Live[moved[name]] = f.Live[name]
		delete(f.Live, name)
	}
	delete(f.Live, moved["unknown"])
	f.Recorded = all
	p, err := plan.Deploy(f.View)
	expect(t, p, err, strings.ReplaceAll(`
		vpc/create
		app/update ← vpc/create
		app/wait:cleanup ← app/update
		other/create
		unknown/create
		barrier ← app/update other/create unknown/create vpc/create
		id-other/delete ← barrier
		id-vpc/delete ← app/wait:cleanup barrier
		OLD/forget ← barrier`, "OLD", moved["unknown"]))
	locations := plan.Locations(f.Desired, all)
	byNode := make(map[string]plan.Location)
	for _, p := range locations {
		byNode[p.Node] = p
	}
	if len(byNode) != 7 || len(locations) != 7 || byNode["vpc"].Stack != "new-vpc" || byNode["vpc"].StackID != "" ||
		byNode["id-vpc"].Stack != "shop-vpc" || byNode["id-vpc"].StackID != "id-vpc" || byNode["app"].StackID != "id-app" {
		t.Errorf("the locations are %v", locations)
	}
}

// Two stacks of one name in two regions, whose IDs are not known yet, stay two records.
func TestRenameTwins(t *testing.T) {
	p := project.Project{Name: "shop", Nodes: make(map[string]project.Node)}
	recorded := make(map[string]plan.Record)
	for _, region := range []string{"eu", "us"} {
		name := "vpc@" + region
		p.Nodes[name] = project.Node{Name: name, Stack: "new", Target: project.Target{Region: region}}
		recorded[name] = plan.Record{Node: name, Stack: "old", Target: project.Target{Region: region}}
	}
	if all, leave, _ := plan.Rename(p, recorded, plan.Selection{}); len(all) != 2 || len(leave) != 2 {
		t.Errorf("want two records, got %v", all)
	}
}

// A stack keeps its record when its node gets another name, when two nodes swap their
// stacks, and when a node gets a stack back that it had before.
func TestStackKeepsItsRecord(t *testing.T) {
	record := func(name, stack string) plan.Record {
		return plan.Record{Node: name, Stack: stack, StackID: "id-" + stack}
	}
	for _, c := range []struct{ have, want, becomes, moves string }{
		{"vpc=s1", "net=s1", "net=s1", "vpc>net"},
		{"a=s1 b=s2", "a=s2 b=s1", "a=s2 b=s1", "a>id-s1 b>id-s2 id-s2>a id-s1>b"},
		{"vpc=s2 id-s1=s1", "vpc=s1", "id-s2=s2 vpc=s1", "vpc>id-s2 id-s1>vpc"},
		{"vpc=s1 app=s2", "vpc=s1", "app=s2 vpc=s1", ""},
		{"a=s1 b=s1", "c=s1", "b=s1 c=s1", "a>c"},
	} {
		p := project.Project{Nodes: make(map[string]project.Node)}
		recorded := make(map[string]plan.Record)
		for _, word := range strings.Fields(c.have) {
			name, stack, _ := strings.Cut(word, "=")
			recorded[name] = record(name, stack)
		}
		for _, word := range strings.Fields(c.want) {
			name, stack, _ := strings.Cut(word, "=")
			p.Nodes[name] = project.Node{Name: name, Stack: stack}
		}
		all, leave, take := plan.Rename(p, recorded, plan.Selection{})
		var is, moves []string
		for _, name := range slices.Sorted(maps.Keys(all)) {
			is = append(is, all[name].Node+"="+all[name].Stack)
		}
		for _, r := range append(leave, take...) {
			moves = append(moves, r.FormerName+">"+r.Node)
		}
		if got := strings.Join(is, " "); got != c.becomes {
			t.Errorf("%s → %s: got %s, want %s", c.have, c.want, got, c.becomes)
		}
		if got := strings.Join(moves, " "); got != c.moves {
			t.Errorf("%s → %s: moved %s, want %s", c.have, c.want, got, c.moves)
		}
	}
}

func TestRefresh(t *testing.T) {
	f := newFixture()
	f.have("CREATE_COMPLETE", "vpc db<vpc")
	f.want("new")
	p, err := plan.Refresh(f.View)
	expect(t, p, err, "db/read\nvpc/read")
	if p, err := plan.Refresh(newFixture().View); err != nil || len(p.Steps) != 0 {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestDigest(t *testing.T) {
	f := newFixture()
	f.want("a b<a")
	p, err := plan.Deploy(f.View)
	if err != nil {
		t.Fatal(err)
	}
	f.want("b")
	q, err := plan.Deploy(f.View)
	if err != nil || p.Digest(nil) == q.Digest(nil) || p.Digest(nil) == p.Digest([]plan.Basis{{Stack: "vpc", Files: "x"}}) || len(p.Digest(nil)) != 64 {
		t.Errorf("two plans have one digest (%v)", err)
	}
	for _, o := range plan.AllOperations() {
		if o.Repeats || o.Lifetime != nil {
			continue
		}
		v := f.View
		v.Suspendable = true
		if v.Snapshots = (plan.Snapshots{Name: "new", Current: "run"}); o.DeletesSnapshot {
			v.Snapshots.Named = []string{"new"}
		}
		if o.PrunesSnapshots {
			v.Snapshots.Policy.Keep = 1
		}
		if o.NeedsOnly {
			v.Only = []string{"a"}
		}
		if o.Recreates {
			v.Recorded = map[string]plan.Record{"a": {Node: "a", StackID: "1"}}
			v.Live = map[string]plan.Live{"a": {StackID: "1", Status: "CREATE_COMPLETE"}}
			v.Desired.Nodes = map[string]project.Node{"a": {Name: "a"}}
		}
		if _, err := o.Plan(v); err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
	}
	digest := p.Digest(nil)
	p.Steps[0].Expected = 90
	if p.Digest(nil) != digest {
		t.Error("an expected duration changes the digest")
	}
	if (plan.Receipt{}).Known() || !(plan.Receipt{Unchanged: true}).Known() {
		t.Error("Known reports true for the zero receipt, or false for another")
	}
}

// A stack is created and updated in the mode that its node has, and deleted for good in
// the mode in which it was last deployed. To be created again, it is deleted in standard mode.
func TestDeploymentModes(t *testing.T) {
	nodes, recorded := make(map[string]project.Node), make(map[string]plan.Record)
	live := map[string]plan.Live{
		"new": {}, "old": {Status: "CREATE_COMPLETE"}, "dead": {Status: "ROLLBACK_COMPLETE", Deployment: project.Express}, "stuck": {Status: "UPDATE_ROLLBACK_FAILED"},
		"gone": {Status: "CREATE_COMPLETE", Deployment: project.Express}, "slow": {Status: "CREATE_COMPLETE"},
	}
	for name, l := range live {
		if name != "gone" && name != "slow" {
			nodes[name] = project.Node{Name: name, Deployment: project.Express}
		}
		if name != "new" {
			l.StackID = name
			live[name], recorded[name] = l, plan.Record{Node: name, StackID: name}
		}
	}
	p, err := plan.Deploy(plan.View{Desired: project.Project{Name: "shop", Nodes: nodes}, Recorded: recorded, Live: live})
	if err != nil {
		t.Fatal(err)
	}
	var express []string
	for _, s := range p.Steps {
		if s.Deployment == project.Express {
			express = append(express, s.ID)
		}
	}
	slices.Sort(express)
	if want := []string{"dead/create", "gone/delete", "new/create", "old/update", "stuck/update"}; !slices.Equal(express, want) {
		t.Errorf("%v are in express mode, want %v", express, want)
	}
}

// A step may take as long as its node's timeout. A step that waits for an operation
// which it did not start has no limit.
func TestTimeouts(t *testing.T) {
	started := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	v := plan.View{
		Desired: project.Project{Name: "shop", Nodes: map[string]project.Node{
			"slow": {Name: "slow", Timeout: project.LeastTimeout}, "any": {Name: "any"},
		}},
		Recorded: map[string]plan.Record{"slow": {Node: "slow", StackID: "id"}},
		Live:     map[string]plan.Live{"slow": {StackID: "id", Status: "UPDATE_IN_PROGRESS"}},
	}
	p, err := plan.Deploy(v)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]time.Time)
	for _, s := range p.Steps {
		got[s.ID] = s.Deadline(started)
		if !s.Deadline(time.Time{}).IsZero() {
			t.Errorf("%s is overdue before it has started", s.ID)
		}
	}
	for id, want := range map[string]time.Time{"any/create": {}, "slow/wait": {}, "slow/continue": started.Add(time.Minute), "slow/update": started.Add(time.Minute)} {
		if at, ok := got[id]; !ok || !at.Equal(want) {
			t.Errorf("%s is overdue at %s, want %s", id, at, want)
		}
	}
}

// The work of a plan grows with the stacks and not with their square, whatever becomes of the
// stacks. The bytes that it allocates show the work.
func TestPlanIsLinear(t *testing.T) {
	importable := parsed(t, importing)
	create := func(f fixture, name string) { f.want(name) }
	update := func(f fixture, name string) { f.want(name); f.have("CREATE_COMPLETE", name) }
	remove := func(f fixture, name string) { f.have("CREATE_COMPLETE", name) }
	replace := func(f fixture, name string) { f.want(name); f.have("ROLLBACK_COMPLETE", name) }
	imports := func(f fixture, name string) {
		update(f, name)
		n := f.Desired.Nodes[name]
		n.Import = map[string]project.Identifier{"Table": nil}
		f.Desired.Nodes[name] = n
		f.Found[name] = plan.Found{Desired: importable, Template: parsed(t, template.Empty), Import: "merged", ImportBytes: 7}
	}
	adopt := func(f fixture, name string) {
		f.want(name)
		n := f.Desired.Nodes[name]
		n.Adopt = true
		f.Desired.Nodes[name] = n
		f.Live[name] = plan.Live{StackID: "id-" + name, Status: "CREATE_COMPLETE"}
		f.Found[name] = plan.Found{Desired: importable, Template: importable, Digest: "old"}
	}
	for name, add := range map[string]func(fixture, string){
		"created": create, "updated": update, "deleted": remove, "created again": replace, "imported into": imports, "adopted": adopt,
	} {
		bytes := func(n int) float64 {
			f := newFixture()
			f.Found = make(map[string]plan.Found)
			f.want("stays")
			for i := range n {
				add(f, fmt.Sprintf("group/s%d", i))
			}
			f.Desired.MaxDeletions = new(n)
			for _, only := range [][]string{nil, {"group/"}} {
				f.Only = only
				if p, err := plan.Deploy(f.View); err != nil || len(p.Steps) < n {
					t.Fatalf("%s: %d steps for %d stacks: %v", name, len(p.Steps), n, err)
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for _, only := range [][]string{nil, {"group/"}} {
				f.Only = only
				if _, err := plan.Deploy(f.View); err != nil {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		if few, many := bytes(50), bytes(1000); many > 40*few {
			t.Errorf("%s: 20 times as many stacks take %.0f times the memory", name, many/few)
		}
	}
}
