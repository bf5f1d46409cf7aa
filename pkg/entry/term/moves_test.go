package term_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

const (
	topic  = "Resources:\n  Topic: {Type: 'AWS::SNS::Topic'}\n"
	table  = "  Orders: {Type: 'AWS::DynamoDB::Table', Properties: {TableName: orders}}\n"
	queue  = "  Jobs: {Type: 'AWS::SQS::Queue', Properties: {QueueName: jobs}}\n"
	output = "Outputs: {Name: {Value: !Ref Orders}}\n"
)

// Each form of a plan shows a table that moves from app into data, and how to move a queue that leaves web for work without
// move_from.
func TestPlanOfMoves(t *testing.T) {
	v := plan.View{
		Desired:  project.Project{Name: "shop", Environment: "prod", Nodes: make(map[string]project.Node), MaxDeletions: new(0)},
		Recorded: make(map[string]plan.Record), Live: make(map[string]plan.Live), Found: make(map[string]plan.Found),
	}
	templates := make(map[string]string)
	for name, text := range map[string][2]string{
		"app": {topic + table + output, topic}, "data": {topic, topic + strings.Replace(table, "Orders", "Table", 1)},
		"web": {topic + queue, topic}, "work": {topic, topic + queue},
	} {
		target := project.Target{Name: "default", Account: "111122223333", Region: "eu-west-1"}
		templates["old "+name], templates["new "+name] = text[0], text[1]
		v.Desired.Nodes[name] = project.Node{Name: name, Stack: "shop-prod-" + name, Target: target, Template: project.Template{Digest: "new " + name, Pinned: true}}
		v.Live[name] = plan.Live{StackID: "id-" + name, Status: "CREATE_COMPLETE", LastUpdated: time.Unix(0, 0)}
		v.Recorded[name] = plan.Record{Node: name, Stack: "shop-prod-" + name, StackID: "id-" + name, Target: target, Digest: "d", Template: "old " + name, LastUpdated: time.Unix(0, 0)}
		v.Found[name] = plan.Found{Template: parsed(t, text[0]), Desired: parsed(t, text[1])}
	}
	move := plan.Move{From: "app", To: "data", Resources: map[string]string{"Orders": "Table"}}
	without, with, err := template.Moving([]byte(templates["old app"]), []byte(templates["old data"]), []byte(templates["new data"]), move.Resources)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"app": without, "data": with} {
		found := v.Found[name]
		found.Moved = plan.Moved{Template: parsed(t, string(body)), Digest: "moved " + name, Bytes: len(body)}
		v.Found[name] = found
	}
	v.Moves = []plan.Move{move}
	p, err := plan.Deploy(v)
	if err != nil {
		t.Fatal(err)
	}
	c := v.Describe(p, func(digest string) (*template.Template, error) {
		return template.Parse(digest, []byte(templates[digest]))
	})
	c.Operation = "plan"
	document, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"moves.txt": strings.Join(term.Plan(c, 80, false), "\n") + "\n", "moves.md": term.Markdown(c), "moves.json": string(document) + "\n",
	} {
		golden.Same(t, filepath.Join("testdata", name), text)
	}
	if c.Summary.DataLoss != 1 || c.Stacks[0].DataLoss || c.Stacks[1].DataLoss {
		t.Errorf("a table that moves is no data loss, and the queue is: %+v", c.Summary)
	}
}

func parsed(t *testing.T, text string) *template.Template {
	t.Helper()
	parsed, err := template.Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
