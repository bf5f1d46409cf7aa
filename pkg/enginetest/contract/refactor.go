package contract

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// refactorLaws are what moves rely on in CloudFormation's stack refactoring. All concern a table that goes from the stack
// app into the stack data.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-refactoring.html
var refactorLaws = map[string]func(fixture){
	// "Status: CREATE_IN_PROGRESS | CREATE_COMPLETE | …", "ExecutionStatus: UNAVAILABLE | AVAILABLE | …"
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackRefactor.html
	"a stack refactor is made in some time, says what it does, and changes nothing": func(s fixture) {
		s.two()
		before := s.status("data", "CREATE_COMPLETE")
		t := s.begin(s.moves(topicText, topicText+tableText), "")
		if r := s.refactor(t); r.State != action.RefactorMaking || len(r.Does) > 0 {
			s.Errorf("at once it is %+v", r)
		}
		s.Pass(30 * time.Second)
		r := s.refactor(t)
		if want := []string{action.Becomes("app", "Table", "data", "Table")}; r.State != action.RefactorReady || r.ID != t.Receipt.Operation || !slices.Equal(r.Does, want) {
			s.Errorf("got %+v, want %q", r, want)
		}
		s.held("app")
		if after := s.status("data", "CREATE_COMPLETE"); !after.LastUpdated.Equal(before.LastUpdated) {
			s.Error("the stack was updated")
		}
	},
	// "Description: A description to help you identify the refactor." There is no client request token.
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStackRefactor.html
	"a stack refactor is found by its description": func(s fixture) {
		s.two()
		t := s.moves(topicText, topicText+tableText)
		if _, err := s.Refactor(s.Context(), t); !fault.Is(err, fault.Missing) {
			s.Errorf("before it is made: %v", err)
		}
		made := s.begin(t, "")
		if r := s.refactor(t); r.ID != made.Receipt.Operation {
			s.Errorf("found %+v, not %+v", r, made.Receipt)
		}
		other := s.moves(topicText, topicText+tableText)
		if _, err := s.Refactor(s.Context(), other); !fault.Is(err, fault.Missing) {
			s.Errorf("of another step: %v", err)
		}
	},
	// "StackRefactorNotFound: The specified stack refactor can't be found."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackRefactor.html
	"a stack refactor that does not exist is not executed": func(s fixture) {
		s.two()
		t := s.moves(topicText, topicText+tableText)
		t.Receipt = plan.Receipt{StackID: s.ids["data"], Operation: "00000000-0000-4000-8000-000000000000"}
		if _, err := s.Refactor(s.Context(), t); !fault.Is(err, fault.Missing) {
			s.Error(err)
		}
		if err := s.Execute(s.Context(), t); !fault.Is(err, fault.Missing) {
			s.Error(err)
		}
	},
	// Refactoring reorganises the resources of stacks and keeps the resources themselves: the stack that gets one has it,
	// and both stacks are deployed from the templates of the refactor.
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-refactoring.html
	"a stack refactor moves a resource, and deploys its templates": func(s fixture) {
		s.two()
		before := s.status("app", "CREATE_COMPLETE")
		t := s.ready(s.moves(topicText, topicText+tableText))
		s.execute(t, "")
		s.Pass(time.Second)
		for _, name := range []string{"app", "data"} {
			s.status(name, "UPDATE_IN_PROGRESS")
		}
		if r := s.refactor(t); r.State != action.RefactorMoving {
			s.Errorf("got %+v", r)
		}
		s.Pass(30 * time.Second)
		if r := s.refactor(t); r.State != action.RefactorMoved {
			s.Errorf("got %+v", r)
		}
		s.held("data")
		for name, want := range map[string]string{"app": topicText, "data": topicText + tableText} {
			if live := s.status(name, "UPDATE_COMPLETE"); !live.LastUpdated.After(before.LastUpdated) {
				s.Errorf("%s was last updated at %s", name, live.LastUpdated)
			}
			got, err := s.DeployedTemplate(s.Context(), plan.Location{Node: name, Stack: name, StackID: s.ids[name], Target: t.Node.Target})
			if string(got) != want || err != nil {
				s.Errorf("%s is deployed from %q, %v", name, got, err)
			}
		}
	},
	// ExecutionStatus must be AVAILABLE: a refactor is executed once.
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ExecuteStackRefactor.html
	"a stack refactor is executed when it is made, and once": func(s fixture) {
		s.two()
		t := s.begin(s.moves(topicText, topicText+tableText), "")
		s.execute(t, fault.Refused)
		s.held("app")
		t = s.ready(t)
		s.execute(t, "")
		s.execute(t, fault.Refused)
		s.Pass(30 * time.Second)
		s.execute(t, fault.Refused)
		s.held("data")
	},
	// The end of a refactor is reported some seconds before its stacks are at rest.
	// https://github.com/aws/aws-cdk-cli/issues/1804
	"a stack refactor is over before its stacks are": func(s fixture) {
		s.two()
		t := s.ready(s.moves(topicText, topicText+tableText))
		s.execute(t, "")
		for range 60 {
			s.Pass(500 * time.Millisecond)
			if s.refactor(t).State != action.RefactorMoved {
				continue
			}
			for _, name := range []string{"app", "data"} {
				s.status(name, "UPDATE_IN_PROGRESS")
			}
			s.begin(s.task("app", plan.Update, "v2"), fault.Busy)
			return
		}
		s.Error("it is never over")
	},
	"a stack refactor is outdated when the source is updated":  func(s fixture) { s.outdated("app", topicText+tableText) },
	"a stack refactor is outdated when the target is updated":  func(s fixture) { s.outdated("data", topicText) },
	"a stack refactor is not made while the source is updated": func(s fixture) { s.notMade("app", topicText+tableText) },
	"a stack refactor is not made while the target is updated": func(s fixture) { s.notMade("data", topicText) },
	"a stack that is gone has no new stack refactor": func(s fixture) {
		s.two()
		s.down("data")
		s.begin(s.moves(topicText, topicText+tableText), fault.Missing)
		s.held("app")
	},
	// "Refactor operations don't allow new resource creations, resource deletions, or changes to resource configurations"
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-refactoring.html
	"a stack refactor that would change or delete a resource is refused": func(s fixture) {
		s.two()
		for _, texts := range [][2]string{{topicText, topicText + strings.Replace(tableText, "orders", "items", 1)}, {topicText, topicText}, {topicText + tableText, topicText + tableText}} {
			t := s.begin(s.moves(texts[0], texts[1]), "")
			s.Pass(30 * time.Second)
			if r := s.refactor(t); r.State != action.RefactorRefused || r.Why == "" {
				s.Errorf("got %+v", r)
			}
			s.execute(t, fault.Refused)
		}
		s.held("app")
	},
	// ExecutionStatus ROLLBACK_IN_PROGRESS, ROLLBACK_COMPLETE
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_StackRefactorSummary.html
	"a stack refactor that fails is rolled back, and moves nothing": func(s fixture) {
		s.two()
		t := s.ready(s.moves(topicText, topicText+tableText))
		s.Fail("data", plan.MoveIn)
		s.execute(t, "")
		s.Pass(40 * time.Second)
		if r := s.refactor(t); r.State != action.RefactorRestored || !strings.Contains(r.Why, "injected") {
			s.Errorf("got %+v", r)
		}
		s.held("app")
		for _, name := range []string{"app", "data"} {
			s.status(name, "UPDATE_ROLLBACK_COMPLETE")
		}
	},
}

// two creates the stacks app, with the table orders, and data.
func (s fixture) two() {
	s.Helper()
	for name, text := range map[string]string{"app": topicText + tableText, "data": topicText} {
		t := s.task(name, plan.Create, "v1")
		t.Record.StackID, t.Node.Template = "", templateOf(text)
		t = s.begin(t, "")
		s.ids[name] = t.Receipt.StackID
	}
	s.Pass(30 * time.Second)
	s.held("app")
}

// down deletes a stack.
func (s fixture) down(name string) {
	s.Helper()
	s.begin(s.task(name, plan.Delete, "v1"), "")
	s.Pass(30 * time.Second)
	s.status(name, "")
}

// newer begins an update of a stack that adds a resource.
func (s fixture) newer(name, text string) {
	s.Helper()
	t := s.task(name, plan.Update, "v1")
	t.Node.Template = templateOf(text + "  More:\n    Type: AWS::SNS::Topic\n")
	s.begin(t, "")
}

// outdated checks that an update of a stack makes a stack refactor obsolete.
// ExecutionStatus OBSOLETE: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_StackRefactorSummary.html
func (s fixture) outdated(name, text string) {
	s.two()
	t := s.ready(s.moves(topicText, topicText+tableText))
	s.newer(name, text)
	s.Pass(30 * time.Second)
	if r := s.refactor(t); r.State != action.RefactorOutdated {
		s.Errorf("got %+v", r)
	}
	s.execute(t, fault.Refused)
	s.held("app")
}

// notMade checks that no stack refactor is made while a stack is busy: a stack has one operation at a time.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
func (s fixture) notMade(name, text string) {
	s.two()
	s.newer(name, text)
	s.Pass(time.Second)
	s.begin(s.moves(topicText, topicText+tableText), fault.Busy)
	s.held("app")
}

// moves returns a task that moves the table from app to data, with the templates of both after that.
func (s fixture) moves(from, to string) action.Task {
	t := s.task("data", plan.MoveIn, "v1")
	side := func(name, text string) plan.MovedStack {
		return plan.MovedStack{Node: name, Stack: name, StackID: s.ids[name], Template: text, Bytes: len(text)}
	}
	t.Movement = plan.Movement{Source: side("app", from), Target: side("data", to), Resources: []plan.MovedResource{{From: "Table", To: "Table", Type: "AWS::DynamoDB::Table"}}}
	return t
}

// ready makes the stack refactor of t, unless it is made, and waits for it.
func (s fixture) ready(t action.Task) action.Task {
	s.Helper()
	if !t.Receipt.Known() {
		t = s.begin(t, "")
	}
	s.Pass(30 * time.Second)
	if r := s.refactor(t); r.State != action.RefactorReady {
		s.Fatalf("got %+v", r)
	}
	return t
}

// refactor reads the stack refactor of t.
func (s fixture) refactor(t action.Task) action.Refactor {
	s.Helper()
	r, err := s.Refactor(context.Background(), t)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// execute executes the stack refactor of t and expects an error of a kind, or none.
func (s fixture) execute(t action.Task, want fault.Kind) {
	s.Helper()
	if err := s.Execute(context.Background(), t); fault.KindOf(err) != want || want == "" && err != nil {
		s.Fatalf("execute: got %v (%s), want %q", err, fault.KindOf(err), want)
	}
}
