package template

import (
	"strings"
	"testing"
)

// The templates of a move are those that are deployed, but for the resource that moves and the outputs that refer to it:
// other changes of the new template wait for the update that follows.
func TestMoving(t *testing.T) {
	const from = `
Parameters: {Env: {Type: String}}
Resources:
  Topic: {Type: AWS::SNS::Topic}
  Orders: {Type: AWS::DynamoDB::Table, Properties: {TableName: orders}}
Outputs:
  Arn: {Value: !GetAtt Orders.Arn}
  Name: {Value: !Sub '${Orders}-x'}
  Topic: {Value: !Ref Topic}
`
	const to = `{"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}, "Outputs": {"Queue": {"Value": {"Ref": "Queue"}}}}`
	const desired = `
Resources:
  Queue: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: 5}}
  Table: {Type: AWS::DynamoDB::Table, Properties: {TableName: orders}}
  New: {Type: AWS::SNS::Topic}
Outputs: {Table: {Value: !Ref Table}}
`
	without, with, err := Moving([]byte(from), []byte(to), []byte(desired), map[string]string{"Orders": "Table"})
	if err != nil {
		t.Fatal(err)
	}
	words := func(b []byte) string { return strings.Join(strings.Fields(string(b)), " ") }
	if got, want := words(without), "Parameters: Env: Type: String Resources: Topic: Type: AWS::SNS::Topic Outputs: Topic: Value: !Ref Topic"; got != want {
		t.Errorf("without:\n%s\nwant\n%s", got, want)
	}
	if got, want := words(with), `"Resources": "Queue": "Type": "AWS::SQS::Queue" Table: Type: AWS::DynamoDB::Table Properties: TableName: orders "Outputs": "Queue": "Value": "Ref": "Queue"`; got != want {
		t.Errorf("with:\n%s\nwant\n%s", got, want)
	}
	for _, body := range [][]byte{without, with} {
		if _, err := Parse("", body); err != nil {
			t.Error(err)
		}
	}
	// A section without entries is left out: CloudFormation refuses null.
	without, _, err = Moving([]byte(strings.Replace(from, "  Topic: {Value: !Ref Topic}\n", "", 1)), []byte(to), []byte(desired), map[string]string{"Orders": "Table"})
	if err != nil || strings.Contains(string(without), "Outputs") {
		t.Errorf("%v\n%s", err, without)
	}
}
