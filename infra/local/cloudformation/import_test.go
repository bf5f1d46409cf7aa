package cloudformation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

const (
	alerts = "Resources:\n  Topic: {Type: AWS::SNS::Topic}\nOutputs:\n  Arn: {Value: !Ref Topic}\n"
	orders = "  Table: {Type: AWS::DynamoDB::Table, DeletionPolicy: Retain, Properties: {TableName: orders, " +
		"KeySchema: [{AttributeName: id, KeyType: HASH}]}}\n"
)

// adding adds resources to a template.
func adding(template, resources string) string {
	return strings.Replace(template, "Resources:\n", "Resources:\n"+resources, 1)
}

// toImport is a resource to import: its logical ID, type, property and value.
func toImport(words ...string) types.ResourceToImport {
	return types.ResourceToImport{LogicalResourceId: &words[0], ResourceType: &words[1], ResourceIdentifier: map[string]string{words[2]: words[3]}}
}

var theTable = toImport("Table", "AWS::DynamoDB::Table", "TableName", "orders")

func (w *account) tryImport(stack, template string, resources ...types.ResourceToImport) (*cfn.CreateChangeSetOutput, error) {
	return w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{ChangeSetName: aws.String(fmt.Sprint("c", time.Now().UnixNano())), StackName: &stack,
		ChangeSetType: types.ChangeSetTypeImport, TemplateBody: &template, ResourcesToImport: resources})
}

// importing makes the change set of an import.
func (w *account) importing(stack, template string, resources ...types.ResourceToImport) *cfn.DescribeChangeSetOutput {
	w.Helper()
	made, err := w.tryImport(stack, template, resources...)
	if err != nil {
		w.Fatal(err)
	}
	return w.changeSet(*made.Id)
}

func (w *account) execute(c *cfn.DescribeChangeSetOutput) {
	w.Helper()
	in := &cfn.ExecuteChangeSetInput{ChangeSetName: c.ChangeSetId, ClientRequestToken: aws.String((*c.ChangeSetId)[len(*c.ChangeSetId)-12:])}
	for range 2 { // the token starts one operation
		if _, err := w.client.ExecuteChangeSet(w.Context(), in); err != nil {
			w.Fatal(err)
		}
	}
}

// statuses are the statuses of a resource, or of the stack, oldest first.
func (w *account) statuses(stack, logicalID string) string {
	w.Helper()
	out, err := w.client.DescribeStackEvents(w.Context(), &cfn.DescribeStackEventsInput{StackName: &stack})
	if err != nil {
		w.Fatal(err)
	}
	var all []string
	for _, e := range out.StackEvents {
		if *e.LogicalResourceId == logicalID {
			all = append([]string{string(e.ResourceStatus)}, all...)
		}
	}
	return strings.Join(all, " ")
}

// An import brings a resource into a stack that exists, under its identifier, and changes nothing else. The next update
// has nothing to do.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-manually.html
func TestImportIntoAStack(t *testing.T) {
	scenario(t, func(w *account) {
		w.create("s", alerts)
		w.wait("s", types.StackStatusCreateComplete)
		whole := adding(alerts, orders)
		c := w.importing("s", whole, theTable)
		w.reads(changes(c), "Import Table AWS::DynamoDB::Table")
		if r := c.Changes[0].ResourceChange; *r.PhysicalResourceId != "orders" || r.Replacement != "" || len(r.Details) > 0 {
			t.Errorf("%+v", r)
		}
		w.execute(c)
		if got := w.stack("s").StackStatus; got != types.StackStatusImportInProgress {
			t.Error(got)
		}
		_, err := w.client.DeleteStack(w.Context(), &cfn.DeleteStackInput{StackName: aws.String("s")})
		w.refused(err, "ValidationError", "cannot be deleted while in status IMPORT_IN_PROGRESS")
		if st := w.wait("s", types.StackStatusImportComplete); st.LastUpdatedTime == nil || len(st.Outputs) != 1 {
			t.Errorf("%+v", st)
		}
		w.reads(w.statuses("s", "Table"), "IMPORT_IN_PROGRESS IMPORT_COMPLETE UPDATE_IN_PROGRESS UPDATE_COMPLETE")
		w.reads(w.statuses("s", "s"), "CREATE_IN_PROGRESS CREATE_COMPLETE IMPORT_IN_PROGRESS IMPORT_COMPLETE")
		out, err := w.client.DescribeStackResources(w.Context(), &cfn.DescribeStackResourcesInput{PhysicalResourceId: aws.String("orders")})
		if err != nil || len(out.StackResources) != 2 {
			t.Fatal(out, err)
		}
		_, err = w.tryUpdate("s", whole)
		w.refused(err, "ValidationError", "No updates are to be performed.")
		_, err = w.tryImport("s", whole, theTable)
		w.refused(err, "ValidationError", "The template should contain at least one new resource to import.")
		w.remove("s")
		w.wait(*c.StackId, types.StackStatusDeleteComplete) // the table is retained, so another stack can import it
		w.execute(w.importing("other", "Resources:\n"+orders, theTable))
		w.wait("other", types.StackStatusImportComplete)
	})
}

// An import can create a stack. Deleting the change set leaves the stack in review.
func TestImportIntoANewStack(t *testing.T) {
	scenario(t, func(w *account) {
		c := w.importing("s", "Resources:\n"+orders, theTable)
		if got := w.stack("s").StackStatus; got != types.StackStatusReviewInProgress {
			t.Error(got)
		}
		if _, err := w.client.DeleteChangeSet(w.Context(), &cfn.DeleteChangeSetInput{ChangeSetName: c.ChangeSetId}); err != nil {
			t.Fatal(err)
		}
		if got := w.stack("s").StackStatus; got != types.StackStatusReviewInProgress {
			t.Error(got)
		}
		w.execute(w.importing("s", "Resources:\n"+orders, theTable))
		w.wait("s", types.StackStatusImportComplete)
		w.reads(w.statuses("s", "s"), "REVIEW_IN_PROGRESS IMPORT_IN_PROGRESS IMPORT_COMPLETE")
	})
}

// A failed import is rolled back to the template before it. No resource is deleted.
func TestFailedImport(t *testing.T) {
	scenario(t, func(w *account) {
		w.create("s", alerts)
		w.wait("s", types.StackStatusCreateComplete)
		w.fault("POST", `{"operation": "import", "resource": "Table", "reason": "AccessDenied", "times": 1}`, 200)
		whole := adding(alerts, orders)
		w.execute(w.importing("s", whole, theTable))
		w.wait("s", types.StackStatusImportRollbackComplete)
		w.reads(w.statuses("s", "Table"), "IMPORT_IN_PROGRESS IMPORT_FAILED IMPORT_ROLLBACK_IN_PROGRESS IMPORT_ROLLBACK_COMPLETE")
		w.reads(w.statuses("s", "s"), "CREATE_IN_PROGRESS CREATE_COMPLETE IMPORT_IN_PROGRESS IMPORT_ROLLBACK_IN_PROGRESS IMPORT_ROLLBACK_COMPLETE")
		_, err := w.tryUpdate("s", alerts)
		w.refused(err, "ValidationError", "No updates are to be performed.")
		w.fault("POST", `{"operation": "import", "reason": "AccessDenied", "times": 1}`, 200)
		w.fault("POST", `{"operation": "rollback", "reason": "AccessDenied", "times": 1}`, 200)
		w.execute(w.importing("s", whole, theTable))
		w.wait("s", types.StackStatusImportRollbackFailed)
	})
}

// A resource is in one stack at most: its change set fails, and so does an import whose resource another stack has got
// since its change set was made.
func TestImportOfAResourceOfAnotherStack(t *testing.T) {
	scenario(t, func(w *account) {
		late := w.importing("late", "Resources:\n"+orders, theTable)
		w.create("owner", "Resources:\n"+orders)
		owner := *w.wait("owner", types.StackStatusCreateComplete).StackId
		c := w.importing("s", "Resources:\n"+orders, theTable)
		if c.Status != types.ChangeSetStatusFailed || aws.ToString(c.StatusReason) != "orders already exists in stack "+owner || len(c.Changes) > 0 {
			t.Errorf("%s %s", c.Status, aws.ToString(c.StatusReason))
		}
		w.execute(late)
		w.wait("late", types.StackStatusImportRollbackComplete)
		if got := w.stack("owner").StackStatus; got != types.StackStatusCreateComplete {
			t.Error(got)
		}
	})
}

// What a request for an import must have, in the words of CloudFormation. A refused request leaves no stack behind.
func TestRefusedImports(t *testing.T) {
	for name, test := range map[string]struct {
		stack, template, want string
		resources             []types.ResourceToImport
	}{
		"nothing":              {"s", adding(alerts, orders), "Must Provide at least one resource to import", nil},
		"unknown":              {"s", alerts, "The logical resource ids [Table] provided in ResourceToImport do not exist in the template.", []types.ResourceToImport{theTable}},
		"no identifier":        {"s", adding(alerts, orders), "Value null at 'resourcesToImport.1.member.resourceIdentifier'", []types.ResourceToImport{{LogicalResourceId: aws.String("Table"), ResourceType: aws.String("AWS::DynamoDB::Table"), ResourceIdentifier: map[string]string{}}}},
		"wrong identifier":     {"s", adding(alerts, orders), "Invalid resource identifier for resource type AWS::DynamoDB::Table. Expected [TableName]", []types.ResourceToImport{toImport("Table", "AWS::DynamoDB::Table", "Name", "orders")}},
		"another type":         {"s", adding(alerts, orders), "Resource type in ResourceToImport: AWS::S3::Bucket; Resource type in Template: AWS::DynamoDB::Table.", []types.ResourceToImport{toImport("Table", "AWS::S3::Bucket", "BucketName", "orders")}},
		"twice":                {"s", adding(alerts, orders), "Every resource to import must have unique LogicalResourceId", []types.ResourceToImport{theTable, theTable}},
		"unsupported":          {"s", adding(alerts, "  C: {Type: Custom::Thing, DeletionPolicy: Retain, Properties: {ServiceToken: x}}\n"), "ResourceTypes [Custom::Thing] are not supported for Import", []types.ResourceToImport{toImport("C", "Custom::Thing", "Id", "x")}},
		"no deletion policy":   {"s", adding(alerts, strings.Replace(orders, "DeletionPolicy: Retain, ", "", 1)), "The following resources to import [Table] must have DeletionPolicy attribute specified in the template.", []types.ResourceToImport{theTable}},
		"another new resource": {"s", adding(alerts, orders+"  Queue: {Type: AWS::SQS::Queue}\n"), "Resources [Queue] is missing from ResourceToImport list", []types.ResourceToImport{theTable}},
		"a changed resource":   {"s", adding(strings.Replace(alerts, "AWS::SNS::Topic", "AWS::SNS::Topic, Properties: {DisplayName: x}", 1), orders), "You have modified resources [Topic] in your template that are not being imported. Update, create or delete operations cannot be executed during import operations.", []types.ResourceToImport{theTable}},
		"a removed resource":   {"s", "Resources:\n" + orders, "You have modified resources [Topic]", []types.ResourceToImport{theTable}},
		"a new output":         {"s", adding(alerts, orders) + "  Name: {Value: !Ref Table}\n", "As part of the import operation, you cannot modify or add [Outputs]", []types.ResourceToImport{theTable}},
		"a new stack's output": {"n", "Resources:\n" + orders + "Outputs: {Name: {Value: !Ref Table}}\n", "As part of the import operation, you cannot modify or add [Outputs]", []types.ResourceToImport{theTable}},
		"already there":        {"s", adding(alerts, orders), "Resources [Topic] passed in ResourceToImport are already in a stack and cannot be imported.", []types.ResourceToImport{theTable, toImport("Topic", "AWS::SNS::Topic", "TopicArn", "arn")}},
	} {
		t.Run(name, func(t *testing.T) {
			scenario(t, func(w *account) {
				w.create("s", alerts)
				w.wait("s", types.StackStatusCreateComplete)
				_, err := w.tryImport(test.stack, test.template, test.resources...)
				w.refused(err, "ValidationError", test.want)
				if test.stack == "n" {
					_, err := w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{StackName: aws.String("n")})
					w.refused(err, "ValidationError", "does not exist")
				}
			})
		})
	}
	scenario(t, func(w *account) { // https://github.com/aws/aws-cdk/issues/24954
		w.create("s", alerts)
		w.wait("s", types.StackStatusCreateComplete)
		for stack, template := range map[string]string{"n": "Resources:\n" + orders, "s": adding(alerts, orders)} {
			_, err := w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{ChangeSetName: aws.String("c"), StackName: &stack, ChangeSetType: types.ChangeSetTypeImport,
				TemplateBody: &template, ResourcesToImport: []types.ResourceToImport{theTable}, RoleARN: aws.String("arn:aws:iam::123456789012:role/r"),
				Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("data")}}})
			w.refused(err, "ValidationError", "As part of the import operation, you cannot modify or add [RoleArn, Tags]")
		}
		_, err := w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{StackName: aws.String("n")})
		w.refused(err, "ValidationError", "does not exist")
	})
	scenario(t, func(w *account) {
		w.create("s", alerts)
		w.wait("s", types.StackStatusCreateComplete)
		_, err := w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{ChangeSetName: aws.String("c"), StackName: aws.String("s"),
			TemplateBody: aws.String(adding(alerts, orders)), ResourcesToImport: []types.ResourceToImport{theTable}})
		w.refused(err, "ValidationError", "only for change sets of type IMPORT")
	})
}
