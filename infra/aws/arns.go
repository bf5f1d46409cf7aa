package main

import (
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
)

// The names of the installation's parts are known before the parts exist. So the state machine can name the functions
// and they can name it, without a circular dependency.
func (i *installation) named(service, resource string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":" + service + ":" + *awscdk.Aws_REGION() + ":" + *awscdk.Aws_ACCOUNT_ID() + ":" + resource
}

// function is the ARN of a function.
func (i *installation) function(name string) string {
	return i.named("lambda", "function:"+i.settings.stack+"-"+name)
}

// path is the path of all roles.
const path = "/stackwright/"

// roleName is the name of a role. Roles are global, and an account may have an installation in each region.
func (i *installation) roleName(of string) string {
	return i.settings.stack + "-" + *awscdk.Aws_REGION() + "-" + of
}

// role is the ARN of a role.
func (i *installation) role(of string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":iam::" + *awscdk.Aws_ACCOUNT_ID() + ":role" + path + i.roleName(of)
}

// policy is the ARN of a managed policy. Like roles, policies are global.
func (i *installation) policy(of string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":iam::" + *awscdk.Aws_ACCOUNT_ID() + ":policy" + path + i.roleName(of)
}

// logs is the name of the log group of a function.
func (i *installation) logs(function string) string {
	return "/aws/lambda/" + i.settings.stack + "-" + function
}

// machine is the ARN of the state machine.
func (i *installation) machine() string { return i.named("states", "stateMachine:"+i.settings.stack) }

// words are the values of ${words} in permissions.
func (i *installation) words() *strings.Replacer {
	s := i.settings
	pairs := []string{
		"${Partition}", *awscdk.Aws_PARTITION(), "${Region}", *awscdk.Aws_REGION(), "${Account}", *awscdk.Aws_ACCOUNT_ID(),
		"${Table}", *i.table.TableArn(), "${Bucket}", *i.bucket.BucketArn(),
		"${Machine}", i.machine(), "${Executions}", i.named("states", "execution:"+s.stack),
		"${Bus}", i.named("events", "event-bus/default"),
		"${Self}", "arn:" + *awscdk.Aws_PARTITION() + ":cloudformation:" + *awscdk.Aws_REGION() + ":" + *awscdk.Aws_ACCOUNT_ID() + ":stack/" + s.stack + "/*",
		"${Execution}", i.role("execution"), "${Adoptable}", s.adoptable, "${Boundary}", i.policy("boundary"), "${ScheduleRole}", i.role("schedule"),
		"${Schedules}", i.named("scheduler", "schedule/"+s.stack),
	}
	if s.key {
		pairs = append(pairs, "${Key}", *i.key.KeyArn())
	}
	for _, f := range i.names {
		pairs = append(pairs, "${Function "+f+"}", i.function(f), "${Logs "+f+"}", i.named("logs", "log-group:"+i.logs(f)))
	}
	for f, queue := range i.dead {
		pairs = append(pairs, "${Dead "+f+"}", *queue.QueueArn())
	}
	return strings.NewReplacer(pairs...)
}

// fill replaces the ${words} in a text.
func (i *installation) fill(text string) string { return i.words().Replace(text) }

// filledValue does that for the value of a condition: a text or several.
func (i *installation) filledValue(value any) any {
	if all, several := value.([]string); several {
		return i.filled(all)
	}
	return i.fill(value.(string))
}

// filled does that for many texts.
func (i *installation) filled(texts []string) []string {
	words, all := i.words(), slices.Clone(texts)
	for n, t := range all {
		all[n] = words.Replace(t)
	}
	return all
}
