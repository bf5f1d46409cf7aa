package plan_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Only the steps that a stack demands to approve wait: by its files, or by those that were deployed. Others go on meanwhile.
func TestStacksThatHaveToBeApproved(t *testing.T) {
	const never, deletions, always = project.ApproveNever, project.ApproveDeletions, project.ApproveAlways
	step := func(node string, verb plan.Verb, after ...int) plan.Step {
		return plan.Step{ID: plan.StepID(node, verb, ""), Node: node, Verb: verb, After: after}
	}
	update := []plan.Step{step("vpc", plan.Update), step("db", plan.Continue, 0), step("db", plan.Update, 1), step("", plan.Barrier, 2)}
	removal := []plan.Step{step("vpc", plan.Update), step("db", plan.Wait), step("db", plan.Delete, 1)}
	for _, c := range []struct {
		steps           []plan.Step
		desired         bool // db is
		wants, recorded project.ApprovalLevel
		rule            project.Approval
		want, because   string
	}{
		{steps: update, desired: true, want: "vpc/update db/continue←vpc/update db/update←db/continue barrier←db/update"},
		{steps: update, desired: true, wants: deletions, want: "vpc/update db/continue←vpc/update db/update←db/continue barrier←db/update"},
		{
			steps: update, desired: true, wants: always, because: "stack db has to be approved: approve: always",
			want: "vpc/update db/approve db/continue←vpc/update,db/approve db/update←db/approve,db/continue barrier←db/update",
		},
		{
			steps: update, desired: true, recorded: deletions, because: "stack db has to be approved: the files change approve: deletions to never",
			want: "vpc/update db/approve db/continue←vpc/update,db/approve db/update←db/approve,db/continue barrier←db/update",
		},
		{
			steps: update, desired: true, wants: always, rule: project.Approval{Plan: true, Approvals: 2}, because: "stack db has to be approved: approve: always",
			want: "approve approve:2 vpc/update←approve,approve:2 db/continue←vpc/update db/update←db/continue barrier←db/update",
		},
		{steps: update[:1], desired: true, recorded: always, want: "vpc/update"},
		{steps: update[:0], rule: project.Approval{Plan: true}, want: "approve"},
		{steps: removal, recorded: never, want: "vpc/update db/wait db/delete←db/wait"},
		{
			steps: removal, recorded: deletions, rule: project.Approval{Approvals: 2}, because: "stack db has to be approved: it was deployed with approve: deletions",
			want: "vpc/update db/wait db/approve db/approve:2 db/delete←db/wait,db/approve,db/approve:2",
		},
		{steps: removal, desired: true, wants: deletions, want: "vpc/update db/wait db/delete←db/wait"}, // it is created again
		{steps: []plan.Step{step("db", plan.SetLevel)}, desired: true, wants: always, recorded: deletions, want: "db/set-level"},
		{
			steps: []plan.Step{step("db", plan.SetLevel)}, desired: true, wants: deletions, recorded: always, because: "stack db has to be approved: the files change approve: always to deletions",
			want: "db/approve db/set-level←db/approve",
		},
		{
			steps: []plan.Step{step("db", plan.Forget)}, recorded: deletions, because: "stack db has to be approved: it was deployed with approve: deletions",
			want: "db/approve db/forget←db/approve",
		},
	} {
		v := plan.View{Recorded: map[string]plan.Record{"db": {Approve: c.recorded}}}
		if c.desired {
			v.Desired.Nodes = map[string]project.Node{"db": {Approve: c.wants}}
		}
		var got []string
		p := v.Gated(plan.Plan{Steps: c.steps}, c.rule)
		for _, s := range p.Steps {
			var after []string
			for _, n := range s.After {
				after = append(after, p.Steps[n].ID)
			}
			got = append(got, strings.TrimSuffix(s.ID+"←"+strings.Join(after, ","), "←"))
		}
		because := strings.Join(v.Demands(plan.Plan{Steps: c.steps}), "; ")
		if text := strings.Join(got, " "); text != c.want || because != c.because {
			t.Errorf("%v, with %s, recorded with %s, rule %+v:\ngot  %s\nwant %s\nbecause %q, want %q", c.steps, c.wants, c.recorded, c.rule, text, c.want, because, c.because)
		}
	}
}
