package cloudformation_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// What a request says about a failure. CloudFormation would refuse to update a stack that was created with DO_NOTHING, so a creation
// disables rollback instead.
func TestFailureOptions(t *testing.T) {
	off, express := map[string]string{"DisableRollback": "true"}, map[string]string{"DeploymentConfig.Mode": "EXPRESS", "DeploymentConfig.DisableRollback": "true"}
	none := map[string]string{}
	for _, c := range []struct {
		what                    string
		create, update, propose map[string]string
		set                     func(*action.Task)
	}{
		{"rolled back", none, none, none, func(*action.Task) {}},
		{"kept", off, none, none, func(t *action.Task) { t.Node.OnFailure = project.KeepFailed }},
		{"deleted", map[string]string{"OnFailure": "DELETE"}, none, none, func(t *action.Task) { t.Node.OnFailure = project.DeleteFailed }},
		{"not rolled back", off, off, none, func(t *action.Task) { t.Node.DisableRollback = true }},
		{"not rolled back, in express mode", express, express, express, func(t *action.Task) { t.Node.DisableRollback, t.Step.Deployment = true, project.Express }},
	} {
		for verb, want := range map[plan.Verb]map[string]string{plan.Create: c.create, plan.Update: c.update, plan.Propose: c.propose} {
			task := task(verb)
			c.set(&task)
			got := sent(t, task)
			maps.DeleteFunc(got, func(k, _ string) bool {
				return !strings.HasPrefix(k, "DeploymentConfig") && k != "DisableRollback" && k != "OnFailure"
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", c.what, verb, diff)
			}
		}
	}
	run := task(plan.Execute)
	run.ChangeSet, run.Node.DisableRollback = "sw-1", true
	if got := sent(t, run); got["DisableRollback"] != "true" {
		t.Errorf("a change set is executed with %v", got)
	}
}

// A request names all topics of the stack. An update without any removes those that the stack has.
func TestNotifications(t *testing.T) {
	topics := []string{"arn:aws:sns:eu-west-1:111122223333:a", "arn:aws:sns:eu-west-1:111122223333:b"}
	listed := map[string]string{"NotificationARNs.member.1": topics[0], "NotificationARNs.member.2": topics[1]}
	for verb, without := range map[plan.Verb]map[string]string{plan.Create: {}, plan.Update: {"NotificationARNs": ""}, plan.Propose: {"NotificationARNs": ""}, plan.Delete: nil} {
		for _, with := range []bool{true, false} {
			task, want := task(verb), without
			if with {
				task.Node.Notifications, want = topics, listed
			}
			if without == nil {
				want = map[string]string{}
			}
			got := sent(t, task)
			maps.DeleteFunc(got, func(k, _ string) bool { return !strings.HasPrefix(k, "NotificationARNs") })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", verb, diff)
			}
		}
	}
	w := newWire(t)
	w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "CREATE_COMPLETE", "<NotificationARNs><member>"+topics[1]+"</member><member>"+topics[0]+"</member></NotificationARNs>"))
	live, err := w.cloud().Live(t.Context(), plan.Location{Stack: "shop-vpc"})
	if err != nil || !slices.Equal(live.Notifications, topics) {
		t.Errorf("%q, %v", live.Notifications, err)
	}
}

// A creation names the rollback triggers of the stack, if there are any. An update always does: otherwise the stack would keep its own.
func TestRollbackTriggers(t *testing.T) {
	arn := "arn:aws:cloudwatch:eu-west-1:111122223333:alarm:"
	with := map[string]string{
		"RollbackConfiguration.MonitoringTimeInMinutes":       "5",
		"RollbackConfiguration.RollbackTriggers.member.1.Arn": arn + "b", "RollbackConfiguration.RollbackTriggers.member.1.Type": "AWS::CloudWatch::Alarm",
		"RollbackConfiguration.RollbackTriggers.member.2.Arn": arn + "a", "RollbackConfiguration.RollbackTriggers.member.2.Type": "AWS::CloudWatch::CompositeAlarm",
	}
	none := map[string]string{"RollbackConfiguration.MonitoringTimeInMinutes": "0", "RollbackConfiguration.RollbackTriggers": ""}
	for verb, without := range map[plan.Verb]map[string]string{plan.Create: {}, plan.Update: none, plan.Propose: none} {
		for _, want := range []map[string]string{with, without} {
			task := task(verb)
			if want["RollbackConfiguration.MonitoringTimeInMinutes"] == "5" {
				task.Node.RollbackTriggers = project.RollbackTriggers{Alarms: []string{arn + "b"}, CompositeAlarms: []string{arn + "a"}, Minutes: 5}
			}
			got := sent(t, task)
			maps.DeleteFunc(got, func(k, _ string) bool { return !strings.HasPrefix(k, "RollbackConfiguration") })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", verb, diff)
			}
		}
	}
	w := newWire(t)
	w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "CREATE_COMPLETE", "<RollbackConfiguration><MonitoringTimeInMinutes>5</MonitoringTimeInMinutes><RollbackTriggers><member><Arn>"+arn+"a</Arn><Type>AWS::CloudWatch::CompositeAlarm</Type></member><member><Arn>"+arn+"b</Arn><Type>AWS::CloudWatch::Alarm</Type></member></RollbackTriggers></RollbackConfiguration>"))
	live, err := w.cloud().Live(t.Context(), plan.Location{Stack: "shop-vpc"})
	if want := (project.RollbackTriggers{Alarms: []string{arn + "b"}, CompositeAlarms: []string{arn + "a"}, Minutes: 5}); err != nil || cmp.Diff(want, live.Triggers) != "" {
		t.Errorf("%+v, %v", live.Triggers, err)
	}
}

// A deletion names the resources that it retains, in their order.
func TestRetainedResources(t *testing.T) {
	for retained, want := range map[string]map[string]string{"": {}, "Bucket,Images": {"RetainResources.member.1": "Bucket", "RetainResources.member.2": "Images"}} {
		task := task(plan.Delete)
		task.Receipt.Retained = retained
		got := sent(t, task)
		maps.DeleteFunc(got, func(k, _ string) bool { return !strings.HasPrefix(k, "RetainResources") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", retained, diff)
		}
	}
}

// Each request that has a template has the types of resources that it may contain.
func TestResourceTypes(t *testing.T) {
	for _, verb := range []plan.Verb{plan.Create, plan.Update, plan.Propose} {
		for _, types := range [][]string{nil, {"AWS::SNS::*", "Custom::Mail"}} {
			task := task(verb)
			task.Node.ResourceTypes = types
			got := sent(t, task)
			want := map[string]string{}
			for i, kind := range types {
				want["ResourceTypes.member."+strconv.Itoa(i+1)] = kind
			}
			maps.DeleteFunc(got, func(k, _ string) bool { return !strings.HasPrefix(k, "ResourceTypes") })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", verb, diff)
			}
		}
	}
}

// An update has the stack policy that counts during it, if there is one. A stack gets its own policy by a request of its own, and one that
// allows everything if its project has none.
func TestStackPolicy(t *testing.T) {
	for verb, want := range map[plan.Verb]string{plan.Create: "", plan.Update: "{during}", plan.Propose: ""} {
		task := task(verb)
		task.Node.DuringUpdate, task.Node.StackPolicy = "{during}", project.NewStackPolicy("{policy}")
		got := sent(t, task)
		maps.DeleteFunc(got, func(k, _ string) bool { return !strings.HasPrefix(k, "StackPolicy") })
		if diff := cmp.Diff(map[string]string{"StackPolicyDuringUpdateBody": want}, got); diff != "" && (want != "" || len(got) > 0) {
			t.Errorf("%s (-want +got):\n%s", verb, diff)
		}
	}
	for policy, want := range map[project.StackPolicy]string{{}: project.AllowAll, project.NewStackPolicy("{policy}"): "{policy}"} {
		w := newWire(t)
		w.answers["SetStackPolicy"] = say("")
		task := task(plan.Update)
		task.Node.StackPolicy = policy
		if err := w.cloud().SetStackPolicy(t.Context(), task); err != nil || w.last().Get("StackPolicyBody") != want || w.last().Get("StackName") != vpcID {
			t.Errorf("%v, %v", w.last(), err)
		}
		w.answers["SetStackPolicy"] = refuse(500, "InternalFailure", "")
		if err := w.cloud().SetStackPolicy(t.Context(), task); !fault.Is(err, fault.Throttled) {
			t.Error(err)
		}
	}
}

// sent is the request that a task sends.
func sent(t *testing.T, task action.Task) map[string]string {
	t.Helper()
	w := newWire(t)
	for _, action := range []string{"CreateStack", "UpdateStack", "DeleteStack", "CreateChangeSet", "ExecuteChangeSet"} {
		w.answers[action] = say("")
	}
	if _, err := w.cloud().Begin(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	return form(w.last())
}

// An update keeps the values that the stack has of parameters whose changes are ignored, also those that the files do not give. A creation,
// and an update that adds the parameter, have the written values.
func TestIgnoredChanges(t *testing.T) {
	const given = "ParameterValue"
	for _, c := range []struct {
		verb plan.Verb
		has  []string
		want map[string]string
	}{
		{plan.Create, nil, map[string]string{"Count": given, "Image": given}},
		{plan.Update, []string{"Count", "Image", "Key"}, map[string]string{"Count": given, "Image": "UsePreviousValue", "Key": "UsePreviousValue"}},
		{plan.Propose, []string{"Count", "Image", "Key"}, map[string]string{"Count": given, "Image": "UsePreviousValue", "Key": "UsePreviousValue"}},
		{plan.Update, []string{"Count"}, map[string]string{"Count": given, "Image": given}},
	} {
		task := task(c.verb)
		task.Node.IgnoreChanges, task.Want.Parameters = []string{"Image", "Key"}, map[string]string{"Count": "2", "Image": "v1"}
		has := make(map[string]string)
		for _, name := range c.has {
			has[name] = "live"
		}
		task.Kept = task.Node.Keeps(has)
		request, got := sent(t, task), map[string]string{}
		for key, name := range request {
			if member, ok := strings.CutSuffix(key, "ParameterKey"); ok {
				for _, how := range []string{given, "UsePreviousValue"} {
					if _, ok := request[member+how]; ok {
						got[name] += how
					}
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s of a stack with %v (-want +got):\n%s", c.verb, c.has, diff)
		}
	}
}
