package main

import (
	"maps"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/jsii-runtime-go"

	"github.com/stackwright/stackwright/pkg/entry/trigger"
)

// addTriggers makes the rules that send events to the functions.
func (i *installation) addTriggers() {
	i.match("start", "start", "Uploads and requests start runs", trigger.Uploads(*i.bucket.BucketName()))
	i.match("settings", "start", "Changes of the access file and the policies are recorded", trigger.Settings(*i.bucket.BucketName()))
	i.match("stack-event", "stack-event", "Ends of stack operations wake runs", trigger.Stacks())
	i.match("recover", "start", "Runs whose execution failed are restarted", trigger.Executions(i.machine()))
	if len(i.settings.notify) > 0 {
		i.match("notify", "notify", "State changes of runs are delivered to web servers and chats", trigger.Runs())
	}
	sweep := i.rule("sweep", &awsevents.RuleProps{
		Description: jsii.String("Runs without an execution are restarted"),
		Schedule:    awsevents.Schedule_Rate(awscdk.Duration_Minutes(jsii.Number(5))),
	})
	i.aim(sweep, "start")
	i.allowTargets()
	i.output("EventBusArn", i.fill("${Bus}"), "Other accounts and regions forward the events of CloudFormation to this bus")
}

// match sends the events of a pattern to a function.
func (i *installation) match(name, function, description string, p trigger.Pattern) {
	i.aim(i.rule(name, &awsevents.RuleProps{Description: jsii.String(description), EventPattern: pattern(p)}), function)
}

// pattern is a pattern in CDK's form.
func pattern(p trigger.Pattern) *awsevents.EventPattern {
	out := &awsevents.EventPattern{Source: jsii.Strings(p.Source...), DetailType: jsii.Strings(p.DetailType...)}
	if p.Detail != nil {
		out.Detail = &p.Detail
	}
	return out
}

// rule makes a rule on the account's default bus, which gets the events of AWS services.
func (i *installation) rule(name string, props *awsevents.RuleProps) awsevents.Rule {
	props.RuleName = jsii.String(i.settings.stack + "-" + name)
	r := awsevents.NewRule(i.Stack, jsii.String(title(name)+"Rule"), props)
	called(r, title(name)+"Rule")
	return r
}

// aim sends the events that a rule matches to a function. An event that becomes too old goes to the function's
// dead-letter queue.
func (i *installation) aim(r awsevents.Rule, function string) {
	r.AddTarget(awseventstargets.NewLambdaFunction(i.functions[function], &awseventstargets.LambdaFunctionProps{
		DeadLetterQueue: i.dead[function],
		MaxEventAge:     awscdk.Duration_Seconds(jsii.Number(sizes[function].events)),
		RetryAttempts:   jsii.Number(185), // EventBridge's maximum
	}))
}

// allowTargets allows other accounts to forward the events of their stacks. A policy cannot restrict that to stacks:
// the rule here checks the token, and the function checks the run. All accounts are in one statement: if several
// statements are put on a bus at once, EventBridge may keep only the last.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-bus-perms.html
// https://github.com/hashicorp/terraform-provider-aws/issues/4031
func (i *installation) allowTargets() {
	if of := i.settings.organization; of != "" {
		i.allowEvents("EventsOfUnits", i.settings.stack+"-units", "*", map[string]any{"aws:PrincipalOrgID": of})
	}
	if len(i.settings.accounts) == 0 {
		return
	}
	var roots []string
	for _, account := range i.settings.accounts {
		roots = append(roots, i.fill("arn:${Partition}:iam::"+account+":root"))
	}
	targets := i.allowEvents("EventsOfTargets", i.settings.stack, map[string]any{"AWS": roots}, nil)
	if units := i.Stack.Node().TryFindChild(jsii.String("EventsOfUnits")); units != nil { // one after the other
		targets.Node().AddDependency(units)
	}
}

// allowEvents puts a statement that allows a principal to forward the events of stacks on the bus.
func (i *installation) allowEvents(id, statement string, principal any, equals map[string]any) awsevents.CfnEventBusPolicy {
	p := trigger.Stacks()
	all := map[string]any{"events:source": p.Source[0], "events:detail-type": p.DetailType[0]}
	maps.Copy(all, equals)
	return awsevents.NewCfnEventBusPolicy(i.Stack, jsii.String(id), &awsevents.CfnEventBusPolicyProps{
		StatementId: jsii.String(statement),
		Statement: map[string]any{
			"Effect": "Allow", "Principal": principal, "Action": "events:PutEvents", "Resource": i.fill("${Bus}"),
			"Condition": map[string]any{"StringEquals": all},
		},
	})
}
