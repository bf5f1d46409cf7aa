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

func (w *account) propose(name, stack string, kind types.ChangeSetType, template string, parameters ...string) *cfn.DescribeChangeSetOutput {
	w.Helper()
	made, err := w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{
		ChangeSetName: &name, StackName: &stack, ChangeSetType: kind, TemplateBody: &template, Parameters: given(parameters...)})
	if err != nil {
		w.Fatal(err)
	}
	return w.changeSet(*made.Id)
}

// changeSet is a change set once it has been created, or has failed.
func (w *account) changeSet(id string) *cfn.DescribeChangeSetOutput {
	w.Helper()
	for {
		got, err := w.client.DescribeChangeSet(w.Context(), &cfn.DescribeChangeSetInput{ChangeSetName: &id, IncludePropertyValues: aws.Bool(true)})
		if err != nil {
			w.Fatal(err)
		}
		if got.Status == types.ChangeSetStatusCreateComplete || got.Status == types.ChangeSetStatusFailed {
			return got
		}
		if got.ExecutionStatus != types.ExecutionStatusUnavailable || len(got.Changes) > 0 || got.StatusReason != nil {
			w.Errorf("%s is %s, and has %d changes", id, got.Status, len(got.Changes))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func changes(c *cfn.DescribeChangeSetOutput) string {
	var all []string
	for _, one := range c.Changes {
		r := one.ResourceChange
		line := fmt.Sprintf("%s %s %s", r.Action, *r.LogicalResourceId, *r.ResourceType)
		if r.Replacement != "" {
			line += " replacement " + string(r.Replacement)
		}
		for _, d := range r.Details {
			if path := " " + aws.ToString(d.Target.Path); !strings.HasSuffix(line, path) {
				line += path
			}
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

// A change set of type CREATE makes a stack in REVIEW_IN_PROGRESS; executing it creates the stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-changesets.html
func TestChangeSets(t *testing.T) {
	scenario(t, func(w *account) {
		c := w.propose("first", "net", types.ChangeSetTypeCreate, network)
		w.reads(changes(c), "Add VPC AWS::EC2::VPC")
		if got := w.stack("net").StackStatus; got != types.StackStatusReviewInProgress {
			t.Errorf("the stack is %s", got)
		}
		_, err := w.tryUpdate("net", network)
		w.refused(err, "ValidationError", "is in REVIEW_IN_PROGRESS state and can not be updated.")
		execute := &cfn.ExecuteChangeSetInput{ChangeSetName: c.ChangeSetId, ClientRequestToken: aws.String("go")}
		for range 2 { // the token starts one operation
			if _, err := w.client.ExecuteChangeSet(w.Context(), execute); err != nil {
				t.Fatal(err)
			}
		}
		w.wait("net", types.StackStatusCreateComplete)
		_, err = w.client.ExecuteChangeSet(w.Context(), &cfn.ExecuteChangeSetInput{ChangeSetName: c.ChangeSetId})
		w.refused(err, "InvalidChangeSetStatus", "cannot be executed in its current status")

		c = w.propose("second", "net", types.ChangeSetTypeUpdate, network)
		if c.Status != types.ChangeSetStatusFailed || !strings.HasPrefix(*c.StatusReason, "The submitted information didn't contain changes.") {
			t.Errorf("%s: %s", c.Status, aws.ToString(c.StatusReason))
		}
		c = w.propose("third", "net", types.ChangeSetTypeUpdate, strings.Replace(network, "Resources: {", "Resources: {Topic: {Type: AWS::SNS::Topic}, ", 1), "Cidr", "10.1.0.0/16")
		w.reads(changes(c), "Add Topic AWS::SNS::Topic\nModify VPC AWS::EC2::VPC replacement True /Properties/CidrBlock")
		_, err = w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{ChangeSetName: aws.String("third"), StackName: aws.String("net"), TemplateBody: aws.String(network)})
		w.refused(err, "AlreadyExistsException", "third")
		list, err := w.client.ListChangeSets(w.Context(), &cfn.ListChangeSetsInput{StackName: aws.String("net")})
		if err != nil || len(list.Summaries) != 3 {
			t.Errorf("%v %v", list, err)
		}
		if _, err := w.client.ExecuteChangeSet(w.Context(), &cfn.ExecuteChangeSetInput{ChangeSetName: aws.String("third"), StackName: aws.String("net")}); err != nil {
			t.Fatal(err)
		}
		if st := w.wait("net", types.StackStatusUpdateComplete); *st.ChangeSetId != *c.ChangeSetId {
			t.Errorf("change set %s", *st.ChangeSetId)
		}
		_, err = w.client.DescribeChangeSet(w.Context(), &cfn.DescribeChangeSetInput{ChangeSetName: aws.String("second"), StackName: aws.String("net")})
		w.refused(err, "ChangeSetNotFound", "ChangeSet [second] does not exist")
		c = w.propose("fourth", "net", types.ChangeSetTypeUpdate, network, "Cidr", "10.1.0.0/16")
		w.reads(changes(c), "Remove Topic AWS::SNS::Topic")
		for range 2 {
			if _, err := w.client.DeleteChangeSet(w.Context(), &cfn.DeleteChangeSetInput{ChangeSetName: c.ChangeSetId}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A stack in REVIEW_IN_PROGRESS can be deleted. A change set for a stack that does not exist is refused.
func TestReviewedOnly(t *testing.T) {
	scenario(t, func(w *account) {
		_, err := w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{ChangeSetName: aws.String("c"), StackName: aws.String("net"), TemplateBody: aws.String(network)})
		w.refused(err, "ValidationError", "Stack [net] does not exist")
		c := w.propose("c", "net", types.ChangeSetTypeCreate, network)
		_, err = w.tryCreate("net", network) // its name is taken
		w.refused(err, "AlreadyExistsException", "Stack [net] already exists")
		w.remove("net")
		w.wait(*c.StackId, types.StackStatusDeleteComplete)
	})
}

// details are the details of one resource of a change set, one a line.
func details(c *cfn.DescribeChangeSetOutput, logicalID string) string {
	var all []string
	for _, one := range c.Changes {
		r := one.ResourceChange
		if *r.LogicalResourceId != logicalID {
			continue
		}
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %v %s %s", r.Action, r.Scope, r.Replacement, r.PolicyAction)))
		for _, d := range r.Details {
			t := d.Target
			line := fmt.Sprintf("%s %s %s %s %s %s %s", t.Attribute, aws.ToString(t.Name), t.RequiresRecreation, d.Evaluation, d.ChangeSource, aws.ToString(d.CausingEntity), t.AttributeChangeType)
			if t.Path != nil {
				line += fmt.Sprintf(" %s: %s → %s", *t.Path, aws.ToString(t.BeforeValue), aws.ToString(t.AfterValue))
			}
			all = append(all, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(all, "\n")
}

// sample is the template of AWS's examples.
const sample = `
Parameters:
  Purpose: {Type: String, Default: testing, AllowedValues: [testing, production]}
  KeyPairName: {Type: String, Default: one}
  InstanceType: {Type: String, Default: t2.micro}
Resources:
  MyEC2Instance:
    Type: AWS::EC2::Instance
    Properties: {KeyName: !Ref KeyPairName, InstanceType: !Ref InstanceType, ImageId: ami-8fcee4e5, Tags: [{Key: Purpose, Value: !Ref Purpose}]}
`

// The change sets are those of AWS's examples, with the values of properties.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-changesets-samples.html
func TestChangeSetsOfTheDocumentation(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("s", sample)
		c := w.propose("direct", "s", types.ChangeSetTypeUpdate, strings.Replace(sample, "{Key: Purpose", "{Key: Aim", 1))
		w.reads(details(c, "MyEC2Instance"), "Modify [Tags] False\nTags Never Static DirectModification Modify /Properties/Tags/0/Key: Purpose → Aim")

		c = w.propose("parameter", "s", types.ChangeSetTypeUpdate, sample, "Purpose", "production")
		w.reads(details(c, "MyEC2Instance"), "Modify [Tags] False\n"+
			"Tags Never Dynamic DirectModification Modify /Properties/Tags/0/Value: testing → production\n"+
			"Tags Never Static ParameterReference Purpose Modify /Properties/Tags/0/Value: testing → production")

		c = w.propose("replacement", "s", types.ChangeSetTypeUpdate, sample, "KeyPairName", "two", "InstanceType", "t2.small")
		w.reads(details(c, "MyEC2Instance"), "Modify [Properties] True ReplaceAndDelete\n"+
			"Properties InstanceType Conditionally Dynamic DirectModification Modify /Properties/InstanceType: t2.micro → t2.small\n"+
			"Properties InstanceType Conditionally Static ParameterReference InstanceType Modify /Properties/InstanceType: t2.micro → t2.small\n"+
			"Properties KeyName Always Dynamic DirectModification Modify /Properties/KeyName: one → two\n"+
			"Properties KeyName Always Static ParameterReference KeyPairName Modify /Properties/KeyName: one → two")
		w.reads(aws.ToString(c.Changes[0].ResourceChange.BeforeContext),
			`{"Properties":{"ImageId":"ami-8fcee4e5","InstanceType":"t2.micro","KeyName":"one","Tags":[{"Key":"Purpose","Value":"testing"}]}}`)

		plain, err := w.client.DescribeChangeSet(w.Context(), &cfn.DescribeChangeSetInput{ChangeSetName: c.ChangeSetId})
		if err != nil {
			t.Fatal(err)
		}
		w.reads(details(plain, "MyEC2Instance"), "Modify [Properties] True ReplaceAndDelete\n"+
			"Properties InstanceType Conditionally Dynamic DirectModification\nProperties InstanceType Conditionally Static ParameterReference InstanceType\n"+
			"Properties KeyName Always Dynamic DirectModification\nProperties KeyName Always Static ParameterReference KeyPairName")

		c = w.propose("condition", "s", types.ChangeSetTypeUpdate, sample, "InstanceType", "t2.small")
		w.reads(string(c.Changes[0].ResourceChange.Replacement), "Conditional")
		c = w.propose("other", "s", types.ChangeSetTypeUpdate, strings.Replace(sample, "  MyEC2Instance:", "  Mine:", 1))
		w.reads(changes(c), "Add Mine AWS::EC2::Instance\nRemove MyEC2Instance AWS::EC2::Instance")
		w.reads(string(c.Changes[1].ResourceChange.PolicyAction), "Delete")
	})
}

// What refers to a resource that is replaced has a value that is known only after the update, and so has an attribute of a
// resource that changes in place.
// https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/2113
func TestChangesOfReferences(t *testing.T) {
	const chain = `
Parameters: {Cidr: {Type: String, Default: 10.0.0.0/16}, Memory: {Type: String, Default: 128}}
Resources:
  VPC: {Type: AWS::EC2::VPC, DeletionPolicy: Retain, UpdateReplacePolicy: Retain, Properties: {CidrBlock: !Ref Cidr}}
  Subnet: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref VPC, CidrBlock: 10.0.1.0/24}}
  Function: {Type: AWS::Lambda::Function, Properties: {MemorySize: !Ref Memory, Code: {ZipFile: a}, Role: "arn:aws:iam::111122223333:role/f"}}
  Allowed: {Type: AWS::Lambda::Permission, Properties: {Action: "lambda:InvokeFunction", Principal: "*", FunctionName: !GetAtt Function.Arn}}
`
	scenario(t, func(w *account) {
		w.up("s", chain)
		c := w.propose("a", "s", types.ChangeSetTypeUpdate, chain, "Cidr", "10.1.0.0/16")
		vpc := aws.ToString(c.Changes[1].ResourceChange.PhysicalResourceId)
		w.reads(string(c.Changes[1].ResourceChange.PolicyAction), "ReplaceAndRetain")
		w.reads(details(c, "Subnet"), "Modify [Properties] True ReplaceAndDelete\n"+
			"Properties VpcId Always Dynamic DirectModification Modify /Properties/VpcId: "+vpc+" → {{changeSet:KNOWN_AFTER_APPLY}}\n"+
			"Properties VpcId Always Static ResourceReference VPC Modify /Properties/VpcId: "+vpc+" → {{changeSet:KNOWN_AFTER_APPLY}}")
		c = w.propose("b", "s", types.ChangeSetTypeUpdate, chain, "Memory", "256")
		w.reads(changes(c), "Modify Allowed AWS::Lambda::Permission replacement Conditional /Properties/FunctionName\n"+
			"Modify Function AWS::Lambda::Function replacement False /Properties/MemorySize")
		w.reads(string(c.Changes[0].ResourceChange.Details[1].ChangeSource)+" "+*c.Changes[0].ResourceChange.Details[1].CausingEntity, "ResourceAttribute Function.Arn")
	})
}

// A value of a parameter with NoEcho is never shown: not before, not after, and not in the context.
func TestChangeSetsHideSecrets(t *testing.T) {
	const secret = `
Parameters: {Password: {Type: String, NoEcho: true}}
Resources:
  Database: {Type: AWS::RDS::DBInstance, Properties: {MasterUserPassword: !Ref Password, Tags: [{Key: a, Value: !Sub 'x-${Password}-y'}]}}
`
	scenario(t, func(w *account) {
		w.up("s", secret, createWith("Password", "secret3"))
		for name, c := range map[string]*cfn.DescribeChangeSetOutput{
			"update": w.propose("c", "s", types.ChangeSetTypeUpdate, secret, "Password", "hidden7"),
			"create": w.propose("c", "new", types.ChangeSetTypeCreate, secret, "Password", "hidden7"),
		} {
			text := fmt.Sprint(*c.Parameters[0].ParameterValue, details(c, "Database"), aws.ToString(c.Changes[0].ResourceChange.BeforeContext), aws.ToString(c.Changes[0].ResourceChange.AfterContext))
			if strings.Contains(text, "secret3") || strings.Contains(text, "hidden7") || !strings.Contains(text, "****") {
				t.Errorf("%s: %s", name, text)
			}
			if name == "update" && !strings.Contains(text, "/Properties/MasterUserPassword: **** → ****") {
				t.Errorf("the password does not change: %s", text)
			}
		}
	})
}

// A change set takes a while, and can be executed only if nothing has changed the stack since.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeChangeSet.html
func TestLifeOfChangeSets(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("s", sample)
		create := &cfn.CreateChangeSetInput{ChangeSetName: aws.String("c"), StackName: aws.String("s"), TemplateBody: aws.String(sample),
			Parameters: given("Purpose", "production"), ClientToken: aws.String("once")}
		made, err := w.client.CreateChangeSet(w.Context(), create)
		if err != nil {
			t.Fatal(err)
		}
		again, err := w.client.CreateChangeSet(w.Context(), create)
		if err != nil || *again.Id != *made.Id {
			t.Errorf("the token made another change set: %v %v", again, err)
		}
		execute := &cfn.ExecuteChangeSetInput{ChangeSetName: made.Id}
		_, err = w.client.ExecuteChangeSet(w.Context(), execute)
		w.refused(err, "InvalidChangeSetStatus", "in its current status of [CREATE_PENDING]")
		w.changeSet(*made.Id)
		other := w.propose("other", "s", types.ChangeSetTypeUpdate, sample, "KeyPairName", "two")
		w.update("s", sample, updateWith("InstanceType", "t2.small"))
		if got := w.changeSet(*made.Id).ExecutionStatus; got != types.ExecutionStatusObsolete {
			t.Errorf("after an update the change set is %s", got)
		}
		_, err = w.client.ExecuteChangeSet(w.Context(), execute)
		w.refused(err, "InvalidChangeSetStatus", "cannot be executed")
		_, err = w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{ChangeSetName: aws.String("busy"), StackName: aws.String("s"), TemplateBody: aws.String(sample)})
		w.refused(err, "ValidationError", "UPDATE_IN_PROGRESS state and can not be updated")
		w.wait("s", types.StackStatusUpdateComplete)
		_, err = w.client.DescribeChangeSet(w.Context(), &cfn.DescribeChangeSetInput{ChangeSetName: other.ChangeSetId})
		w.refused(err, "ChangeSetNotFound", "does not exist")

		last := w.propose("last", "s", types.ChangeSetTypeUpdate, sample, "KeyPairName", "two")
		if _, err := w.client.ExecuteChangeSet(w.Context(), &cfn.ExecuteChangeSetInput{ChangeSetName: last.ChangeSetId}); err != nil {
			t.Fatal(err)
		}
		if got := w.changeSet(*last.ChangeSetId).ExecutionStatus; got != types.ExecutionStatusExecuteInProgress {
			t.Errorf("while it is executed the change set is %s", got)
		}
		_, err = w.client.DeleteChangeSet(w.Context(), &cfn.DeleteChangeSetInput{ChangeSetName: last.ChangeSetId})
		w.refused(err, "InvalidChangeSetStatus", "cannot be deleted")
		w.wait("s", types.StackStatusUpdateComplete)
		if got := w.changeSet(*last.ChangeSetId).ExecutionStatus; got != types.ExecutionStatusExecuteComplete {
			t.Errorf("after its execution the change set is %s", got)
		}
	})
}

// A stack has at most 1,000 change sets, those without changes included.
// https://github.com/awsdocs/aws-cloudformation-user-guide/issues/512
func TestTooManyChangeSets(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("s", sample)
		create := func(n int) error {
			_, err := w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{ChangeSetName: aws.String(fmt.Sprintf("c%d", n)), StackName: aws.String("s"), TemplateBody: aws.String(sample)})
			return err
		}
		for n := range 1000 {
			if err := create(n); err != nil {
				t.Fatal(err)
			}
		}
		w.refused(create(1000), "LimitExceededException", "ChangeSet limit exceeded for stack")
	})
}
