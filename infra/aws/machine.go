package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"

	"github.com/stackwright/stackwright/stepfn"
)

// addMachine makes the state machine from the file that the tests execute. Its log contains no data: inputs and outputs
// are IDs.
func (i *installation) addMachine() {
	logs := i.addLogs("MachineLogs", "/aws/vendedlogs/states/"+i.settings.stack)
	calls := map[string]*string{"Plan": nil, "ExecuteStep": nil, "WaitStatus": nil}
	for _, f := range []string{"plan", "execute-step", "wait-status"} {
		calls[title(f)] = i.functions[f].FunctionArn()
	}
	m := awsstepfunctions.NewStateMachine(i.Stack, jsii.String("Machine"), &awsstepfunctions.StateMachineProps{
		StateMachineName:        jsii.String(i.settings.stack),
		StateMachineType:        awsstepfunctions.StateMachineType_STANDARD,
		DefinitionBody:          awsstepfunctions.DefinitionBody_FromString(jsii.String(string(stepfn.Run))),
		DefinitionSubstitutions: &calls,
		Role:                    i.addRole("machine", "states.amazonaws.com", ours(), executing).WithoutPolicyUpdates(nil),
		TracingEnabled:          jsii.Bool(true),
		Logs: &awsstepfunctions.LogOptions{
			Destination: logs, Level: awsstepfunctions.LogLevel_ALL, IncludeExecutionData: jsii.Bool(false),
		},
	})
	called(m, "Machine")
	i.output("StateMachineArn", *m.StateMachineArn(), "The state machine that executes the runs")
}

// executing is what the state machine may do: invoke three functions, and write logs and traces.
var executing = []permission{
	{
		Do: []string{"lambda:InvokeFunction"}, On: []string{"${Function plan}", "${Function execute-step}", "${Function wait-status}"},
	},
	{
		Do: []string{
			"logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeLogGroups", "logs:DescribeResourcePolicies",
			"logs:GetLogDelivery", "logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:UpdateLogDelivery",
		},
		On: []string{"*"}, Why: "Step Functions delivers its log; the action has no resource type",
	},
	{
		Do: []string{"xray:GetSamplingRules", "xray:GetSamplingTargets", "xray:PutTelemetryRecords", "xray:PutTraceSegments"},
		On: []string{"*"}, Why: "Step Functions sends traces; the action has no resource type",
	},
}
