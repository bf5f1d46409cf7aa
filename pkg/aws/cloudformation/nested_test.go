package cloudformation_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A tree has the nested stacks of each stack: their logical IDs, which are their IDs, too. Each has a resource Queue, which has drifted.
type tree struct {
	nested  map[string][]string
	refuses map[string]string // the code and the message of a request about a stack, as "DetectStackDrift a"
	running map[string]bool   // detections that are in progress, by stack
	insync  map[string]bool   // stacks
	started []string
}

// answers makes a wire answer for the tree.
func (f *tree) answers(w *wire) {
	about := func(action string, do func(stack string) string) func(url.Values) (int, string) {
		return func(q url.Values) (int, string) {
			stack := q.Get("StackName") + strings.TrimPrefix(q.Get("StackDriftDetectionId"), "d-")
			if said := f.refuses[action+" "+stack]; said != "" {
				code, message, _ := strings.Cut(said, " ")
				return refuse(400, code, message)(q)
			}
			return say(do(stack))(q)
		}
	}
	w.answers["ListStackResources"] = about("ListStackResources", func(stack string) string {
		text := "<StackResourceSummaries>" + inStack("Queue", "q-"+stack, "AWS::SQS::Queue")
		for _, name := range f.nested[stack] {
			text += inStack(name, name, "AWS::CloudFormation::Stack")
		}
		return text + "</StackResourceSummaries>"
	})
	w.answers["DetectStackDrift"] = about("DetectStackDrift", func(stack string) string {
		f.started = append(f.started, stack)
		return "<StackDriftDetectionId>d-" + stack + "</StackDriftDetectionId>"
	})
	w.answers["DescribeStackDriftDetectionStatus"] = about("DescribeStackDriftDetectionStatus", func(stack string) string {
		status, is := "DETECTION_COMPLETE", "DRIFTED"
		if f.running[stack] {
			status = "DETECTION_IN_PROGRESS"
		}
		if f.insync[stack] {
			is = "IN_SYNC"
		}
		return "<DetectionStatus>" + status + "</DetectionStatus><StackDriftStatus>" + is + "</StackDriftStatus><StackId>" + stack + "</StackId>"
	})
	w.answers["DescribeStackResourceDrifts"] = about("DescribeStackResourceDrifts", func(stack string) string {
		return "<StackResourceDrifts><member><LogicalResourceId>Queue</LogicalResourceId><ResourceType>AWS::SQS::Queue</ResourceType><StackResourceDriftStatus>DELETED</StackResourceDriftStatus></member></StackResourceDrifts>"
	})
}

// inStack is one of ListStackResources.
func inStack(logical, physical, kind string) string {
	return "<member><LogicalResourceId>" + logical + "</LogicalResourceId><PhysicalResourceId>" + physical + "</PhysicalResourceId><ResourceType>" + kind + "</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus></member>"
}

// poll polls the detection of the stack top as a step does. It returns what it finds, and after how many polls.
func (f *tree) poll(t *testing.T) (found []string, polls int, d plan.Detection) {
	t.Helper()
	w := newWire(t)
	f.answers(w)
	in := detected()
	in.Record.StackID, in.Receipt = "top", plan.Receipt{StackID: "top", Operation: "d-top"}
	for polls = 1; polls < 100; polls++ {
		before := len(w.forms)
		got, ready, err := w.cloud().Detection(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if ready {
			for _, one := range got.Findings {
				found = append(found, strings.TrimSpace(one.Kind+" "+one.Resource+" "+one.Why))
			}
			return found, polls, got
		}
		if n := len(w.forms) - before; n > 6 {
			t.Errorf("a poll sends %d requests: %s", n, w.calls())
		}
		if got.Operation != "" {
			in.Receipt.Operation = got.Operation
		}
		f.running = nil
	}
	t.Fatal("it does not end")
	return nil, 0, d
}

// The drift of each nested stack is detected, at any depth, when its parent has been compared. What is found has the logical IDs of the nested stacks
// before it. A stack without nested ones takes one poll.
func TestDriftOfNestedStacks(t *testing.T) {
	f := &tree{nested: map[string][]string{"top": {"a", "b", "c"}, "b": {"deep"}}, insync: map[string]bool{"a": true}, running: map[string]bool{"top": true}}
	found, polls, d := f.poll(t)
	if got := strings.Join(found, ", "); got != "deleted Queue, deleted b/Queue, deleted b/deep/Queue, deleted c/Queue" || d.Failure != "" {
		t.Errorf("found %s, %+v", got, d)
	}
	if got := strings.Join(f.started, " "); got != "a b c deep" && got != "a b deep c" || polls > 6 {
		t.Errorf("started %s in %d polls", got, polls)
	}
	alone := &tree{}
	if found, polls, _ := alone.poll(t); len(found) != 1 || polls != 1 || len(alone.started) > 0 {
		t.Errorf("without nested stacks: found %q in %d polls, started %q", found, polls, alone.started)
	}
}

// A nested stack that cannot be compared is said, and keeps no other from being compared. One whose detection somebody else has started is waited for.
func TestDriftOfRefusedNestedStacks(t *testing.T) {
	f := &tree{nested: map[string][]string{"top": {"a", "b"}, "b": {"c"}}, insync: map[string]bool{"top": true, "b": true}, refuses: map[string]string{
		"DetectStackDrift a": "ValidationError Stack:a is in CREATE_FAILED state and its drift can not be detected.", "ListStackResources b": "AccessDenied no",
	}}
	found, _, d := f.poll(t)
	got := strings.Join(found, "\n")
	if d.Failure != "" || len(found) != 2 || !strings.Contains(got, "unchecked a detect the drift of nested stack a: Stack:a is in CREATE_FAILED") || !strings.Contains(got, "unchecked b/nested stacks list the resources of stack b: AWS denies") {
		t.Errorf("found %s, %+v", got, d)
	}
	busy := &tree{nested: map[string][]string{"top": {"a"}}, refuses: map[string]string{"DetectStackDrift a": "ValidationError Drift detection is already in progress for stack [a]"}}
	w := newWire(t)
	busy.answers(w)
	in := detected()
	in.Receipt.Operation = "d-top"
	if got, ready, err := w.cloud().Detection(t.Context(), in); ready || err != nil || got.Operation != "d-top" {
		t.Errorf("while a detection is in progress: %+v, %v, %v", got, ready, err)
	}
	busy.refuses["DetectStackDrift a"] = "Throttling slow down"
	if _, ready, err := w.cloud().Detection(t.Context(), in); ready || !fault.Is(err, fault.Throttled) {
		t.Errorf("throttled: %v, %v", ready, err)
	}
	in.Receipt.Operation = "[nothing"
	if _, ready, err := w.cloud().Detection(t.Context(), in); ready || !fault.Is(err, fault.Broken) {
		t.Errorf("a receipt that nobody wrote: %v, %v", ready, err)
	}
}

// A nested stack that is deleted while it is compared, or that nobody may read any more, is one that cannot be compared.
func TestDriftOfVanishedNestedStacks(t *testing.T) {
	f := &tree{nested: map[string][]string{"top": {"a", "b", "c"}}, insync: map[string]bool{"top": true}, refuses: map[string]string{
		"DescribeStackDriftDetectionStatus a": "AccessDenied no", "DescribeStackResourceDrifts b": "ValidationError Stack with id b does not exist",
	}}
	found, _, d := f.poll(t)
	got := strings.Join(found, "\n")
	if d.Failure != "" || len(found) != 3 || !strings.Contains(got, "unchecked a ") || !strings.Contains(got, "unchecked b ") || !strings.Contains(got, "deleted c/Queue") {
		t.Errorf("found %s, %+v", got, d)
	}
}

// More nested stacks than are read are said. Throttling after something has started keeps what has started.
func TestManyNestedStacks(t *testing.T) {
	f := &tree{nested: map[string][]string{}, insync: map[string]bool{"top": true}}
	for i := range 60 {
		f.nested["top"] = append(f.nested["top"], fmt.Sprintf("n%02d", i))
	}
	found, _, _ := f.poll(t)
	if got := found[len(found)-1]; len(found) != 51 || len(f.started) != 50 || got != "unchecked n50 at most 50 nested stacks of a stack are read: let some of them be stacks of the project" {
		t.Errorf("found %d, the last is %s; started %d", len(found), got, len(f.started))
	}
	some := &tree{nested: map[string][]string{"top": {"a", "b"}}, refuses: map[string]string{"DetectStackDrift b": "Throttling slow down"}}
	w := newWire(t)
	some.answers(w)
	in := detected()
	in.Receipt.Operation = "d-top"
	got, ready, err := w.cloud().Detection(t.Context(), in)
	if ready || err != nil || !strings.Contains(got.Operation, `"path":"a"`) {
		t.Errorf("throttled after the first: %+v, %v, %v", got, ready, err)
	}
	delete(some.refuses, "DetectStackDrift b")
	in.Receipt.Operation = got.Operation
	if _, _, err := w.cloud().Detection(t.Context(), in); err != nil || strings.Join(some.started, " ") != "a b" {
		t.Errorf("started %q, %v", some.started, err)
	}
}

// What a suspend finds is also what is in nested stacks, at any depth, by all their pages. Hooks and backups find what the stack itself has.
func TestResourcesOfNestedStacks(t *testing.T) {
	w := newWire(t)
	f := &tree{nested: map[string][]string{"top": {"a", "b"}, "b": {"deep"}}}
	f.answers(w)
	all, err := w.reader().ResourcesByType(t.Context(), project.Target{}, "top")
	if err != nil || strings.Join(all["AWS::SQS::Queue"], " ") != "q-a q-b q-deep q-top" {
		t.Errorf("%v, %v", all, err)
	}
	own, err := w.reader().PhysicalIDs(t.Context(), project.Target{}, "top", "AWS::SQS::Queue")
	if err != nil || strings.Join(own, " ") != "q-top" {
		t.Errorf("%v, %v", own, err)
	}
	paths, err := w.reader().ResourcesWithNested(t.Context(), project.Target{}, "top")
	var ids []string
	for _, one := range paths {
		ids = append(ids, one.ID)
	}
	if err != nil || strings.Join(ids, " ") != "Queue a b a/Queue b/Queue b/deep b/deep/Queue" {
		t.Errorf("%q, %v", ids, err)
	}
	f.refuses = map[string]string{"ListStackResources deep": "AccessDenied no"}
	if _, err := w.reader().ResourcesByType(t.Context(), project.Target{}, "top"); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "nested stack b/deep: ") {
		t.Errorf("denied: %v", err)
	}
	f.refuses = nil
	for i := range 60 {
		f.nested["top"] = append(f.nested["top"], fmt.Sprint("n", i))
	}
	if _, err := w.reader().ResourcesByType(t.Context(), project.Target{}, "top"); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "list the resources of stack top: at most 50 nested stacks of a stack are read") {
		t.Errorf("too many: %v", err)
	}
}
