package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/project"
)

const (
	stay   = "Resources:\n  Stay: {Type: 'AWS::SNS::Topic'}\n"
	orders = "  Orders: {Type: 'AWS::DynamoDB::Table', Properties: {TableName: orders, BillingMode: PAY_PER_REQUEST}}\n"
	jobs   = "  Jobs: {Type: 'AWS::SQS::Queue', Properties: {VisibilityTimeout: 90}}\n"
	byEnv  = "Parameters: {Env: {Type: String}, Secret: {Type: String, NoEcho: true, Default: x}}\n"
)

// If one stack loses a resource and another one gets the same, the plan says once how to move it instead.
func TestHintsOfMoves(t *testing.T) {
	values := map[string]string{"Env": "prod", "Secret": "****"}
	for name, c := range map[string]struct {
		from, fromNow string // empty: the stack leaves the project
		to, toNow     string // to is empty: the stack is created
		change        func(stacks)
		want          []string
	}{
		"the same name, properties and ID": {from: stay + orders, fromNow: stay, to: stay, toNow: stay + orders,
			want: []string{"data.Orders seems to be moved from app.Orders, which this plan deletes (data loss: a table): to move it and keep it, write move_from: {app: {Orders: Orders}} under data"}},
		"another ID, and a name that parameters make": {from: byEnv + stay + strings.Replace(orders, "orders", "!Sub '${Env}-orders'", 1), fromNow: byEnv + stay,
			to: stay, toNow: stay + strings.NewReplacer("Orders", "Table", "orders", "prod-orders").Replace(orders),
			want: []string{"data.Table seems to be moved from app.Orders, which this plan deletes (data loss: a table): to move it and keep it, write move_from: {app: {Orders: Table}} under data"}},
		"the same name and other properties": {from: stay + orders, fromNow: stay, to: stay, toNow: stay + strings.Replace(orders, "PAY_PER_REQUEST", "PROVISIONED", 1),
			want: []string{"data.Orders seems to be moved from app.Orders, which this plan deletes (data loss: a table): to move it and keep it, write move_from: {app: {Orders: Orders}} under data, with the properties of Orders as they are deployed (a later deploy can change them)"}},
		"several": {from: stay + orders + jobs, fromNow: stay, to: stay, toNow: stay + orders + strings.Replace(jobs, "Jobs", "Work", 1),
			want: []string{"data.Work, data.Orders seem to be moved from app.Jobs, app.Orders, which this plan deletes (data loss: messages, a table): to move them and keep them, write move_from: {app: {Jobs: Work, Orders: Orders}} under data"}},
		"without data": {from: stay + "  T: {Type: 'AWS::SNS::Topic', Properties: {DisplayName: a}}\n", fromNow: stay, to: stay, toNow: stay + "  T: {Type: 'AWS::SNS::Topic', Properties: {DisplayName: a}}\n",
			want: []string{"data.T seems to be moved from app.T, which this plan deletes: to move it and keep it, write move_from: {app: {T: T}} under data"}},
		"a stack that is created": {from: stay + orders, fromNow: stay, toNow: stay + orders,
			want: []string{"data.Orders seems to be moved from app.Orders, which this plan deletes (data loss: a table): to move it and keep it, write move_from: {app: {Orders: Orders}} under data; before that, deploy data with another resource"}},
		"a stack that is deleted": {from: "Resources:\n" + orders, to: stay, toNow: stay + orders,
			want: []string{"data.Orders seems to be moved from app.Orders, which this plan deletes (data loss: a table): to move it and keep it, write move_from: {app: {Orders: Orders}} under data; before that, keep app in the project, with another resource"}},
		"a stack that was renamed":     {from: stay + orders, toNow: stay + orders},
		"another name":                 {from: stay + orders, fromNow: stay, to: stay, toNow: stay + strings.Replace(orders, "orders", "items", 1)},
		"another type":                 {from: stay + orders, fromNow: stay, to: stay, toNow: stay + jobs},
		"no properties and another ID": {from: stay + "  Q: {Type: 'AWS::SQS::Queue'}\n", fromNow: stay, to: stay, toNow: stay + "  R: {Type: 'AWS::SQS::Queue'}\n"},
		"two could be the origin":      {from: stay + jobs + strings.Replace(jobs, "Jobs", "Other", 1), fromNow: stay, to: stay, toNow: stay + strings.Replace(jobs, "Jobs", "Work", 1)},
		"two could be the copy":        {from: stay + jobs, fromNow: stay, to: stay, toNow: stay + strings.Replace(jobs, "Jobs", "A", 1) + strings.Replace(jobs, "Jobs", "B", 1)},
		"a type that never moves":      {from: stay + "  C: {Type: 'Custom::Thing', Properties: {ServiceToken: a}}\n", fromNow: stay, to: stay, toNow: stay + "  C: {Type: 'Custom::Thing', Properties: {ServiceToken: a}}\n"},
		"nothing is removed":           {from: stay, fromNow: stay, to: stay, toNow: stay + orders},
		"another region": {from: stay + orders, fromNow: stay, to: stay, toNow: stay + orders, change: func(s stacks) {
			n := s.Desired.Nodes["data"]
			n.Target.Region = "us-east-1"
			s.Desired.Nodes["data"] = n
		}},
		"a secret name": {from: byEnv + stay + strings.Replace(orders, "orders", "!Ref Secret", 1), fromNow: byEnv + stay, to: stay, toNow: stay + strings.Replace(orders, "orders", "'****'", 1)},
		"changed outside Stackwright": {from: stay + orders, fromNow: stay, to: stay, toNow: stay + orders, change: func(s stacks) {
			r := s.Recorded["app"]
			r.LastUpdated = epoch.Add(-1)
			s.Recorded["app"] = r
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStacks()
			s.node("app", c.fromNow, "Env=prod")
			s.live("app", c.from, values, nil)
			s.node("data", c.toNow)
			if c.fromNow == "" {
				r := s.Recorded["app"]
				r.Template = "of app"
				s.Recorded["app"] = r
				s.templates["of app"] = c.from
				delete(s.Desired.Nodes, "app")
			}
			if c.to != "" {
				s.live("data", c.to, nil, nil)
			} else if c.fromNow == "" { // the same template
				n := s.Desired.Nodes["data"]
				n.Template.Digest = "of app"
				s.Desired.Nodes["data"] = n
			}
			if c.change != nil {
				c.change(s)
			}
			if diff := cmp.Diff(c.want, s.describe(t).Messages); diff != "" {
				t.Errorf("(- want, + got):\n%s", diff)
			}
		})
	}
}

// A stack that is in two targets is named once.
func TestHintOfTwoTargets(t *testing.T) {
	s := newStacks()
	for _, region := range []string{"eu-west-1", "us-east-1"} {
		for name, text := range map[string]string{"app": stay, "data": stay + orders} {
			node := name + "@" + region
			s.node(node, text)
			n := s.Desired.Nodes[node]
			n.Target = project.Target{Name: region, Account: "111122223333", Region: region}
			s.Desired.Nodes[node] = n
			s.live(node, map[string]string{"app": stay + orders, "data": stay}[name], nil, nil)
		}
	}
	want := []string{"data.Orders seems to be moved from app.Orders, which this plan deletes (data loss: a table): to move it and keep it, write move_from: {app: {Orders: Orders}} under data"}
	if diff := cmp.Diff(want, s.describe(t).Messages); diff != "" {
		t.Errorf("(- want, + got):\n%s", diff)
	}
}
