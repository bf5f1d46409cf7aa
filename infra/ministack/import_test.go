package ministack

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	texts "github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// ordersTable is a table that exists, in a template.
const ordersTable = `  Table:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      TableName: orders
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{ AttributeName: id, AttributeType: S }]
      KeySchema: [{ AttributeName: id, KeyType: HASH }]
`

// A table that exists comes into a stack that was created empty, with tags, by the requests of our adapter: MiniStack checks the
// change set as CloudFormation does. Another stack cannot import the table, and it stays when the stack is deleted.
func TestImport(t *testing.T) {
	if *program == "" {
		t.Skip("make integration runs it")
	}
	s := start(t, *program)
	tables := dynamodb.NewFromConfig(s.config)
	id := aws.String("id")
	if _, err := tables.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: id, AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: id, KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatal(err)
	}
	client := cloudformation.TargetClient{Client: byName{sdk.NewFromConfig(s.config)}}
	cloud := cloudformation.New(func(context.Context, project.Target) (cloudformation.TargetClient, error) { return client, nil }, inline{})
	c := importing{s, cloud}

	first := c.make("first")
	p := c.proposal(first)
	if len(p.Resources) != 1 || p.Resources[0].ID != "Table" || !p.Resources[0].Imported() || p.Failure != "" {
		t.Fatalf("the change set says %+v", p)
	}
	c.execute(first)
	second := c.make("second")
	if p := c.proposal(second); p.Failure == "" {
		t.Errorf("a second stack may import the table: %+v", p)
	}
	if _, err := client.DeleteStack(t.Context(), &sdk.DeleteStackInput{StackName: &first.Receipt.StackID}); err != nil {
		t.Fatal(err)
	}
	s.wait("the stack to be deleted", func() (bool, error) {
		live, err := cloud.Live(t.Context(), first.Location())
		return live.Status.Gone(), err
	})
	if _, err := tables.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")}); err != nil {
		t.Errorf("the table is not there any more: %v", err)
	}
}

// importing imports the table with our adapter.
type importing struct {
	*server
	cloud *cloudformation.Cloud
}

// task is a task that imports the table into the stack of an ID.
func (c importing) task(stack, id, text string) action.Task {
	c.Helper()
	n := project.Node{Name: stack, Stack: stack, Template: project.Template{Digest: text, Bytes: len(text), Pinned: true}}
	t := action.Task{Run: "import-" + stack, Project: "import@default", Node: n, Request: action.ImportResources, Attempt: 1, Claimed: time.Now(), Now: time.Now(), Seen: &plan.Live{}}
	t.Want.Tags = map[string]string{"team": "data"}
	t.Step = plan.Step{ID: stack + "/import", Node: stack, Verb: plan.Import}
	t.Record = plan.Record{Node: stack, Stack: stack, StackID: id}
	t.Import = plan.Importation{Template: text, Bytes: len(text), Resources: []plan.ImportedResource{{ID: "Table", Type: "AWS::DynamoDB::Table", Identifier: map[string]string{"TableName": "orders"}}}}
	return t
}

// make creates an empty stack, and makes the change set that imports the table into it.
func (c importing) make(stack string) action.Task {
	c.Helper()
	empty := c.task(stack, "", texts.Empty)
	empty.Request, empty.Attempt = action.CreateStack, 2
	created, err := c.cloud.Begin(c.Context(), empty)
	if err != nil {
		c.Fatal(err)
	}
	if st := c.final(created.StackID); st.StackStatus != "CREATE_COMPLETE" {
		c.Fatal(st)
	}
	t := c.task(stack, created.StackID, texts.Empty+ordersTable)
	receipt, err := c.cloud.Begin(c.Context(), t)
	if err != nil {
		c.Fatal(err)
	}
	t.Receipt = receipt
	return t
}

// proposal waits until the change set is there, and returns what it says.
func (c importing) proposal(t action.Task) (p plan.Proposal) {
	c.Helper()
	c.wait("the change set", func() (ready bool, err error) {
		p, ready, err = c.cloud.Proposal(c.Context(), t)
		return ready, err
	})
	return p
}

// execute executes the change set, and waits for the end of the import.
func (c importing) execute(t action.Task) {
	c.Helper()
	if err := c.cloud.Execute(c.Context(), t); err != nil {
		c.Fatal(err)
	}
	var op action.Operation
	c.wait("the import", func() (over bool, err error) {
		op, err = c.cloud.Events(c.Context(), t)
		return op.Over, err
	})
	if op.Status != "IMPORT_COMPLETE" {
		c.Errorf("the import ended with %+v", op)
	}
}

// byName is a client that names the stack of a change set: MiniStack 1.5.33 finds none by the ID of its stack, as CloudFormation does.
type byName struct{ *sdk.Client }

func (c byName) ExecuteChangeSet(ctx context.Context, in *sdk.ExecuteChangeSetInput, more ...func(*sdk.Options)) (*sdk.ExecuteChangeSetOutput, error) {
	named := *in
	named.StackName = aws.String(strings.Split(*in.StackName, "/")[1])
	return c.Client.ExecuteChangeSet(ctx, &named, more...)
}

// inline is a store of templates in which the digest is the template itself.
type inline struct{}

func (inline) Template(_ context.Context, body string) ([]byte, error) { return []byte(body), nil }
func (inline) URL(string) string                                       { return "" }
