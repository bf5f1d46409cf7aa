package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/stepfn"
)

// The machine that is deployed is the one that is tested, byte by byte.
func TestMachine(t *testing.T) {
	file, err := os.ReadFile("../../stepfn/run.asl.json")
	if err != nil || !bytes.Equal(file, stepfn.Run) {
		t.Fatal("the embedded machine is not its file: ", err)
	}
	the(t, plain).says(t, "Machine", map[string]string{
		"DefinitionString":        string(file),
		"DefinitionSubstitutions": `{"ExecuteStep":"${ExecuteStep.Arn}","Plan":"${Plan.Arn}","WaitStatus":"${WaitStatus.Arn}"}`,
		"StateMachineType":        "STANDARD",
		"TracingConfiguration":    `{"Enabled":true}`,
		"LoggingConfiguration":    `{"Destinations":[{"CloudWatchLogsLogGroup":{"LogGroupArn":"${MachineLogs.Arn}"}}],"IncludeExecutionData":false,"Level":"ALL"}`,
	})
	// The functions know it by the ARN that it will have.
	all := the(t, plain)
	if got := all.at("Plan", "Environment.Variables.STACKWRIGHT_STATE_MACHINE"); !strings.HasSuffix(got, ":stateMachine:"+all.at("Machine", "StateMachineName")) {
		t.Error(got)
	}
}

// Each rule has the same pattern as on the laptop. Events that it cannot deliver go to
// the dead-letter queue of the function.
func TestRules(t *testing.T) {
	all := the(t, plain)
	machine := "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:stateMachine:stackwright"
	for name, want := range map[string]struct {
		pattern  *trigger.Pattern
		function string
	}{
		"StartRule":      {new(trigger.Uploads("${Bucket}")), "Start"},
		"StackEventRule": {new(trigger.Stacks()), "StackEvent"},
		"RecoverRule":    {new(trigger.Executions(machine)), "Start"},
		"SettingsRule":   {new(trigger.Settings("${Bucket}")), "Start"},
		"SweepRule":      {nil, "Start"},
	} {
		pattern := ""
		if want.pattern != nil {
			pattern = sorted(t, want.pattern)
		}
		if got := all.at(name, "EventPattern"); got != pattern {
			t.Errorf("%s matches\n%s, want\n%s", name, got, pattern)
		}
		all.says(t, name, map[string]string{
			"State": "ENABLED", "Targets.0.Arn": "${" + want.function + ".Arn}",
			"Targets.0.DeadLetterConfig":                 `{"Arn":"${` + want.function + `Dead.Arn}"}`,
			"Targets.0.RetryPolicy.MaximumRetryAttempts": "185",
			"Targets.0.InputTransformer":                 "", "Targets.1": "",
		})
	}
	all.says(t, "SweepRule", map[string]string{"ScheduleExpression": "rate(5 minutes)"})
	if got := len(all.of("AWS::Lambda::Permission")); got != 6 { // the rules, and one for all routes of the API: a function's policy has at most 20 KB
		t.Errorf("%d permissions to call functions", got)
	}
}

// sorted is a value as JSON with sorted keys.
func sorted(t *testing.T, value any) string {
	t.Helper()
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var any any
	if err := json.Unmarshal(body, &any); err != nil {
		t.Fatal(err)
	}
	return text(any)
}

// Only the accounts that are named may forward events, and only those of stacks.
func TestBus(t *testing.T) {
	if got := the(t, plain).of("AWS::Events::EventBusPolicy"); len(got) > 0 {
		t.Error(got)
	}
	all := the(t, full)
	if got := all.of("AWS::Events::EventBusPolicy"); !slices.Equal(got, []string{"EventsOfTargets", "EventsOfUnits"}) { // one for all accounts: see allowTargets
		t.Fatal(got)
	}
	if got := text(all.Resources["EventsOfTargets"].DependsOn); got != `["EventsOfUnits"]` {
		t.Errorf("the policies of the bus are put one after the other, not %s", got)
	}
	all.says(t, "EventsOfUnits", map[string]string{
		"StatementId": "stackwright-test-units", "Statement.Principal": "*", "Statement.Action": "events:PutEvents",
		"Statement.Condition": `{"StringEquals":{"aws:PrincipalOrgID":"o-a1b2c3d4e5","events:detail-type":"CloudFormation Stack Status Change","events:source":"aws.cloudformation"}}`,
		"Statement.Resource":  "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/default",
	})
	all.says(t, "EventsOfTargets", map[string]string{
		"StatementId":             "stackwright-test",
		"Statement.Principal.AWS": `["arn:${AWS::Partition}:iam::111111111111:root","arn:${AWS::Partition}:iam::222222222222:root"]`, "Statement.Action": "events:PutEvents",
		"Statement.Condition": `{"StringEquals":{"events:detail-type":"CloudFormation Stack Status Change","events:source":"aws.cloudformation"}}`,
		"Statement.Resource":  "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/default",
	})
}
