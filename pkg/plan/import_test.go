package plan_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

const importing = `
Parameters: { Env: { Type: String, Default: dev }, Key: { Type: String, Default: '' } }
Resources:
  Topic: { Type: 'AWS::SNS::Topic' }
  Table: { Type: 'AWS::DynamoDB::Table', DeletionPolicy: Retain, Properties: { TableName: !Sub '${Env}-orders' } }
  Queue: { Type: 'AWS::SQS::Queue', DeletionPolicy: RetainExceptOnCreate, Properties: { QueueName: jobs } }
  Unkept: { Type: 'AWS::S3::Bucket', Properties: { BucketName: a } }
  Deleted: { Type: 'AWS::S3::Bucket', DeletionPolicy: Delete, Properties: { BucketName: b } }
  Unnamed: { Type: 'AWS::S3::Bucket', DeletionPolicy: Retain }
  Custom: { Type: 'Custom::Thing', DeletionPolicy: Retain, Properties: { ServiceToken: x } }
  Uses: { Type: 'AWS::S3::Bucket', DeletionPolicy: Retain, DependsOn: New, Properties: { BucketName: c } }
  New: { Type: 'AWS::SNS::Topic' }
  Stage: { Type: 'AWS::ApiGateway::Stage', DeletionPolicy: Retain, Properties: { RestApiId: api1, StageName: prod, DeploymentId: x } }
`

// importingView is a view with one stack, deployed from its resources Topic and Table if
// it is live, that imports what is given.
func importingView(t *testing.T, status plan.Status, imports map[string]project.Identifier) fixture {
	t.Helper()
	f := newFixture()
	f.Desired.Nodes["db"] = project.Node{
		Name: "db", Stack: "shop-db", Template: project.Template{Digest: "new", Pinned: true}, Import: imports,
		Parameters: map[string]project.Text{"Env": project.Literal("prod"), "Key": project.Literal("k")},
	}
	found := plan.Found{Desired: parsed(t, importing), Import: "merged", ImportBytes: 7, Empty: "empty"}
	if status != "" {
		f.Live["db"] = plan.Live{StackID: "id-db", Status: status, LastUpdated: epoch, Parameters: map[string]string{"Env": "prod"}}
		f.Recorded["db"] = plan.Record{Node: "db", Stack: "shop-db", StackID: "id-db", Digest: "d", Template: "old", LastUpdated: epoch}
		found.Template, found.Digest = parsed(t, "Resources: { Topic: { Type: 'AWS::SNS::Topic' } }"), "old"
	}
	f.Found = map[string]plan.Found{"db": found}
	return f
}

func parsed(t *testing.T, text string) *template.Template {
	t.Helper()
	got, err := template.Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// An import is a step of its own before the update, because it changes nothing else. What the stack has already is not
// imported again.
func TestImportIsFollowedByAnUpdate(t *testing.T) {
	both := map[string]project.Identifier{"Table": nil, "Queue": {"QueueUrl": "https://q/jobs"}, "Topic": {"TopicArn": "arn"}}
	p, err := plan.Deploy(importingView(t, "CREATE_COMPLETE", both).View)
	if err != nil || p.String() != "db/import 1 {\"last_updated\":\"2030-01-01T00:00:00Z\",\"template\":\"merged\",\"bytes\":7,\"parameters\":[\"Key\"],\"resources\":["+
		"{\"id\":\"Queue\",\"type\":\"AWS::SQS::Queue\",\"identifier\":{\"QueueUrl\":\"https://q/jobs\"}},"+
		"{\"id\":\"Table\",\"type\":\"AWS::DynamoDB::Table\",\"identifier\":{\"TableName\":\"prod-orders\"}}]}\ndb/update ← db/import\n" {
		t.Errorf("%s%v", p, err)
	}
	for status, want := range map[plan.Status]string{"": "create-empty import update", "ROLLBACK_COMPLETE": "delete create-empty import update", "IMPORT_COMPLETE": "import update"} {
		f := importingView(t, status, map[string]project.Identifier{"Table": nil})
		if status == "" {
			delete(f.Recorded, "db")
		}
		p, err := plan.Deploy(f.View)
		var verbs []string
		for _, s := range p.Steps {
			verbs = append(verbs, string(s.Verb))
		}
		if got := strings.Join(verbs, " "); got != want || err != nil {
			t.Errorf("%q: %s, %v; want %s", status, got, err, want)
		}
	}
	f := importingView(t, "UPDATE_COMPLETE", map[string]project.Identifier{"Topic": {"TopicArn": "arn"}})
	if p, err := plan.Deploy(f.View); err != nil || len(p.Steps) != 1 || p.Steps[0].Verb != plan.Update {
		t.Errorf("the stack has it already: %s%v", p, err)
	}
	r := f.Recorded["db"]
	got, err := f.Desired.Nodes["db"].Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Digest = got.Digest
	f.Recorded["db"] = r
	if names := f.Importing(); len(names) > 0 {
		t.Errorf("the stack was deployed from this template, and %v are read", names)
	}
}

// What cannot be imported is refused before anything starts, all at once, and the message says what to do.
func TestRefusedImports(t *testing.T) {
	for name, c := range map[string]struct {
		status  plan.Status
		imports map[string]project.Identifier
		change  func(*plan.Found)
		want    string
	}{
		"unknown": {"", map[string]project.Identifier{"Tabel": nil}, nil,
			"stack db: Tabel cannot be imported: the template has no such resource: did you mean Table?"},
		"several": {"", map[string]project.Identifier{"Unkept": nil, "Deleted": nil}, nil,
			"stack db: Deleted cannot be imported: its DeletionPolicy is Delete, so a rollback of this deploy would delete it: write DeletionPolicy: Retain; a later deploy can change it\n" +
				"stack db: Unkept cannot be imported: CloudFormation imports only resources with a DeletionPolicy: write DeletionPolicy: Retain"},
		"no identifier": {"", map[string]project.Identifier{"Unnamed": nil}, nil,
			"stack db: Unnamed cannot be imported: its BucketName is not written in the template, or not known before the deploy: write import: {Unnamed: {BucketName: VALUE}}"},
		"an identifier that the template cannot have": {"", map[string]project.Identifier{"Queue": nil}, nil,
			"stack db: Queue cannot be imported: its QueueUrl is not written in the template, or not known before the deploy: write import: {Queue: {QueueUrl: VALUE}}"},
		"another property": {"", map[string]project.Identifier{"Table": {"Name": "orders"}}, nil,
			"stack db: Table cannot be imported: Name does not identify resources of the type AWS::DynamoDB::Table: write TableName"},
		"half an identifier": {"", map[string]project.Identifier{"Stage": {"StageName": "prod"}}, nil,
			"stack db: Stage cannot be imported: its identifier lacks RestApiId: resources of the type AWS::ApiGateway::Stage are identified by RestApiId and StageName"},
		"another value": {"", map[string]project.Identifier{"Table": {"TableName": "orders"}}, nil,
			"stack db: Table cannot be imported: import: says that its TableName is orders, and the template says prod-orders: write the same in both"},
		"a type": {"", map[string]project.Identifier{"Custom": {"Id": "x"}}, nil,
			"stack db: Custom cannot be imported: CloudFormation imports no resource of the type Custom::Thing: remove it under import:, and create a new one"},
		"a stack": {"", map[string]project.Identifier{"Nested": {"StackId": "arn"}}, func(f *plan.Found) {
			f.Desired = parsed(t, "Resources: { Nested: { Type: 'AWS::CloudFormation::Stack', DeletionPolicy: Retain } }")
		},
			"stack db: Nested cannot be imported: it is a stack, and a stack may belong to another project: adopt it as a stack of this project instead"},
		"what it refers to": {"CREATE_COMPLETE", map[string]project.Identifier{"Uses": nil}, nil,
			"stack db: Uses cannot be imported: it refers to New, which does not exist yet: import New too, or deploy it before, without Uses"},
		"another stack has it": {"CREATE_COMPLETE", map[string]project.Identifier{"Table": nil}, func(f *plan.Found) { f.Holders = map[string]string{"Table": "legacy"} },
			"stack db: Table cannot be imported: prod-orders belongs to the stack legacy: a resource is in one stack. Remove it there, with DeletionPolicy: Retain, and deploy that stack first"},
		"the stack has another one of its ID": {"CREATE_COMPLETE", map[string]project.Identifier{"Table": nil, "Queue": {"QueueUrl": "https://q/jobs"}}, func(f *plan.Found) {
			f.Template = parsed(t, "Parameters: { Env: { Type: String }, Secret: { Type: String, NoEcho: true } }\nResources: { Table: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: !Sub 'old-${Env}' } } }")
		}, "stack db: Table cannot be imported: the stack has another Table, with the TableName old-prod, and an update would replace it: give the resource with the TableName prod-orders another ID in the template, or remove Table under import: to create a new one in its place"},
		"busy": {"UPDATE_IN_PROGRESS", map[string]project.Identifier{"Table": nil}, nil,
			"stack db: Table cannot be imported while it is UPDATE_IN_PROGRESS: wait until this operation has ended"},
		"broken": {"UPDATE_FAILED", map[string]project.Identifier{"Table": nil}, nil,
			"stack db: Table cannot be imported while it is UPDATE_FAILED: deploy it without import: first, until an update succeeds"},
		"unreadable": {"CREATE_COMPLETE", map[string]project.Identifier{"Table": nil}, func(f *plan.Found) { f.Unreadable = "not allowed" },
			"stack db: its template cannot be read, so it is not known which resources it has to import: not allowed: allow cloudformation:GetTemplate"},
		"not understood": {"CREATE_COMPLETE", map[string]project.Identifier{"Table": nil}, func(f *plan.Found) { f.Template = nil },
			"stack db: Table cannot be imported, because the template that is deployed cannot be understood: deploy it without import: first"},
	} {
		f := importingView(t, c.status, c.imports)
		if found := f.Found["db"]; c.change != nil {
			c.change(&found)
			f.Found["db"] = found
		}
		p, err := plan.Deploy(f.View)
		if err == nil || err.Error() != c.want || len(p.Steps) > 0 {
			t.Errorf("%s: %v\nwant\n%s\n%s", name, err, c.want, p)
		}
	}
	many := make(map[string]project.Identifier)
	var text strings.Builder
	text.WriteString("Resources:\n")
	for i := range 60 {
		id := "Table" + strings.Repeat("x", i)
		text.WriteString("  " + id + ": { Type: 'AWS::DynamoDB::Table', DeletionPolicy: Retain, Properties: { TableName: " + id + " } }\n")
		many[id] = nil
	}
	f := importingView(t, "", many)
	f.Found["db"] = plan.Found{Desired: parsed(t, text.String())}
	if _, err := plan.Deploy(f.View); err == nil || !strings.HasPrefix(err.Error(), "stack db: it imports too many resources at once: deploy it first with some of them under import:") {
		t.Error(err)
	}
}

// The plan says which resources are imported.
func TestDescribedImport(t *testing.T) {
	for status, change := range map[plan.Status]func(plan.StackChange) bool{
		"":                func(c plan.StackChange) bool { return len(c.Resources) == 10 },
		"CREATE_COMPLETE": func(c plan.StackChange) bool { return len(c.Resources) == 9 },
	} {
		f := importingView(t, status, map[string]project.Identifier{"Table": nil})
		if status == "" {
			delete(f.Recorded, "db")
		}
		p, err := plan.Deploy(f.View)
		if err != nil {
			t.Fatal(err)
		}
		all := f.Describe(p, func(string) (*template.Template, error) { return parsed(t, importing), nil })
		if len(all.Stacks) != 1 || all.Summary.Import != 1 || all.Stacks[0].Action != plan.ActionImport || !change(all.Stacks[0]) {
			t.Fatalf("%q: %+v", status, all)
		}
		c := all.Stacks[0]
		if last := c.Reasons[len(c.Reasons)-1]; !strings.Contains(strings.Join(c.Reasons, "; "), "imports Table (prod-orders)") {
			t.Errorf("%q %q", c.Reasons, last)
		}
		for _, r := range c.Resources {
			if (r.Action == "import") != (r.ID == "Table") {
				t.Errorf("%s %s", r.ID, r.Action)
			}
		}
	}
}
