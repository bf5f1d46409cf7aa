package resource

import (
	"slices"
	"strings"
	"testing"
)

func TestNaming(t *testing.T) {
	for name, want := range map[string]string{
		"AWS::DynamoDB::Table": "TableName", "AWS::S3::Bucket": "BucketName", "AWS::IAM::Role": "RoleName", "AWS::SQS::Queue": "QueueName",
		"AWS::ECS::Service": "ServiceName Cluster", "AWS::RDS::DBInstance": "DBInstanceIdentifier", "AWS::EC2::Instance": "",
		"AWS::Logs::LogStream": "LogStreamName LogGroupName", "AWS::CodeDeploy::DeploymentGroup": "DeploymentGroupName ApplicationName",
		"AWS::ApiGateway::RestApi": "", "AWS::Cognito::UserPool": "", "AWS::CloudFormation::WaitCondition": "",
		"AWS::Glue::Table": "TableInput/Name DatabaseName CatalogId",
	} {
		typ, _ := Named(name)
		if got := typ.Naming(); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s is named by %q, want %q", name, got, want)
		}
	}
	for name, paths := range namings() {
		typ, ok := Named(name)
		for _, path := range paths {
			if !ok || !typ.Has(strings.Split(path, "/")[0]) {
				t.Errorf("%s has no property %s", name, path)
			}
		}
		if typ.Replacement(strings.Split(paths[0], "/")) != Always {
			t.Errorf("%s: another %s replaces no resource", name, paths[0])
		}
	}
}

func TestCalled(t *testing.T) {
	table, _ := Named("AWS::DynamoDB::Table")
	service, _ := Named("AWS::ECS::Service")
	for _, c := range []struct {
		typ        Type
		properties map[string]any
		want       string
	}{
		{table, map[string]any{"TableName": "orders"}, "orders"},
		{table, map[string]any{}, ""},
		{table, map[string]any{"TableName": struct{}{}}, ""},
		{service, map[string]any{"ServiceName": "web"}, "web"},
		{service, map[string]any{"ServiceName": "web", "Cluster": struct{}{}}, ""},
		{service, map[string]any{"Cluster": "main"}, ""},
		{Type{}, map[string]any{"Name": "a"}, ""},
	} {
		if name, _, ok := c.typ.Called(c.properties); name != c.want || ok != (c.want != "") {
			t.Errorf("%s %v is called %q, want %q", c.typ.Name, c.properties, name, c.want)
		}
	}
	_, one, _ := service.Called(map[string]any{"ServiceName": "web", "Cluster": "main"})
	_, other, _ := service.Called(map[string]any{"ServiceName": "web", "Cluster": "other"})
	if one == other {
		t.Error("services of two clusters have one name")
	}
}
