package term_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Each kind of change has its words, on the terminal and in Markdown.
func TestPlanSaysEachKindOfChange(t *testing.T) {
	before, after := "a", "b"
	c := plan.Changes{
		Operation: "plan", Project: "shop", Environment: "prod", Summary: plan.Summary{Update: 1, Delete: 1, Forget: 1, Level: 1},
		MaxParallel: []project.Limit{{Prefix: "data/", Most: 2}},
		Steps: []plan.PlannedStep{
			{Step: "db/update"}, {Step: "barrier", After: []string{"db/update"}}, {Step: "arn:old/delete", After: []string{"barrier"}}, {Step: "gone/forget", After: []string{"db/update"}},
		},
		Stacks: []plan.StackChange{
			{
				Stack: "db", Action: plan.ActionUpdate, Certainty: plan.Certain, Steps: []string{"db/update"},
				Parameters: []plan.ValueChange{{Name: "Known", Secret: true, Known: true}, {Name: "Open", Secret: true}, {Name: "Vpc", Why: "known when vpc is deployed"}, {Name: "Size", Before: &before, After: &after, Known: true}},
				Resources: []plan.ResourceChange{
					{ID: "Server", Type: "AWS::RDS::DBInstance", Action: difference.Modify, Replacement: resource.Conditional, Loses: "a database",
						Properties: []plan.PropertyChange{{Path: "Engine", Before: &before, After: &after, Replacement: resource.Conditional}}},
					{ID: "Reader", Type: "AWS::IAM::Role", Action: difference.Dynamic, Replacement: resource.Never,
						Properties: []plan.PropertyChange{{Path: "Policies", Because: "Server may be replaced", Replacement: resource.Never}, {Path: "Key", Secret: true, Replacement: resource.Never}}},
					{ID: "Net", Type: "AWS::EC2::VPC", Action: difference.Replace, Replacement: resource.Always, Properties: []plan.PropertyChange{{Path: "CidrBlock", Before: &before, After: &after, CreateOnly: true, Replacement: resource.Always}}},
					{ID: "Subnet", Type: "AWS::EC2::Subnet", Action: difference.Dynamic, Replacement: resource.Conditional,
						Properties: []plan.PropertyChange{{Path: "VpcId", Because: "parameter Vpc may change", CreateOnly: true, Replacement: resource.Conditional}}},
				},
				Outputs: []plan.OutputChange{
					{Name: "Old", Action: difference.Remove, Export: "shop-old", Users: []string{"web"}}, {Name: "Endpoint", Action: difference.Dynamic, Why: "Server may be replaced"},
					{Name: "Plain", Action: difference.Remove}, {Name: "New", Action: difference.Add}, {Name: "Other", Action: difference.Modify},
				},
			},
			{
				Stack: "old", Action: plan.ActionDelete, Certainty: plan.Certain, Steps: []string{"arn:old/delete"},
				Outputs: []plan.OutputChange{{Name: "Id", Action: difference.Remove, Export: "old-id"}},
			},
			{Stack: "gone", Action: plan.ActionForget, Certainty: plan.Certain, Steps: []string{"gone/forget"}},
			{Stack: "files", Action: plan.ActionLevel, Certainty: plan.Certain, Steps: []string{"files/set-level"}, Reasons: []string{"approve: always, before: never"}},
		},
	}
	shared := []string{
		"~ parameter Known: changes (secret)", "? parameter Open: may change (secret)", "? parameter Vpc: (known when vpc is deployed)", "parameter Size: a → b",
		"? may be replaced Server  AWS::RDS::DBInstance", "Engine: a → b (may need a replacement)", "if it is replaced, DATA LOSS: a database; to keep the data, first",
		"? may change Reader  AWS::IAM::Role", "Policies: Server may be replaced", "Key: changes (secret)",
		"± REPLACE Net  AWS::EC2::VPC", "CidrBlock: a → b (cannot be changed in place)", "REPLACED: db Net",
		"VpcId: parameter Vpc may change (cannot be changed in place)",
		"- output Old: export shop-old is deleted; used so far by web", "? output Endpoint may change: Server may be replaced", "- output Plain\n", "+ output New\n", "~ output Other\n",
		"- exports are deleted: old-id", "1 to forget, 1 with another level of", "= files  set the level of approval",
	}
	text := strings.Join(term.Plan(c, 0, false), "\n") + "\n"
	terminal := append(shared, "- old  delete  (after all other steps)", "gone  forget  (after db/update)", "at most 2 of the stacks data/… at the same time")
	for shown, wants := range map[string][]string{text: terminal, strings.ReplaceAll(term.Markdown(c), "&gt;", ">"): shared} {
		for _, want := range wants {
			if !strings.Contains(shown, want) {
				t.Errorf("it does not say %q:\n%s", want, shown)
			}
		}
	}
	if text := strings.Join(term.Plan(c, 0, false, "old"), "\n"); !strings.Contains(text, "- old  delete  (after all other steps)\n      waits for your approval\n") || strings.Count(text, "your approval") != 1 {
		t.Errorf("it does not mark the stack that waits for approval:\n%s", text)
	}
	if text := strings.Join(term.Plan(plan.Changes{MaxParallel: c.MaxParallel}, 0, false), "\n"); strings.Contains(text, "at most") {
		t.Errorf("a plan without changes says how many stacks it changes at the same time:\n%s", text)
	}
}

// A line that is too long is broken between words, and keeps its spaces. A word that does not
// fit has a line of its own, and nothing is before it but its indent.
func TestPlanBreaksLines(t *testing.T) {
	long := strings.Repeat("x", 80)
	c := plan.Changes{
		Operation: "plan", Project: "shop", Environment: "prod",
		Steps: []plan.PlannedStep{{Step: "queue/delete", After: []string{"monitoring/alarms/delete", "app/api/delete", "app/orders/delete"}}},
		Stacks: []plan.StackChange{{
			Stack: "queue", Action: plan.ActionUpdate, Certainty: plan.Certain, Steps: []string{"queue/delete"},
			Resources: []plan.ResourceChange{
				{ID: "Queue", Type: "AWS::SQS::Queue", Action: difference.Modify, Replacement: resource.Never, Properties: []plan.PropertyChange{{Path: long, Because: "it may change", Replacement: resource.Never}}},
				{ID: long, Type: "AWS::SQS::Queue", Action: difference.Modify, Replacement: resource.Never},
			},
		}},
	}
	want := `plan of shop@prod
  ~ queue  update  (after monitoring/alarms/delete, app/api/delete,
    app/orders/delete)
      ~ Queue  AWS::SQS::Queue
          ` + long + `:
            it may change
      ~ ` + long + `
        AWS::SQS::Queue
no changes, 0 unchanged`
	if got := strings.Join(term.Plan(c, 80, false), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// An exact stack says that it is exact, and where the estimate was another.
func TestExactStack(t *testing.T) {
	c := plan.Changes{
		Operation: "plan", Project: "shop", Environment: "prod", Summary: plan.Summary{Update: 1},
		Stacks: []plan.StackChange{{
			Stack: "queue", Action: plan.ActionUpdate, Certainty: plan.Certain, Exact: true, Disagreements: []string{"Queue: the estimate was modify, CloudFormation says unchanged"},
			Resources: []plan.ResourceChange{{ID: "Net/VPC", Type: "AWS::EC2::VPC", Action: difference.Add, Replacement: resource.Never}},
		}},
	}
	got := strings.Join(term.Plan(c, 80, false), "\n")
	for _, want := range []string{"~ queue  update, as its change set says", "+ Net/VPC", "Queue: the estimate was modify, CloudFormation says unchanged"} {
		if !strings.Contains(got, want) || !strings.Contains(term.Markdown(c), want) {
			t.Errorf("%s is missing from\n%s\n%s", want, got, term.Markdown(c))
		}
	}
}

// The plan of a suspend says what is stopped and what stays as it is, and that of a resume how it starts.
func TestPlannedSuspension(t *testing.T) {
	c := plan.Changes{Operation: "plan-suspend", Project: "shop", Environment: "dev", Summary: plan.Summary{Suspend: 3}}
	stack := func(name string, a plan.StackAction, s *plan.PlannedSuspension) plan.StackChange {
		return plan.StackChange{Stack: name, Action: a, Certainty: plan.Certain, Suspension: s}
	}
	service := plan.SuspendedResource{Type: "AWS::ECS::Service", Kind: "ECS service", ID: "api", Is: "of 3 desired tasks with 3 running", Was: "3"}
	daemon := plan.SuspendedResource{Type: "AWS::ECS::Service", Kind: "ECS service", ID: "logs", Why: "it is a daemon service"}
	c.Stacks = []plan.StackChange{
		stack("app", plan.ActionSuspend, &plan.PlannedSuspension{Resources: []plan.SuspendedResource{service}, Stay: []plan.SuspendedResource{daemon}}),
		stack("vpc", plan.ActionSuspend, &plan.PlannedSuspension{}), stack("data", plan.ActionSuspend, nil),
	}
	want := `suspend --plan of shop@dev
  . app  suspend
      stop ECS service api, which is of 3 desired tasks with 3 running
      ECS service logs stays as it is: it is a daemon service
  . vpc  stays as it is
      nothing in it can be stopped
  . data  suspend
3 changes: 3 to suspend; 0 unchanged; about 10 s`
	if got := strings.Join(term.Plan(c, 80, false), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := term.Markdown(c); !strings.Contains(got, "stop ECS service api, which is of 3 desired tasks with 3 running") || !strings.Contains(got, "it is a daemon service") {
		t.Errorf("got\n%s", got)
	}
	c.Operation, c.Summary = "plan-resume", plan.Summary{Resume: 1}
	service.Is = "of 0 desired tasks with 0 running"
	c.Stacks = []plan.StackChange{stack("app", plan.ActionResume, &plan.PlannedSuspension{Resources: []plan.SuspendedResource{service}})}
	want = `resume --plan of shop@dev
  > app  resume
      start ECS service api, which is of 0 desired tasks with 0 running, as it
        was: 3
1 change: 1 to resume; 0 unchanged; about 10 s`
	if got := strings.Join(term.Plan(c, 80, false), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The plan of a deletion of snapshots says of each snapshot and backup whether it is deleted.
func TestPlannedSnapshots(t *testing.T) {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	backup := func(deleted bool) plan.PlannedBackup {
		return plan.PlannedBackup{Stack: "db", Resource: "Database", Kind: "DB instance", ARN: "arn:sw-1", Deleted: deleted}
	}
	c := plan.Changes{Operation: "plan-prune-snapshots", Project: "shop", Environment: "dev", Snapshots: []plan.PlannedSnapshot{
		{Snapshot: "new", Made: made, Reasons: []string{"the policy is to keep the newest 1"}, Backups: []plan.PlannedBackup{backup(false)}},
		{Snapshot: "old", Made: made, Deleted: true, Reasons: []string{"it is not among the newest 1"}, Backups: []plan.PlannedBackup{backup(true)}},
		{Snapshot: "older", Made: made, Deleted: true, Backups: []plan.PlannedBackup{backup(false)}},
	}}
	want := strings.ReplaceAll(`snapshots prune --plan of shop@dev
    snapshot new  stays, made at TIME
      the policy is to keep the newest 1
      db.Database, the backup of a DB instance: arn:sw-1
  - snapshot old  delete, made at TIME
      it is not among the newest 1
      delete db.Database, the backup of a DB instance: arn:sw-1
  - snapshot older  delete, made at TIME
      stays in AWS: db.Database, the backup of a DB instance: arn:sw-1
2 snapshots to delete, 1 backup to delete, 1 backup that stays in AWS, 1 to keep`, "TIME", made.Local().Format(time.DateTime))
	if got := strings.Join(term.Plan(c, 80, false), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := term.Markdown(c); !strings.Contains(got, "- - snapshot old  delete") || !strings.Contains(got, "delete db.Database, the backup of a DB instance: arn:sw-1") {
		t.Errorf("got\n%s", got)
	}
	if !c.Differs() || (plan.Changes{Snapshots: c.Snapshots[:1]}).Differs() {
		t.Error("a plan that deletes a snapshot differs, and one that keeps all does not")
	}
}

// Characters of Chinese, Japanese and Korean take two cells.
func TestPlanWithWideCharactersFits(t *testing.T) {
	before, after := strings.Repeat("数据库", 40), strings.Repeat("消息 队列 ", 40)
	c := plan.Changes{Stacks: []plan.StackChange{{
		Stack: "db", Action: plan.ActionUpdate, Certainty: plan.Certain, Reasons: []string{after},
		Parameters: []plan.ValueChange{{Name: "Description", Before: &before, After: &after, Known: true}},
	}}}
	lines := term.Plan(c, 80, false)
	if len(lines) < 10 {
		t.Errorf("%d lines", len(lines))
	}
	for _, l := range lines {
		if n := text.StringWidthWithoutEscSequences(l); n > 80 {
			t.Errorf("%d cells: %s", n, l)
		}
	}
}
