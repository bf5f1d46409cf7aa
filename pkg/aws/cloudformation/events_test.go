package cloudformation_test

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
)

type urlValues = url.Values

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// line is the form of an event in these tests, the oldest first:
//
//	Db:AWS::RDS::DBInstance CREATE_FAILED by us at -20m: no capacity
//
// "." is the stack itself; "us" is the task's token, any other word another token.
var line = regexp.MustCompile(`^(\S+) ([A-Z_]+)(?: \((\w+)\))?(?: by (\w+))?(?: at (\S+?))?(?:: (.*))?$`)

// event returns a line in XML.
func event(text string) string {
	m := line.FindStringSubmatch(text)
	if m == nil {
		panic("no event: " + text)
	}
	logical, kind, _ := strings.Cut(m[1], ":")
	physical := logical + "-1"
	if logical == "." {
		logical, kind, physical = "shop-vpc", "AWS::CloudFormation::Stack", vpcID
	}
	if kind == "AWS::CloudFormation::Stack" && logical != "shop-vpc" {
		physical = "arn:aws:cloudformation:eu-west-1:111122223333:stack/" + physical
	}
	at := noon
	if m[5] != "" {
		d, err := time.ParseDuration(m[5])
		if err != nil {
			panic(err)
		}
		at = at.Add(d)
	}
	var b strings.Builder
	put := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "<%s>%s</%s>", name, quote(value), name)
		}
	}
	put("StackId", vpcID)
	put("StackName", "shop-vpc")
	put("LogicalResourceId", logical)
	put("PhysicalResourceId", physical)
	put("ResourceType", kind)
	put("Timestamp", at.Format(time.RFC3339Nano))
	put("ResourceStatusReason", m[6])
	put("DetailedStatus", m[3])
	if hook, ok := strings.CutPrefix(m[2], "HOOK_"); ok {
		put("HookType", "Acme::Guard::Hook")
		put("HookStatus", "HOOK_COMPLETE_FAILED")
		put("HookStatusReason", m[6])
		put("HookFailureMode", hook)
		put("ResourceStatus", "CREATE_IN_PROGRESS")
	} else {
		put("ResourceStatus", m[2])
	}
	switch m[4] {
	case "":
	case "stop":
		put("ClientRequestToken", token+"-cancel")
	case "us":
		put("ClientRequestToken", token)
		put("OperationId", "op")
	default:
		put("ClientRequestToken", m[4])
	}
	return b.String()
}

// events answers with a stack's events in one page; pages in pages of a size.
func events(lines ...string) func(url.Values) (int, string) { return pages(len(lines), lines...) }

func pages(size int, lines ...string) func(url.Values) (int, string) {
	lines = slices.Clone(lines)
	slices.Reverse(lines)
	return func(form url.Values) (int, string) {
		from, err := strconv.Atoi("0" + form.Get("NextToken"))
		if err != nil {
			panic(err)
		}
		to := min(from+size, len(lines))
		var b strings.Builder
		b.WriteString("<StackEvents>")
		for _, l := range lines[from:to] {
			b.WriteString("<member>" + event(l) + "</member>")
		}
		b.WriteString("</StackEvents>")
		if to < len(lines) {
			fmt.Fprintf(&b, "<NextToken>%d</NextToken>", to)
		}
		return say(b.String())(form)
	}
}

func TestEvents(t *testing.T) {
	ours := func(over plan.Status, why string, unrestored ...string) action.Operation {
		return action.Operation{
			Found: true, Over: over != "", Status: over, Why: why, Unrestored: unrestored,
			Receipt: plan.Receipt{StackID: vpcID, Operation: "op"},
		}
	}
	for name, c := range map[string]struct {
		verb   plan.Verb
		events []string
		want   action.Operation
	}{
		"no event has the token": {plan.Update, []string{
			". CREATE_IN_PROGRESS by them", ". CREATE_COMPLETE by them",
		}, action.Operation{}},
		"started": {plan.Create, []string{
			". CREATE_IN_PROGRESS by us: User Initiated",
		}, ours("", "")},
		"a create that is still configured is not over": {plan.Create, []string{
			". CREATE_IN_PROGRESS by us: User Initiated", ". CREATE_IN_PROGRESS (CONFIGURATION_COMPLETE) by us",
		}, ours("", "")},
		"done": {plan.Create, []string{
			". CREATE_IN_PROGRESS by us: User Initiated", "A:AWS::SNS::Topic CREATE_COMPLETE by us", ". CREATE_COMPLETE by us",
		}, ours("CREATE_COMPLETE", "")},
		"the cleanup is an end": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us", ". UPDATE_COMPLETE_CLEANUP_IN_PROGRESS by us",
		}, ours("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "")},
		"a nested stack's end is not the end": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us", "Net:AWS::CloudFormation::Stack UPDATE_COMPLETE by us",
		}, ours("", "")},
		"not even one of the stack's own name": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us", "shop-vpc:AWS::CloudFormation::Stack UPDATE_COMPLETE by us",
		}, ours("", "")},
		"a nested stack's failure is the reason": {plan.Create, []string{
			". CREATE_IN_PROGRESS by us",
			"Net:AWS::CloudFormation::Stack CREATE_FAILED by us: Embedded stack arn:aws:… was not successfully created: The following resource(s) failed to create: [Vpc].",
			". ROLLBACK_IN_PROGRESS by us: The following resource(s) failed to create: [Net].", ". ROLLBACK_COMPLETE by us",
		}, ours("ROLLBACK_COMPLETE", "Net (AWS::CloudFormation::Stack): Embedded stack arn:aws:… was not successfully created: The following resource(s) failed to create: [Vpc].")},
		"what came before and after is not ours": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by them", "A:AWS::SNS::Topic UPDATE_FAILED by them: theirs", ". UPDATE_ROLLBACK_COMPLETE by them",
			". UPDATE_IN_PROGRESS by us", ". UPDATE_COMPLETE by us",
			". UPDATE_IN_PROGRESS by others", "A:AWS::SNS::Topic UPDATE_FAILED by others: of others", ". UPDATE_ROLLBACK_COMPLETE by others",
		}, superseded(ours("UPDATE_COMPLETE", ""))},
		"nor is the reason of what came after": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us", ". UPDATE_ROLLBACK_COMPLETE by us: Alarm went off",
			". UPDATE_IN_PROGRESS by others", "A:AWS::SNS::Topic UPDATE_FAILED by others: of others", ". UPDATE_ROLLBACK_COMPLETE by others",
		}, superseded(ours("UPDATE_ROLLBACK_COMPLETE", "Alarm went off"))},
		"the first real reason counts": {plan.Create, []string{
			". CREATE_IN_PROGRESS by us: User Initiated",
			"A:AWS::SNS::Topic CREATE_FAILED by us: Resource creation cancelled",
			"B:AWS::SQS::Queue CREATE_FAILED by us",
			"C:AWS::RDS::DBInstance CREATE_FAILED by us: no capacity",
			"D:AWS::SNS::Topic CREATE_FAILED by us: no topic",
			". ROLLBACK_IN_PROGRESS by us: The following resource(s) failed to create: [A, B, C, D].", ". ROLLBACK_COMPLETE by us",
		}, ours("ROLLBACK_COMPLETE", "C (AWS::RDS::DBInstance): no capacity")},
		"a hook's reason is one": {plan.Create, []string{
			". CREATE_IN_PROGRESS by us", "A:AWS::SNS::Topic HOOK_WARN by us: mind the step", "A:AWS::SNS::Topic HOOK_FAIL by us: it is not encrypted",
			"A:AWS::SNS::Topic CREATE_FAILED by us: The following hook(s) failed: [Acme::Guard::Hook]", ". ROLLBACK_COMPLETE by us",
		}, ours("ROLLBACK_COMPLETE", "A (AWS::SNS::Topic): hook Acme::Guard::Hook: it is not encrypted")},
		"a hook on the stack itself is not the stack": {plan.Create, []string{
			". CREATE_IN_PROGRESS by us", ". HOOK_FAIL by us: not like this", ". ROLLBACK_COMPLETE by us",
		}, ours("ROLLBACK_COMPLETE", "shop-vpc (AWS::CloudFormation::Stack): hook Acme::Guard::Hook: not like this")},
		"a rollback that goes on is no end": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us", ". UPDATE_ROLLBACK_IN_PROGRESS by us", ". UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS by us",
		}, ours("", "")},
		"without a reason of a resource the stack's own counts": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us: User Initiated", ". UPDATE_ROLLBACK_IN_PROGRESS by us: Alarm went off", ". UPDATE_ROLLBACK_COMPLETE by us",
		}, ours("UPDATE_ROLLBACK_COMPLETE", "Alarm went off")},
		"a person cancelled it, under another token or none": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us: User Initiated", "A:AWS::SNS::Topic UPDATE_FAILED by them: Resource update cancelled",
			". UPDATE_ROLLBACK_IN_PROGRESS by them: User Initiated", ". UPDATE_ROLLBACK_COMPLETE",
		}, ours("UPDATE_ROLLBACK_COMPLETE", "somebody cancelled it (User Initiated)")},
		"we cancelled it": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us: User Initiated", "A:AWS::SNS::Topic UPDATE_FAILED by stop: Resource update cancelled",
			". UPDATE_ROLLBACK_IN_PROGRESS by stop at 5m: User Initiated", ". UPDATE_ROLLBACK_COMPLETE by stop at 7m",
		}, stopped(ours("UPDATE_ROLLBACK_COMPLETE", ""))},
		"we cancelled it, and its rollback failed": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us: User Initiated", ". UPDATE_ROLLBACK_IN_PROGRESS by stop at 5m: User Initiated",
			"A:AWS::SNS::Topic UPDATE_FAILED by stop: no room", ". UPDATE_ROLLBACK_FAILED by stop at 7m",
		}, stopped(ours("UPDATE_ROLLBACK_FAILED", "A (AWS::SNS::Topic): no room", "A"))},
		"the rollback fails too": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us: User Initiated", "A:AWS::SNS::Topic UPDATE_FAILED by us: first cause",
			". UPDATE_ROLLBACK_IN_PROGRESS by us: The following resource(s) failed to update: [A].",
			"B:AWS::SQS::Queue UPDATE_FAILED by us: second cause",
			". UPDATE_ROLLBACK_FAILED by us: The following resource(s) failed to update: [B].",
		}, ours("UPDATE_ROLLBACK_FAILED",
			"A (AWS::SNS::Topic): first cause; and its rollback failed: B (AWS::SQS::Queue): second cause", "B")},
		"a rollback that is continued fails again": {plan.Continue, []string{
			". UPDATE_ROLLBACK_FAILED by them", ". UPDATE_ROLLBACK_IN_PROGRESS by us: User Initiated",
			"B:AWS::SQS::Queue UPDATE_FAILED by us: second cause", ". UPDATE_ROLLBACK_FAILED by us",
		}, ours("UPDATE_ROLLBACK_FAILED", "B (AWS::SQS::Queue): second cause", "B")},
		"a rollback fails because of several": {plan.Continue, []string{
			". UPDATE_ROLLBACK_IN_PROGRESS by us: User Initiated", "B:AWS::SQS::Queue UPDATE_FAILED by us: second cause",
			"A:AWS::SNS::Topic UPDATE_FAILED by us: third cause", "C:AWS::SNS::Topic UPDATE_FAILED by us: Resource update cancelled",
			"B:AWS::SQS::Queue UPDATE_FAILED by us: second cause", ". UPDATE_ROLLBACK_FAILED by us",
		}, ours("UPDATE_ROLLBACK_FAILED", "B (AWS::SQS::Queue): second cause", "A", "B")},
		"what we cancelled may have failed before": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us: User Initiated", ". UPDATE_ROLLBACK_IN_PROGRESS by us: Alarm went off", ". UPDATE_ROLLBACK_COMPLETE by us",
		}, ours("UPDATE_ROLLBACK_COMPLETE", "Alarm went off")},
		"a person deleted it meanwhile": {plan.Create, []string{
			". CREATE_IN_PROGRESS by us: User Initiated", ". DELETE_IN_PROGRESS by them: User Initiated", ". DELETE_COMPLETE by them",
		}, ours("DELETE_COMPLETE", "somebody deleted it (User Initiated)")},
		"deleted": {plan.Delete, []string{
			". CREATE_COMPLETE by them", ". DELETE_IN_PROGRESS by us: User Initiated", "A:AWS::SNS::Topic DELETE_COMPLETE by us", ". DELETE_COMPLETE by us",
		}, ours("DELETE_COMPLETE", "")},
		"not deleted": {plan.Delete, []string{
			". DELETE_IN_PROGRESS by us: User Initiated", "B:AWS::S3::Bucket DELETE_FAILED by us: The bucket you tried to delete is not empty",
			". DELETE_FAILED by us: The following resource(s) failed to delete: [B].",
		}, leaves(ours("DELETE_FAILED", "B (AWS::S3::Bucket): The bucket you tried to delete is not empty"), action.Left{ID: "B", Type: "AWS::S3::Bucket", PhysicalID: "B-1"})},
		"of a deletion, the last event of each resource counts, and what comes after it does not": {plan.Delete, []string{
			". DELETE_IN_PROGRESS by us: User Initiated", "A:AWS::SNS::Topic DELETE_FAILED by us: slow", "A:AWS::SNS::Topic DELETE_IN_PROGRESS by us", "A:AWS::SNS::Topic DELETE_COMPLETE by us",
			"C:AWS::S3::Bucket DELETE_SKIPPED by us", "B:AWS::S3::Bucket DELETE_FAILED by us: full", ". DELETE_FAILED by us", ". DELETE_IN_PROGRESS by them", "B:AWS::S3::Bucket DELETE_COMPLETE by them", ". DELETE_COMPLETE by them",
		}, superseded(leaves(ours("DELETE_FAILED", "A (AWS::SNS::Topic): slow"), action.Left{ID: "B", Type: "AWS::S3::Bucket", PhysicalID: "B-1"}, action.Left{ID: "C", Type: "AWS::S3::Bucket", PhysicalID: "C-1", Retained: true}))},
		"an export in use puts the stack back where it was": {plan.Delete, []string{
			". UPDATE_COMPLETE by them", ". DELETE_IN_PROGRESS by us: User Initiated",
			". UPDATE_COMPLETE by us: Export shop-vpc-Id cannot be deleted as it is in use by shop-db",
		}, ours("UPDATE_COMPLETE", "Export shop-vpc-Id cannot be deleted as it is in use by shop-db")},
		"continued": {plan.Continue, []string{
			". UPDATE_ROLLBACK_FAILED by them", ". UPDATE_ROLLBACK_IN_PROGRESS by us: User Initiated", ". UPDATE_ROLLBACK_COMPLETE by us: so it is",
		}, ours("UPDATE_ROLLBACK_COMPLETE", "")},
		"an unknown end is an end, and no success": {plan.Update, []string{
			". UPDATE_IN_PROGRESS by us", ". UPDATE_TRANSCENDED by us: beyond",
		}, ours("UPDATE_TRANSCENDED", "beyond")},
	} {
		if c.want.Found {
			c.want.Newest, c.want.NewestOperation = newest(c.events)
			if !strings.Contains(c.events[0], " by us") {
				c.want.Before = "them"
			}
		}
		for _, size := range []int{1, 100} {
			w := newWire(t)
			w.answers["DescribeStackEvents"] = func(form url.Values) (int, string) {
				if strings.Contains(form.Get("StackName"), ":stack/Net-1") {
					return events(". CREATE_IN_PROGRESS")(form) // without a reason
				}
				return pages(size, c.events...)(form)
			}
			got, err := w.cloud().Events(t.Context(), task(c.verb))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s (by %d):\n got %+v, %v\nwant %+v", name, size, got, err, c.want)
			}
		}
	}
}

// The reason of a nested stack is that of its innermost resource, from the events of the nested stack's own ID: it is
// deleted soon.
func TestReasonOfANestedStack(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStackEvents"] = func(form url.Values) (int, string) {
		switch name := form.Get("StackName"); {
		case strings.HasSuffix(name, "Inner-1"):
			return events("Deeper:AWS::CloudFormation::Stack CREATE_FAILED: Embedded stack", ". ROLLBACK_IN_PROGRESS")(form)
		case strings.HasSuffix(name, "Deeper-1"):
			return events("Other:AWS::SNS::Topic CREATE_FAILED: Resource creation cancelled",
				"Topic:AWS::SNS::Topic CREATE_FAILED: the quota of topics is reached")(form)
		}
		return events(". CREATE_IN_PROGRESS by us",
			"Inner:AWS::CloudFormation::Stack CREATE_FAILED by us: Embedded stack", ". ROLLBACK_COMPLETE by us")(form)
	}
	got, err := w.cloud().Events(t.Context(), task(plan.Create))
	if want := "Inner/Deeper/Topic (AWS::SNS::Topic): the quota of topics is reached"; err != nil || got.Why != want {
		t.Errorf("%q, %v, want %q", got.Why, err, want)
	}
}

// What a continued rollback may skip of a nested stack has the name of the innermost nested stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html (ResourcesToSkip)
func TestUnrestoredOfANestedStack(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStackEvents"] = func(form url.Values) (int, string) {
		switch name := form.Get("StackName"); {
		case strings.HasSuffix(name, "Inner-1"):
			return events("Deeper:AWS::CloudFormation::Stack UPDATE_FAILED: Embedded stack")(form)
		case strings.HasSuffix(name, "Deeper-1"):
			return events("Topic:AWS::SNS::Topic UPDATE_FAILED: it is gone")(form)
		}
		return events(". UPDATE_ROLLBACK_IN_PROGRESS by us: User Initiated",
			"Inner:AWS::CloudFormation::Stack UPDATE_FAILED by us: Embedded stack", ". UPDATE_ROLLBACK_FAILED by us")(form)
	}
	got, err := w.cloud().Events(t.Context(), task(plan.Continue))
	if want := []string{"Deeper-1.Topic"}; err != nil || !slices.Equal(got.Unrestored, want) {
		t.Errorf("%+v, %v, want %q", got, err, want)
	}
}

// leaves returns the operation of a deletion with the resources that it has left.
func leaves(op action.Operation, all ...action.Left) action.Operation {
	op.Left = all
	return op
}

// newest returns the status and the operation of the stack's own newest event.
func newest(lines []string) (s plan.Status, operation string) {
	for _, l := range lines {
		m := line.FindStringSubmatch(l)
		if m[1] != "." || strings.HasPrefix(m[2], "HOOK_") {
			continue
		}
		if s, operation = plan.Status(m[2]), ""; m[4] == "us" {
			operation = "op"
		}
	}
	return s, operation
}

// stopped returns an operation that was cancelled five minutes after noon.
func stopped(w action.Operation) action.Operation {
	w.Stopped = noon.Add(5 * time.Minute)
	return w
}

// Events are read back to the one before the first of the operation, or to a time before
// its request.
func TestEventsAreReadAsFarAsNeeded(t *testing.T) {
	for name, c := range map[string]struct {
		events []string // the oldest first, one a page
		reads  int
		found  bool
	}{
		"to the beginning": {[]string{". CREATE_COMPLETE by them at -1m", ". UPDATE_IN_PROGRESS by us", "A:T UPDATE_COMPLETE by us"}, 3, true},
		"past the second event that says the stack is in progress": {[]string{
			". UPDATE_IN_PROGRESS by us", "A:T UPDATE_FAILED by us: why", ". UPDATE_IN_PROGRESS (CONFIGURATION_COMPLETE) by us",
		}, 3, true},
		"a quarter of an hour": {[]string{
			"A:T CREATE_COMPLETE by them at -3h", ". CREATE_COMPLETE by them at -2h", ". UPDATE_COMPLETE by them at -14m",
		}, 2, false},
		"our clock may be ahead": {[]string{". CREATE_COMPLETE by them at -2h", ". UPDATE_IN_PROGRESS by us at -14m"}, 2, true},
		"or behind":              {[]string{". CREATE_COMPLETE by them at -2h", ". UPDATE_IN_PROGRESS by us at 14m"}, 2, true},
	} {
		w := newWire(t)
		w.answers["DescribeStackEvents"] = pages(1, c.events...)
		got, err := w.cloud().Events(t.Context(), task(plan.Update))
		if err != nil || got.Found != c.found || len(w.forms) != c.reads {
			t.Errorf("%s: found %v after %d reads, %v", name, got.Found, len(w.forms), err)
		}
	}
}

// A stack that is being created has no ID, whatever is recorded, until the receipt has it.
func TestWhichStack(t *testing.T) {
	for _, c := range []struct {
		verb          plan.Verb
		receipt, want string
	}{{plan.Create, "", "shop-vpc"}, {plan.Create, other, other}, {plan.Update, "", vpcID}, {plan.Delete, "", vpcID}} {
		w := newWire(t)
		w.answers["DescribeStackEvents"] = refuse(400, "ValidationError", "Stack ["+c.want+"] does not exist")
		task := task(c.verb)
		task.Receipt.StackID = c.receipt
		got, err := w.cloud().Events(t.Context(), task)
		if err != nil || !reflect.DeepEqual(got, action.Operation{}) || w.last().Get("StackName") != c.want {
			t.Errorf("%s: %+v, %v of %s", c.verb, got, err, w.last().Get("StackName"))
		}
	}
}

// Events without an operation do not remove the operation of the receipt.
func TestReceiptKeepsOperation(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStackEvents"] = func(form url.Values) (int, string) {
		status, text := events(". UPDATE_IN_PROGRESS by us")(form)
		return status, strings.ReplaceAll(text, "<OperationId>op</OperationId>", "")
	}
	task := task(plan.Update)
	task.Receipt = plan.Receipt{StackID: vpcID, Operation: "earlier"}
	if got, err := w.cloud().Events(t.Context(), task); err != nil || got.Receipt != task.Receipt {
		t.Errorf("%+v, %v", got, err)
	}
}

// Every status of a resource in the SDK is known as a failure or not.
func TestFailures(t *testing.T) {
	for _, s := range types.ResourceStatus("").Values() {
		w := newWire(t)
		w.answers["DescribeStackEvents"] = events(". UPDATE_IN_PROGRESS by us", "A:T "+string(s)+" by us: why", ". UPDATE_ROLLBACK_COMPLETE by us")
		got, err := w.cloud().Events(t.Context(), task(plan.Update))
		want := ""
		if strings.Contains(string(s), "FAILED") {
			want = "A (T): why"
		}
		if err != nil || got.Why != want {
			t.Errorf("%s: %q, %v", s, got.Why, err)
		}
	}
}

// superseded returns an operation after which another one has started.
func superseded(w action.Operation) action.Operation {
	w.Superseded = true
	return w
}
