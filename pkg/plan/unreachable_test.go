package plan_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A plan that was approved deploys to the accounts that the files have now. Stacks that are in no unit are not checked, and neither is a target of the files
// whose name has the form of that of an account.
func TestDeparted(t *testing.T) {
	desired := project.Project{Nodes: map[string]project.Node{"net@org-111111111111": {}, "zone": {}}}
	if err := plan.Departed(desired, []string{"net@org-111111111111", "zone", "gone", "app@eu"}); err != nil {
		t.Errorf("nothing has left: %v", err)
	}
	err := plan.Departed(desired, []string{"net@org-222222222222", "app@org-222222222222", "net@org-222222222222", "net@lab-333333333333", "net@org-111111111111"})
	want := "app@org-222222222222, net@org-222222222222: account 222222222222 has left the unit of target org since the plan was made, is not active, or is left out (--except), so that nothing is deployed there: deploy again, which makes a new plan (stackwright targets shows the accounts)"
	if all := fault.Messages(err); !fault.Is(err, fault.Refused) || len(all) != 2 || all[0] != want && all[1] != want {
		t.Errorf("got %q, want two messages with %q", all, want)
	}
	desired.Lost = map[string]error{"org": fault.New(fault.Denied, "nobody may list org")}
	if err := plan.Departed(desired, []string{"net@org-222222222222"}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "net@org-222222222222: nobody may list org") {
		t.Errorf("the accounts are not known: %v", err)
	}
}

// A plan says which stacks of the files are deployed nowhere, once for each reason. One that is recorded is unreachable, and is said to be that. A partial
// request is about those that it names.
func TestUnplaced(t *testing.T) {
	v := plan.View{Desired: project.Project{Unplaced: map[string]string{"net": "nobody is there", "app": "nobody is there", "old": "it is closed", "db@org-111111111111": "it is closed"}}, Unreachable: plan.Unreachable{"old": "it is closed"}}
	deploy := plan.AllOperations().Of("deploy")
	said := func() string {
		t.Helper()
		p, err := deploy.Make(v)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(p.Messages, "\n")
	}
	const old = "not reachable for now, and kept in the records: old: it is closed\n"
	if got, want := said(), old+"deployed nowhere for now: db@org-111111111111: it is closed\ndeployed nowhere for now: app, net: nobody is there"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	v.Desired.Nodes, v.Only = map[string]project.Node{"zone": {Name: "zone", Stack: "zone"}}, []string{"zone"}
	if got := said(); strings.Contains(got, "nowhere") {
		t.Errorf("a request about zone alone says %q", got)
	}
}

// A destroy that cannot reach a stack says what becomes of it, and the environment is not destroyed.
func TestUndestroyed(t *testing.T) {
	v := plan.View{Unreachable: plan.Unreachable{"net@org-111111111111": "it is closed"}}
	p, err := plan.AllOperations().Of("destroy").Make(v)
	if got := strings.Join(p.Messages, "\n"); err != nil || !strings.Contains(got, "kept in the records: net@org-111111111111: it is closed\nthis run does not delete these stacks, because nobody can use their accounts now: when") {
		t.Errorf("got %q (%v)", got, err)
	}
	left := map[string]plan.Record{"zone": {}}
	if !plan.Undestroyed(project.Project{}, left) || plan.Undestroyed(project.Project{Ignored: []string{"zone"}}, left) || plan.Undestroyed(project.Project{}, nil) {
		t.Error("what is left alone is not what a destroy could not reach")
	}
}
