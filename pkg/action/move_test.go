package action_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// moveTask is a step that moves a table from the stack of app into vpc, with the stack refactor that was made for it.
func moveTask(t *testing.T) action.Task {
	t.Helper()
	at := task(plan.MoveIn)
	movement := plan.Movement{
		Source:    plan.MovedStack{Node: "app", Stack: "shop-app", StackID: "id-app", LastUpdated: epoch, Template: "without"},
		Target:    plan.MovedStack{Node: "vpc", Stack: "shop-vpc", StackID: "id", LastUpdated: epoch, Template: "with"},
		Resources: []plan.MovedResource{{From: "Orders", To: "Table", Type: "AWS::DynamoDB::Table"}},
	}
	var err error
	if at.Step.Arguments, err = plan.NewArguments(plan.MovementVersion, movement); err != nil {
		t.Fatal(err)
	}
	at.Receipt = plan.Receipt{StackID: "id", Operation: "refactor"}
	return at
}

// both returns a cloud with the two stacks of moveTask.
func both(refactors ...action.Refactor) *cloud {
	c := is("CREATE_COMPLETE")
	l := c.live["id"]
	l.LastUpdated, l.StackID = epoch, "id"
	c.live["id"], c.live["shop-vpc"], c.refactors = l, l, refactors
	l.StackID = "id-app"
	c.live["id-app"] = l
	return c
}

// Only a stack refactor that does exactly what the plan says is executed, and only if both stacks are as the plan has seen
// them. The step is over when both stacks are at rest.
func TestMoveExecutesWhatThePlanSays(t *testing.T) {
	ready := action.Refactor{ID: "refactor", State: action.RefactorReady, Does: []string{"shop-app.Orders becomes shop-vpc.Table"}}
	in := func(s action.RefactorState) action.Refactor {
		return action.Refactor{ID: "refactor", State: s, Why: "because"}
	}
	for name, c := range map[string]struct {
		refactors []action.Refactor
		change    func(*cloud)
		calls     string
		fails     string
		over      bool
	}{
		"as planned":           {[]action.Refactor{ready}, nil, "refactor live live execute", "", false},
		"not made yet":         {[]action.Refactor{in(action.RefactorMaking)}, nil, "refactor", "", false},
		"in progress":          {[]action.Refactor{in(action.RefactorMoving)}, nil, "refactor", "", false},
		"refused":              {[]action.Refactor{in(action.RefactorRefused)}, nil, "refactor", "CloudFormation refuses the move: because", true},
		"outdated":             {[]action.Refactor{in(action.RefactorOutdated)}, nil, "refactor", "a stack was changed after CloudFormation had made the stack refactor", true},
		"forgotten":            {nil, nil, "refactor", "CloudFormation does not know the stack refactor any more", true},
		"it does more":         {[]action.Refactor{{ID: "refactor", State: action.RefactorReady, Does: append([]string{"create stack"}, ready.Does...)}}, nil, "refactor", "the stack refactor does not do exactly what the plan says (create stack, shop-app.Orders becomes shop-vpc.Table)", true},
		"moved":                {[]action.Refactor{in(action.RefactorMoved)}, nil, "refactor live live", "", true},
		"rolled back":          {[]action.Refactor{in(action.RefactorRestored)}, nil, "refactor live live", "CloudFormation could not move the resources (rolled back): because", true},
		"failed":               {[]action.Refactor{in(action.RefactorFailed)}, nil, "refactor live live", "CloudFormation could not move the resources (failed): because", true},
		"the source is busy":   {[]action.Refactor{in(action.RefactorMoved)}, changed("id-app", func(l *plan.Live) { l.Status = "UPDATE_IN_PROGRESS" }), "refactor live", "", false},
		"the target is busy":   {[]action.Refactor{in(action.RefactorMoved)}, changed("id", func(l *plan.Live) { l.Status = "UPDATE_IN_PROGRESS" }), "refactor live live", "", false},
		"the source changed":   {[]action.Refactor{ready}, changed("id-app", func(l *plan.Live) { l.LastUpdated = now }), "refactor live refactor", "stack shop-app was changed after the plan was made", true},
		"the target changed":   {[]action.Refactor{ready}, changed("id", func(l *plan.Live) { l.LastUpdated = now }), "refactor live live refactor", "stack shop-vpc was changed after the plan was made", true},
		"executed by another":  {[]action.Refactor{ready, in(action.RefactorMoving)}, changed("id", func(l *plan.Live) { l.LastUpdated = now }), "refactor live live refactor", "", false},
		"CloudFormation balks": {[]action.Refactor{ready}, func(c *cloud) { c.fails = map[string]error{"execute": fault.New(fault.Refused, "no")} }, "refactor live live execute refactor", "no", true},
	} {
		cl := both(c.refactors...)
		if c.change != nil {
			c.change(cl)
		}
		p, err := act(cl, plan.MoveIn).Poll(t.Context(), moveTask(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if calls := strings.Join(cl.calls, " "); calls != c.calls || p.Over != c.over {
			t.Errorf("%s: calls %s, over %v", name, calls, p.Over)
		}
		if why := ""; p.Err != nil || c.fails != "" {
			if p.Err != nil {
				why = p.Err.Error()
			}
			if c.fails == "" || !strings.HasPrefix(why, c.fails) {
				t.Errorf("%s: %s", name, why)
			}
		}
		if p.Over && p.Record == nil || p.Record != nil && p.Record.Intent {
			t.Errorf("%s: record %+v", name, p.Record)
		}
		if moved := name == "moved"; moved && (p.Record.Digest != "" || p.Record.Template != "with") || p.Record != nil && moved != (p.Record.Moved != nil) {
			t.Errorf("%s: record %+v", name, p.Record)
		}
	}
}

func changed(id string, change func(*plan.Live)) func(*cloud) {
	return func(c *cloud) {
		l := c.live[id]
		change(&l)
		c.live[id] = l
	}
}

// After a crash before the receipt, the refactor that has the task's token as its description is continued; a new one is made
// only if there is none.
func TestMoveIsFoundByItsToken(t *testing.T) {
	in := moveTask(t)
	in.Receipt, in.Claimed = plan.Receipt{}, now.Add(-2*action.MaxStartTime)
	made := both(action.Refactor{ID: "r1", State: action.RefactorReady})
	p, err := act(made, plan.MoveIn).Poll(t.Context(), in)
	if err != nil || p.Receipt.Operation != "r1" || strings.Join(made.calls, " ") != "refactor" {
		t.Errorf("%+v, %v, %v", p, err, made.calls)
	}
	none := both()
	p, err = act(none, plan.MoveIn).Poll(t.Context(), in)
	if err != nil || !p.Receipt.Known() || strings.Join(none.calls, "; ") != "refactor; live; live; begin CreateStackRefactor" {
		t.Errorf("%+v, %v, %v", p, err, none.calls)
	}
	in.Claimed = now.Add(-time.Second)
	young := both()
	if p, err = act(young, plan.MoveIn).Poll(t.Context(), in); err != nil || len(young.calls) > 0 || p.Over {
		t.Errorf("the claimer may still be running: %+v, %v, %v", p, err, young.calls)
	}
}

// The stack that resources leave has a record without a digest before they do, so that the next deploy updates it.
func TestMoveOutForgetsWhatIsDeployed(t *testing.T) {
	c := both()
	in := moveTask(t)
	var err error
	if in.Step.Arguments, err = plan.NewArguments(plan.MovementVersion, plan.Movement{Leaving: true, Source: plan.MovedStack{Node: "app"}}); err != nil {
		t.Fatal(err)
	}
	p, err := act(c, plan.MoveOut).Poll(t.Context(), in)
	if err != nil || !p.Over || p.Record == nil || p.Record.Digest != "" || p.Record.StackID != in.Record.StackID || len(c.calls) > 0 || p.Record.Moved == nil || !p.Record.Moved.Leaving || p.Record.Moved.Run != in.Run {
		t.Errorf("%+v, %v, %v", p, err, c.calls)
	}
}

// The record keeps the move until an update has succeeded: after one that fails, the stack is as the move has left it.
func TestUpdateAfterAMove(t *testing.T) {
	for ended, kept := range map[plan.Status]bool{"UPDATE_COMPLETE": false, "UPDATE_ROLLBACK_COMPLETE": true} {
		in := task(plan.Update)
		in.Receipt, in.Record.Moved = plan.Receipt{StackID: "id"}, &plan.RecordedMove{Run: "before"}
		c := is(ended)
		c.events = []action.Operation{{Found: true, Over: true, Status: ended}}
		p, err := act(c, plan.Update).Poll(t.Context(), in)
		if err != nil || !p.Over || p.Record == nil || kept != (p.Record.Moved != nil) {
			t.Errorf("%s: %+v, %v", ended, p, err)
		}
	}
}
