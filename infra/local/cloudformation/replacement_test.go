package cloudformation_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

const ordersTable = `
Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
`

// An attribute of a table that changes replaces the table; one that comes or goes does not.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
func TestAttributeOfATableThatChanges(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("s", ordersTable)
		for _, c := range []struct{ name, attributes, want string }{
			{"edited", "{AttributeName: id, AttributeType: N}", "True /Properties/AttributeDefinitions/0/AttributeType"},
			{"added", "{AttributeName: at, AttributeType: N}, {AttributeName: id, AttributeType: S}",
				"False /Properties/AttributeDefinitions/0"},
			{"both", "{AttributeName: at, AttributeType: N}, {AttributeName: id, AttributeType: B}",
				"True /Properties/AttributeDefinitions/0 /Properties/AttributeDefinitions/1/AttributeType"},
		} {
			changed := strings.Replace(ordersTable, "{AttributeName: id, AttributeType: S}", c.attributes, 1)
			set := w.propose(c.name, "s", types.ChangeSetTypeUpdate, changed)
			w.reads(changes(set), "Modify Orders AWS::DynamoDB::Table replacement "+c.want)
		}
		w.update("s", strings.Replace(ordersTable, "AttributeType: S", "AttributeType: N", 1))
		w.wait("s", types.StackStatusUpdateComplete)
		w.reads(w.statuses("s", "Orders"),
			"CREATE_IN_PROGRESS CREATE_IN_PROGRESS CREATE_COMPLETE UPDATE_IN_PROGRESS UPDATE_COMPLETE "+
				"DELETE_IN_PROGRESS DELETE_COMPLETE")
	})
}

// A domain without its update policy is replaced by one of another version.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html
func TestVersionOfADomainThatChanges(t *testing.T) {
	scenario(t, func(w *account) {
		const domain = `
Resources: {Search: {Type: AWS::OpenSearchService::Domain, Properties: {EngineVersion: OpenSearch_1.3}}}`
		w.up("s", domain)
		newer := strings.Replace(domain, "_1.3", "_2.11", 1)
		w.reads(changes(w.propose("plain", "s", types.ChangeSetTypeUpdate, newer)),
			"Modify Search AWS::OpenSearchService::Domain replacement True /Properties/EngineVersion")
		upgraded := strings.Replace(newer, "Properties", "UpdatePolicy: {EnableVersionUpgrade: true}, Properties", 1)
		w.reads(changes(w.propose("upgraded", "s", types.ChangeSetTypeUpdate, upgraded)),
			"Modify Search AWS::OpenSearchService::Domain replacement False /Properties/EngineVersion")
	})
}
