package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/jsii-runtime-go"
)

// addSchedules makes the group that projects' schedules are in, which goes with
// all that are in it, and the role by which they call start.
func (i *installation) addSchedules() {
	group := awsscheduler.NewCfnScheduleGroup(i.Stack, jsii.String("Schedules"), &awsscheduler.CfnScheduleGroupProps{
		Name: jsii.String(i.settings.stack),
	})
	only := ours()
	only["ArnEquals"] = map[string]string{"aws:SourceArn": i.named("scheduler", "schedule-group/"+i.settings.stack)}
	i.addRole("schedule", "scheduler.amazonaws.com", only, scheduled)
	i.output("ScheduleGroupName", *group.Ref(), "The group that the projects' schedules are in")
}

// scheduled is what a schedule may do: call start, and say that it could not.
var scheduled = []permission{
	{Do: []string{"lambda:InvokeFunction"}, On: []string{"${Function start}"}},
	{Do: []string{"sqs:SendMessage"}, On: []string{"${Dead start}"}},
}
