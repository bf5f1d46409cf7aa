package template

import (
	"strings"
	"testing"
)

// The template of an import has the resources to import, and else only what is deployed: neither other
// resources of the new template, nor changes, nor outputs. A JSON template becomes YAML.
func TestImporting(t *testing.T) {
	const desired = `
Description: "v2: new"
Parameters: {Name: {Type: String}, Env: {Type: String, Default: prod}}
Conditions: {Prod: !Equals [!Ref Env, prod]}
Resources:
  Topic: {Type: AWS::SNS::Topic, Properties: {DisplayName: changed}}
  Table: {Type: AWS::DynamoDB::Table, DeletionPolicy: Retain, Condition: Prod, Properties: {TableName: !Sub '${Name}-x'}}
  Queue: {Type: AWS::SQS::Queue}
Outputs: {Table: {Value: !Ref Table}}
`
	for name, test := range map[string]struct{ before, want string }{
		"a stack that exists": {
			`{"Description": "v1", "Parameters": {"Env": {"Type": "String"}}, "Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "012", "FifoTopic": false}}}, "Outputs": {"Arn": {"Value": {"Ref": "Topic"}}}}`,
			`"Description": "v1" "Parameters": "Env": "Type": "String" Name: Type: String "Resources": "Topic": "Type": "AWS::SNS::Topic" "Properties": "DisplayName": "012" "FifoTopic": false Table: Type: AWS::DynamoDB::Table DeletionPolicy: Retain Condition: Prod Properties: TableName: !Sub '${Name}-x' "Outputs": "Arn": "Value": "Ref": "Topic" Conditions: Prod: !Equals - !Ref Env - prod`,
		},
		"an empty stack": {
			Empty,
			`Conditions: EmptyStackCondition: !Equals - with - without Prod: !Equals - !Ref Env - prod Resources: EmptyStackResource: Type: AWS::CloudFormation::WaitConditionHandle Condition: EmptyStackCondition Table: Type: AWS::DynamoDB::Table DeletionPolicy: Retain Condition: Prod Properties: TableName: !Sub '${Name}-x' Parameters: Name: Type: String Env: Type: String Default: prod`,
		},
	} {
		got, err := Importing([]byte(test.before), []byte(desired), []string{"Table"})
		if err != nil {
			t.Fatal(name, err)
		}
		if words := strings.Join(strings.Fields(string(got)), " "); words != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, words, test.want)
		}
		if _, err := Parse("", got); err != nil {
			t.Error(name, err)
		}
	}
	if _, err := Importing([]byte("{"), []byte(desired), nil); err == nil || !strings.Contains(err.Error(), "the template that is deployed") {
		t.Error(err)
	}
}
