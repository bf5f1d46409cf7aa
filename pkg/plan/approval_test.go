package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Only the steps that a stack demands to approve wait: by its files, or by those that were deployed. Others go on meanwhile.
func TestStacksThatHaveToBeApproved(t *testing.T) {
	const never, deletions, replacements, always = project.ApproveNever, project.ApproveDeletions, project.ApproveReplacements, project.ApproveAlways
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
			want: "vpc/update db/approve db/continue←vpc/update,db/approve db/propose←db/continue db/approve:change-set←db/propose db/execute←db/approve:change-set barrier←db/execute",
		},
		{
			steps: update, desired: true, wants: replacements, rule: project.Approval{Approvals: 2}, because: "stack db may have to be approved: by approve: replacements, its change set decides",
			want: "vpc/update db/continue←vpc/update db/propose←db/continue db/approve:change-set←db/propose db/approve:change-set2←db/propose db/execute←db/approve:change-set,db/approve:change-set2 barrier←db/execute",
		},
		{
			steps: update, desired: true, wants: deletions, recorded: replacements, because: "stack db has to be approved: the files change approve: replacements to deletions",
			want: "vpc/update db/approve db/continue←vpc/update,db/approve db/propose←db/continue db/approve:change-set←db/propose db/execute←db/approve:change-set barrier←db/execute",
		},
		{
			steps: update, desired: true, recorded: deletions, because: "stack db has to be approved: the files change approve: deletions to never",
			want: "vpc/update db/approve db/continue←vpc/update,db/approve db/update←db/approve,db/continue barrier←db/update",
		},
		{
			steps: update, desired: true, wants: always, rule: project.Approval{Plan: true, Approvals: 2}, because: "stack db has to be approved: approve: always",
			want: "approve approve:2 vpc/update←approve,approve:2 db/continue←vpc/update db/propose←db/continue db/approve:change-set←db/propose db/approve:change-set2←db/propose db/execute←db/approve:change-set,db/approve:change-set2 barrier←db/execute",
		},
		{steps: update[:1], desired: true, recorded: always, want: "vpc/update"},
		{steps: update[:0], rule: project.Approval{Plan: true}, want: "approve"},
		{steps: removal, recorded: never, want: "vpc/update db/wait db/delete←db/wait"},
		{
			steps: removal, recorded: deletions, rule: project.Approval{Approvals: 2}, because: "stack db has to be approved: it was deployed with approve: deletions",
			want: "vpc/update db/wait db/approve db/approve:2 db/delete←db/wait,db/approve,db/approve:2",
		},
		{steps: removal, desired: true, wants: deletions, want: "vpc/update db/wait db/delete←db/wait"}, // it is created again
		{steps: []plan.Step{step("db", plan.Revert)}, want: "db/propose-revert db/revert←db/propose-revert"},
		{steps: []plan.Step{step("db", plan.Revert)}, recorded: deletions, want: "db/propose-revert db/revert←db/propose-revert"},
		{
			steps: []plan.Step{step("db", plan.Revert)}, recorded: replacements, because: "stack db may have to be approved: by approve: replacements, its change set decides",
			want: "db/propose-revert db/approve:change-set←db/propose-revert db/revert←db/approve:change-set",
		},
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
		because := strings.Join(v.Demands(plan.Plan{Steps: c.steps}, plan.Changes{}), "; ")
		if text := strings.Join(got, " "); text != c.want || because != c.because {
			t.Errorf("%v, with %s, recorded with %s, rule %+v:\ngot  %s\nwant %s\nbecause %q, want %q", c.steps, c.wants, c.recorded, c.rule, text, c.want, because, c.because)
		}
	}
}

// What the plan says that an update changes has to be approved in any case; of all else, the change set decides.
func TestWhatAChangeSetHasToBeApprovedFor(t *testing.T) {
	topic := plan.ResourceChange{ID: "Topic", Type: "AWS::SNS::Topic", Action: "modify", Replacement: "never"}
	replaced, removed, table := topic, topic, plan.ResourceChange{ID: "Table", Type: "AWS::DynamoDB::Table", Action: "replace", Replacement: "always"}
	replaced.Action, replaced.Replacement, removed.Action = "replace", "always", "remove"
	lost := table
	lost.DataLoss, lost.Loses = true, "table"
	kept := table
	kept.Policy = "Retain"
	estimate := func(rows ...plan.ResourceChange) plan.StackChange {
		return plan.StackChange{Stack: "db", Action: plan.ActionUpdate, Certainty: plan.Certain, Resources: rows}
	}
	unknown := plan.StackChange{Stack: "db", Action: plan.ActionUpdate, Certainty: plan.Possible, UnknownDataLoss: true}
	for _, c := range []struct {
		name     string
		level    project.ApprovalLevel
		estimate plan.StackChange
		exact    plan.Proposal
		waits    bool   // in any case
		asks     string // if it does not wait in any case
	}{
		{"a change", project.ApproveReplacements, estimate(topic), plan.Proposal{Resources: []plan.ResourceChange{topic}}, false, ""},
		{"a change, always", project.ApproveAlways, estimate(topic), plan.Proposal{Resources: []plan.ResourceChange{topic}}, true, ""},
		{"perhaps a change, always", project.ApproveAlways, unknown, plan.Proposal{Resources: []plan.ResourceChange{topic}}, false, "approve: always"},
		{"perhaps a change, and there is none", project.ApproveAlways, unknown, plan.Proposal{Unchanged: true}, false, ""},
		{"only outputs change", project.ApproveAlways, unknown, plan.Proposal{}, false, "approve: always"},
		{"only outputs change", project.ApproveReplacements, unknown, plan.Proposal{}, false, ""},
		{"a replacement", project.ApproveReplacements, estimate(replaced), plan.Proposal{Resources: []plan.ResourceChange{replaced}}, true, ""},
		{"a replacement that loses no data", project.ApproveDataLoss, estimate(replaced), plan.Proposal{Resources: []plan.ResourceChange{replaced}}, false, ""},
		{"a replacement that was not estimated", project.ApproveReplacements, estimate(topic), plan.Proposal{Resources: []plan.ResourceChange{replaced}}, false, "approve: replacements, and the update replaces Topic"},
		{"a removal without data", project.ApproveReplacements, estimate(removed), plan.Proposal{Resources: []plan.ResourceChange{removed}}, false, ""},
		{"a table", project.ApproveDataLoss, estimate(lost), plan.Proposal{Resources: []plan.ResourceChange{table}}, true, ""},
		{"a table that is kept", project.ApproveDataLoss, unknown, plan.Proposal{Resources: []plan.ResourceChange{kept}}, false, ""},
		{"a table that was not estimated", project.ApproveDataLoss, unknown, plan.Proposal{Resources: []plan.ResourceChange{table}}, false, "approve: data_loss, and the update deletes the data of Table"},
		{"something is left out", project.ApproveDataLoss, estimate(topic), plan.Proposal{Resources: []plan.ResourceChange{topic}, Warning: "a resource"}, false, "approve: data_loss, and CloudFormation has left something out of the change set"},
		{"a nested stack is removed", project.ApproveDataLoss, estimate(topic), plan.Proposal{Resources: []plan.ResourceChange{{ID: "Nested", Type: "AWS::CloudFormation::Stack", Action: "remove", Replacement: "never"}}}, false, "approve: data_loss, and the update may delete the data of Nested"},
		{"a nested stack is kept", project.ApproveDataLoss, estimate(topic), plan.Proposal{Resources: []plan.ResourceChange{{ID: "Nested", Type: "AWS::CloudFormation::Stack", Action: "remove", Replacement: "never", Policy: "Retain"}}}, false, ""},
		{"the level is weaker", project.ApproveDeletions, estimate(lost), plan.Proposal{Resources: []plan.ResourceChange{table}}, false, ""},
	} {
		v := plan.View{Desired: project.Project{Nodes: map[string]project.Node{"db": {Approve: c.level}}}}
		p := v.Gated(plan.Plan{Steps: []plan.Step{{ID: "db/update", Node: "db", Verb: plan.Update}}}, project.Approval{})
		p = v.Estimated(p, plan.Changes{Stacks: []plan.StackChange{c.estimate}})
		waits := slices.ContainsFunc(p.Steps, plan.Step.Asks)
		asks, missed := c.exact.Asks(c.estimate, c.level)
		if waits != c.waits || !waits && (asks != c.asks || missed != (asks != "")) {
			t.Errorf("%s, by %s: waits in any case %t, want %t; asks %q, want %q", c.name, c.level, waits, c.waits, asks, c.asks)
		}
	}
}

// If the whole plan was approved, a change set asks only for what the plan did not say.
func TestChangeSetOfAnApprovedPlan(t *testing.T) {
	replaced := plan.ResourceChange{ID: "Topic", Type: "AWS::SNS::Topic", Action: "replace", Replacement: "always"}
	said := plan.StackChange{Stack: "db", Certainty: plan.Certain, Resources: []plan.ResourceChange{replaced}}
	v := plan.View{Desired: project.Project{Nodes: map[string]project.Node{"db": {Approve: project.ApproveReplacements}}}}
	p := v.Gated(plan.Plan{Steps: []plan.Step{{ID: "db/update", Node: "db", Verb: plan.Update}}}, project.Approval{Plan: true})
	p = v.Estimated(p, plan.Changes{Stacks: []plan.StackChange{said}})
	if !p.Steps[2].Optional || p.Steps[2].Approval.Plan {
		t.Errorf("the change set waits in any case: %+v", p.Steps[2])
	}
	exact := plan.Proposal{Resources: []plan.ResourceChange{replaced}}
	if why, missed := exact.Asks(said, project.ApproveReplacements); missed {
		t.Errorf("it asks for what was approved: %s", why)
	}
	other := plan.Proposal{Resources: []plan.ResourceChange{replaced, {ID: "Alarm", Type: "AWS::CloudWatch::Alarm", Action: "replace", Replacement: "always"}}}
	if why, missed := other.Asks(said, project.ApproveReplacements); !missed || why != "approve: replacements, and the update replaces Topic, Alarm" {
		t.Errorf("it asks %q", why)
	}
	nested := plan.Proposal{Resources: []plan.ResourceChange{replaced, {ID: "Nested/Table", Type: "AWS::DynamoDB::Table", Action: "remove", Replacement: "never"}}}
	if why, missed := nested.Asks(said, project.ApproveReplacements); !missed {
		t.Errorf("it does not ask for a table of a nested stack: %s", why)
	}
	exact.Warning = "a resource"
	if why, missed := exact.Asks(said, project.ApproveReplacements); !missed {
		t.Errorf("it does not ask for what CloudFormation has left out: %s", why)
	}
	files := project.Project{Nodes: map[string]project.Node{"db": {Approve: project.ApproveDeletions}}}
	v = plan.View{Desired: files, Recorded: map[string]plan.Record{"db": {Approve: project.ApproveAlways}}}
	p = v.Gated(plan.Plan{Steps: []plan.Step{{ID: "db/update", Node: "db", Verb: plan.Update}}}, project.Approval{Plan: true})
	if !p.Steps[2].Optional {
		t.Errorf("the whole plan was approved, and a weaker level asks again: %+v", p.Steps[2])
	}
}

// Everything that destroys, stops or unmanages something waits for approval where the project demands it.
func TestOperationsThatNeedApproval(t *testing.T) {
	why := map[string]string{
		"check":       "it only reads",
		"drift":       "it only reads",
		"refresh":     "it only reads, and records what it has read",
		"snapshot":    "it only adds backups and a name",
		"resume":      "it only starts what ran before",
		"extend":      "it only makes a lifetime longer: TestExtend",
		"warn-expiry": "it only says that an environment expires",
		"rollback":    "it restores what was approved before",
		"retry":       "what it repeats needs approval",
	}
	for _, o := range plan.AllOperations() {
		if o.Preview {
			continue
		}
		if _, only := why[o.Name]; only == o.Approvable {
			t.Errorf("%s: Approvable is %v, and the reason why it needs no approval is %q", o.Name, o.Approvable, why[o.Name])
		}
		delete(why, o.Name)
	}
	for name := range why {
		t.Errorf("there is no operation %s", name)
	}
}
