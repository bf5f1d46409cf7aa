package template_test

import (
	"testing"
	"time"
)

// Resources that wait for one another are created one after another, others at the same
// time.
func TestCreationTime(t *testing.T) {
	for body, want := range map[string]time.Duration{
		"Resources: {T: {Type: 'AWS::SNS::Topic'}, Q: {Type: 'AWS::SQS::Queue'}}":                                                                            5 * time.Second,
		"Resources: {D: {Type: 'AWS::RDS::DBInstance'}, N: {Type: 'AWS::EC2::NatGateway'}}":                                                                  8 * time.Minute,
		"Resources: {I: {Type: 'AWS::RDS::DBInstance', DependsOn: C}, C: {Type: 'AWS::RDS::DBCluster', DependsOn: G}, G: {Type: 'AWS::RDS::DBSubnetGroup'}}": 11*time.Minute + 5*time.Second,
	} {
		if got := parsed(t, body).CreationTime(); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
