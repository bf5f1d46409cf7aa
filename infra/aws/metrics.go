package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// A measure names a metric of CloudWatch.
type measure struct {
	namespace, name, statistic string
	of                         map[string]string
	minutes                    float64
}

// metric is a measure as CDK takes it.
func (m measure) metric() awscloudwatch.Metric {
	dimensions := make(map[string]*string)
	for k, v := range m.of {
		dimensions[k] = jsii.String(v)
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: jsii.String(m.namespace), MetricName: jsii.String(m.name), Statistic: jsii.String(m.statistic),
		DimensionsMap: &dimensions, Period: awscdk.Duration_Minutes(jsii.Number(m.minutes)),
	})
}

// ofRuns is a metric that the functions write of all runs of the installation.
func (i *installation) ofRuns(name, statistic string) measure {
	return measure{"Stackwright", name, statistic, map[string]string{"Installation": i.settings.stack}, 5}
}

// ofRule is a metric of EventBridge about a rule. EventBridge writes it only where it is not zero.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html
func (i *installation) ofRule(name, metric string) measure {
	return measure{"AWS/Events", metric, "Sum", map[string]string{"RuleName": i.settings.stack + "-" + name}, 5}
}

// ofFunction is a metric of Lambda about a function.
func (i *installation) ofFunction(function, name, statistic string) measure {
	return measure{"AWS/Lambda", name, statistic, map[string]string{"FunctionName": *i.functions[function].FunctionName()}, 5}
}

// ofMachine is a metric of Step Functions about the state machine.
func (i *installation) ofMachine(name string) measure {
	return measure{"AWS/States", name, "Sum", map[string]string{"StateMachineArn": i.machine()}, 5}
}

// ofTable is a metric of DynamoDB about the table.
func (i *installation) ofTable(name string) measure {
	return measure{"AWS/DynamoDB", name, "Sum", map[string]string{"TableName": *i.table.TableName()}, 5}
}

// ofQueue is a metric of SQS about a dead-letter queue.
func (i *installation) ofQueue(name, metric string) measure {
	return measure{"AWS/SQS", metric, "Maximum", map[string]string{"QueueName": *i.dead[name].QueueName()}, 5}
}
