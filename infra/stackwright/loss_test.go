package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// umlauts makes the project of a laptop one whose texts are not ASCII.
func (l *laptop) umlauts() {
	l.Helper()
	l.edit("stackwright.yaml", "text: hello", "text: Größe")
	l.edit("stackwright.yaml", "  topic:\n", "  topic:\n    tags: { team: Köln }\n")
	l.edit("templates/topic.yaml", "DisplayName: !Ref Text", `DisplayName: !Sub "Übersicht ${Text}"`)
	l.edit("templates/topic.yaml", "Outputs:\n", "Outputs:\n  Street: { Value: !Sub \"Straße ${Text}\" }\n  Unknown: { Value: !Sub \"${Topic}?ü\" }\n")
	l.edit("stackwright.yaml", "Topic: nobody", "Topic: \"${topic.Street}\"")
}

// A stack gets the output of another one with all its characters, plans find no difference, and a check finds none.
func TestNothingOfATextIsLost(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.umlauts()
	h := l.serve(0.05)
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created")
	client := cloudformation.NewFromConfig(h.Cloud.Config())
	l.must(cli.ExitOK, "check", l.project)
	l.has(l.must(cli.ExitOK, "plan", l.project), "3 unchanged")
	l.must(cli.ExitOK, "refresh", l.project)
	l.has(l.must(cli.ExitOK, "plan", l.project), "3 unchanged")
	l.has(l.must(cli.ExitOK, "why", "alone", l.project), "nothing differs")
	l.outside(client, cloudformation.UpdateStackInput{
		StackName: aws.String("pair-topic"), UsePreviousTemplate: aws.Bool(true), Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("x")}},
		Parameters: []types.Parameter{{ParameterKey: aws.String("Text"), UsePreviousValue: aws.Bool(true)}},
	})
	shown := l.must(cli.ExitOK, "plan", l.project)
	l.has(shown, "changed outside Stackwright", "team")
	for _, lost := range []string{"bersicht", "Text", "Street"} {
		if strings.Contains(shown, lost) {
			t.Errorf("the plan shows %s:\n%s", lost, shown)
		}
	}
	l.has(l.must(cli.ExitOK, "deploy", l.project), "1 updated")
	l.has(l.must(cli.ExitOK, "plan", l.project), "3 unchanged")
	l.edit("stackwright.yaml", "topic.Street", "topic.Unknown")
	l.has(l.must(cli.ExitRefused, "plan", l.project), "output Unknown of stack topic has a ?", "use Fn::ImportValue instead")
	l.edit("templates/topic.yaml", "${Topic}?ü", "${Topic}?")
	l.edit("templates/topic.yaml", "Straße ${Text}", "Street")
	l.edit("templates/topic.yaml", "Übersicht ${Text}", "Overview")
	l.edit("stackwright.yaml", "text: Größe", "text: size")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "2 updated") // AWS gives the attribute, and no text of the template has such a character
}

// The project of live stacks says which of their texts cannot be read, and cannot be deployed before a person has
// written them. Stacks that have them are adopted, import resources and give away resources with all characters.
func TestLostTextsAreNotWritten(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.umlauts()
	l.edit("stackwright.yaml", `"${topic.Street}"`, "nobody")
	h := l.serve(0.05)
	client := cloudformation.NewFromConfig(h.Cloud.Config())
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created")
	dir := filepath.Join(t.TempDir(), "live")
	r := l.run("init", dir, "--from-live", "pair-")
	l.has(r.err, "of the live text cannot be read", "topic.yaml:6:1: stack topic: a character of the live text", "parameter Text", "tag team", "fix the")
	l.must(cli.ExitOK, "forget", "queue", "topic", "alone", "--project", "pair")
	l.has(l.run("adopt", dir).err, "take the text from the source")
	l.has(l.must(cli.ExitOK, "adopt", l.project, "--plan"), "it is as the project says: nothing in AWS is changed", "3 to adopt")
	l.must(cli.ExitOK, "adopt", l.project)
	l.has(l.must(cli.ExitOK, "plan", l.project), "3 unchanged")
	if _, err := client.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: aws.String("theirs"), TemplateBody: aws.String("Resources:\n" + kept)}); err != nil {
		t.Fatal(err)
	}
	l.ends(client, "theirs", types.StackStatusCreateComplete)
	if _, err := client.DeleteStack(t.Context(), &cloudformation.DeleteStackInput{StackName: aws.String("theirs")}); err != nil {
		t.Fatal(err)
	}
	l.edit("templates/topic.yaml", "Resources:\n", "Resources:\n"+kept)
	l.edit("stackwright.yaml", "  topic:\n", "  topic:\n    import: { Orders: { TableName: orders } }\n")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "imported")
	l.has(l.must(cli.ExitOK, "plan", l.project), "3 unchanged")
}

// kept is a table that stays when its stack is deleted.
const kept = "  Orders:\n    Type: AWS::DynamoDB::Table\n    DeletionPolicy: Retain\n    Properties:\n      TableName: orders\n      BillingMode: PAY_PER_REQUEST\n" +
	"      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]\n      KeySchema: [{AttributeName: id, KeyType: HASH}]\n"

// An output that a stack has only since the same run is not passed on either, if characters of it may be missing.
func TestUncertainOutputIsNotPassedOn(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.umlauts()
	l.edit("stackwright.yaml", "topic.Street", "topic.Unknown")
	l.serve(0.05)
	l.has(l.must(cli.ExitFailed, "deploy", l.project), "output Unknown of stack topic has a ?", "2 created, 1 failed")
	l.edit("stackwright.yaml", "topic.Unknown", "topic.Street")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "1 created")
}

// A move keeps the texts of both templates, and of what moves, with all characters. It is refused if the live template of
// the stack that gives has other texts, which nobody knows.
func TestMoveOfLostTexts(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.umlauts()
	l.edit("stackwright.yaml", `"${topic.Street}"`, "nobody")
	const queue = "  Queue: { Type: AWS::SQS::Queue, Properties: { Tags: [{ Key: Straße, Value: Köln }] } }\n"
	table := strings.Replace(kept, "      TableName: orders\n", "      TableName: orders\n      Tags: [{ Key: Straße, Value: Köln }]\n", 1)
	l.put("templates/store.yaml", "Resources:\n"+queue)
	l.edit("templates/topic.yaml", "Resources:\n", "Resources:\n"+table)
	l.edit("stackwright.yaml", "  topic:\n", "  store: { template: templates/store.yaml }\n  topic:\n")
	h := l.serve(0.05)
	l.has(l.must(cli.ExitOK, "deploy", l.project), "4 created")

	l.edit("templates/topic.yaml", table, "")
	l.put("templates/store.yaml", "Resources:\n"+queue+table)
	l.edit("stackwright.yaml", "{ template: templates/store.yaml }",
		"{ template: templates/store.yaml, move_from: { topic: { Orders: Orders } } }")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "moved")
	l.has(l.must(cli.ExitOK, "plan", l.project), "4 unchanged")
	l.must(cli.ExitOK, "check", l.project)

	l.outside(cloudformation.NewFromConfig(h.Cloud.Config()), cloudformation.UpdateStackInput{
		StackName:    aws.String("pair-store"),
		TemplateBody: aws.String("Resources:\n" + strings.Replace(queue, "Köln", "Zürich", 1) + table),
	})
	l.put("templates/store.yaml", "Resources:\n"+queue)
	l.edit("templates/topic.yaml", "Resources:\n", "Resources:\n"+table)
	l.edit("stackwright.yaml", ", move_from: { topic: { Orders: Orders } }", "")
	l.edit("stackwright.yaml", "  topic:\n", "  topic:\n    move_from: { store: { Orders: Orders } }\n")
	l.has(l.must(cli.ExitRefused, "plan", l.project), "Resources.Queue.Properties.Tags[0].Value", "Deploy it first without move_from")
}
