package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/aws/iam"
)

// In another account, the role of a target may do what the functions may do in the installation's own account for what hooks
// call, on what the owner of that account lists, and nothing else.
func TestHooksInATarget(t *testing.T) {
	listed := []string{
		"arn:aws:lambda:*:" + there + ":function:hook-*", "arn:aws:states:*:" + there + ":stateMachine:hook-*", "arn:aws:events:*:" + there + ":event-bus/hooks",
		"arn:aws:sns:*:" + there + ":hook-*", "arn:aws:ssm:*:" + there + ":parameter/hook/*",
		"arn:aws:secretsmanager:*:" + there + ":secret:hook/*",
		"arn:aws:cloudwatch:*:" + there + ":alarm:hook-*", "arn:aws:s3:::hook-*",
		"arn:aws:autoscaling:*:" + there + ":autoScalingGroup:*:autoScalingGroupName/hook-*",
	}
	const in = ":eu-west-1:" + there + ":"
	event := with("events:source", "stackwright.hook")
	allow := func(hooks string, want iam.Answer, tried []attempt) {
		var orchestrator targetRole
		target(t, "account.yaml", "Orchestrator", &orchestrator, map[string]string{"Hooks": hooks})
		who := iam.Identity{ARN: "orchestrator"}
		for _, p := range orchestrator.Policies {
			who.Policies = append(who.Policies, p.PolicyDocument)
		}
		for i := range tried {
			tried[i].want = want
		}
		try(t, who, tried)
	}
	calls := []attempt{
		{name: "invoke", Request: iam.Request{Action: "lambda:InvokeFunction", Resource: "arn:aws:lambda" + in + "function:hook-a"}},
		{name: "start", Request: iam.Request{Action: "states:StartExecution", Resource: "arn:aws:states" + in + "stateMachine:hook-a"}},
		{name: "follow", Request: iam.Request{Action: "states:DescribeExecution", Resource: "arn:aws:states" + in + "execution:hook-a:sw-run-1-1"}},
		{name: "stop", Request: iam.Request{Action: "states:StopExecution", Resource: "arn:aws:states" + in + "execution:hook-a:sw-run-1-1"}},
		{name: "event", Request: iam.Request{Action: "events:PutEvents", Resource: "arn:aws:events" + in + "event-bus/hooks", Context: event}},
		{name: "publish", Request: iam.Request{Action: "sns:Publish", Resource: "arn:aws:sns" + in + "hook-a"}},
		{name: "suspend", Request: iam.Request{Action: "autoscaling:SuspendProcesses", Resource: "arn:aws:autoscaling" + in + "autoScalingGroup:1:autoScalingGroupName/hook-a"}},
		{name: "resume", Request: iam.Request{Action: "autoscaling:ResumeProcesses", Resource: "arn:aws:autoscaling" + in + "autoScalingGroup:1:autoScalingGroupName/hook-a"}},
		{name: "objects", Request: iam.Request{Action: "s3:ListBucketVersions", Resource: "arn:aws:s3:::hook-a"}},
		{name: "uploads", Request: iam.Request{Action: "s3:ListBucketMultipartUploads", Resource: "arn:aws:s3:::hook-a"}},
		{name: "delete an object", Request: iam.Request{Action: "s3:DeleteObject", Resource: "arn:aws:s3:::hook-a/key"}},
		{name: "delete a version", Request: iam.Request{Action: "s3:DeleteObjectVersion", Resource: "arn:aws:s3:::hook-a/key"}},
		{name: "read an object", Request: iam.Request{Action: "s3:GetObject", Resource: "arn:aws:s3:::hook-a/key"}},
		{name: "put an object", Request: iam.Request{Action: "s3:PutObject", Resource: "arn:aws:s3:::hook-a/key"}},
		{name: "find other objects", Request: iam.Request{Action: "s3:ListBucket", Resource: "arn:aws:s3:::hook-a"}},
		{name: "abort an upload", Request: iam.Request{Action: "s3:AbortMultipartUpload", Resource: "arn:aws:s3:::hook-a/key"}},
		{name: "parameter", Request: iam.Request{Action: "ssm:PutParameter", Resource: "arn:aws:ssm" + in + "parameter/hook/a"}},
		{name: "sign", Request: iam.Request{Action: "secretsmanager:GetSecretValue", Resource: "arn:aws:secretsmanager" + in + "secret:hook/a-AbCdEf"}},
	}
	allow(strings.Join(listed, ","), iam.Allowed, calls)
	allow("", iam.Implicit, calls)
	always := []attempt{ // alarms stop promotions, too. CloudWatch describes composite alarms only to who may describe all alarms
		{name: "alarm", Request: iam.Request{Action: "cloudwatch:DescribeAlarms", Resource: "*"}},
		{name: "history of an alarm", Request: iam.Request{Action: "cloudwatch:DescribeAlarmHistory", Resource: "*"}},
	}
	for _, hooks := range []string{strings.Join(listed, ","), ""} {
		allow(hooks, iam.Allowed, always)
		allow(hooks, iam.Implicit, []attempt{{name: "change an alarm", Request: iam.Request{Action: "cloudwatch:SetAlarmState", Resource: "*"}}})
	}
	allow(strings.Join(listed, ","), iam.Implicit, []attempt{
		{name: "another function", Request: iam.Request{Action: "lambda:InvokeFunction", Resource: "arn:aws:lambda" + in + "function:other"}},
		{name: "another action on a function", Request: iam.Request{Action: "lambda:UpdateFunctionCode", Resource: "arn:aws:lambda" + in + "function:hook-a"}},
		{name: "an execution of somebody else", Request: iam.Request{Action: "states:StopExecution", Resource: "arn:aws:states" + in + "execution:hook-a:mine"}},
		{name: "an event of another source", Request: iam.Request{Action: "events:PutEvents", Resource: "arn:aws:events" + in + "event-bus/hooks", Context: with("events:source", "stackwright")}},
		{name: "another secret", Request: iam.Request{Action: "secretsmanager:GetSecretValue", Resource: "arn:aws:secretsmanager" + in + "secret:bank/db-AbCdEf"}},
		{name: "change a secret", Request: iam.Request{Action: "secretsmanager:PutSecretValue", Resource: "arn:aws:secretsmanager" + in + "secret:hook/a-AbCdEf"}},
		{name: "change an alarm", Request: iam.Request{Action: "cloudwatch:PutMetricAlarm", Resource: "arn:aws:cloudwatch" + in + "alarm:hook-a"}},
		{name: "set the state of an alarm", Request: iam.Request{Action: "cloudwatch:SetAlarmState", Resource: "arn:aws:cloudwatch" + in + "alarm:hook-a"}},
		{name: "an object of another bucket", Request: iam.Request{Action: "s3:DeleteObject", Resource: "arn:aws:s3:::other/key"}},
		{name: "another group", Request: iam.Request{Action: "autoscaling:SuspendProcesses", Resource: "arn:aws:autoscaling" + in + "autoScalingGroup:1:autoScalingGroupName/other"}},
		{name: "change a group", Request: iam.Request{Action: "autoscaling:UpdateAutoScalingGroup", Resource: "arn:aws:autoscaling" + in + "autoScalingGroup:1:autoScalingGroupName/hook-a"}},
		{name: "read a version", Request: iam.Request{Action: "s3:GetObjectVersion", Resource: "arn:aws:s3:::hook-a/key"}},
		{name: "put an object into another bucket", Request: iam.Request{Action: "s3:PutObject", Resource: "arn:aws:s3:::other/key"}},
		{name: "change the access to an object", Request: iam.Request{Action: "s3:PutObjectAcl", Resource: "arn:aws:s3:::hook-a/key"}},
		{name: "delete a bucket", Request: iam.Request{Action: "s3:DeleteBucket", Resource: "arn:aws:s3:::hook-a"}},
		{name: "read a parameter", Request: iam.Request{Action: "ssm:GetParameter", Resource: "arn:aws:ssm" + in + "parameter/hook/a"}},
	})

	s, err := read(everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range slices.Concat(hooks(s), executions(s), fills(s)) {
		for _, action := range p.Do {
			if !slices.ContainsFunc(slices.Concat(calls, always), func(a attempt) bool { return a.Action == action }) {
				t.Errorf("the functions may %s for hooks, and nothing is said of a target: add it to account.yaml", action)
			}
		}
	}
}

// In another account, the role of a target reads the parameters that the owner of that account lists, and nothing else of the parameter
// store.
func TestParametersInATarget(t *testing.T) {
	const in = "arn:aws:ssm:eu-west-1:" + there + ":parameter/"
	for listed, want := range map[string]iam.Answer{"arn:aws:ssm:*:" + there + ":parameter/shop/*": iam.Allowed, "": iam.Implicit} {
		var orchestrator targetRole
		target(t, "account.yaml", "Orchestrator", &orchestrator, map[string]string{"Parameters": listed})
		who := iam.Identity{ARN: "orchestrator"}
		for _, p := range orchestrator.Policies {
			who.Policies = append(who.Policies, p.PolicyDocument)
		}
		try(t, who, []attempt{
			{name: "listed", Request: iam.Request{Action: "ssm:GetParameters", Resource: in + "shop/size"}, want: want},
			{name: "not listed", Request: iam.Request{Action: "ssm:GetParameters", Resource: in + "other/size"}, want: iam.Implicit},
			{name: "write", Request: iam.Request{Action: "ssm:PutParameter", Resource: in + "shop/size"}, want: iam.Implicit},
			{name: "decrypt", Request: iam.Request{Action: "kms:Decrypt", Resource: "arn:aws:kms:eu-west-1:" + there + ":key/k"}, want: iam.Implicit},
			{name: "list exports", Request: iam.Request{Action: "cloudformation:ListExports", Resource: "*"}, want: iam.Allowed},
		})
	}
}
