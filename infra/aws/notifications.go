package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/stackwright/stackwright/pkg/aws/eventbridge"
)

// addNotifications makes the topic that people subscribe to, by mail or from a
// chat, and tells it what the runs come to. Alarms tell it too.
func (i *installation) addNotifications() {
	i.topic = awssns.NewTopic(i.Stack, jsii.String("Topic"), &awssns.TopicProps{
		TopicName:  jsii.String(i.settings.stack),
		MasterKey:  i.key,
		EnforceSSL: jsii.Bool(true),
	})
	called(i.topic, "Topic")
	runs := i.rule("runs", &awsevents.RuleProps{
		Description:  jsii.String("People are told of runs"),
		EventPattern: &awsevents.EventPattern{Source: jsii.Strings(eventbridge.Source), DetailType: jsii.Strings(eventbridge.DetailType)},
	})
	i.mayPublish("events.amazonaws.com", *runs.RuleArn())
	i.mayPublish("cloudwatch.amazonaws.com", i.named("cloudwatch", "alarm:"+i.settings.stack+"-*"))
	i.dead["runs"] = i.addQueue("runs-dead")
	runs.AddTarget(awseventstargets.NewSnsTopic(i.known(), &awseventstargets.SnsTopicProps{
		Message: notice(), DeadLetterQueue: i.dead["runs"],
	}))
	i.output("TopicArn", *i.topic.TopicArn(), "Subscribe here to be told of runs and alarms")
}

// mayPublish lets a service publish to the topic what comes from a source.
func (i *installation) mayPublish(service, source string) {
	i.topic.AddToResourcePolicy(statement(permission{
		Do: []string{"sns:Publish"}, On: []string{*i.topic.TopicArn()}, If: conditions{"ArnLike": {"aws:SourceArn": source}},
	}, awsiam.NewServicePrincipal(jsii.String(service), nil)))
}

// known is the topic as one that was there before: CDK gives whoever aims at a
// topic of its own leave to publish there and to use the key, once more and by
// wildcards.
func (i *installation) known() awssns.ITopic {
	return awssns.Topic_FromTopicArn(i.Stack, jsii.String("KnownTopic"), i.topic.TopicArn())
}

// notice is what chats show of an event, all of one run in one thread. No text of
// an event has anything in it that would break the notice (pkg/aws/eventbridge).
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
