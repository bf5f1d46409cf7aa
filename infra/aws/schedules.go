package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/jsii-runtime-go"
)

// addSchedules makes the group for the schedules of projects, which is deleted with its schedules, and the role with
// which they invoke start.
func (i *installation) addSchedules() {
	group := awsscheduler.NewCfnScheduleGroup(i.Stack, jsii.String("Schedules"), &awsscheduler.CfnScheduleGroupProps{
		Name: jsii.String(i.settings.stack),
	})
	only := ours()
	only["ArnEquals"] = map[string]any{"aws:SourceArn": i.named("scheduler", "schedule-group/"+i.settings.stack)}
	i.addRole("schedule", "scheduler.amazonaws.com", only, scheduled)
	i.output("ScheduleGroupName", *group.Ref(), "The group of the projects' schedules")
}

// scheduled is what a schedule may do: invoke start, and send failed invocations to the dead-letter queue.
var scheduled = []permission{
	{Do: []string{"lambda:InvokeFunction"}, On: []string{"${Function start}"}},
	{Do: []string{"sqs:SendMessage"}, On: []string{"${Dead start}"}},
}
