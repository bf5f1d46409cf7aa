package cloudformation_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// form is a request without what every request bears.
func form(v url.Values) map[string]string {
	all := map[string]string{}
	for k := range v {
		if k != "Version" {
			all[k] = v.Get(k)
		}
	}
	return all
}

// A create says all that is wanted, under the token, with our tags.
func TestCreate(t *testing.T) {
	w := newWire(t)
	w.answers["CreateStack"] = say("<StackId>" + vpcID + "</StackId><OperationId>op</OperationId>")
	task := task(plan.Create)
	task.Node.Protect = true
	task.Step.Timeout = project.Timeout(90 * time.Second)
	task.Want.Tags["stackwright:project"] = "somebody else's"
	note, err := w.cloud().Begin(t.Context(), task)
	if err != nil || note != (plan.Receipt{StackID: vpcID, Operation: "op"}) {
		t.Fatalf("%+v, %v", note, err)
	}
	want := map[string]string{
		"Action": "CreateStack", "StackName": "shop-vpc", "TemplateBody": "template d1", "ClientRequestToken": token, "EnableTerminationProtection": "true", "TimeoutInMinutes": "2",
		"Parameters.member.1.ParameterKey": "A", "Parameters.member.1.ParameterValue": "1",
		"Parameters.member.2.ParameterKey": "B", "Parameters.member.2.ParameterValue": "2",
		"Tags.member.1.Key": "stackwright:project", "Tags.member.1.Value": "shop@prod",
		"Tags.member.2.Key": "stackwright:stack", "Tags.member.2.Value": "vpc",
		"Tags.member.3.Key": "team", "Tags.member.3.Value": "shop",
		"Capabilities.member.1": "CAPABILITY_IAM",
	}
	if diff := cmp.Diff(want, form(w.last())); diff != "" {
		t.Error(diff)
	}
}

// A template that is too large to send is read by CloudFormation from S3.
func TestLargeTemplates(t *testing.T) {
	for bytes, large := range map[int]bool{project.MaxInline: false, project.MaxInline + 1: true} {
		w := newWire(t)
		w.answers["CreateStack"] = say("")
		task := task(plan.Create)
		task.Node.Template.Bytes = bytes
		if _, err := w.cloud().Begin(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if got := w.last().Get("TemplateURL") == "https://s3.amazonaws.com/stackwright/templates/d1"; got != large || w.last().Has("TemplateBody") == large {
			t.Errorf("%d bytes: %v", bytes, w.last())
		}
	}
}

// What is begun on a stack that lives, by its ID and under the token.
func TestBegin(t *testing.T) {
	for _, c := range []struct {
		verb   plan.Verb
		action string
		status string
	}{
		{plan.Update, "UpdateStack", "CREATE_COMPLETE"},
		{plan.Delete, "DeleteStack", "CREATE_COMPLETE"},
		{plan.Continue, "ContinueUpdateRollback", "UPDATE_ROLLBACK_FAILED"},
	} {
		w := newWire(t)
		w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", c.status))
		w.answers[c.action] = say("")
		task := task(c.verb)
		task.Record.StackID = "" // never noted: found by its name
		note, err := w.cloud().Begin(t.Context(), task)
		if err != nil || note.StackID != vpcID {
			t.Errorf("%s: %+v, %v", c.verb, note, err)
		}
		if got := w.last(); got.Get("StackName") != vpcID || got.Get("ClientRequestToken") != token {
			t.Errorf("%s: %v", c.verb, got)
		}
		if got, want := w.calls(), "DescribeStacks "+c.action; got != want {
			t.Errorf("%s asked to %s, not %s", c.verb, got, want)
		}
	}
}

// An update is cancelled by the stack's ID, under a token of its own.
func TestCancel(t *testing.T) {
	w := newWire(t)
	w.answers["CancelUpdateStack"] = say("")
	if err := w.cloud().Cancel(t.Context(), task(plan.Update)); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Action": "CancelUpdateStack", "StackName": vpcID, "ClientRequestToken": token + "-cancel"}
	if diff := cmp.Diff(want, form(w.last())); diff != "" {
		t.Error(diff)
	}
	w.answers["CancelUpdateStack"] = refuse(400, "ValidationError", "CancelUpdateStack cannot be called from current stack status")
	if err := w.cloud().Cancel(t.Context(), task(plan.Update)); !fault.Is(err, fault.Refused) {
		t.Error(err)
	}
}

// A stack that is not there, is busy with something else, or is not ours is left alone.
func TestLeftAlone(t *testing.T) {
	synctest.Test(t, leftAlone) // what only looks is tried again after a while
}

func leftAlone(t *testing.T) {
	foreign := "<StackId>" + vpcID + "</StackId><StackName>shop-vpc</StackName><StackStatus>CREATE_COMPLETE</StackStatus>"
	for name, c := range map[string]struct {
		live func(url.Values) (int, string)
		want fault.Kind
	}{
		"absent":   {refuse(400, "ValidationError", "Stack with id shop-vpc does not exist"), fault.Missing},
		"deleted":  {stacks(stack(vpcID, "shop-vpc", "DELETE_COMPLETE")), fault.Missing},
		"busy":     {stacks(stack(vpcID, "shop-vpc", "DELETE_IN_PROGRESS")), fault.Busy},
		"cleaning": {stacks(stack(vpcID, "shop-vpc", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")), fault.Busy},
		"untagged": {stacks(foreign), fault.Refused},
		"unseen":   {refuse(503, "ServiceUnavailable", ""), fault.Throttled}, // nothing was begun: it may be tried again
	} {
		for _, verb := range []plan.Verb{plan.Update, plan.Delete, plan.Continue} {
			w := newWire(t)
			w.answers["DescribeStacks"] = c.live
			w.answers["DescribeStackEvents"] = say("<StackEvents/>")
			task := task(verb)
			task.Record.StackID = ""
			if _, err := w.cloud().Begin(t.Context(), task); !fault.Is(err, c.want) {
				t.Errorf("%s %s: %v is %s, not %s", name, verb, err, fault.KindOf(err), c.want)
			}
		}
	}
}

// A stack that is busy with this very work was begun already, and is not asked again.
func TestBegunAlready(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "DELETE_IN_PROGRESS"))
	w.answers["DescribeStackEvents"] = told(". DELETE_IN_PROGRESS by us: User Initiated")
	note, err := w.cloud().Begin(t.Context(), task(plan.Delete))
	if err != nil || note.StackID != vpcID {
		t.Errorf("%+v, %v", note, err)
	}
}

// Protection is set before the update, by a call of its own, and only where it differs.
func TestProtection(t *testing.T) {
	for _, c := range []struct {
		live, wish bool
		want       string
	}{
		{false, false, "DescribeStacks UpdateStack"},
		{true, true, "DescribeStacks UpdateStack"},
		{false, true, "DescribeStacks UpdateTerminationProtection UpdateStack"},
		{true, false, "DescribeStacks UpdateTerminationProtection UpdateStack"},
	} {
		w := newWire(t)
		now := map[bool]string{true: "true", false: "false"}
		w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "CREATE_COMPLETE", "<EnableTerminationProtection>"+now[c.live]+"</EnableTerminationProtection>"))
		w.answers["UpdateTerminationProtection"] = func(form url.Values) (int, string) {
			if form.Get("EnableTerminationProtection") != now[c.wish] || form.Get("StackName") != vpcID {
				t.Errorf("%v", form)
			}
			return say("")(form)
		}
		w.answers["UpdateStack"] = refuse(400, "ValidationError", "No updates are to be performed.")
		task := task(plan.Update)
		task.Node.Protect = c.wish
		if _, err := w.cloud().Begin(t.Context(), task); !fault.Is(err, fault.Unchanged) {
			t.Errorf("%+v: %v", c, err)
		}
		if got := w.calls(); got != c.want {
			t.Errorf("%+v: asked to %s", c, got)
		}
	}
}

// If the protection cannot be set the update is not begun.
func TestProtectionRefused(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "CREATE_COMPLETE"))
	w.answers["UpdateTerminationProtection"] = refuse(500, "InternalFailure", "")
	task := task(plan.Update)
	task.Node.Protect = true
	if _, err := w.cloud().Begin(t.Context(), task); !fault.Is(err, fault.Throttled) {
		t.Errorf("%v", err)
	}
}

// What changes something is sent once; what only looks is sent again.
func TestAttempts(t *testing.T) { synctest.Test(t, attempts) }

func attempts(t *testing.T) {
	w := newWire(t)
	w.answers["CreateStack"] = refuse(400, "Throttling", "Rate exceeded")
	if _, err := w.cloud().Begin(t.Context(), task(plan.Create)); !fault.Is(err, fault.Throttled) || len(w.asked) != 1 {
		t.Errorf("sent %d times: %v", len(w.asked), err)
	}
	w = newWire(t)
	w.answers["DescribeStacks"] = func(form url.Values) (int, string) {
		if len(w.asked) < 2 {
			return refuse(400, "Throttling", "Rate exceeded")(form)
		}
		return stacks(stack(vpcID, "shop-vpc", "CREATE_COMPLETE"))(form)
	}
	if l, err := w.cloud().Live(t.Context(), task(plan.Update).Location()); err != nil || l.StackID != vpcID || len(w.asked) != 2 {
		t.Errorf("sent %d times: %+v, %v", len(w.asked), l, err)
	}
}

// Without an answer nobody knows whether it was done.
func TestNoAnswer(t *testing.T) {
	w := newWire(t)
	w.broken = errors.New("connection reset by peer")
	if _, err := w.cloud().Begin(t.Context(), task(plan.Create)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.cloud().Begin(ctx, task(plan.Create)); !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A verb that is nothing to CloudFormation, and a place that has no name, are never asked for.
func TestNonsense(t *testing.T) {
	w := newWire(t)
	if _, err := w.cloud().Begin(t.Context(), task(plan.Barrier)); !fault.Is(err, fault.Broken) {
		t.Errorf("%v", err)
	}
	nameless := action.Task{Step: plan.Step{Verb: plan.Delete}}
	if _, err := w.cloud().Begin(t.Context(), nameless); !fault.Is(err, fault.Broken) {
		t.Errorf("%v", err)
	}
	if _, err := w.cloud().Events(t.Context(), nameless); !fault.Is(err, fault.Broken) {
		t.Errorf("%v", err)
	}
	if len(w.asked) > 0 {
		t.Errorf("asked to %s", w.calls())
	}
}
