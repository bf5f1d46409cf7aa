package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
)

// addDashboard makes the dashboard: the runs at the top with their cost and waiting times, and the parts of the
// installation below. Dashboards are global, so the name contains the region.
func (i *installation) addDashboard() {
	d := awscloudwatch.NewDashboard(i.Stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String(i.settings.stack + "-" + *awscdk.Aws_REGION()),
	})
	called(d, "Dashboard")
	d.AddWidgets(
		graph("Runs", i.ofRuns(cloudwatch.Succeeded, "Sum"), i.ofRuns(cloudwatch.Failed, "Sum")),
		graph("Open and stuck", i.ofRuns(cloudwatch.Open, "Maximum"), i.ofRuns(cloudwatch.Stuck, "Maximum")),
		graph("Oldest open run, seconds", i.ofRuns(cloudwatch.Oldest, "Maximum")),
	)
	d.AddWidgets(
		graph("Makespan, seconds", i.ofRuns(cloudwatch.Makespan, "p50"), i.ofRuns(cloudwatch.Makespan, "p95")),
		graph("Times the critical path", i.ofRuns(cloudwatch.CriticalPath, "p50"), i.ofRuns(cloudwatch.CriticalPath, "p95")),
		graph("Time in the queue, seconds", i.ofRuns(cloudwatch.QueueWait, "p50"), i.ofRuns(cloudwatch.QueueWait, "p95")),
	)
	d.AddWidgets(
		graph("Calls of CloudFormation", i.ofRuns(cloudwatch.Calls, "Sum"), i.ofRuns(cloudwatch.Throttles, "Sum")),
		graph("Cost of runs, USD", i.ofRuns(cloudwatch.RunCost, "Sum")),
		graph("Dead letters", i.deadLetters()...),
	)
	d.AddWidgets(
		graph("Function errors", i.eachFunction("Errors", "Sum")...),
		graph("Function throttles", i.eachFunction("Throttles", "Sum")...),
		graph("Function duration, p95, milliseconds", i.eachFunction("Duration", "p95")...),
	)
	d.AddWidgets(
		graph("Age of the oldest event, milliseconds", i.ofFunction("start", "AsyncEventAge", "Maximum"), i.ofFunction("stack-event", "AsyncEventAge", "Maximum")),
		graph("Executions", i.ofMachine("ExecutionsStarted"), i.ofMachine("ExecutionsFailed"), i.ofMachine("ExecutionsTimedOut"), i.ofMachine("ExecutionsAborted")),
		graph("Table", i.ofTable("ConsumedReadCapacityUnits"), i.ofTable("ConsumedWriteCapacityUnits"), i.ofTable("WriteThrottleEvents")),
	)
}

// graph shows metrics over time.
func graph(title string, measures ...measure) awscloudwatch.GraphWidget {
	var all []awscloudwatch.IMetric
	for _, m := range measures {
		all = append(all, m.metric())
	}
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Title: jsii.String(title), Width: jsii.Number(8), Left: &all})
}

// eachFunction is a metric of every function.
func (i *installation) eachFunction(name, statistic string) []measure {
	var all []measure
	for _, f := range i.names {
		all = append(all, i.ofFunction(f, name, statistic))
	}
	return all
}

// deadLetters are the metrics of all dead-letter queues.
func (i *installation) deadLetters() []measure {
	var all []measure
	for _, q := range slices.Sorted(maps.Keys(i.dead)) {
		all = append(all, i.ofQueue(q, "ApproximateNumberOfMessagesVisible"))
	}
	return all
}
