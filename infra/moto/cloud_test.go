package moto

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	cfn "github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// The adapter of CloudFormation with moto keeps the contract of a cloud, but for what cloudDiffers lists.
func cloudLaws(s *server) {
	laws := make(map[string]func(*trial))
	for name, law := range contract.CloudLaws() {
		laws[name] = func(t *trial) {
			s.reset()
			s.makeTopics("a", "b", "c")
			law(t, sky{newCloud(s), s.config, t})
		}
	}
	judged(s.T, laws, cloudDiffers)
}

// sky is the adapter of CloudFormation with moto, as the contract controls it.
type sky struct {
	*cfn.Cloud
	config aws.Config
	trial  *trial
}

// newCloud is the adapter with moto.
func newCloud(s *server) *cfn.Cloud {
	client := cfn.TargetClient{Client: cloudformation.NewFromConfig(s.config)}
	return cfn.New(func(context.Context, project.Target) (cfn.TargetClient, error) { return client, nil }, inline{})
}

// makeTopics makes the topics that stacks of the contract notify: moto refuses others.
func (s *server) makeTopics(names ...string) {
	for _, name := range names {
		if _, err := sns.NewFromConfig(s.config).CreateTopic(s.Context(), &sns.CreateTopicInput{Name: &name}); err != nil {
			s.Fatal(err)
		}
	}
}

// inline is a store of templates in which the digest is the template itself.
type inline struct{}

func (inline) Template(_ context.Context, body string) ([]byte, error) { return []byte(body), nil }
func (inline) URL(string) string                                       { return "" }

func (sky) Now() time.Time     { return time.Now() }
func (sky) Pass(time.Duration) {} // an operation of moto is over at once

// What moto cannot be brought to ends a law.
func (s sky) Fail(string, plan.Verb)     { s.trial.Fatal("moto cannot let an operation fail") }
func (s sky) Slow(string, time.Duration) { s.trial.Fatal("moto's operations take no time") }
func (s sky) Lag(time.Duration)          { s.trial.Fatal("moto's descriptions are never late") }

// Drift changes the topic of a stack, or deletes it, in moto's SNS.
func (s sky) Drift(stack string, deleted bool) {
	ctx, topics := s.trial.Context(), sns.NewFromConfig(s.config)
	out, err := cloudformation.NewFromConfig(s.config).DescribeStackResource(ctx, &cloudformation.DescribeStackResourceInput{StackName: &stack, LogicalResourceId: aws.String("Topic")})
	if err != nil {
		s.trial.Fatal(err)
	}
	arn := out.StackResourceDetail.PhysicalResourceId
	if deleted {
		_, err = topics.DeleteTopic(ctx, &sns.DeleteTopicInput{TopicArn: arn})
	} else {
		_, err = topics.SetTopicAttributes(ctx, &sns.SetTopicAttributesInput{TopicArn: arn, AttributeName: aws.String("DisplayName"), AttributeValue: aws.String("drifted")})
	}
	if err != nil {
		s.trial.Fatal(err)
	}
}

func (sky) Node(stack, version string, imports ...string) project.Node {
	var values strings.Builder
	for _, i := range imports {
		fmt.Fprintf(&values, ", !ImportValue %s-Name", i)
	}
	text := fmt.Sprintf(`Description: %[1]s
Resources:
  Topic:
    Type: AWS::SNS::Topic
    Properties: { DisplayName: !Join [" ", [%[1]s%[2]s]] }
Outputs:
  Name:
    Value: !Ref AWS::StackName
    Export: { Name: !Sub "${AWS::StackName}-Name" }
  Value: { Value: !Join [".", [%[1]s, end]] }
`, version, values.String())
	return project.Node{Name: stack, Stack: stack, Template: project.Template{Digest: text, Bytes: len(text), Pinned: true}}
}
