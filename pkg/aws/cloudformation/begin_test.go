package cloudformation_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// form returns the parameters of a request without those that every request has.
func form(v url.Values) map[string]string {
	all := map[string]string{}
	for k := range v {
		if k != "Version" {
			all[k] = v.Get(k)
		}
	}
	return all
}

// A create has all of the node's values, the token and our tags.
func TestCreate(t *testing.T) {
	w := newWire(t)
	w.answers["CreateStack"] = say("<StackId>" + vpcID + "</StackId><OperationId>op</OperationId>")
	task := task(plan.Create)
	task.Node.Protect = true
	task.Step.Timeout = project.Timeout(90 * time.Second)
	task.Want.Tags["stackwright:project"] = "somebody else's"
	receipt, err := w.cloud().Begin(t.Context(), task)
	if err != nil || receipt != (plan.Receipt{StackID: vpcID, Operation: "op"}) {
		t.Fatalf("%+v, %v", receipt, err)
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

// CloudFormation reads a template from S3 that is too large for a request.
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

// Operations on an existing stack name its ID and the token.
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
		task.Record.StackID = "" // unknown: the stack is found by its name
		receipt, err := w.cloud().Begin(t.Context(), task)
		if err != nil || receipt.StackID != vpcID {
			t.Errorf("%s: %+v, %v", c.verb, receipt, err)
		}
		if got := w.last(); got.Get("StackName") != vpcID || got.Get("ClientRequestToken") != token {
			t.Errorf("%s: %v", c.verb, got)
		}
		if got, want := w.calls(), "DescribeStacks "+c.action; got != want {
			t.Errorf("%s sent %s, not %s", c.verb, got, want)
		}
	}
}

// In express mode, a request says so, and that a failure is rolled back. An update after
// a failure without a rollback cannot be rolled back.
func TestExpress(t *testing.T) {
	for _, c := range []struct {
		verb   plan.Verb
		seen   plan.Status
		mode   project.Deployment
		config map[string]string // and whether the request disables rollback
	}{
		{plan.Create, "", project.Express, map[string]string{"DeploymentConfig.Mode": "EXPRESS", "DeploymentConfig.DisableRollback": "false"}},
		{plan.Update, "CREATE_COMPLETE", project.Express, map[string]string{"DeploymentConfig.Mode": "EXPRESS", "DeploymentConfig.DisableRollback": "false"}},
		{plan.Update, "UPDATE_FAILED", project.Express, map[string]string{"DeploymentConfig.Mode": "EXPRESS", "DeploymentConfig.DisableRollback": "true"}},
		{plan.Update, "UPDATE_FAILED", "", map[string]string{"DisableRollback": "true"}},
		{plan.Delete, "", project.Express, map[string]string{"DeploymentConfig.Mode": "EXPRESS"}},
		{plan.Create, "", "", map[string]string{}},
		{plan.Update, "", "", map[string]string{}},
		{plan.Delete, "", "", map[string]string{}},
	} {
		w := newWire(t)
		for _, action := range []string{"CreateStack", "UpdateStack", "DeleteStack"} {
			w.answers[action] = say("")
		}
		task := task(c.verb)
		task.Step.Deployment = c.mode
		if c.seen != "" {
			task.Seen = &plan.Live{Status: c.seen}
		}
		if _, err := w.cloud().Begin(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		got := form(w.last())
		maps.DeleteFunc(got, func(k, _ string) bool {
			return !strings.HasPrefix(k, "DeploymentConfig") && k != "DisableRollback"
		})
		if diff := cmp.Diff(c.config, got); diff != "" {
			t.Errorf("%s %s: %s", c.verb, c.mode, diff)
		}
	}
}

// A cancellation names the stack's ID and has a token of its own.
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

// No operation is started on a stack that does not exist, is busy with another operation, or is not ours.
func TestRefusedStacks(t *testing.T) {
	synctest.Test(t, refusedStacks) // reads are retried after a pause
}

func refusedStacks(t *testing.T) {
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
		"unknown":  {refuse(503, "ServiceUnavailable", ""), fault.Throttled}, // nothing was started: it can be tried again
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

// If the stack is busy with this very operation, the answer is that of its start.
func TestAlreadyStarted(t *testing.T) {
	w := newWire(t)
	w.answers["UpdateStack"] = refuse(400, "ValidationError", "Stack:"+vpcID+" is in UPDATE_IN_PROGRESS state and can not be updated.")
	w.answers["DescribeStackEvents"] = events(". UPDATE_IN_PROGRESS by us: User Initiated")
	receipt, err := w.cloud().Begin(t.Context(), task(plan.Update))
	if err != nil || receipt.StackID != vpcID {
		t.Errorf("%+v, %v", receipt, err)
	}
}

// A request about a stack whose ID is known is one request.
func TestBeginByID(t *testing.T) {
	for verb, action := range map[plan.Verb]string{plan.Update: "UpdateStack", plan.Delete: "DeleteStack", plan.Continue: "ContinueUpdateRollback"} {
		w := newWire(t)
		w.answers[action] = say("<OperationId>op</OperationId>")
		receipt, err := w.cloud().Begin(t.Context(), task(verb))
		if err != nil || receipt.StackID != vpcID || (receipt.Operation == "op") != (verb == plan.Update) {
			t.Errorf("%s: %+v, %v", verb, receipt, err)
		}
		if w.calls() != action || w.last().Get("StackName") != vpcID || w.last().Has("DisableRollback") {
			t.Errorf("%s: requests %s, %v", verb, w.calls(), w.last())
		}
	}
}

// An update after an operation that failed without a rollback says that it is not
// rolled back either, as CloudFormation requires.
func TestUpdateAfterFailureWithoutRollback(t *testing.T) {
	for status, want := range map[plan.Status]string{"UPDATE_FAILED": "true", "CREATE_FAILED": "true", "UPDATE_ROLLBACK_COMPLETE": ""} {
		w := newWire(t)
		w.answers["UpdateStack"] = say("")
		task := task(plan.Update)
		task.Seen = &plan.Live{StackID: vpcID, Status: status}
		if _, err := w.cloud().Begin(t.Context(), task); err != nil || w.last().Get("DisableRollback") != want {
			t.Errorf("%s: %v, %v", status, w.last(), err)
		}
	}
}

// The protection is set by a request of its own. If its outcome is unknown, it can be
// sent again.
func TestProtect(t *testing.T) {
	for _, protect := range []bool{true, false} {
		w := newWire(t)
		w.answers["UpdateTerminationProtection"] = say("")
		task := task(plan.Update)
		task.Node.Protect = protect
		if err := w.cloud().Protect(t.Context(), task); err != nil || w.last().Get("EnableTerminationProtection") != fmt.Sprint(protect) || w.last().Get("StackName") != vpcID {
			t.Errorf("%v, %v", w.last(), err)
		}
		w.answers["UpdateTerminationProtection"] = refuse(500, "InternalFailure", "")
		if err := w.cloud().Protect(t.Context(), task); !fault.Is(err, fault.Throttled) {
			t.Error(err)
		}
	}
}

// A request that changes a stack is sent once; a request that reads is retried.
func TestAttempts(t *testing.T) { synctest.Test(t, attempts) }

func attempts(t *testing.T) {
	w := newWire(t)
	w.answers["CreateStack"] = refuse(400, "Throttling", "Rate exceeded")
	if _, err := w.cloud().Begin(t.Context(), task(plan.Create)); !fault.Is(err, fault.Throttled) || len(w.forms) != 1 {
		t.Errorf("sent %d times: %v", len(w.forms), err)
	}
	w = newWire(t)
	w.answers["DescribeStacks"] = func(form url.Values) (int, string) {
		if len(w.forms) < 2 {
			return refuse(400, "Throttling", "Rate exceeded")(form)
		}
		return stacks(stack(vpcID, "shop-vpc", "CREATE_COMPLETE"))(form)
	}
	if l, err := w.cloud().Live(t.Context(), task(plan.Update).Location()); err != nil || l.StackID != vpcID || len(w.forms) != 2 {
		t.Errorf("sent %d times: %+v, %v", len(w.forms), l, err)
	}
}

// Without an answer it is unknown whether the request was carried out.
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

// A verb that CloudFormation does not have, and a location without a name, are never sent.
func TestNonsense(t *testing.T) {
	w := newWire(t)
	if _, err := w.cloud().Begin(t.Context(), task(plan.Barrier)); !fault.Is(err, fault.Broken) {
		t.Errorf("%v", err)
	}
	nameless := action.Task{Request: action.DeleteStack}
	if _, err := w.cloud().Begin(t.Context(), nameless); !fault.Is(err, fault.Broken) {
		t.Errorf("%v", err)
	}
	if _, err := w.cloud().Events(t.Context(), nameless); !fault.Is(err, fault.Broken) {
		t.Errorf("%v", err)
	}
	if len(w.forms) > 0 {
		t.Errorf("requests %s", w.calls())
	}
}
