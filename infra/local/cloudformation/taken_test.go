package cloudformation_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

const namedTable = `
Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties: {TableName: orders, KeySchema: [{AttributeName: id, KeyType: HASH}]}
`

// failed updates a stack and waits for its rollback. It returns why the resource could not be changed.
func (w *account) failed(stack, template, logicalID string) string {
	w.Helper()
	w.update(stack, template)
	w.wait(stack, types.StackStatusUpdateRollbackComplete)
	return w.reason(stack, logicalID)
}

// reason is why a resource of a stack has failed last.
func (w *account) reason(stack, logicalID string) string {
	w.Helper()
	for _, e := range w.stackEvents(stack) {
		if *e.LogicalResourceId == logicalID && strings.HasSuffix(string(e.ResourceStatus), "_FAILED") {
			return *e.ResourceStatusReason
		}
	}
	return ""
}

// A resource with a name of its own is not replaced.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html
func TestNamedResourceIsNotReplaced(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("s", namedTable)
		w.reads(w.failed("s", strings.Replace(namedTable, "AttributeName: id", "AttributeName: number", 1), "Orders"),
			"CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename orders and update the stack again.")
		changed := strings.NewReplacer("AttributeName: id", "AttributeName: number", "TableName: orders", "TableName: orders-2")
		w.update("s", changed.Replace(namedTable))
		w.wait("s", types.StackStatusUpdateComplete)
		w.update("s", namedTable) // its name is free again
		w.wait("s", types.StackStatusUpdateComplete)
	})
}

// A name belongs to one resource of a type, until that is deleted: no other logical ID, and no other stack, gets it.
func TestNamesThatAreTaken(t *testing.T) {
	scenario(t, func(w *account) {
		id := w.up("s", namedTable)
		taken := "orders already exists in stack " + id
		w.reads(w.failed("s", strings.Replace(namedTable, "Orders:", "Others:", 1), "Others"), taken)
		w.create("t", namedTable)
		w.wait("t", types.StackStatusRollbackComplete)
		w.reads(w.reason("t", "Orders"), taken)
		w.up("q", "Resources: {Q: {Type: 'AWS::SQS::Queue', Properties: {QueueName: orders}}}") // of another type

		w.remove("t")
		w.wait("t", types.StackStatusDeleteComplete)
		w.remove("s")
		w.wait(id, types.StackStatusDeleteComplete)
		w.up("t", namedTable)

		swapped := "Resources: {A: {Type: 'AWS::SNS::Topic', Properties: {TopicName: one}}, B: {Type: 'AWS::SNS::Topic', Properties: {TopicName: two}}}"
		id = w.up("two", swapped)
		why := w.failed("two", strings.NewReplacer("one", "two", "two", "one").Replace(swapped), "A")
		w.reads(why, "two already exists in stack "+id)
	})
}
