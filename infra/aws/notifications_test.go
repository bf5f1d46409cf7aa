package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A chat gets one message of an event of a run.
func TestNotice(t *testing.T) {
	all := the(t, plain)
	all.says(t, "RunsRule", map[string]string{
		"EventPattern": `{"detail-type":["Stackwright Run State Change"],"source":["stackwright"]}`, "Targets.0.Arn": "${Topic}",
		"Targets.0.DeadLetterConfig": `{"Arn":"${RunsDead.Arn}"}`,
	})
	detail := map[string]string{"run": "r", "title": "deploy of shop@prod", "state": "failed", "text": "deploy of shop@prod failed", "why": "failed: db/create"}
	written := all.at("RunsRule", "Targets.0.InputTransformer.InputTemplate")
	paths := all.Resources["RunsRule"].Properties["Targets"].([]any)[0].(map[string]any)["InputTransformer"].(map[string]any)["InputPathsMap"].(map[string]any)
	for name, path := range paths {
		value, ok := detail[strings.TrimPrefix(path.(string), "$.detail.")]
		if !ok {
			t.Errorf("no event has %v", path)
		}
		// A placeholder that is a whole value gets quotes; one within a text has them already.
		written = strings.ReplaceAll(written, ":<"+name+">", `:"`+value+`"`)
		written = strings.ReplaceAll(written, "<"+name+">", value)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(written), &got); err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	want := map[string]any{
		"version": "1.0", "source": "custom",
		"content":  map[string]any{"textType": "client-markdown", "title": "deploy of shop@prod: failed", "description": "deploy of shop@prod failed failed: db/create"},
		"metadata": map[string]any{"threadId": "r", "summary": "deploy of shop@prod failed"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The topic is encrypted, takes nothing without TLS, and only our rule and our
// alarms publish there; they may use the key, by no wildcard.
func TestTopic(t *testing.T) {
	all := the(t, plain)
	all.says(t, "Topic", map[string]string{"KmsMasterKeyId": "${Key.Arn}"})
	got := policy(t, all, "AWS::SNS::TopicPolicy")
	var said []string
	for _, s := range got {
		s := s.(map[string]any)
		said = append(said, text(s["Effect"])+" "+text(s["Principal"])+" "+text(s["Action"])+" "+text(s["Condition"]))
	}
	slices.Sort(said)
	want := []string{
		`Allow {"Service":"cloudwatch.amazonaws.com"} sns:Publish {"ArnLike":{"aws:SourceArn":"arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:stackwright-*"}}`,
		`Allow {"Service":"events.amazonaws.com"} sns:Publish {"ArnLike":{"aws:SourceArn":"${RunsRule.Arn}"}}`,
		`Deny * sns:Publish {"Bool":{"aws:SecureTransport":"false"}}`,
	}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
	var keyed []string
	for _, s := range all.Resources["Key"].Properties["KeyPolicy"].(map[string]any)["Statement"].([]any)[1:] { // the first is the account's own
		s := s.(map[string]any)
		keyed = append(keyed, text(s["Principal"])+" "+text(s["Action"])+" "+text(s["Condition"]))
	}
	want = []string{
		`{"Service":"events.amazonaws.com"} ["kms:Decrypt","kms:GenerateDataKey"] ` + text(nil), // with a condition nothing would arrive: see addKey
		`{"Service":"cloudwatch.amazonaws.com"} ["kms:Decrypt","kms:GenerateDataKey"] {"StringEquals":{"aws:SourceAccount":"${AWS::AccountId}"}}`,
	}
	if d := cmp.Diff(want, keyed); d != "" {
		t.Error(d)
	}
}

// Every alarm says what to do, and notifies the topic when it goes off and when it
// ends.
func TestAlarms(t *testing.T) {
	all := the(t, plain)
	var names []string
	for _, name := range all.of("AWS::CloudWatch::Alarm") {
		names = append(names, strings.TrimPrefix(all.at(name, "AlarmName"), "stackwright-"))
		all.says(t, name, map[string]string{"AlarmActions": `["${Topic}"]`, "OKActions": `["${Topic}"]`})
		if len(all.at(name, "AlarmDescription")) < 60 {
			t.Errorf("%s does not say what to do: %q", name, all.at(name, "AlarmDescription"))
		}
	}
	for _, want := range []string{
		"runs-failed", "runs-stuck", "oldest-run", "asleep", "start-dead", "stack-event-dead", "runs-dead", "start-late", "stack-event-late",
		"start-errors", "plan-errors", "execute-step-errors", "wait-status-errors", "stack-event-errors", "api-errors",
		"start-throttles", "plan-throttles", "execute-step-throttles", "wait-status-throttles", "stack-event-throttles", "api-throttles",
		"machine-throttles", "table-throttles", "cloudformation-throttles",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("nothing raises the alarm %s", want)
		}
	}
}

// The outputs are those by which others know an installation.
func TestOutputs(t *testing.T) {
	all := the(t, plain)
	for name, want := range map[string]string{
		"BucketName": "${Bucket}", "TableName": "${Table}", "StateMachineArn": "${Machine}", "TopicArn": "${Topic}",
		"ScheduleGroupName": "${Schedules}", "ExecutionRoleArn": "${ExecutionRole.Arn}", "ApiUrl": "https://${HttpApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}/",
		"EventBusArn": "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/default",
	} {
		if got := text(all.Outputs[name].Value); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
