package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/stackwright/stackwright/pkg/aws/eventbridge"
)

// addNotifications makes the topic to which people subscribe, by mail or from a chat, and the rule that sends it the
// ends of runs. Alarms notify the topic too.
func (i *installation) addNotifications() {
	props := &awssns.TopicProps{TopicName: jsii.String(i.settings.stack), EnforceSSL: jsii.Bool(true)}
	if i.settings.key {
		props.MasterKey = i.key
	}
	i.topic = awssns.NewTopic(i.Stack, jsii.String("Topic"), props)
	called(i.topic, "Topic")
	runs := i.rule("runs", &awsevents.RuleProps{
		Description:  jsii.String("Notifies people of runs"),
		EventPattern: &awsevents.EventPattern{Source: jsii.Strings(eventbridge.Source), DetailType: jsii.Strings(eventbridge.DetailType)},
	})
	i.mayPublish("events.amazonaws.com", *runs.RuleArn())
	i.mayPublish("cloudwatch.amazonaws.com", i.named("cloudwatch", "alarm:"+i.settings.stack+"-*"))
	i.dead["runs"] = i.addQueue("runs-dead")
	runs.AddTarget(awseventstargets.NewSnsTopic(i.known(), &awseventstargets.SnsTopicProps{
		Message: notice(), DeadLetterQueue: i.dead["runs"],
	}))
	i.output("TopicArn", *i.topic.TopicArn(), "Subscribe to this topic for notifications of runs and alarms")
}

// mayPublish allows a service to publish to the topic, for a source.
func (i *installation) mayPublish(service, source string) {
	i.topic.AddToResourcePolicy(statement(permission{
		Do: []string{"sns:Publish"}, On: []string{*i.topic.TopicArn()}, If: conditions{"ArnLike": {"aws:SourceArn": source}},
	}, awsiam.NewServicePrincipal(jsii.String(service), nil)))
}

// known is the topic as an imported one: for a topic of its own, CDK adds permissions with wildcards to each user of
// it.
func (i *installation) known() awssns.ITopic {
	return awssns.Topic_FromTopicArn(i.Stack, jsii.String("KnownTopic"), i.topic.TopicArn())
}

// notice is the message that chats show of an event, with one thread for each run. No text of an event contains
// anything that would break the message (pkg/aws/eventbridge).
// https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html
func notice() awsevents.RuleTargetInput {
	detail := func(field string) string { return *awsevents.EventField_FromPath(jsii.String("$.detail." + field)) }
	return awsevents.RuleTargetInput_FromObject(map[string]any{
		"version": "1.0",
		"source":  "custom",
		"content": map[string]any{
			"textType": "client-markdown", "title": detail("title") + ": " + detail("state"), "description": detail("text") + " " + detail("why"),
		},
		"metadata": map[string]any{"threadId": detail("run"), "summary": detail("text")},
	})
}
