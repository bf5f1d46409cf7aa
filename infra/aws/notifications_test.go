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

// The topic takes nothing without TLS, and only our rule and our alarms publish there. With
// customerKey it is encrypted, and they may use the key, by no wildcard.
func TestTopic(t *testing.T) {
	if keys := the(t, plain).of("AWS::KMS::Key"); len(keys) > 0 {
		t.Errorf("without customerKey there is %v", keys)
	}
	the(t, plain).says(t, "Topic", map[string]string{"KmsMasterKeyId": ""})
	all := the(t, full)
	all.says(t, "Topic", map[string]string{"KmsMasterKeyId": "${Key.Arn}"})
	got := policy(t, all, "AWS::SNS::TopicPolicy")
	var said []string
	for _, s := range got {
		s := s.(map[string]any)
		said = append(said, text(s["Effect"])+" "+text(s["Principal"])+" "+text(s["Action"])+" "+text(s["Condition"]))
	}
	slices.Sort(said)
	want := []string{
		`Allow {"Service":"cloudwatch.amazonaws.com"} sns:Publish {"ArnLike":{"aws:SourceArn":"arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:stackwright-test-*"}}`,
		`Allow {"Service":"events.amazonaws.com"} sns:Publish {"ArnLike":{"aws:SourceArn":"${RunsRule.Arn}"}}`,
		`Deny * sns:Publish {"Bool":{"aws:SecureTransport":"false"}}`,
	}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
	var keyed []string
	for _, s := range all.Resources["Key"].Properties["KeyPolicy"].(map[string]any)["Statement"].([]any)[1:3] { // the first is the account's own
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
// ends. An alarm about a function or a queue names it. Without settings there are few.
func TestAlarms(t *testing.T) {
	basic := []string{
		"asleep", "execute-step-errors", "plan-errors", "runs-dead", "runs-failed", "runs-stuck", "stack-event-dead", "start-dead", "wait-status-errors",
	}
	more := []string{
		"notify-dead", "notify-errors", "notify-late", "notify-throttles", "access-file", "api-errors", "stack-event-errors", "start-errors", "start-late", "stack-event-late",
		"start-throttles", "plan-throttles", "execute-step-throttles", "wait-status-throttles", "stack-event-throttles", "api-throttles",
		"machine-throttles", "table-throttles", "cloudformation-throttles",
	}
	for stack, c := range map[string]struct {
		all  template
		want []string
	}{"stackwright": {the(t, plain), basic}, "stackwright-test": {the(t, full), slices.Concat(basic, more)}} {
		var names []string
		for _, name := range c.all.of("AWS::CloudWatch::Alarm") {
			short := strings.TrimPrefix(c.all.at(name, "AlarmName"), stack+"-")
			names = append(names, short)
			c.all.says(t, name, map[string]string{"AlarmActions": `["${Topic}"]`, "OKActions": `["${Topic}"]`})
			said := c.all.at(name, "AlarmDescription")
			if len(said) < 60 {
				t.Errorf("%s does not say what to do: %q", name, said)
			}
			for function := range sizes {
				of := c.all.at(name, "Namespace") == "AWS/Lambda" && strings.HasPrefix(short, function+"-")
				if of && !strings.Contains(said, function) || strings.HasSuffix(short, "-dead") && !strings.Contains(said, stack+"-"+short) {
					t.Errorf("%s does not name what it is about: %q", name, said)
				}
			}
		}
		slices.Sort(names)
		slices.Sort(c.want)
		if d := cmp.Diff(c.want, names); d != "" {
			t.Errorf("%s: %s", stack, d)
		}
	}
	if got := the(t, plain).of("AWS::CloudWatch::Dashboard"); len(got) > 0 || len(the(t, full).of("AWS::CloudWatch::Dashboard")) != 1 {
		t.Errorf("without settings there are the dashboards %v; want none, and one with them", got)
	}
	the(t, plain).says(t, "AsleepAlarm", map[string]string{
		"Namespace": "AWS/Events", "MetricName": "Invocations", "Dimensions": `[{"Name":"RuleName","Value":"stackwright-sweep"}]`, "TreatMissingData": "breaching",
	})
	the(t, plain).says(t, "SweepRule", map[string]string{"Name": "stackwright-sweep"})
}

// No project may use the target default unless the setting says so.
func TestProjects(t *testing.T) {
	if _, is := the(t, plain).Outputs["Projects"]; is {
		t.Error("without the setting, there is an output Projects")
	}
	if got := text(the(t, full).Outputs["Projects"].Value); got != "*@*" {
		t.Errorf("the output Projects is %s", got)
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
