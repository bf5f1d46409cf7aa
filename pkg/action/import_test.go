package action_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// importTask is a step that imports a table into vpc, with the change set that was made for it.
func importTask(t *testing.T, v plan.Verb) action.Task {
	t.Helper()
	at := task(v)
	seen := plan.Importation{LastUpdated: epoch, Template: "merged", Resources: []plan.ImportedResource{{ID: "Table", Type: "AWS::DynamoDB::Table", Identifier: map[string]string{"TableName": "orders"}}}}
	var err error
	if at.Step.Arguments, err = plan.NewArguments(plan.ImportationVersion, seen); err != nil {
		t.Fatal(err)
	}
	at.Receipt = plan.Receipt{StackID: "id", Operation: "change set"}
	return at
}

// Only a change set that does exactly what the plan says is executed, and only if the stack is as the plan has seen it. Any
// other one is deleted, and the step fails.
func TestImportExecutesWhatThePlanSays(t *testing.T) {
	table := plan.ResourceChange{ID: "Table", Action: "import"}
	for name, c := range map[string]struct {
		verb     plan.Verb
		proposal plan.Proposal
		change   func(*cloud, *plan.Live)
		calls    string
		fails    string // empty: it is executed
	}{
		"as planned":         {plan.Import, plan.Proposal{Resources: []plan.ResourceChange{table}}, nil, "proposal live execute", ""},
		"it also changes":    {plan.Import, plan.Proposal{Resources: []plan.ResourceChange{table, {ID: "Topic", Action: "modify"}}}, nil, "proposal withdraw", "the change set does not do exactly what the plan says (Table import, Topic modify): it was deleted; retry the run"},
		"it changes nothing": {plan.Import, plan.Proposal{}, nil, "proposal withdraw", "the change set does not do exactly what the plan says (it has no changes): it was deleted; retry the run"},
		"it has failed":      {plan.Import, plan.Proposal{Failure: "orders already exists in stack x"}, nil, "proposal withdraw", "CloudFormation refuses the import: orders already exists in stack x"},
		"the stack was changed": {plan.Import, plan.Proposal{Resources: []plan.ResourceChange{table}}, func(_ *cloud, l *plan.Live) { l.LastUpdated = epoch.Add(time.Second) },
			"proposal live events withdraw", "stack shop-vpc was changed after the plan was made (it is CREATE_COMPLETE): retry the run"},
		"an earlier poll has executed it": {plan.Import, plan.Proposal{Resources: []plan.ResourceChange{table}}, func(c *cloud, l *plan.Live) {
			l.LastUpdated, c.events = epoch.Add(time.Second), []action.Operation{{Found: true}}
		}, "proposal live events", ""},
		"it is gone, because it was executed": {plan.Import, plan.Proposal{}, func(c *cloud, _ *plan.Live) {
			c.fails, c.events = map[string]error{"proposal": fault.New(fault.Missing, "gone")}, []action.Operation{{Found: true}}
		}, "proposal events", ""},
		"somebody has deleted it": {plan.Import, plan.Proposal{}, func(c *cloud, _ *plan.Live) {
			c.fails = map[string]error{"proposal": fault.New(fault.Missing, "gone")}
		}, "proposal events", "somebody has deleted the change set of stack shop-vpc: retry the run (gone)"},
		"CloudFormation refuses": {plan.Import, plan.Proposal{Resources: []plan.ResourceChange{table}}, func(c *cloud, _ *plan.Live) {
			c.fails = map[string]error{"execute": fault.New(fault.Refused, "no")}
		}, "proposal live execute withdraw", "no"},
	} {
		cl := is("CREATE_COMPLETE")
		cl.proposal, cl.ready = c.proposal, true
		if l := cl.live["id"]; c.change != nil {
			c.change(cl, &l)
			cl.live["id"], cl.live["shop-vpc"] = l, l
		}
		p, err := act(cl, c.verb).Poll(t.Context(), importTask(t, c.verb))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(cl.calls, " "); got != c.calls {
			t.Errorf("%s: the calls are %s, want %s", name, got, c.calls)
		}
		if c.fails == "" {
			if want := (plan.Receipt{StackID: "id", Executed: true}); p.Receipt != want || !p.Started || p.Over {
				t.Errorf("%s: %+v", name, p)
			}
			continue
		}
		if !p.Over || p.Err == nil || p.Err.Error() != c.fails || !p.Result.NothingStarted {
			t.Errorf("%s: %+v", name, p)
		}
		if p.Record == nil || p.Record.Intent || p.Record.StackID != "id" || p.Record.Digest == "" {
			t.Errorf("%s: the record is %+v", name, p.Record)
		}
	}
}

// A start makes the change set only for a stack that is as the plan has seen it.
func TestImportStartsOnlyOnThePlannedStack(t *testing.T) {
	for name, c := range map[string]struct {
		verb plan.Verb
		live plan.Live
		want fault.Kind
	}{
		"as planned": {plan.Import, plan.Live{StackID: "id", Status: "CREATE_COMPLETE", LastUpdated: epoch}, ""},
		"changed":    {plan.Import, plan.Live{StackID: "id", Status: "CREATE_COMPLETE", LastUpdated: epoch.Add(1)}, fault.Refused},
		"busy":       {plan.Import, plan.Live{StackID: "id", Status: "UPDATE_IN_PROGRESS", LastUpdated: epoch}, fault.Busy},
		"gone":       {plan.Import, plan.Live{}, fault.Missing},
	} {
		cl := &cloud{live: map[string]plan.Live{"id": c.live, "shop-vpc": c.live}}
		at := importTask(t, c.verb)
		at.Receipt = plan.Receipt{}
		_, err := act(cl, c.verb).Start(t.Context(), at)
		if fault.KindOf(err) != c.want || c.want == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if sent := strings.Contains(strings.Join(cl.calls, " "), "begin"); sent != (c.want == "") {
			t.Errorf("%s: the calls are %v", name, cl.calls)
		}
	}
}

// The plan has not seen a stack that the step before creates: the import starts on it as that step has left it.
func TestImportIntoACreatedStack(t *testing.T) {
	for left, want := range map[time.Time]fault.Kind{epoch: "", epoch.Add(1): fault.Refused} {
		cl := is("CREATE_COMPLETE")
		at := importTask(t, plan.Import)
		at.Receipt, at.Record.LastUpdated = plan.Receipt{}, left
		var err error
		if at.Step.Arguments, err = plan.NewArguments(plan.ImportationVersion, plan.Importation{Template: "merged"}); err != nil {
			t.Fatal(err)
		}
		if _, err := act(cl, plan.Import).Start(t.Context(), at); fault.KindOf(err) != want || want == "" && err != nil {
			t.Errorf("%s: %v", left, err)
		}
	}
}

// An empty stack has the template of its arguments, its node's tags and no parameters. Its record has no digest, so nobody takes it for what is desired.
func TestCreateEmpty(t *testing.T) {
	if !action.Named(action.All(nil, nil, nil, nil, nil)...).Of(plan.CreateEmpty).Configures {
		t.Error("the tags are not resolved")
	}
	cl := &cloud{}
	at := importTask(t, plan.CreateEmpty)
	at.Receipt, at.Record, at.Want.Parameters = plan.Receipt{}, plan.Record{}, map[string]string{"A": "1"}
	at.Want.Tags = map[string]string{"team": "data"}
	if _, err := act(cl, plan.CreateEmpty).Start(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	if cl.sent.Request != action.CreateStack || cl.sent.Node.Template.Digest != "merged" || len(cl.sent.Want.Parameters) > 0 || len(cl.sent.Want.Tags) != 1 {
		t.Errorf("%+v", cl.sent)
	}
	cl = is("CREATE_COMPLETE")
	cl.events = []action.Operation{{Found: true, Over: true, Status: "CREATE_COMPLETE", Newest: "CREATE_COMPLETE", Receipt: plan.Receipt{StackID: "id", Operation: "op"}}}
	at.Receipt = plan.Receipt{StackID: "id", Operation: "op"}
	p, err := act(cl, plan.CreateEmpty).Poll(t.Context(), at)
	if err != nil || !p.Over || p.Err != nil || p.Record.Digest != "" || p.Record.Template != "merged" || p.Record.StackID != "id" {
		t.Errorf("%+v %v", p, err)
	}
}

// After an import, what is deployed is the template of the import: an update does the rest.
func TestImportRecordsItsTemplate(t *testing.T) {
	cl := is("IMPORT_COMPLETE")
	l := cl.live["id"]
	l.LastUpdated = epoch.Add(time.Minute)
	cl.live["id"] = l
	cl.events = []action.Operation{{Found: true, Over: true, Status: "IMPORT_COMPLETE", Newest: "IMPORT_COMPLETE", Receipt: plan.Receipt{StackID: "id", Operation: "op"}}}
	at := importTask(t, plan.Import)
	at.Receipt = plan.Receipt{StackID: "id", Executed: true}
	p, err := act(cl, plan.Import).Poll(t.Context(), at)
	if err != nil || !p.Over || p.Err != nil || p.Record.Digest != "" || p.Record.Template != "merged" || !p.Record.LastUpdated.Equal(l.LastUpdated) {
		t.Fatalf("%+v %v", p, err)
	}
	if diff := cmp.Diff([]string{"net", "old"}, p.Record.Needs); diff != "" { // the update has yet to remove the old ones
		t.Error(diff)
	}
}

// The update after an import does not create the stack again that somebody has deleted in between: what was imported may still exist.
func TestUpdateAfterImportOfDeletedStack(t *testing.T) {
	cloud := is("DELETE_COMPLETE")
	in := task(plan.Update)
	in.Node.Import = map[string]project.Identifier{"Table": nil}
	if _, err := act(cloud, plan.Update).Start(t.Context(), in); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "was deleted after the import of its resources: retry the run") {
		t.Errorf("%v; called %v", err, cloud.calls)
	}
}
