package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A forget deletes the records of the named stacks only, and all that it refuses is said
// at once.
func TestForget(t *testing.T) {
	recorded := map[string]plan.Record{
		"net/vpc": {Node: "net/vpc", Stack: "shop-vpc", StackID: "1"},
		"net/dns": {Node: "net/dns", Stack: "shop-dns", StackID: "2"},
		"db":      {Node: "db", Stack: "shop-db", StackID: "3", Needs: []string{"net/vpc"}},
		"web":     {Node: "web", Stack: "shop-web", StackID: "4", Needs: []string{"db", "net/vpc"}},
	}
	live := map[string]plan.Live{
		"net/vpc": {StackID: "1", Status: "CREATE_COMPLETE"}, "net/dns": {AccessError: "no access"},
		"db": {StackID: "3", Status: "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"}, "web": {StackID: "4", Status: "UPDATE_IN_PROGRESS"},
	}
	for only, want := range map[string]struct {
		steps    string
		refusals []string
	}{
		"net/dns":     {steps: "net/dns/forget"},
		"web":         {refusals: []string{"stack web: it is UPDATE_IN_PROGRESS: wait"}},
		"db":          {refusals: []string{"stack db: other stacks depend on it (web): forget these too"}},
		"net/,web,no": {refusals: []string{"only: there is no stack no", "stack net/vpc: other stacks depend on it (db)", "stack web: it is UPDATE_IN_PROGRESS"}},
		"":            {refusals: []string{"only: missing: name the stacks to forget"}},
	} {
		v := plan.View{Recorded: recorded, Live: live}
		if only != "" {
			v.Only = strings.Split(only, ",")
		}
		p, err := plan.ForgetStacks(v)
		if got := strings.TrimSpace(p.String()); got != want.steps {
			t.Errorf("%s: steps %q, want %q", only, got, want.steps)
		}
		var got []string
		if err != nil {
			got = fault.Messages(err)
		}
		if !slices.EqualFunc(got, want.refusals, strings.HasPrefix) {
			t.Errorf("%s: refused with %q, want %q", only, got, want.refusals)
		}
	}
	delete(live, "web")
	p, err := plan.ForgetStacks(plan.View{Recorded: recorded, Live: live, Selection: plan.Selection{Only: []string{"web", "db"}}})
	if err != nil || len(p.Messages) != 1 || !strings.Contains(p.Messages[0], "db (shop-db). A deploy") || strings.Contains(p.Messages[0], "web") {
		t.Errorf("of a stack that is gone and one that stays: %q, %v", p.Messages, err)
	}
}

// A stack that is not recorded and cannot be read is created, and not updated: if it
// exists, it is not ours, for example because it was forgotten.
func TestUnrecordedStackThatCannotBeReadIsNotUpdated(t *testing.T) {
	f := newFixture()
	f.want("web")
	f.Live["web"] = plan.Live{AccessError: "no access"}
	p, err := plan.Deploy(f.View)
	expect(t, p, err, "web/create")
}
