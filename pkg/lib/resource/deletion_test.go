package resource

import "testing"

func TestKeepsData(t *testing.T) {
	for typ := range undeletable {
		if _, ok := Stateful(typ); !ok {
			t.Errorf("%s is not in the list of stateful types", typ)
		}
	}
	for _, c := range []struct {
		typ        string
		properties map[string]any
		want       bool
	}{
		{"AWS::S3::Bucket", nil, true},
		{"AWS::ECR::Repository", nil, true},
		{"AWS::ECR::Repository", map[string]any{"EmptyOnDelete": true}, false},
		{"AWS::DynamoDB::Table", nil, false},
		{"AWS::DynamoDB::Table", map[string]any{"DeletionProtectionEnabled": true}, true},
		{"AWS::DynamoDB::Table", map[string]any{"DeletionProtectionEnabled": "false"}, false},
		{"AWS::RDS::DBInstance", map[string]any{"DeletionProtection": "true"}, true},
		{"AWS::Cognito::UserPool", map[string]any{"DeletionProtection": "ACTIVE"}, true},
		{"AWS::Cognito::UserPool", map[string]any{"DeletionProtection": "INACTIVE"}, false},
	} {
		if got := KeepsData(c.typ, c.properties); got != c.want {
			t.Errorf("%s %v: %t", c.typ, c.properties, got)
		}
	}
}
