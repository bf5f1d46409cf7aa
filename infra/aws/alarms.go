package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/jsii-runtime-go"

	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
)

// An alarm goes off if a metric reaches a threshold, or is below it, in each of a number of periods. Its description
// says what to do.
type alarm struct {
	name     string
	measure  measure
	reaches  float64
	below    bool
	periods  float64
	describe string
}

// addAlarms makes the alarms. They notify the topic when they go off and when they return to OK.
//
// CloudWatch charges for each metric of an alarm, also within a composite alarm or an expression. So the basic alarms are
// those of which each reports what no other does: throttling, for example, also makes events late and runs stuck.
// https://aws.amazon.com/cloudwatch/pricing/
func (i *installation) addAlarms() {
	all := slices.Concat(i.ofAllRuns(), i.ofErrors(calledByMachine), i.ofAllDeadLetters())
	if i.settings.full {
		all = slices.Concat(all, i.ofErrors(i.settings.installed(others)), i.ofAge(), i.ofAllThrottles(), i.ofAccess())
	}
	action := awscloudwatchactions.NewSnsAction(i.topic)
	for _, a := range all {
		i.addAlarm(a, action)
	}
}

// addAlarm makes an alarm with an action.
func (i *installation) addAlarm(a alarm, action awscloudwatch.IAlarmAction) {
	props := &awscloudwatch.AlarmProps{
		AlarmName:          jsii.String(i.settings.stack + "-" + a.name),
		AlarmDescription:   jsii.String(a.describe),
		Metric:             a.measure.metric(),
		Threshold:          jsii.Number(a.reaches),
		EvaluationPeriods:  jsii.Number(max(1, a.periods)),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	}
	if a.below {
		props.ComparisonOperator = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
		props.TreatMissingData = awscloudwatch.TreatMissingData_BREACHING
	}
	made := awscloudwatch.NewAlarm(i.Stack, jsii.String(title(a.name)+"Alarm"), props)
	called(made, title(a.name)+"Alarm")
	made.AddAlarmAction(action)
	made.AddOkAction(action)
}

// ofAllRuns are the alarms about runs.
func (i *installation) ofAllRuns() []alarm {
	return []alarm{
		{
			name: "runs-failed", measure: i.ofRuns(cloudwatch.Failed, "Sum"), reaches: 1,
			describe: "A run has failed. Its notification and stackwright status name the step and the reason. Fix the cause, then retry the run or upload again.",
		},
		{
			name: "runs-stuck", measure: i.ofRuns(cloudwatch.Stuck, "Maximum"), reaches: 1, periods: 2,
			describe: "A run has made no progress for an hour, or has not ended for a day. The sweep's line in the log of start names it under stuck. Its status says what it waits for, and which run holds the lock. See the events of its stack in CloudFormation.",
		},
		{
			name: "asleep", measure: i.ofRule("sweep", "Invocations"), reaches: 1, below: true, periods: 3,
			describe: "The sweep, which restarts runs without an execution, has not run for 15 minutes. Check that its rule is enabled, and see the log and the errors of start.",
		},
	}
}

// ofAccess are the alarms about the access file.
func (i *installation) ofAccess() []alarm {
	return []alarm{{
		name: "access-file", measure: i.ofRuns(cloudwatch.Unusable, "Sum"), reaches: 1,
		describe: "The access file cannot be used, so all but the owner are denied. The log of api or start says which line is wrong: search it for access file. Put the file again with stackwright access put.",
	}}
}

// calledByMachine are the functions of the state machine. If one of the others fails, its event becomes a dead letter, or
// the caller of the API sees the error.
var calledByMachine, others = []string{"execute-step", "plan", "wait-status"}, []string{"api", "notify", "stack-event", "start"}

// ofErrors are the alarms about errors of functions. A function that is retried may fail now and then; three errors in
// five minutes are a problem.
func (i *installation) ofErrors(functions []string) []alarm {
	var all []alarm
	for _, f := range functions {
		all = append(all, alarm{
			name: f + "-errors", measure: i.ofFunction(f, "Errors", "Sum"), reaches: 3,
			describe: "The function " + f + " fails again and again. Its log says why: search it for lines with an error.",
		})
	}
	return all
}

// ofAge are the alarms about events that wait for a function.
func (i *installation) ofAge() []alarm {
	var all []alarm
	for _, f := range i.settings.installed(withEvents) {
		late := i.ofFunction(f, "AsyncEventAge", "Maximum")
		all = append(all, alarm{
			name: f + "-late", measure: late, reaches: 5 * 60 * 1000, // milliseconds
			describe: "An event has waited for the function " + f + " for more than five minutes. Is it throttled, or does it fail?",
		})
	}
	return all
}

// ofAllDeadLetters are the alarms about events that no function could process.
func (i *installation) ofAllDeadLetters() []alarm {
	var all []alarm
	for _, name := range slices.Sorted(maps.Keys(i.dead)) {
		all = append(all, alarm{
			name: name + "-dead", measure: i.ofQueue(name, "ApproximateNumberOfMessagesVisible"), reaches: 1,
			describe: "Something is in the queue " + i.settings.stack + "-" + name + "-dead: an event that could not be processed. Read it, fix the cause, send it again if it still matters, and delete it: docs/operate.md says how.",
		})
	}
	return all
}

// ofAllThrottles are the alarms about throttling by AWS. Throttled calls are repeated; throttling that continues needs
// a higher limit.
func (i *installation) ofAllThrottles() []alarm {
	var all []alarm
	for _, f := range i.names {
		all = append(all, alarm{
			name: f + "-throttles", measure: i.ofFunction(f, "Throttles", "Sum"), reaches: 1, periods: 3,
			describe: "Lambda has refused to run " + f + " for 15 minutes: raise the account's limit of concurrent executions.",
		})
	}
	return append(all,
		alarm{
			name: "cloudformation-throttles", measure: i.ofRuns(cloudwatch.Throttles, "Sum"), reaches: 100, periods: 3,
			describe: "CloudFormation has refused many requests for a quarter of an hour. Who else asks there? STACKWRIGHT_READS and STACKWRIGHT_WRITES of the functions make runs ask less.",
		},
		alarm{
			name: "machine-throttles", measure: i.ofMachine("ExecutionThrottled"), reaches: 1, periods: 3,
			describe: "Step Functions has throttled the state machine for 15 minutes: raise the account's limit of state transitions.",
		},
		alarm{
			name: "table-throttles", measure: i.ofTable("WriteThrottleEvents"), reaches: 1, periods: 3,
			describe: "DynamoDB has refused writes for a quarter of an hour. See which keys in the table's metrics.",
		})
}
