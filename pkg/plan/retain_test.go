package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// retaining records what a deletion of a stack retains.
func (f fixture) retaining(name string, ids ...string) {
	r := f.Recorded[name]
	r.Retain = ids
	f.Recorded[name] = r
}

// retained are the resources that each deletion of a plan retains.
func retained(t *testing.T, p plan.Plan) string {
	t.Helper()
	var all []string
	for _, s := range p.Steps {
		ids, err := s.Retains()
		if err != nil {
			t.Fatal(err)
		}
		if s.Verb == plan.Delete {
			all = append(all, s.Node+":"+strings.Join(ids, ","))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// A permanent deletion retains what is recorded, and that of a prune what the files say. A stack that is created again retains nothing: the
// creation would find the resources.
func TestDeletionsRetain(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(fixture)
		plan    func(plan.View) (plan.Plan, error)
		want    string
	}{
		"destroyed":            {func(f fixture) {}, plan.Destroy, "db:Bucket web:"},
		"no longer in files":   {func(f fixture) { delete(f.Desired.Nodes, "db") }, plan.Deploy, "db:Bucket"},
		"created again":        {func(f fixture) { f.set("db", "DELETE_FAILED") }, plan.Deploy, "db:"},
		"busy":                 {func(f fixture) { f.set("db", "UPDATE_IN_PROGRESS") }, plan.Destroy, "db:Bucket web:"},
		"that cannot be read":  {func(f fixture) { f.deny("db") }, plan.Destroy, "db:Bucket web:"},
		"that failed to go":    {func(f fixture) { f.set("db", "DELETE_FAILED") }, plan.Destroy, "db:Bucket web:"},
		"never deployed again": {func(f fixture) { f.retaining("db") }, plan.Destroy, "db: web:"},
	} {
		f := newFixture()
		f.deployed(t, "db web")
		f.retaining("db", "Bucket")
		n := f.Desired.Nodes["db"]
		n.Retain = []string{"Bucket"}
		f.Desired.Nodes["db"] = n
		c.prepare(f)
		p, err := c.plan(f.View)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := retained(t, p); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	f := newFixture()
	f.deployed(t, "db web")
	f.retaining("db", "Bucket")
	n := f.Desired.Nodes["db"]
	n.Retain, f.Desired.Obsolete = []string{"Images"}, []string{"db"}
	f.Desired.Nodes["db"] = n
	f.Desired = plan.Pruning(f.Desired)
	p, err := plan.Prune(f.View)
	expect(t, p, err, "db/delete 1 {\"resources\":[\"Images\"]}")
	if f.Recorded["db"].Retain[0] != "Bucket" {
		t.Error("the prune has changed the records of the view")
	}
}

// Another retain of an unchanged stack is a step of its own, which the plan shows.
func TestRetainIsRecorded(t *testing.T) {
	s := newStacks()
	s.deployed(t, "db web")
	s.retaining("web", "Topic", "Logs")
	n := s.Desired.Nodes["db"]
	n.Retain = []string{"Bucket"}
	s.Desired.Nodes["db"] = n
	p, err := plan.Deploy(s.View)
	expect(t, p, err, "db/set-retain\nweb/set-retain")
	c := s.describeOf(p)
	if c.Summary.Retain != 2 || c.Summary.Update != 0 || len(c.Stacks) != 2 {
		t.Fatalf("%+v", c.Summary)
	}
	for i, want := range []string{"retain - → Bucket", "retain Topic, Logs → -"} {
		o := c.Stacks[i].Options
		if len(o) != 1 || fmt.Sprintf("%s %s → %s", o[0].Name, shown(o[0].Before), shown(o[0].After)) != want || c.Stacks[i].Action != plan.ActionRetain {
			t.Errorf("%+v", c.Stacks[i])
		}
	}
	r := s.Recorded["web"]
	for i := range 200 {
		r.Retain = append(r.Retain, fmt.Sprintf("Bucket%030d", i))
	}
	s.Recorded["web"] = r
	if _, err := plan.Destroy(s.View); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "stack web: retain: ") {
		t.Errorf("too many: %v", err)
	}
}

func shown(v *string) string {
	if v == nil {
		return "-"
	}
	return *v
}
