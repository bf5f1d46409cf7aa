package project_test

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/project"
)

func TestMayHave(t *testing.T) {
	n := project.Node{ResourceTypes: []string{"AWS::SNS::*", "AWS::SQS::Queue", "Custom::Mail"}}
	for kind, want := range map[string]bool{
		"AWS::SNS::Topic": true, "AWS::SQS::Queue": true, "AWS::SQS::QueuePolicy": false, "AWS::SNSx::Topic": false, "Custom::Mail": true, "Custom::Mailbox": false, "AWS::S3::Bucket": false,
	} {
		if n.MayHave(kind) != want {
			t.Errorf("%s: %t", kind, !want)
		}
	}
	if !(project.Node{}).MayHave("AWS::S3::Bucket") {
		t.Error("without a list, a stack may have all types")
	}
	for text, want := range map[string]bool{"AWS::*": true, "AWS::EC2::*": true, "Custom::Mail": true, "Org::Service::Type::MODULE": true, "AWS": false, "*": false, "AWS::*::Topic": false, "AWS::SNS::Top*": false} {
		if project.ResourceType.MatchString(text) != want {
			t.Errorf("%s: %t", text, !want)
		}
	}
}

// A parameter that the stack does not have yet has no value that an update could keep.
func TestKeeps(t *testing.T) {
	n := project.Node{IgnoreChanges: []string{"Capacity", "New"}}
	if got := n.Keeps(map[string]string{"Capacity": "7", "Other": "x"}); !slices.Equal(got, []string{"Capacity"}) {
		t.Errorf("an update keeps %q", got)
	}
	if got := n.Keeps(nil); got != nil {
		t.Errorf("an update of a stack without parameters keeps %q", got)
	}
}
