package plan_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// What a user reads when a saved plan is of another project, of another operation, or out of date.
func TestSavedPlanIsRefused(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{{ID: "vpc/update", Node: "vpc", Verb: plan.Update}}}
	basis := []plan.Basis{{Stack: "vpc", Files: "f", Live: "l"}}
	saved := plan.Changes{Project: "shop", Environment: "prod", Operation: "plan", Revision: "7", Basis: basis, Digest: p.Digest(basis)}
	if err := saved.Refuse("7", p, basis); err != nil {
		t.Fatal(err)
	}
	err := saved.Refuse("8", p, basis)
	if got := fault.Messages(err); len(got) != 2 || got[1] != "the files: those of the plan are revision 7, and those of this run 8" {
		t.Errorf("with other files: %q", got)
	}
	unstored := saved
	unstored.Basis = []plan.Basis{}
	if got := fault.Messages(unstored.Refuse("8", p, basis)); len(got) != 2 || got[1] != "the files: those of the plan are revision 7, and those of this run 8" {
		t.Errorf("a large plan with other files: %q", got)
	}
	saved.Digest = "0123456789abcdef"
	destroy := saved
	destroy.Operation = "plan-destroy"
	large := saved
	large.Basis = []plan.Basis{}
	const outdated = "plan 0123456789ab is out of date, so nothing was done: plan again, and review that plan. This has changed since:"
	for _, c := range []struct {
		saved   plan.Changes
		project string
		now     []plan.Basis
		want    []string
	}{
		{saved, "mine@prod", basis, []string{"plan 0123456789ab is a plan of shop@prod, and this run is of mine@prod: make a plan of mine@prod, and use that one"}},
		{saved, "shop@dev", basis, []string{"plan 0123456789ab is a plan of shop@prod, and this run is of shop@dev: make a plan of shop@dev, and use that one"}},
		{destroy, "shop@prod", basis, []string{"plan 0123456789ab was made by destroy --plan, and a deploy carries out only plans that plan has made: plan again"}},
		{saved, "shop@prod", []plan.Basis{{Stack: "vpc", Files: "g", Live: "l"}}, []string{outdated, "stack vpc: the project says something else about it"}},
		{saved, "shop@prod", []plan.Basis{{Stack: "vpc", Files: "g", Live: "m"}, {Stack: "web", Files: "f", Live: "l"}}, []string{
			outdated, "stack vpc: the project says something else about it",
			"stack vpc: it has changed in AWS: ",
			"stack web: the plan does nothing with it, and now it would be changed too",
		}},
		{saved, "shop@prod", []plan.Basis{{Stack: "vpc", Files: "f", Inputs: "i", Live: "l"}}, []string{outdated, "stack vpc: a stack that it depends on has other outputs"}},
		{saved, "shop@prod", nil, []string{outdated, "stack vpc: the plan changes it, and now nothing would be done with it"}},
		{saved, "shop@prod", append([]plan.Basis{{Files: "other settings"}}, basis...), []string{
			outdated, "what the project or the request says beside the stacks: schedules, approval, limits, policies, a rollback after a failure, or which stacks it is about",
		}},
		{large, "shop@prod", basis, []string{outdated, "the steps, or what they were made from: which of it is not known, because the plan was too large to store that"}},
		{saved, "shop@prod", basis, []string{outdated, "the steps of the stacks, or their order"}},
	} {
		err := c.saved.RefuseRun("deploy", c.project)
		if err == nil {
			err = c.saved.Refuse("7", p, c.now)
		}
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

// What the project says beside its stacks is part of the digest of its plan: each field, also
// those that are added later. So a person approves everything that the run does and changes.
func TestDigestIsOfAllSettings(t *testing.T) {
	digest := func(v plan.View) string {
		t.Helper()
		basis, err := v.Basis(plan.Plan{})
		if err != nil {
			t.Fatal(err)
		}
		return plan.Plan{}.Digest(basis)
	}
	seen := map[string]string{
		digest(plan.View{}): "nothing",
		digest(plan.View{Selection: plan.Selection{Only: []string{"a"}}}):           "only some stacks",
		digest(plan.View{Recorded: map[string]plan.Record{"a": {FormerName: "b"}}}): "another name in the project",
	}
	settings := reflect.TypeFor[project.Project]()
	for i := range settings.NumField() {
		name := settings.Field(i).Name
		// each of the first has a basis of its own, and nothing is done about the others
		if slices.Contains([]string{"Nodes", "Lost", "Unplaced", "Warnings"}, name) {
			continue
		}
		for what, value := range values(settings.Field(i).Type, name) {
			var v plan.View
			reflect.ValueOf(&v.Desired).Elem().Field(i).Set(value)
			d := digest(v)
			if other, ok := seen[d]; ok {
				t.Errorf("%s has the same digest as %s", what, other)
			}
			seen[d] = what
		}
	}
	if len(seen) < 30 {
		t.Errorf("only %d settings were changed", len(seen))
	}
}

// values returns values of a type that differ from its zero value, by what differs: one for each
// field of a struct, also of those in maps and lists.
func values(of reflect.Type, name string) map[string]reflect.Value {
	all := make(map[string]reflect.Value)
	inner := func(kind reflect.Type, in func(reflect.Value) reflect.Value) {
		all[name] = in(reflect.Zero(kind))
		for what, v := range values(kind, name+" of "+kind.Name()) {
			all[what] = in(v)
		}
	}
	switch of.Kind() {
	case reflect.Bool:
		all[name] = reflect.ValueOf(true).Convert(of)
	case reflect.String:
		all[name] = reflect.ValueOf("x").Convert(of)
	case reflect.Int, reflect.Int64:
		all[name] = reflect.ValueOf(7).Convert(of)
	case reflect.Pointer:
		inner(of.Elem(), func(v reflect.Value) reflect.Value {
			p := reflect.New(of.Elem())
			p.Elem().Set(v)
			return p
		})
	case reflect.Slice:
		inner(of.Elem(), func(v reflect.Value) reflect.Value { return reflect.Append(reflect.Zero(of), v) })
	case reflect.Map:
		inner(of.Elem(), func(v reflect.Value) reflect.Value {
			m := reflect.MakeMap(of)
			m.SetMapIndex(reflect.ValueOf("x").Convert(of.Key()), v)
			return m
		})
	case reflect.Struct:
		if of == reflect.TypeFor[time.Time]() {
			all[name] = reflect.ValueOf(epoch)
			break
		}
		if of == reflect.TypeFor[project.Term]() { // it is in itself
			for i, term := range []project.Term{
				{Known: "x"}, {Node: "x"}, {Output: "x"}, {List: []project.Term{{}}}, {List: []project.Term{{Node: "x"}}},
				{Map: map[string]project.Term{"x": {}}}, {Map: map[string]project.Term{"x": {Node: "x"}}}, {Expression: &project.Expression{Function: "x"}},
			} {
				all[fmt.Sprintf("%s %d", name, i)] = reflect.ValueOf(term)
			}
			break
		}
		for i := range of.NumField() {
			if of.Field(i).Tag.Get("json") == "-" { // only for people: where in its file it is
				continue
			}
			for what, v := range values(of.Field(i).Type, name+"."+of.Field(i).Name) {
				s := reflect.New(of).Elem()
				s.Field(i).Set(v)
				all[what] = s
			}
		}
	default:
		panic("the test cannot make a value of " + of.String())
	}
	return all
}
