package cloudformation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// proposal proposes a change of stack shop-q, reads what CloudFormation says and withdraws it.
func (d *adapterFixture) proposal(body, stackID string, parameters ...string) plan.Proposal {
	d.Helper()
	d.number++
	d.setParameters(parameters...)
	task := action.Task{Run: "r", Project: "shop@prod", Number: d.number, Attempt: 1, Step: plan.Step{Node: "q", Verb: plan.Propose}, Request: action.CreateChangeSet, Want: d.want,
		Node: project.Node{Name: "q", Stack: "shop-q", Template: project.Template{Digest: body, Bytes: len(body)}}, Record: plan.Record{StackID: stackID}}
	for range 2 { // the token makes one change set
		receipt, err := d.cloud.Begin(d.Context(), task)
		if err != nil {
			d.Fatal(err)
		}
		task.Receipt = receipt
	}
	for {
		p, ready, err := d.cloud.Proposal(d.Context(), task)
		if err != nil {
			d.Fatal(err)
		}
		if ready {
			for range 2 {
				if err := d.cloud.Withdraw(d.Context(), task); err != nil {
					d.Fatal(err)
				}
			}
			return p
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func lines(p plan.Proposal) string {
	all := p.Failure
	for _, r := range p.Resources {
		all += fmt.Sprintf("%s %s %s %s\n", r.ID, r.Action, r.Replacement, r.Policy)
		for _, one := range r.Properties {
			before, after := "(none)", "(none)"
			if one.Before != nil {
				before = *one.Before
			}
			if one.After != nil {
				after = *one.After
			}
			all += fmt.Sprintf("  %s %s: %s → %s secret %v %s\n", one.Path, one.Replacement, before, after, one.Secret, one.Because)
		}
	}
	return all
}

// A proposal has the changes of a change set, without secrets, and leaves nothing behind.
func TestProposals(t *testing.T) {
	const body = `
Parameters: {Cidr: {Type: String, Default: 10.0.0.0/16}, Password: {Type: String, NoEcho: true}}
Resources:
  VPC: {Type: AWS::EC2::VPC, UpdateReplacePolicy: Retain, Properties: {CidrBlock: !Ref Cidr, Tags: [{Key: a, Value: b}]}}
  Subnet: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref VPC, CidrBlock: 10.0.1.0/24}}
  Database: {Type: AWS::RDS::DBInstance, Properties: {MasterUserPassword: !Ref Password}}
`
	doing(t, func(d *adapterFixture) {
		if _, err := d.tryCreate("shop-q", body, createWith("Password", "secret3")); err != nil {
			t.Fatal(err)
		}
		id := *d.wait("shop-q", types.StackStatusCreateComplete).StackId
		d.reads(lines(d.proposal(body, id, "Password", "secret3")), "")
		p := d.proposal(strings.Replace(body, "Value: b", "Value: c", 1), id, "Password", "other78", "Cidr", "10.1.0.0/16")
		vpc := *p.Resources[1].Properties[0].Before
		d.reads(lines(p), "Database modify never \n  MasterUserPassword never: (none) → (none) secret true \n"+
			"Subnet replace always \n  VpcId always: "+vpc+" → (none) secret false VPC is known after the update\n"+
			"VPC replace always Retain\n  CidrBlock always: 10.0.0.0/16 → 10.1.0.0/16 secret false \n  Tags[0].Value never: b → c secret false \n")
		sets, err := d.client.ListChangeSets(d.Context(), listOf("shop-q"))
		if err != nil || len(sets.Summaries) > 0 {
			t.Errorf("the proposals left %d change sets, %v", len(sets.Summaries), err)
		}
		task := action.Task{Run: "r", Number: 99, Attempt: 1, Node: project.Node{Name: "q", Stack: "shop-q"}, Record: plan.Record{StackID: id}, Receipt: plan.Receipt{StackID: id, Operation: "none"}}
		if _, _, err := d.cloud.Proposal(d.Context(), task); !fault.Is(err, fault.Missing, fault.Refused) {
			t.Errorf("a change set that does not exist: %v", err)
		}
	})
}

// A proposal shows the values of policies: what differs within a document, and DeletionPolicy, which only the context of the
// resource has. A document with a masked value is not shown at all: its other parts do not say whether that one differs.
func TestProposalsOfPolicies(t *testing.T) {
	const body = `
Parameters: {Password: {Type: String, NoEcho: true}}
Resources:
  Queue: {Type: AWS::SQS::Queue, DeletionPolicy: Delete}
  Policy:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Queue]
      PolicyDocument: {Statement: [{Effect: Allow, Action: [sqs:SendMessage, sqs:GetQueueUrl], Principal: '*', Resource: 'arn:aws:sqs:*:*:*'}]}
  Other:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Queue]
      PolicyDocument: {Statement: [{Sid: one, Effect: Allow, Action: 'sqs:*', Principal: '*', Resource: !Ref Password}]}
`
	doing(t, func(d *adapterFixture) {
		if _, err := d.tryCreate("shop-q", body, createWith("Password", "secret3")); err != nil {
			t.Fatal(err)
		}
		id := *d.wait("shop-q", types.StackStatusCreateComplete).StackId
		after := strings.NewReplacer("DeletionPolicy: Delete", "DeletionPolicy: Retain", "[sqs:SendMessage, sqs:GetQueueUrl]", "[sqs:GetQueueUrl, sqs:ReceiveMessage]", "Sid: one", "Sid: two").Replace(body)
		d.reads(lines(d.proposal(after, id, "Password", "secret3")), "Other modify never \n  PolicyDocument never: (none) → (none) secret true \n"+
			"Policy modify never \n  PolicyDocument.Statement[0].Action[] never: (none) → sqs:ReceiveMessage secret false \n"+
			"  PolicyDocument.Statement[0].Action[] never: sqs:SendMessage → (none) secret false \n"+
			"Queue modify never \n  DeletionPolicy never: Delete → Retain secret false \n")
	})
}

func listOf(stack string) *cfn.ListChangeSetsInput {
	return &cfn.ListChangeSetsInput{StackName: &stack}
}
