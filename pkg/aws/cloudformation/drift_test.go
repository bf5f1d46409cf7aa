package cloudformation_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// detected is a task whose detection has the given ID.
func detected() action.Task {
	return action.Task{Run: "r", Project: "shop@prod", Attempt: 1, Request: action.DetectStackDrift, Step: plan.Step{Node: "vpc", Verb: plan.Detect},
		Record: plan.Record{Node: "vpc", Stack: "shop-vpc", StackID: vpcID}, Receipt: plan.Receipt{StackID: vpcID, Operation: "detection"}}
}

// A drift detection is requested for the recorded stack, and its receipt has the ID of the detection.
func TestDetectDrift(t *testing.T) {
	w := newWire(t)
	w.answers["DetectStackDrift"] = say("<StackDriftDetectionId>detection</StackDriftDetectionId>")
	task := detected()
	task.Receipt = plan.Receipt{}
	got, err := w.cloud().Begin(t.Context(), task)
	if err != nil || got != (plan.Receipt{StackID: vpcID, Operation: "detection"}) || w.last().Get("StackName") != vpcID {
		t.Errorf("%+v, %v, %v", got, err, w.last())
	}
	for message, kind := range map[string]fault.Kind{
		"Drift detection is already in progress for stack [" + vpcID + "]": fault.Busy,
		"Stack with id shop-vpc does not exist":                            fault.Missing,
		"Drift detection is not possible":                                  fault.Refused,
	} {
		w.answers["DetectStackDrift"] = refuse(400, "ValidationError", message)
		if _, err := w.cloud().Begin(t.Context(), task); !fault.Is(err, kind) || w.calls() != strings.Repeat("DetectStackDrift ", len(w.forms)-1)+"DetectStackDrift" {
			t.Errorf("%s: %v; called %s", message, err, w.calls())
		}
	}
}

const (
	complete = "<DetectionStatus>DETECTION_COMPLETE</DetectionStatus><StackId>" + vpcID + "</StackId>"
	drifts   = `<StackResourceDrifts>
<member><LogicalResourceId>Table</LogicalResourceId><ResourceType>AWS::DynamoDB::Table</ResourceType><StackResourceDriftStatus>DELETED</StackResourceDriftStatus></member>
<member><LogicalResourceId>Queue</LogicalResourceId><ResourceType>AWS::SQS::Queue</ResourceType><StackResourceDriftStatus>MODIFIED</StackResourceDriftStatus>
 <PropertyDifferences>
  <member><PropertyPath>/VisibilityTimeout</PropertyPath><ExpectedValue>30</ExpectedValue><ActualValue>60</ActualValue><DifferenceType>NOT_EQUAL</DifferenceType></member>
  <member><PropertyPath>/Tags/1</PropertyPath><ExpectedValue>null</ExpectedValue><ActualValue>{"Key":"by","Value":"hand"}</ActualValue><DifferenceType>ADD</DifferenceType></member>
  <member><PropertyPath>/DelaySeconds</PropertyPath><ExpectedValue>5</ExpectedValue><ActualValue>null</ActualValue><DifferenceType>REMOVE</DifferenceType></member>
 </PropertyDifferences></member>
<member><LogicalResourceId>Code</LogicalResourceId><ResourceType>AWS::Lambda::Function</ResourceType><StackResourceDriftStatus>MODIFIED</StackResourceDriftStatus>
 <ExpectedProperties>{"Environment":{"Variables":{"LEVEL":"info"}},"Containers":[{"Name":"DB_PASSWORD","Value":"old"}]}</ExpectedProperties>
 <PropertyDifferences>
  <member><PropertyPath>/Environment/Variables/DB_PASSWORD</PropertyPath><ExpectedValue>hunter1</ExpectedValue><ActualValue>hunter2</ActualValue><DifferenceType>NOT_EQUAL</DifferenceType></member>
  <member><PropertyPath>/Containers/0/Value</PropertyPath><ExpectedValue>hunter1</ExpectedValue><ActualValue>hunter2</ActualValue><DifferenceType>NOT_EQUAL</DifferenceType></member>
  <member><PropertyPath>/Description</PropertyPath><ExpectedValue>****</ExpectedValue><ActualValue>hunter2</ActualValue><DifferenceType>NOT_EQUAL</DifferenceType></member>
  <member><PropertyPath>/Handler</PropertyPath><ExpectedValue>{{resolve:secretsmanager:a}}</ExpectedValue><ActualValue>hunter2</ActualValue><DifferenceType>NOT_EQUAL</DifferenceType></member>
 </PropertyDifferences></member>
</StackResourceDrifts>`
	unknown = `<StackResourceDrifts><member><LogicalResourceId>Role</LogicalResourceId><ResourceType>AWS::IAM::Role</ResourceType><StackResourceDriftStatus>UNKNOWN</StackResourceDriftStatus><DriftStatusReason>denied</DriftStatusReason></member></StackResourceDrifts>`
)

// What a detection has found is read page by page, in order, and values that may be secret are left out.
func TestDetection(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStackDriftDetectionStatus"], w.answers["ListStackResources"] = say(complete), say("")
	pages := []string{drifts + "<NextToken>more</NextToken>", unknown}
	w.answers["DescribeStackResourceDrifts"] = func(form url.Values) (int, string) {
		page := pages[0]
		pages = pages[1:]
		return say(page)(form)
	}
	got, ready, err := w.cloud().Detection(t.Context(), detected())
	if err != nil || !ready || w.calls() != "DescribeStackDriftDetectionStatus ListStackResources DescribeStackResourceDrifts DescribeStackResourceDrifts" || w.last().Get("NextToken") != "more" {
		t.Fatalf("%v, %v; called %s", ready, err, w.calls())
	}
	function := func(property string) plan.Finding {
		return plan.Finding{Kind: plan.DriftModified, Resource: "Code", Type: "AWS::Lambda::Function", Property: property, Secret: true}
	}
	queue := func(property, expected, actual string) plan.Finding {
		return plan.Finding{Kind: plan.DriftModified, Resource: "Queue", Type: "AWS::SQS::Queue", Property: property, Expected: expected, Actual: actual}
	}
	want := []plan.Finding{
		function("Containers[0].Value"), function("Description"), function("Environment.Variables.DB_PASSWORD"), function("Handler"),
		queue("DelaySeconds", "5", ""), queue("Tags[1]", "", `{"Key":"by","Value":"hand"}`), queue("VisibilityTimeout", "30", "60"),
		{Kind: plan.DriftUnchecked, Resource: "Role", Type: "AWS::IAM::Role", Why: "denied"},
		{Kind: plan.DriftDeleted, Resource: "Table", Type: "AWS::DynamoDB::Table"},
	}
	if diff := cmp.Diff(want, got.Findings); diff != "" || got.Failure != "" {
		t.Error(diff, got.Failure)
	}
}

// A detection that is in progress is not ready, one that failed says why, and one that is not known is no success.
func TestDetectionStatus(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStackResourceDrifts"], w.answers["ListStackResources"] = say(""), say("")
	for status, c := range map[string]struct {
		ready   bool
		failure string
		kind    fault.Kind
	}{
		"<DetectionStatus>DETECTION_IN_PROGRESS</DetectionStatus>":                                                 {false, "", ""},
		"<DetectionStatus>DETECTION_FAILED</DetectionStatus><DetectionStatusReason>denied</DetectionStatusReason>": {true, "denied", ""},
		"<DetectionStatus>DETECTION_FAILED</DetectionStatus>":                                                      {true, "CloudFormation gives no reason", ""},
		"<DetectionStatus>DETECTION_NEW</DetectionStatus>":                                                         {false, "", fault.Broken},
	} {
		w.answers["DescribeStackDriftDetectionStatus"] = say(status + "<StackId>" + vpcID + "</StackId>")
		got, ready, err := w.cloud().Detection(t.Context(), detected())
		if ready != c.ready || got.Failure != c.failure || fault.KindOf(err) != c.kind {
			t.Errorf("%s: %+v, %v, %v", status, got, ready, err)
		}
	}
}

// A change set that reverts drift deploys what is deployed, and compares with the live resources.
func TestProposeRevert(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "UPDATE_COMPLETE", "<Capabilities><member>CAPABILITY_IAM</member></Capabilities>",
		"<Parameters><member><ParameterKey>Cidr</ParameterKey><ParameterValue>10</ParameterValue></member><member><ParameterKey>Password</ParameterKey><ParameterValue>****</ParameterValue></member></Parameters>"))
	w.answers["CreateChangeSet"] = say("<Id>set</Id><StackId>" + vpcID + "</StackId>")
	task := detected()
	task.Request, task.Receipt = action.CreateDriftChangeSet, plan.Receipt{}
	got, err := w.cloud().Begin(t.Context(), task)
	if err != nil || got != (plan.Receipt{StackID: vpcID, Operation: "set"}) {
		t.Fatalf("%+v, %v", got, err)
	}
	sent := map[string]string{}
	for key := range w.last() {
		sent[key] = w.last().Get(key)
	}
	delete(sent, "Version")
	want := map[string]string{
		"Action": "CreateChangeSet", "ChangeSetName": task.Token(), "ClientToken": task.Token(), "ChangeSetType": "UPDATE", "StackName": vpcID, "IncludeNestedStacks": "true",
		"UsePreviousTemplate": "true", "DeploymentMode": "REVERT_DRIFT", "Capabilities.member.1": "CAPABILITY_IAM",
		"Parameters.member.1.ParameterKey": "Cidr", "Parameters.member.1.UsePreviousValue": "true",
		"Parameters.member.2.ParameterKey": "Password", "Parameters.member.2.UsePreviousValue": "true",
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
}

// A change set says which properties CloudFormation does not bring back, and a resource that only gets in line is not replaced.
func TestChangeSetOfDrift(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeChangeSet"] = say(`<Status>CREATE_COMPLETE</Status><Changes>
<member><ResourceChange><Action>Modify</Action><LogicalResourceId>Db</LogicalResourceId><ResourceType>AWS::RDS::DBInstance</ResourceType><Replacement>False</Replacement><ResourceDriftStatus>MODIFIED</ResourceDriftStatus>
 <ResourceDriftIgnoredAttributes><member><Path>/Properties/EngineVersion</Path><Reason>MANAGED_BY_AWS</Reason></member><member><Path>/Properties/MasterUserPassword</Path><Reason>WRITE_ONLY_PROPERTY</Reason></member></ResourceDriftIgnoredAttributes>
 <Details><member><Evaluation>Static</Evaluation><Target><Attribute>Properties</Attribute><Name>Port</Name><Path>/Properties/Port</Path><RequiresRecreation>Never</RequiresRecreation><BeforeValue>5433</BeforeValue><AfterValue>5432</AfterValue><BeforeValueFrom>ACTUAL_STATE</BeforeValueFrom></Target></member></Details></ResourceChange></member>
<member><ResourceChange><Action>SyncWithActual</Action><LogicalResourceId>Topic</LogicalResourceId><ResourceType>AWS::SNS::Topic</ResourceType></ResourceChange></member></Changes>`)
	task := detected()
	task.Request = action.CreateDriftChangeSet
	got, ready, err := w.cloud().Proposal(t.Context(), task)
	if err != nil || !ready || len(got.Resources) != 2 {
		t.Fatalf("%+v, %v, %v", got, ready, err)
	}
	db, topic := got.Resources[0], got.Resources[1]
	if diff := cmp.Diff([]string{"EngineVersion (AWS changes it itself)", "MasterUserPassword (it cannot be read)"}, db.Ignored); diff != "" || *db.Properties[0].Before != "5433" || *db.Properties[0].After != "5432" {
		t.Errorf("%+v %s", db, diff)
	}
	if topic.Action != "modify" || topic.Replacement != "never" {
		t.Errorf("%+v", topic)
	}
}
