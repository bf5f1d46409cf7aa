package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A linked is what a stack exports and imports.
type linked struct{ exports, imports []string }

func (l linked) String() string { return fmt.Sprintf("exports %v imports %v", l.exports, l.imports) }

// graphs are stacks as they are and as they are desired, by name. CloudFormation's laws of exports hold in it.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
type graphs struct{ live, desired map[string]linked }

// maker returns the stack that has an export; "" if none has.
func maker(stacks map[string]linked, export string) string {
	for _, name := range slices.Sorted(maps.Keys(stacks)) {
		if slices.Contains(stacks[name].exports, export) {
			return name
		}
	}
	return ""
}

// draw draws stacks in which each export has one maker, and each import a maker among the stacks before it.
func draw(r *rand.Rand, names []string) map[string]linked {
	all := make(map[string]linked)
	var made []string
	exports := []string{"x", "y", "z"}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		if r.IntN(5) == 0 {
			continue
		}
		var l linked
		for _, x := range made {
			if r.IntN(2) == 0 {
				l.imports = append(l.imports, x)
			}
		}
		for _, x := range exports {
			if !slices.Contains(made, x) && r.IntN(3) == 0 {
				l.exports, made = append(l.exports, x), append(made, x)
			}
		}
		slices.Sort(l.exports)
		slices.Sort(l.imports)
		all[name] = l
	}
	return all
}

// changes names the stacks that differ, sorted.
func (w graphs) changes() []string {
	var all []string
	for _, name := range []string{"a", "b", "c", "d"} {
		was, lives := w.live[name]
		is, stays := w.desired[name]
		if lives != stays || was.String() != is.String() {
			all = append(all, name)
		}
	}
	return all
}

// fails says why CloudFormation refuses the changes of stacks in an order; "" if it carries them out.
func (w graphs) fails(order []string) string {
	live := maps.Clone(w.live)
	for _, name := range order {
		is, stays := w.desired[name]
		others := maps.Clone(live)
		delete(others, name)
		for _, x := range live[name].exports {
			for user, other := range others {
				if slices.Contains(other.imports, x) && (!stays || !slices.Contains(is.exports, x)) {
					return fmt.Sprintf("%s gives up %s, which %s imports", name, x, user)
				}
			}
		}
		for _, x := range is.exports {
			if other := maker(others, x); other != "" {
				return fmt.Sprintf("%s takes %s from %s", name, x, other)
			}
		}
		for _, x := range is.imports {
			if maker(others, x) == "" {
				return fmt.Sprintf("%s imports %s, which nobody makes", name, x)
			}
		}
		if live = others; stays {
			live[name] = is
		}
	}
	return ""
}

// view is the view of a deploy in the graphs.
func (w graphs) view(t *testing.T) plan.View {
	most := 10
	v := plan.View{
		Desired:  project.Project{Name: "p", Nodes: make(map[string]project.Node), MaxDeletions: &most},
		Recorded: make(map[string]plan.Record), Live: make(map[string]plan.Live), InUse: make(plan.InUse),
	}
	needs := func(stacks map[string]linked, name string) (all []string) {
		for _, x := range stacks[name].imports {
			all = append(all, maker(stacks, x))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	node := func(stacks map[string]linked, name string) project.Node {
		n := project.Node{Name: name, Stack: name, Template: project.Template{Digest: stacks[name].String(), Pinned: true}, Needs: needs(stacks, name)}
		n.Links = project.Links{Imports: stacks[name].imports, Exports: make(map[string]string)}
		for _, x := range stacks[name].exports {
			n.Links.Exports["O"+x] = x
		}
		return n
	}
	for name := range w.desired {
		v.Desired.Nodes[name] = node(w.desired, name)
	}
	for name, l := range w.live {
		got, err := node(w.live, name).Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		v.Recorded[name] = plan.Record{Node: name, Stack: name, StackID: "arn:" + name, Digest: got.Digest, Template: l.String(), Needs: needs(w.live, name), LastUpdated: time.Unix(1, 0)}
		live := plan.Live{StackID: "arn:" + name, Status: "UPDATE_COMPLETE", LastUpdated: time.Unix(1, 0), Exports: make(map[string]string)}
		for _, x := range l.exports {
			live.Exports["O"+x] = x
		}
		v.Live[name] = live
	}
	for name, exports := range v.GivenUp() {
		v.InUse[name] = make(map[string]plan.Use)
		for _, x := range exports {
			var users []string
			for user, l := range w.live {
				if slices.Contains(l.imports, x) {
					users = append(users, user)
				}
			}
			slices.Sort(users)
			v.InUse[name][x] = plan.Use{Importers: users}
		}
	}
	return v
}

// permutations calls do with each order of the names.
func permutations(names []string, do func([]string)) {
	if len(names) == 0 {
		do(nil)
	}
	for i, name := range names {
		permutations(slices.Delete(slices.Clone(names), i, i+1), func(rest []string) { do(append([]string{name}, rest...)) })
	}
}

// obeys reports whether an order of changes obeys the order of the steps of a plan.
func obeys(p plan.Plan, order []string) bool {
	before := make(map[int]map[string]bool) // by step: the stacks that have to be changed before it
	for i, s := range p.Steps {
		before[i] = make(map[string]bool)
		for _, a := range s.After {
			maps.Copy(before[i], before[a])
			if node := p.Steps[a].Node; node != s.Node && node != "" {
				before[i][node] = true
			}
		}
		for node := range before[i] {
			if at := slices.Index(order, node); at >= 0 && s.Node != "" && at > slices.Index(order, s.Node) && slices.Contains(order, s.Node) {
				return false
			}
		}
	}
	return true
}

// A plan is refused because of exports only if no order of its changes works, and each order that a plan allows works.
func TestExportsDecideTheOrder(t *testing.T) {
	refused, planned := 0, 0
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := graphs{draw(r, []string{"a", "b", "c", "d"}), draw(r, []string{"a", "b", "c", "d"})}
		changes := w.changes()
		if len(w.desired) == 0 || len(changes) == 0 {
			continue
		}
		works := ""
		permutations(changes, func(order []string) {
			if w.fails(order) == "" {
				works = strings.Join(order, " ")
			}
		})
		p, err := plan.Deploy(w.view(t))
		switch {
		case err != nil && works != "":
			t.Fatalf("seed %d: live %v\ndesired %v\nis refused, but this order works: %s\n%v", seed, w.live, w.desired, works, err)
		case err != nil:
			refused++
			continue
		}
		planned++
		permutations(changes, func(order []string) {
			if why := w.fails(order); why != "" && obeys(p, order) {
				t.Fatalf("seed %d: live %v\ndesired %v\n%s\nallows %v, which fails: %s", seed, w.live, w.desired, p, order, why)
			}
		})
	}
	t.Logf("%d plans, %d refused", planned, refused)
	if planned < 500 || refused < 500 {
		t.Error("there are too few of one kind")
	}
}

// An update that gives an export in use another value is refused, if that is certain.
func TestRevaluedExports(t *testing.T) {
	const text = "Resources: {VPC: {Type: 'AWS::EC2::VPC', Properties: {CidrBlock: 10.0.0.0/16}}}\n" +
		"Outputs: {Id: {Value: !Ref VPC, Export: {Name: vpc}}, Zone: {Value: one, Export: {Name: zone}}, Other: {Value: 1}}\n"
	for _, c := range []struct{ from, to, want string }{
		{"10.0", "10.1", "vpc"}, {"Value: one", "Value: two", "zone"}, {"Value: 1", "Value: 2", ""}, {"!Ref VPC", "!GetAtt VPC.VpcId", ""},
		{"Name: zone", "Name: zones", ""}, {"Value: one", "Value: !Ref AWS::Region", "zone"}, {"Value: one", "Value: !Ref AWS::NotificationARNs", ""},
	} {
		s := newStacks()
		s.node("net", strings.Replace(text, c.from, c.to, 1))
		s.live("net", text, nil, map[string]string{"Id": "vpc-1", "Zone": "one", "Other": "1"})
		live := s.Live["net"]
		live.Exports = map[string]string{"Id": "vpc", "Zone": "zone"}
		s.Live["net"] = live
		nodes, _ := s.Exporting()
		if got := strings.Join(s.Revalued("net", s.read), " "); got != c.want || !slices.Equal(nodes, []string{"net"}) {
			t.Errorf("%s → %s: %q of %v, want %q", c.from, c.to, got, nodes, c.want)
		}
	}
}
