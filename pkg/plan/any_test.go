package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// views is the number of random views.
const views = 20_000

// Each random view has a plan. Its edges are those of a slow and simple oracle, its
// steps are in order, and the same view always has the same plan.
func TestAnyView(t *testing.T) {
	t.Parallel()
	barriers, optional := 0, 0
	for seed := range uint64(views) {
		f := random(seed, 9)
		p, err := meant(f.View)(f.View)
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, f.View)
		}
		again, err := meant(f.View)(clone(f.View))
		if err != nil || again.String() != p.String() || !slices.Equal(again.Unchanged, p.Unchanged) {
			t.Fatalf("seed %d: the same view has two plans (%v)\n%s\n%s", seed, err, p, again)
		}
		o := oracle(f.View, p)
		barriers, optional = barriers+o.afterBarrier, optional+o.omitted
		if why := inOrder(p); why != "" {
			t.Fatalf("seed %d: %s\n%s", seed, why, p)
		}
		if got, want := edges(p), o.edges; !maps.EqualFunc(got, want, maps.Equal) {
			t.Fatalf("seed %d: got\n%s\nwant\n%v", seed, p, want)
		}
	}
	if barriers == 0 || optional == 0 {
		t.Errorf("%d views had %d deletions after a barrier and %d omitted edges: each must be tested", views, barriers, optional)
	}
}

// random returns a random view of up to most nodes. Each may be desired, recorded, or
// both, in any status. Its desired and recorded dependencies are independent.
func random(seed uint64, most int) fixture {
	rng := rand.New(rand.NewPCG(seed, 7))
	f := newFixture()
	n := 2 + rng.IntN(most-1)
	density := 2 + rng.IntN(4)
	list := func(oneIn int, do func(word string)) {
		var before []string
		for _, k := range rng.Perm(n) {
			if rng.IntN(oneIn) == 0 {
				continue
			}
			name := fmt.Sprintf("s%d", k)
			var needs []string
			for _, b := range before {
				if rng.IntN(density) == 0 {
					needs = append(needs, b)
				}
			}
			before = append(before, name)
			do(strings.TrimSuffix(name+"<"+strings.Join(needs, ","), "<"))
		}
	}
	states := []plan.Status{
		"CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "REVIEW_IN_PROGRESS", "DELETE_FAILED",
		"UPDATE_ROLLBACK_FAILED", "UPDATE_IN_PROGRESS", "CREATE_IN_PROGRESS", "ROLLBACK_IN_PROGRESS", "DELETE_IN_PROGRESS", "",
	}
	list(3, f.want)
	list(3, func(word string) { f.have(states[rng.IntN(len(states))], word) })
	for _, name := range slices.Sorted(maps.Keys(f.Recorded)) {
		if rng.IntN(6) > 0 { // some are unchanged or have another physical name
			continue
		}
		if d, ok := f.Desired.Nodes[name]; ok && rng.IntN(2) == 0 {
			r := f.Recorded[name]
			resolved, err := d.Resolve(nil)
			if err != nil {
				panic(err)
			}
			r.Digest, r.Needs = resolved.Digest, d.Needs
			f.Recorded[name] = r
			f.set(name, "UPDATE_COMPLETE")
		} else if ok {
			d.Stack += "-moved"
			f.Desired.Nodes[name] = d
		}
	}
	recorded, leave, _ := plan.Rename(f.Desired, f.Recorded, f.Selection)
	for _, r := range leave {
		f.Live[r.Node] = f.Live[r.FormerName]
		delete(f.Live, r.FormerName)
	}
	f.Recorded = recorded
	return f
}

// clone returns a copy of the view whose maps are filled in another order.
func clone(v plan.View) plan.View {
	c := newFixture().View
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(v.Desired.Nodes))) {
		c.Desired.Nodes[name] = v.Desired.Nodes[name]
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(v.Recorded))) {
		c.Recorded[name], c.Live[name] = v.Recorded[name], v.Live[name]
	}
	return c
}

// inOrder returns what is wrong with the order of a plan's steps, or "".
func inOrder(p plan.Plan) string {
	seen := make(map[string]bool)
	for i, s := range p.Steps {
		for _, n := range s.After {
			if n < 0 || n >= i {
				return fmt.Sprintf("%s is number %d and comes after number %d", s.ID, i, n)
			}
		}
		if seen[s.ID] || !slices.IsSorted(s.After) {
			return s.ID + " is listed twice, or its edges are not sorted"
		}
		seen[s.ID] = true
	}
	return ""
}

// An edgeSet has the steps that each step comes directly after.
type edgeSet map[string]map[string]bool

func (e edgeSet) add(later, earlier string) {
	if e[later] == nil {
		e[later] = make(map[string]bool)
	}
	if earlier != "" {
		e[later][earlier] = true
	}
}

// after reports whether one step comes after another, directly or not.
func (e edgeSet) after(later, earlier string) bool {
	if later == earlier {
		return true
	}
	for on := range e[later] {
		if e.after(on, earlier) {
			return true
		}
	}
	return false
}

func edges(p plan.Plan) edgeSet {
	all := make(edgeSet)
	for _, s := range p.Steps {
		all.add(s.ID, "")
		for _, n := range s.After {
			all.add(s.ID, p.Steps[n].ID)
		}
	}
	return all
}

// An oracled view is what the oracle says of a view's plan.
type oracled struct {
	edges                 edgeSet
	afterBarrier, omitted int
}

// phases lists each node's steps in its delete phase, or in its deploy phase, in the
// order in which a phase has its verbs.
func phases(p plan.Plan, deletePhase bool) map[string][]string {
	deletes := make(map[string]bool)
	for _, s := range p.Steps {
		if s.Verb == plan.Delete || s.Verb == plan.Forget {
			deletes[s.Node] = true
		}
	}
	all := make(map[string][]string)
	for _, verb := range []plan.Verb{plan.Wait, plan.Forget, plan.Continue, plan.Delete, plan.Create, plan.Update} {
		for _, s := range p.Steps {
			if s.Qualifier != "" {
				continue // a wait for a cleanup belongs to no phase
			}
			deletion := verb == plan.Delete || verb == plan.Forget || verb == plan.Wait && deletes[s.Node]
			if s.Verb == verb && deletion == deletePhase {
				all[s.Node] = append(all[s.Node], s.ID)
			}
		}
	}
	return all
}

// oracle makes the edges between a plan's steps by applying each rule for edges
// literally. It takes only the steps from the plan.
func oracle(v plan.View, p plan.Plan) oracled {
	o := oracled{edges: make(edgeSet)}
	deletes, deploys := phases(p, true), phases(p, false)
	for _, all := range []map[string][]string{deletes, deploys} {
		for _, phase := range all {
			before := ""
			for _, id := range phase {
				o.edges.add(id, before)
				before = id
			}
		}
	}
	follow := func(later, earlier []string) {
		if len(later) > 0 && len(earlier) > 0 {
			o.edges.add(later[0], earlier[len(earlier)-1])
		}
	}
	users := func(x string) []string { // recorded
		var users []string
		for _, name := range []string{x, v.Recorded[x].FormerName} {
			for _, u := range slices.Sorted(maps.Keys(v.Recorded)) {
				if name != "" && slices.Contains(v.Recorded[u].Needs, name) {
					users = append(users, u)
				}
			}
		}
		return users
	}
	for x := range deploys {
		for _, n := range v.Desired.Nodes[x].Needs {
			follow(deploys[x], deploys[n]) // (1)
		}
		follow(deploys[x], deletes[x]) // (3)
	}
	neverCreated := []plan.Status{"CREATE_IN_PROGRESS", "CREATE_FAILED", "ROLLBACK_IN_PROGRESS", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "REVIEW_IN_PROGRESS"}
	for x := range deletes {
		if _, stays := v.Desired.Nodes[x]; stays && slices.Contains(neverCreated, v.Live[x].Status) {
			continue
		}
		for _, u := range users(x) {
			follow(deletes[x], deletes[u]) // (2)
		}
	}
	for _, x := range slices.Sorted(maps.Keys(deletes)) {
		for _, u := range users(x) {
			d, stays := v.Desired.Nodes[u]
			deploy := deploys[u]
			if !stays || len(deploy) == 0 || slices.Contains(d.Needs, x) {
				continue
			}
			last := deploy[len(deploy)-1]
			if o.edges.after(last, deletes[x][0]) { // (2b)
				o.omitted++
				continue
			}
			if r := v.Recorded[x]; !v.Live[x].Status.Gone() && (r.StackID == v.Live[x].StackID || v.Live[x].CreatedByToken) {
				wait := u + "/wait:cleanup"
				o.edges.add(wait, last)
				last = wait
			}
			o.edges.add(deletes[x][0], last)
		}
	}
	var going []string
	for _, x := range slices.Sorted(maps.Keys(deletes)) { // (4)
		_, stays := v.Desired.Nodes[x]
		awaited := slices.ContainsFunc(slices.Collect(maps.Keys(deploys)), func(r string) bool {
			return o.edges.after(deploys[r][len(deploys[r])-1], deletes[x][0])
		})
		if !stays && !awaited && len(deploys) > 0 {
			going = append(going, x)
		}
	}
	for _, x := range going {
		o.afterBarrier++
		for _, deploy := range deploys {
			o.edges.add("barrier", deploy[len(deploy)-1])
		}
		o.edges.add(deletes[x][0], "barrier")
	}
	return o
}

// large returns a view of n nodes that all change. They are in rows of so many nodes;
// each depends on some nodes of the row above.
func large(n, wide, needs int) plan.View {
	f := newFixture()
	name := func(i int) string { return fmt.Sprintf("n%06d", i) }
	for i := range n {
		var on []string
		for k := range needs {
			if i >= wide {
				on = append(on, name(i-wide-i%wide+(i+k)%wide))
			}
		}
		slices.Sort(on)
		d := project.Node{Name: name(i), Stack: name(i), Needs: slices.Compact(on), Template: project.Template{Digest: "new", Pinned: true}}
		r := plan.Record{Node: d.Name, Stack: d.Stack, StackID: "id" + d.Name, Needs: d.Needs, Digest: "old", LastUpdated: epoch}
		f.Desired.Nodes[d.Name], f.Recorded[d.Name] = d, r
		f.Live[d.Name] = plan.Live{StackID: r.StackID, Status: "UPDATE_COMPLETE", LastUpdated: epoch}
	}
	return f.View
}

// dropped reports whether a benchmark deletes a node.
func dropped(name string) bool { return name[len(name)-1]%2 == 1 }

func BenchmarkDeploy(b *testing.B) {
	plans := func(name string, v plan.View, operation func(plan.View) (plan.Plan, error)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := operation(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, n := range []int{2_000, 10_000} {
		plans(fmt.Sprintf("%d 40 wide", n), large(n, 40, 3), plan.Deploy)
		plans(fmt.Sprintf("%d independent", n), large(n, n, 0), plan.Deploy)
		plans(fmt.Sprintf("%d 40 wide, destroyed", n), large(n, 40, 3), plan.Destroy)
		v := large(n, 40, 3)
		v.Desired.MaxDeletions = new(n)
		for name, d := range v.Desired.Nodes { // delete every second node, and the dependencies on them
			if dropped(name) {
				delete(v.Desired.Nodes, name)
				continue
			}
			d.Needs = slices.DeleteFunc(slices.Clone(d.Needs), dropped)
			v.Desired.Nodes[name] = d
		}
		plans(fmt.Sprintf("%d 40 wide, half deleted", n), v, plan.Deploy)
	}
}

// Plans of 10,000 stacks need time in proportion to their edges, also if optional edges
// could make cycles: all stacks get other physical names.
func BenchmarkDeployRenamed(b *testing.B) {
	v := large(10_000, 40, 3)
	for name, d := range v.Desired.Nodes {
		d.Stack += "-moved"
		v.Desired.Nodes[name] = d
	}
	v.Desired.MaxDeletions = new(20_000)
	recorded, leave, _ := plan.Rename(v.Desired, v.Recorded, v.Selection)
	for _, r := range leave {
		v.Live[r.Node] = v.Live[r.FormerName]
		delete(v.Live, r.FormerName)
	}
	v.Recorded = recorded
	b.ReportAllocs()
	for b.Loop() {
		if p, err := plan.Deploy(v); err != nil || len(p.Steps) != 20_001 {
			b.Fatal(len(p.Steps), err)
		}
	}
}
