package cloudformation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	adapter "github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ engine.Clouds = (*adapter.Cloud)(nil)

// doer carries out steps on one stack through the adapter and the real actions, as the
// engine does: claim, start, then poll until the step has ended.
type adapterFixture struct {
	*account
	cloud  *adapter.Cloud
	node   project.Node
	want   project.Resolved
	record plan.Record
	number int
}

// doing runs a test on stack shop-q, in an account of its own.
func doing(t *testing.T, test func(d *adapterFixture)) {
	t.Helper()
	scenario(t, func(w *account) {
		clients := func(context.Context, project.Target) (adapter.TargetClient, error) {
			return adapter.TargetClient{Client: w.client}, nil
		}
		test(&adapterFixture{
			account: w, cloud: adapter.New(clients, inline{}),
			node: project.Node{Name: "q", Stack: "shop-q", Template: project.Template{Digest: three, Bytes: len(three)}},
		})
	})
}

// inline is a store of templates in which the digest is the template itself.
type inline struct{}

func (inline) Template(_ context.Context, body string) ([]byte, error) { return []byte(body), nil }
func (inline) URL(string) string                                       { return "https://s3.amazonaws.com/bucket/key" }

// setParameters sets the parameters that the next operation gives the stack.
func (d *adapterFixture) setParameters(values ...string) {
	d.want = project.Resolved{Parameters: map[string]string{}, Digest: strings.Join(values, ",")}
	for i := 0; i < len(values); i += 2 {
		d.want.Parameters[values[i]] = values[i+1]
	}
}

// claim returns the next step as execute-step claims it.
func (d *adapterFixture) claim(v plan.Verb) action.Task {
	d.number++
	t := action.Task{
		Run: "run", Project: "shop@prod", Number: d.number, Attempt: 1, Step: plan.Step{ID: "q/" + string(v), Node: "q", Verb: v},
		Request: action.Named(action.All(nil, nil, nil, nil, nil)...).Of(v).Request,
		Node:    d.node, Want: d.want, Record: d.record, Claimed: time.Now(), Now: time.Now(),
	}
	t.Record.Node, t.Record.Stack, t.Record.Token, t.Record.Run = "q", d.node.Stack, t.Token(), t.Run
	if v == plan.Delete {
		t.Node = project.Node{} // it is to go for good
	}
	return t
}

// finish polls until the step has ended, and keeps the new record.
func (d *adapterFixture) finish(t action.Task) action.Progress {
	d.Helper()
	for range 600 {
		t.Now = time.Now()
		p, err := action.Named(action.All(d.cloud, nil, nil, nil, nil)...).Of(t.Step.Verb).Poll(d.Context(), t)
		if err != nil {
			d.Fatalf("%s: %v", t.Step.ID, err)
		}
		if p.Receipt.Known() {
			t.Receipt = p.Receipt
		}
		switch {
		case p.Over && p.Forget:
			d.record = plan.Record{}
			return p
		case p.Over && p.Record != nil:
			d.record = *p.Record
			return p
		case p.Over:
			return p
		}
		time.Sleep(time.Second)
	}
	d.Fatalf("%s does not end", t.Step.ID)
	return action.Progress{}
}

// do carries out a step. Its start must succeed.
func (d *adapterFixture) do(v plan.Verb) action.Progress {
	d.Helper()
	t := d.claim(v)
	var err error
	if t.Receipt, err = action.Named(action.All(d.cloud, nil, nil, nil, nil)...).Of(v).Start(d.Context(), t); err != nil {
		d.Fatalf("%s: %v", t.Step.ID, err)
	}
	return d.finish(t)
}

// well carries out a step that must succeed.
func (d *adapterFixture) well(v plan.Verb) action.Progress {
	d.Helper()
	p := d.do(v)
	if p.Err != nil {
		d.Fatalf("%s: %v\n%s", v, p.Err, d.history(d.node.Stack))
	}
	return p
}

// badly carries out a step that must fail for the given reason.
func (d *adapterFixture) badly(v plan.Verb, why string) {
	d.Helper()
	if p := d.do(v); p.Err == nil || !strings.HasPrefix(p.Err.Error(), why) {
		d.Errorf("%s failed for %q, not %q\n%s", v, fmt.Sprint(p.Err), why, d.history(d.node.Stack))
	}
}

func (d *adapterFixture) live() plan.Live {
	d.Helper()
	l, err := d.cloud.Live(d.Context(), plan.Location{Stack: d.node.Stack, Target: d.node.Target})
	if err != nil {
		d.Fatal(err)
	}
	return l
}

// A stack is created, updated, found unchanged, and deleted.
func TestAdapterLife(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		d.setParameters("V", "one")
		d.well(plan.Create)
		if l := d.live(); l.Status != "CREATE_COMPLETE" || d.record.Outputs["V"] != "one" || d.record.StackID != l.StackID || !d.record.Current(l) {
			t.Errorf("%+v\n%+v", l, d.record)
		}
		d.setParameters("V", "two")
		d.well(plan.Update)
		if l := d.live(); l.Status != "UPDATE_COMPLETE" || d.record.Outputs["V"] != "two" || !d.record.Current(l) || d.record.Digest != "V,two" {
			t.Errorf("%+v\n%+v", l, d.record)
		}
		if p := d.well(plan.Update); p.Why != "unchanged" || d.record.Outputs["V"] != "two" {
			t.Errorf("%+v", p)
		}
		if p := d.well(plan.Delete); !p.Forget || !d.live().Status.Gone() {
			t.Errorf("%+v", p)
		}
		if p := d.well(plan.Delete); !p.Forget {
			t.Errorf("to delete what is gone: %+v", p)
		}
		if n := d.service.Calls(); n["CreateStack"] != 1 || n["UpdateStack"] != 2 || n["DeleteStack"] != 1 {
			t.Errorf("%v", n)
		}
	})
}

// A failed create reports the first real reason. The stack is then deleted and created
// again.
func TestAdapterFailedCreate(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		d.setParameters("Fail", "create")
		d.badly(plan.Create, "ROLLBACK_COMPLETE: B (AWS::SNS::Topic): out of luck")
		if l := d.live(); !l.Status.Dead() || d.record.StackID != l.StackID || d.record.Digest != "" {
			t.Errorf("%+v\n%+v", l, d.record)
		}
		d.well(plan.Delete)
		d.setParameters()
		d.well(plan.Create)
	})
}

// A failed update is rolled back; if that fails too it is continued.
func TestAdapterRollback(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		d.setParameters()
		d.well(plan.Create)
		d.setParameters("V", "two", "Fail", "update")
		d.badly(plan.Update, "UPDATE_ROLLBACK_COMPLETE: B (AWS::SNS::Topic): out of luck")
		if d.record.Outputs["V"] != "a" || !d.live().Status.Recoverable() {
			t.Errorf("%+v\n%+v", d.record, d.live())
		}
		d.fault("POST", `{"stack":"shop-q","operation":"rollback","reason":"no way back","times":1}`, 200)
		d.badly(plan.Update, "UPDATE_ROLLBACK_FAILED: B (AWS::SNS::Topic): out of luck; and its rollback failed: B (AWS::SNS::Topic): no way back")
		if !d.live().Status.Stuck() {
			t.Fatalf("%+v", d.live())
		}
		d.well(plan.Continue)
		d.setParameters("V", "three")
		d.well(plan.Update)
	})
}

// If an answer was lost, the events say what happened; the operation is not started twice.
func TestAdapterLostAnswer(t *testing.T) {
	for _, v := range []plan.Verb{plan.Create, plan.Update, plan.Delete} {
		doing(t, func(d *adapterFixture) {
			d.setParameters()
			if v != plan.Create {
				d.well(plan.Create)
			}
			d.setParameters("V", "two")
			operation := map[plan.Verb]string{plan.Create: "CreateStack", plan.Update: "UpdateStack", plan.Delete: "DeleteStack"}[v]
			d.fault("POST", `{"error":{"action":"`+operation+`","code":"InternalFailure","status":500,"after":true},"times":1}`, 200)
			before := d.service.Calls()[operation]
			task := d.claim(v)
			if _, err := action.Named(action.All(d.cloud, nil, nil, nil, nil)...).Of(v).Start(d.Context(), task); !fault.Is(err, fault.Unavailable) {
				t.Fatalf("%s: %v", v, err)
			}
			if p := d.finish(task); p.Err != nil || d.service.Calls()[operation] != before+1 {
				t.Errorf("%s: %+v after %v", v, p, d.service.Calls())
			}
		})
	}
}

// A request that never arrived is repeated, but only when its first sender can no longer be running.
func TestAdapterLostRequest(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		d.setParameters()
		d.fault("POST", `{"error":{"action":"CreateStack","code":"ServiceUnavailable","status":503},"times":1}`, 200)
		task := d.claim(plan.Create)
		if _, err := action.Named(action.All(d.cloud, nil, nil, nil, nil)...).Of(plan.Create).Start(d.Context(), task); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("%v", err)
		}
		if p := d.finish(task); p.Err != nil {
			t.Errorf("%+v", p)
		}
		if took := aws.ToTime(d.stack("shop-q").CreationTime).Sub(task.Claimed); took < action.MaxStartTime || took > action.MaxStartTime+5*time.Second {
			t.Errorf("started again after %s", took)
		}
	})
}

// If Begin is called twice with one token, CloudFormation starts one operation.
func TestAdapterBeginsOnce(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		for _, v := range []plan.Verb{plan.Create, plan.Update, plan.Delete} {
			d.setParameters("V", string(v))
			task := d.claim(v)
			first, err := d.cloud.Begin(d.Context(), task)
			if err != nil {
				t.Fatalf("%s: %v", v, err)
			}
			again, err := d.cloud.Begin(d.Context(), task)
			if err != nil || again.StackID != first.StackID {
				t.Errorf("%s again: %+v, %v", v, again, err)
			}
			task.Receipt = first
			if p := d.finish(task); p.Err != nil {
				t.Errorf("%s: %+v", v, p)
			}
		}
	})
}

// The step waits for another user's operation, and its attempt starts afterwards.
func TestAdapterBusy(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		d.setParameters()
		d.well(plan.Create)
		d.update("shop-q", three, updateWith("V", "theirs"))
		for _, v := range []plan.Verb{plan.Update, plan.Delete, plan.Continue} {
			task := d.claim(v)
			if _, err := action.Named(action.All(d.cloud, nil, nil, nil, nil)...).Of(v).Start(d.Context(), task); !fault.Is(err, fault.Busy) {
				t.Errorf("%s: %v", v, err)
			}
		}
		if p := d.well(plan.Wait); p.Why != "found it UPDATE_COMPLETE" {
			t.Errorf("%+v", p)
		}
		d.setParameters("V", "two")
		d.well(plan.Update)
	})
}

// An update that a person cancelled is reported as cancelled, whatever token they used.
func TestAdapterCancelled(t *testing.T) {
	for _, token := range []*string{nil, aws.String("theirs")} {
		doing(t, func(d *adapterFixture) {
			d.setParameters()
			d.well(plan.Create)
			d.setParameters("V", "two")
			task := d.claim(plan.Update)
			var err error
			if task.Receipt, err = d.cloud.Begin(d.Context(), task); err != nil {
				t.Fatal(err)
			}
			in := &cloudformation.CancelUpdateStackInput{StackName: aws.String("shop-q"), ClientRequestToken: token}
			if _, err := d.client.CancelUpdateStack(d.Context(), in); err != nil {
				t.Fatal(err)
			}
			p := d.finish(task)
			if want := "UPDATE_ROLLBACK_COMPLETE: somebody cancelled it (User Initiated)"; p.Err == nil || p.Err.Error() != want {
				t.Errorf("%v\n%s", p.Err, d.history("shop-q"))
			}
		})
	}
}

// A step that changes only the termination protection changes it, although UpdateStack has nothing to update.
func TestAdapterProtection(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		d.setParameters()
		d.well(plan.Create)
		d.node.Protect, d.want.Digest = true, "protected"
		d.well(plan.Update)
		if l := d.live(); !l.Protected || d.record.Digest != "protected" {
			t.Errorf("%+v\n%+v", l, d.record)
		}
		task := d.claim(plan.Delete)
		if _, err := d.cloud.Begin(d.Context(), task); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "protect: false") {
			t.Errorf("%v", err)
		}
		d.node.Protect, d.want.Digest = false, ""
		d.well(plan.Update)
		d.well(plan.Delete)
	})
}

// A stack whose export is in use is not deleted, and the error names the stacks that
// import it.
func TestAdapterExportInUse(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		made := "Resources: {A: {Type: AWS::SNS::Topic}}\nOutputs: {A: {Value: !Ref A, Export: {Name: the-a}}}"
		d.node.Template = project.Template{Digest: made, Bytes: len(made)}
		d.well(plan.Create)
		d.up("user", "Resources: {B: {Type: AWS::SNS::Topic, Properties: {DisplayName: !ImportValue the-a}}}")
		p := d.do(plan.Delete)
		if p.Err == nil || p.Forget || !strings.Contains(p.Err.Error(), "the-a") || !strings.Contains(p.Err.Error(), "user") {
			t.Errorf("%+v\n%s", p, d.history("shop-q"))
		}
	})
}

// The SDK does not retry a throttled request to start an operation: it certainly was not carried out, and the engine
// decides when to retry.
func TestAdapterThrottled(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		d.setParameters()
		d.fault("POST", `{"throttle":1}`, 200)
		task := d.claim(plan.Create)
		if _, err := d.cloud.Begin(d.Context(), task); !fault.Is(err, fault.Throttled) || d.service.Calls()["CreateStack"] != 0 {
			t.Errorf("%v after %v", err, d.service.Calls())
		}
		d.well(plan.Create)
	})
}

// The stacks of a project are observed in one call, and observing changes no stack.
func TestAdapterObserves(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		d.setParameters()
		task := d.claim(plan.Create)
		if _, err := d.cloud.Begin(d.Context(), task); err != nil { // and the receipt is lost
			t.Fatal(err)
		}
		for i := range 120 {
			d.up(fmt.Sprintf("other-%d", i), "Resources: {A: {Type: AWS::SNS::Topic}}")
		}
		d.wait("shop-q", types.StackStatusCreateComplete)
		before := fmt.Sprint(d.service.Calls())
		created := plan.Location{Node: "q", Stack: "shop-q", Token: task.Token()}
		all := []plan.Location{created, {Node: "gone", Stack: "shop-gone"}}
		for i := range 120 {
			name := fmt.Sprintf("other-%d", i)
			all = append(all, plan.Location{Node: name, Stack: name, Token: "sw-x-1-1"})
		}
		for _, places := range [][]plan.Location{all[:2], all} {
			got, err := d.cloud.Observe(d.Context(), places)
			if err != nil || len(got) != len(places)-1 || !got["q"].CreatedByToken || got["q"].Status != "CREATE_COMPLETE" || got["other-7"].CreatedByToken {
				t.Errorf("%d seen of %d, %+v, %v", len(got), len(places), got["q"], err)
			}
		}
		if after := fmt.Sprint(d.service.Calls()); after != before {
			t.Errorf("last updated: %s, then %s", before, after)
		}
	})
}

// A stack with the wanted name that is not ours is not changed, and the error says so.
func TestAdapterForeign(t *testing.T) {
	doing(t, func(d *adapterFixture) {
		d.setParameters()
		d.up("shop-q", three)
		for _, v := range []plan.Verb{plan.Create, plan.Update, plan.Delete} {
			task := d.claim(v)
			if _, err := action.Named(action.All(d.cloud, nil, nil, nil, nil)...).Of(v).Start(d.Context(), task); !fault.Is(err, fault.Taken, fault.Refused) || !strings.Contains(err.Error(), "not managed by Stackwright") {
				t.Errorf("%s: %v", v, err)
			}
		}
		if n := d.service.Calls(); n["UpdateStack"]+n["DeleteStack"] > 0 {
			t.Errorf("%v", n)
		}
	})
}
