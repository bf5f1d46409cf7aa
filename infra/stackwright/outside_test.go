package main

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// outside updates a stack of a laptop without Stackwright, and waits for the end. Its tags stay.
func (l *laptop) outside(client *cloudformation.Client, in cloudformation.UpdateStackInput) {
	l.Helper()
	if _, err := client.UpdateStack(l.Context(), &in); err != nil {
		l.Fatal(err)
	}
	l.ends(client, aws.ToString(in.StackName), types.StackStatusUpdateComplete)
}

// ends waits until a stack of a laptop has a status.
func (l *laptop) ends(client *cloudformation.Client, name string, status types.StackStatus) {
	l.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		out, err := client.DescribeStacks(l.Context(), &cloudformation.DescribeStacksInput{StackName: &name})
		switch {
		case err != nil:
			l.Fatal(err)
		case out.Stacks[0].StackStatus == status:
			return
		case time.Now().After(end):
			l.Fatal("the stack stays ", out.Stacks[0].StackStatus)
		}
	}
}

// Somebody adds a table to a stack without Stackwright. Plans, and the command why, read what the stack has, before a
// refresh and after it. A change of a parameter that the files ignore is no change.
func TestTableAddedOutside(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.edit("templates/topic.yaml", "  Text: { Value: !Ref Text }\n", "")
	l.edit("stackwright.yaml", "  topic:\n", "  topic:\n    ignore_changes: [Text]\n")
	h := l.serve(0.05)
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created")
	client, name := cloudformation.NewFromConfig(h.Cloud.Config()), aws.String("pair-topic")
	was, err := client.GetTemplate(t.Context(), &cloudformation.GetTemplateInput{StackName: name})
	if err != nil {
		t.Fatal(err)
	}
	l.outside(client, cloudformation.UpdateStackInput{
		StackName: name, UsePreviousTemplate: aws.Bool(true),
		Parameters: []types.Parameter{{ParameterKey: aws.String("Text"), ParameterValue: aws.String("by a pipeline")}},
	})
	l.has(l.must(cli.ExitOK, "why", "topic", l.project), "the next deploy leaves it as it is: nothing differs\n")
	l.has(l.must(cli.ExitOK, "plan", l.project), "3 unchanged")
	l.must(cli.ExitOK, "check", l.project)
	const table = "  Orders:\n    Type: AWS::DynamoDB::Table\n    Properties:\n      BillingMode: PAY_PER_REQUEST\n" +
		"      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]\n      KeySchema: [{AttributeName: id, KeyType: HASH}]\n"
	body := insertAfter(aws.ToString(was.TemplateBody), "Resources:\n", table)
	l.outside(client, cloudformation.UpdateStackInput{
		StackName: name, TemplateBody: &body, Parameters: []types.Parameter{{ParameterKey: aws.String("Text"), UsePreviousValue: aws.Bool(true)}},
	})
	for _, when := range []string{"before a refresh", "after it"} {
		l.has(l.must(cli.ExitOK, "plan", l.project), "changed outside Stackwright since it was last deployed", "Orders", "data loss")
		l.has(l.must(cli.ExitOK, "why", "topic", l.project), "changed outside Stackwright", "remove Orders")
		l.has(l.must(cli.ExitOK, "destroy", l.project, "--plan"), "Orders", "data loss")
		l.must(cli.ExitFailed, "check", l.project)
		if t.Failed() {
			t.Fatal(when)
		}
		l.must(cli.ExitOK, "refresh", l.project)
	}
}

// insertAfter returns a text with another one after the first place of a line.
func insertAfter(text, line, more string) string {
	before, after, _ := strings.Cut(text, line)
	return before + line + more + after
}
