package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

const (
	movingFrom = `
Parameters: { Env: { Type: String }, Secret: { Type: String, NoEcho: true } }
Resources:
  Topic: { Type: 'AWS::SNS::Topic' }
  Orders: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: !Sub '${Env}-orders' } }
Outputs: { Name: { Value: !Ref Orders }, Topic: { Value: !Ref Topic } }
`
	movingTo = `
Parameters: { Stage: { Type: String } }
Resources:
  Queue: { Type: 'AWS::SQS::Queue' }
`
	arrival = "  Table: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: !Sub '${Stage}-orders' } }\n"
)

// movingView is a view in which the table of app moves into data.
func movingView(t *testing.T, from, fromDesired, to, toDesired string) fixture {
	t.Helper()
	f := newFixture()
	move := plan.Move{From: "app", To: "data", Resources: map[string]string{"Orders": "Table"}}
	f.Moves, f.Found = []plan.Move{move}, make(map[string]plan.Found)
	without, with, err := template.Moving([]byte(from), []byte(to), []byte(toDesired), move.Resources)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ now, desired, moved string }{"app": {from, fromDesired, string(without)}, "data": {to, toDesired, string(with)}} {
		f.Desired.Nodes[name] = project.Node{Name: name, Stack: "shop-" + name, Template: project.Template{Digest: "new " + name, Pinned: true}, Parameters: map[string]project.Text{"Env": project.Literal("prod"), "Stage": project.Literal("prod")}}
		f.Live[name] = plan.Live{StackID: "id-" + name, Status: "CREATE_COMPLETE", LastUpdated: epoch, Parameters: map[string]string{"Env": "prod", "Stage": "prod", "Secret": "****"}}
		f.Recorded[name] = plan.Record{Node: name, Stack: "shop-" + name, StackID: "id-" + name, Digest: "d", Template: "old", LastUpdated: epoch}
		found := plan.Found{Template: parsed(t, c.now), Desired: parsed(t, c.desired), Digest: "deployed"}
		if found.Moved.Template, err = template.Parse("t.yaml", []byte(c.moved)); err != nil {
			found.Moved.Invalid = err.Error()
		}
		found.Moved.Digest, found.Moved.Bytes = "moved "+name, 7
		f.Found[name] = found
	}
	return f
}

// A move is a step of each stack before their updates: the source's record forgets what is deployed, and then CloudFormation
// moves the resources.
func TestMoveIsFollowedByUpdates(t *testing.T) {
	from := strings.NewReplacer("  Orders: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: !Sub '${Env}-orders' } }\n", "", "Name: { Value: !Ref Orders }, ", "")
	f := movingView(t, movingFrom, from.Replace(movingFrom), movingTo, movingTo+arrival)
	n := f.Desired.Nodes["web"]
	n.Name, n.Stack, n.Needs = "web", "shop-web", []string{"data"}
	f.Desired.Nodes["web"] = n
	p, err := plan.Deploy(f.View)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(p.String()) {
		before, rest, _ := strings.Cut(line, " 1 {")
		if _, after, ok := strings.Cut(rest, "←"); ok {
			before += " ←" + after
		}
		lines = append(lines, strings.TrimSpace(before))
	}
	want := "app/move-out\ndata/move-in ← app/move-out\napp/update ← data/move-in\ndata/update ← data/move-in\nweb/create ← data/update"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var m plan.Movement
	if err := p.Steps[1].Arguments.Read(plan.MovementVersion, &m); err != nil {
		t.Fatal(err)
	}
	if m.Source.Template != "moved app" || m.Target.Template != "moved data" || m.Source.StackID != "id-app" || !m.Target.LastUpdated.Equal(epoch) || len(m.Resources) != 1 || m.Resources[0] != (plan.MovedResource{From: "Orders", To: "Table", Type: "AWS::DynamoDB::Table"}) {
		t.Errorf("%+v", m)
	}
	back := plan.MovesBack(p.Steps)
	if len(back) != 1 || back[0].From != "data" || back[0].To != "app" || !maps.Equal(back[0].Resources, map[string]string{"Table": "Orders"}) {
		t.Errorf("%+v", back)
	}

	// The plan shows a move, and neither a removed nor an added table: no data is lost.
	c := f.Describe(p, func(digest string) (*template.Template, error) {
		if digest == "new app" {
			return parsed(t, from.Replace(movingFrom)), nil
		}
		return parsed(t, movingTo+arrival), nil
	})
	if c.Summary.DataLoss+c.Summary.PossibleDataLoss > 0 {
		t.Errorf("%+v", c.Summary)
	}
	if o := c.Stacks[0].Outputs; len(o) != 1 || o[0].Name != "Name" || o[0].Action != "remove" {
		t.Errorf("the output that refers to the table goes away with it: %+v", o)
	}
	for _, s := range c.Stacks[:2] {
		if !slices.ContainsFunc(s.Resources, plan.ResourceChange.Relocated) {
			t.Errorf("%s: %+v", s.Stack, s.Resources)
		}
		for _, r := range s.Resources {
			if r.Type == "AWS::DynamoDB::Table" && r.Action != "move" {
				t.Errorf("%s: %+v", s.Stack, r)
			}
		}
	}

	// A stack that was deployed from the desired template has the outcome.
	r := f.Recorded["data"]
	r.Template = "new data"
	f.Recorded["data"] = r
	if moves := f.Moving(); len(moves) > 0 {
		t.Errorf("%+v", moves)
	}
}

// Everything that CloudFormation would refuse, or that would change a resource, is refused before anything starts.
func TestMovesThatAreRefused(t *testing.T) {
	const table = "  Orders: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: !Sub '${Env}-orders' } }\n"
	gone := strings.NewReplacer(table, "", "Name: { Value: !Ref Orders }, ", "")
	for name, c := range map[string]struct {
		from, to, toDesired string
		change              func(*fixture)
		want                string
	}{
		"the template has no such resource": {toDesired: movingTo, want: "the template of data has no resource Table"},
		"the source has no such resource":   {from: gone.Replace(movingFrom), want: "app has no such resource"},
		"the target has one already":        {to: movingTo + arrival, want: "data has a resource Table already"},
		"another type":                      {toDesired: movingTo + "  Table: { Type: 'AWS::S3::Bucket' }\n", want: "it is of the type AWS::DynamoDB::Table, and Table of the type AWS::S3::Bucket"},
		"other properties":                  {toDesired: movingTo + "  Table: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: items } }\n", want: "its Properties differ: {TableName: prod-orders} in app, {TableName: items} in data"},
		"another policy":                    {toDesired: movingTo + "  Table: { Type: 'AWS::DynamoDB::Table', DeletionPolicy: Retain, Properties: { TableName: prod-orders } }\n", want: "its DeletionPolicy differ"},
		"it has the name of its stack": {from: strings.ReplaceAll(movingFrom, "${Env}-orders", "${AWS::StackName}"), toDesired: movingTo + "  Table: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: !Ref 'AWS::StackName' } }\n",
			want: "its Properties differ: {TableName: shop-app} in app, {TableName: shop-data} in data"},
		"its value is secret": {from: strings.ReplaceAll(movingFrom, "${Env}-orders", "${Secret}"), want: "its Properties refer to Secret, whose value is not known"},
		"another resource refers to it": {from: strings.Replace(movingFrom, "Topic: { Type: 'AWS::SNS::Topic' }", "Topic: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: !Ref Orders } }", 1),
			want: "the template from which app is deployed is invalid without it"},
		"a parameter is missing": {to: "Resources: { Queue: { Type: 'AWS::SQS::Queue' } }", want: "the template from which data is deployed is invalid with it"},
		"it has a condition":     {from: strings.Replace(movingFrom, "Orders: {", "Orders: { Condition: Yes, ", 1) + "Conditions: { Yes: !Equals [a, a] }\n", want: "it has a Condition"},
		"an exported output":     {from: strings.Replace(movingFrom, "!Ref Orders }", "!Ref Orders, Export: { Name: n } }", 1), want: "the output Name of app, which is exported, refers to it"},
		"nothing is left":        {from: strings.NewReplacer("  Topic: { Type: 'AWS::SNS::Topic' }\n", "", ", Topic: { Value: !Ref Topic }", "").Replace(movingFrom), want: "app would have no resource left"},
		"macros":                 {to: "Transform: AWS::Serverless-2016-10-31" + movingTo, want: "the template of data has macros"},
		"another target": {change: func(f *fixture) {
			n := f.Desired.Nodes["app"]
			n.Target.Region = "eu-west-1"
			f.Desired.Nodes["app"] = n
		}, want: "the two stacks have different targets"},
		"the source is busy":         {change: status("app", "UPDATE_IN_PROGRESS"), want: "stack app is UPDATE_IN_PROGRESS: wait"},
		"the target has failed":      {change: status("data", "UPDATE_FAILED"), want: "stack data is UPDATE_FAILED: deploy it without move_from: first"},
		"the target does not exist":  {change: status("data", ""), want: "stack data does not exist: deploy it first"},
		"the source is not managed":  {change: func(f *fixture) { delete(f.Recorded, "app") }, want: "Stackwright does not manage the stack of app yet"},
		"the template is unreadable": {change: func(f *fixture) { f.Found["app"] = plan.Found{Unreadable: "denied"} }, want: "the template of app cannot be read: denied"},
		"two moves of one stack": {change: func(f *fixture) {
			f.Moves = append(f.Moves, plan.Move{From: "data", To: "web", Resources: map[string]string{"A": "B"}})
		}, want: "data takes part in another move too, between data and web"},
		"only one of the stacks": {change: func(f *fixture) { f.Only = []string{"data"} }, want: "the selection leaves app out"},
	} {
		or := func(text, otherwise string) string {
			if text == "" {
				return otherwise
			}
			return text
		}
		f := movingView(t, or(c.from, movingFrom), gone.Replace(movingFrom), or(c.to, movingTo), or(c.toDesired, movingTo+arrival))
		if c.change != nil {
			c.change(&f)
		}
		p, err := plan.Deploy(f.View)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\n%s", name, err, p)
		}
	}
	f := movingView(t, movingFrom, movingFrom, movingTo, movingTo+arrival)
	if _, err := plan.Deploy(f.View); err == nil || !strings.Contains(err.Error(), "the template of app still has it: remove it there") {
		t.Error(err)
	}
	f = movingView(t, strings.NewReplacer(table, "", "Name: { Value: !Ref Orders }, ", "").Replace(movingFrom), gone.Replace(movingFrom), movingTo+arrival, movingTo+arrival)
	if p, err := plan.Deploy(f.View); err != nil || len(p.Steps) != 2 {
		t.Errorf("it was moved before: %v\n%s", err, p)
	}
}

func status(name string, s plan.Status) func(*fixture) {
	return func(f *fixture) {
		if s == "" {
			delete(f.Live, name)
			return
		}
		l := f.Live[name]
		l.Status = s
		f.Live[name] = l
	}
}
