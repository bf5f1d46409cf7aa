// Package target holds the templates that let Stackwright into another account,
// and into another region.
package target

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/infra/aws/calls"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

const (
	home    = "111111111111"
	there   = "222222222222"
	stackID = "arn:aws:cloudformation:us-east-1:" + there + ":stack/stackwright-target/1"
	admin   = "arn:aws:iam::aws:policy/AdministratorAccess"
	bus     = "arn:aws:events:eu-west-1:" + home + ":event-bus/default"

	orchestrator = "arn:aws:iam::" + there + ":role/stackwright/stackwright-orchestrator"
	execution    = "arn:aws:iam::" + there + ":role/stackwright/stackwright-execution"

	externalID = "sw-00112233445566778899aabbccddeeff"
)

// principals are the roles of the installation that a target trusts.
var principals = []string{
	"arn:aws:iam::" + home + ":role/stackwright/stackwright-eu-west-1-execute-step", "arn:aws:iam::" + home + ":role/stackwright/stackwright-eu-west-1-plan",
	"arn:aws:iam::" + home + ":role/stackwright/stackwright-eu-west-1-wait-status",
}

// reader is the role of the installation that only reads.
const reader = "arn:aws:iam::" + home + ":role/stackwright/stackwright-eu-west-1-api"

// given are example parameters of the templates.
func given() map[string]map[string]string {
	return map[string]map[string]string{
		"account.yaml": {
			"Principals": strings.Join(principals, ","), "Reader": reader, "ExternalId": externalID, "Bucket": "stackwright-" + home, "ExecutionPolicies": admin,
			"Key": "arn:aws:kms:eu-west-1:" + home + ":key/1", "CdkAssets": "true",
		},
		"execution.yaml": {"For": "team", "Projects": "team-*", "Bucket": "stackwright-" + home, "ExecutionPolicies": admin},
		"region.yaml":    {"Bus": bus},
	}
}

func parse(t *testing.T, file string) *template.Template {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := template.Parse(file, body)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// filled is a template with its parameters filled in, as JSON.
func filled(t *testing.T, file string, parameters map[string]string) map[string]string {
	t.Helper()
	parsed := parse(t, file)
	all := parsed.Defaults()
	for name, value := range parameters {
		all[name] = value
	}
	e := parsed.In(template.Scope{
		Parameters: all, StackName: "stackwright-target", StackID: stackID, AccountID: there, Region: "us-east-1",
		GetAtt: func(resource, attribute string) (any, bool) {
			arn, ok := map[string]string{"Orchestrator": orchestrator, "Execution": execution, "Forwarder": "arn:forwarder"}[resource]
			return arn, ok && attribute == "Arn"
		},
	})
	out := make(map[string]string)
	for _, r := range e.Resources() {
		v, err := e.Value(r.Properties)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v)
		if err != nil || !template.Known(v) {
			t.Fatalf("%s of %s is not known: %v", r.Name, file, err)
		}
		out[r.Name] = string(text)
	}
	return out
}

// A role as it is created in IAM.
type role struct {
	Path, RoleName           string
	AssumeRolePolicyDocument policy
	ManagedPolicyArns        []string
	Policies                 []struct{ PolicyDocument policy }
}

type policy struct{ Statement []statement }

type statement struct {
	Sid, Effect      string
	Action, Resource any // a text or a list of them
	NotAction        string
	Principal        map[string]any
	Condition        map[string]map[string]any
}

func roleOf(t *testing.T, text string) role {
	t.Helper()
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// texts is a text or a list of them.
func texts(v any) (all []string) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, one := range list {
		all = append(all, one.(string))
	}
	return all
}

// allowed are the actions that a role may do, by the statements that say so.
func (r role) allowed() (all []string) {
	for _, p := range r.Policies {
		for _, s := range p.PolicyDocument.Statement {
			if s.Effect == "Allow" {
				all = append(all, texts(s.Action)...)
			}
		}
	}
	return all
}

// statement returns the statement of a role with a given Sid.
func (r role) statement(t *testing.T, sid string) statement {
	t.Helper()
	for _, p := range r.Policies {
		for _, s := range p.PolicyDocument.Statement {
			if s.Sid == sid {
				return s
			}
		}
	}
	t.Fatalf("role %s has no statement with the Sid %s", r.RoleName, sid)
	return statement{}
}

// The role that is assumed may do what the functions request of CloudFormation, and which alarms they read, and
// nothing else.
func TestOrchestratorMayWhatIsCalled(t *testing.T) {
	code, err := calls.Read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	var all calls.Use
	for _, f := range code.Functions() {
		u, err := code.Of(f)
		if err != nil {
			t.Fatal(err)
		}
		if f == "api" {
			needs, err := u.To("cloudformation").Actions()
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range calls.Compare("the reader", needs, nil, roleOf(t, filled(t, "account.yaml", given()["account.yaml"])["ReaderRole"]).allowed()) {
				t.Error(wrong)
			}
			continue
		}
		all = all.And(u.To("cloudformation")).And(u.To("cloudwatch"))
	}
	needed, err := all.Actions()
	if err != nil {
		t.Fatal(err)
	}
	parameters := given()["account.yaml"]
	publishes := map[string]string{"sts:AssumeRole": "files of the CDK are published with a role of cdk bootstrap, which this role assumes"}
	decrypts := map[string]string{"kms:Decrypt": "CloudFormation reads templates that are encrypted", "sts:AssumeRole": publishes["sts:AssumeRole"]}
	r := roleOf(t, filled(t, "account.yaml", parameters)["Orchestrator"])
	for _, wrong := range calls.Compare("the orchestrator", needed, decrypts, r.allowed()) {
		t.Error(wrong)
	}
	parameters["Key"] = ""
	r = roleOf(t, filled(t, "account.yaml", parameters)["Orchestrator"])
	for _, wrong := range calls.Compare("the orchestrator, without a key", needed, publishes, r.allowed()) {
		t.Error(wrong)
	}
}

// Only the installation's functions get in, and only those that know the
// external ID.
func TestWhoIsTrusted(t *testing.T) {
	all := filled(t, "account.yaml", given()["account.yaml"])
	want := []statement{{
		Effect: "Allow", Action: "sts:AssumeRole", Principal: map[string]any{"AWS": list(principals...)},
		Condition: map[string]map[string]any{
			"StringEquals": {"sts:ExternalId": externalID},
			"ArnEquals":    {"aws:PrincipalArn": list(principals...)},
		},
	}}
	if d := cmp.Diff(want, roleOf(t, all["Orchestrator"]).AssumeRolePolicyDocument.Statement); d != "" {
		t.Error(d)
	}
	want = []statement{{Effect: "Allow", Action: "sts:AssumeRole", Principal: map[string]any{"Service": "cloudformation.amazonaws.com"},
		Condition: map[string]map[string]any{"StringEqualsIfExists": {"aws:SourceAccount": there}}}}
	if d := cmp.Diff(want, roleOf(t, all["Execution"]).AssumeRolePolicyDocument.Statement); d != "" {
		t.Error(d)
	}
}

// The role that only reads is assumed by the API and nobody else; without the parameter there is none.
func TestWhoReads(t *testing.T) {
	r := roleOf(t, filled(t, "account.yaml", given()["account.yaml"])["ReaderRole"])
	want := []statement{{
		Effect: "Allow", Action: "sts:AssumeRole", Principal: map[string]any{"AWS": reader},
		Condition: map[string]map[string]any{"StringEquals": {"sts:ExternalId": externalID}, "ArnEquals": {"aws:PrincipalArn": reader}},
	}}
	if d := cmp.Diff(want, r.AssumeRolePolicyDocument.Statement); d != "" {
		t.Error(d)
	}
	// Beside the role with which the target is registered: pkg/project finds it there.
	if got, err := (project.Access{Role: orchestrator}).Reader(); err != nil || !strings.HasSuffix(got, r.Path+r.RoleName) {
		t.Errorf("the role is %s%s, and is expected at %s, %v", r.Path, r.RoleName, got, err)
	}
	parameters := given()["account.yaml"]
	parameters["Reader"] = ""
	if text, ok := filled(t, "account.yaml", parameters)["ReaderRole"]; ok {
		t.Errorf("nobody may read, and there is the role %s", text)
	}
}

// list is texts as JSON has them.
func list(texts ...string) (all []any) {
	for _, t := range texts {
		all = append(all, t)
	}
	return all
}

// Of two installations of one name, in two regions, each has roles of its own, by the name with the region.
func TestTwoInstallations(t *testing.T) {
	parameters := given()["account.yaml"]
	parameters["Name"] = "stackwright-eu-west-1"
	o := roleOf(t, filled(t, "account.yaml", parameters)["Orchestrator"])
	x := roleOf(t, filled(t, "account.yaml", parameters)["Execution"])
	if o.RoleName != "stackwright-eu-west-1-orchestrator" || x.RoleName != "stackwright-eu-west-1-execution" {
		t.Errorf("the roles are %s and %s", o.RoleName, x.RoleName)
	}
}

// Stacks are changed with execution roles only, and those roles can be passed only to
// CloudFormation. The stack of the template itself and both roles cannot be changed.
func TestWhatRolesMay(t *testing.T) {
	all := filled(t, "account.yaml", given()["account.yaml"])
	o, x := roleOf(t, all["Orchestrator"]), roleOf(t, all["Execution"])
	byRole, tag := map[string]any{"cloudformation:RoleArn": list(execution, execution+"-*")}, map[string]any{"aws:ResourceTag/stackwright:project": "false"}
	ours := map[string]any{"cloudformation:ChangeSetName": "sw-*"}
	for sid, want := range map[string]map[string]map[string]any{"Create": {"ArnLike": byRole}, "Change": {"ArnLike": byRole, "Null": tag, "StringLikeIfExists": ours}, "Manage": {"Null": tag}, "ChangeSets": {"StringLike": ours, "Null": tag}} {
		if d := cmp.Diff(want, o.statement(t, sid).Condition); d != "" {
			t.Errorf("%s: %s", sid, d)
		}
	}
	pass := o.statement(t, "Pass")
	if d := cmp.Diff(statement{
		Sid: "Pass", Effect: "Allow", Action: "iam:PassRole", Resource: list(execution, execution+"-*"),
		Condition: map[string]map[string]any{"StringEquals": {"iam:PassedToService": "cloudformation.amazonaws.com"}},
	}, pass); d != "" {
		t.Error(d)
	}
	not := o.statement(t, "NotThis")
	var changes []string
	for _, sid := range []string{"Create", "Change", "Manage", "ChangeSets"} {
		changes = append(changes, texts(o.statement(t, sid).Action)...)
	}
	slices.Sort(changes)
	if d := cmp.Diff(changes, texts(not.Action)); d != "" || not.Effect != "Deny" || not.Resource != stackID {
		t.Errorf("its own stack is not spared: %v %s", not, d)
	}
	if d := cmp.Diff([]string{admin}, x.ManagedPolicyArns); d != "" {
		t.Errorf("the execution role may %s", d)
	}
	// A nested stack is made with the role that the stack around it has.
	if d := cmp.Diff([]statement{
		{
			Sid: "NestedStacks", Effect: "Allow", Action: "iam:PassRole", Resource: execution,
			Condition: map[string]map[string]any{"StringEquals": {"iam:PassedToService": "cloudformation.amazonaws.com"}},
		},
		{Sid: "NotOthers", Effect: "Deny", Action: "iam:PassRole", Resource: execution + "-*"},
	}, x.Policies[0].PolicyDocument.Statement); d != "" {
		t.Error(d)
	}
	// CloudFormation and Lambda read the files that templates name, and nothing else of the bucket.
	if got := x.statement(t, "Files"); got.Effect != "Allow" || got.Action != "s3:GetObject" || !strings.HasSuffix(got.Resource.(string), "/artifacts/*") {
		t.Errorf("the execution role may %+v", got)
	}
	if got := x.statement(t, "Decrypt"); got.Action != "kms:Decrypt" || got.Resource != given()["account.yaml"]["Key"] {
		t.Errorf("the execution role may %+v", got)
	}
	// A role of some projects reads their files, and no others.
	if got := roleOf(t, filled(t, "execution.yaml", given()["execution.yaml"])["Execution"]).statement(t, "Files"); got.Effect != "Allow" || got.Action != "s3:GetObject" || !strings.HasSuffix(got.Resource.(string), "/artifacts/team-*/*") {
		t.Errorf("a further execution role may %+v", got)
	}
	for _, r := range []role{o, x} {
		for _, a := range r.allowed() {
			if strings.Contains(a, "*") {
				t.Errorf("role %s may %s: name what it may do", r.RoleName, a)
			}
		}
	}
}

// The outputs are the values with which a target is registered.
func TestRegister(t *testing.T) {
	parsed := parse(t, "account.yaml")
	if d := cmp.Diff([]string{"Account", "Boundary", "ExecutionRole", "Role"}, slices.Sorted(slices.Values(parsed.OutputNames()))); d != "" {
		t.Error(d)
	}
	all := filled(t, "account.yaml", given()["account.yaml"])
	arn := func(name string) string {
		r := roleOf(t, all[name])
		return "arn:aws:iam::" + there + ":role" + r.Path + r.RoleName
	}
	if arn("Orchestrator") != orchestrator || arn("Execution") != execution {
		t.Errorf("the roles are %s and %s", arn("Orchestrator"), arn("Execution"))
	}
	a := project.Access{Target: project.Target{Name: "us", Account: there, Region: "us-east-1"}, Role: orchestrator, Execution: execution, Projects: project.Grants{"shop@*"}}
	reach := project.Reach{Home: project.Target{Name: project.DefaultTarget, Account: home, Region: "eu-west-1"}, Stack: "stackwright", Accounts: []string{there}}
	if err := a.Check(reach); err != nil {
		t.Error(err)
	}
}

// Abroad the same events are picked as at home, and sent there.
func TestForward(t *testing.T) {
	all := filled(t, "region.yaml", given()["region.yaml"])
	var rule struct {
		Name         string
		EventPattern any
		Targets      []struct {
			Arn, RoleArn string
		}
	}
	if err := json.Unmarshal([]byte(all["Forward"]), &rule); err != nil {
		t.Fatal(err)
	}
	var want any
	text, err := json.Marshal(trigger.Stacks())
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, rule.EventPattern); d != "" {
		t.Errorf("the rule abroad is not that of trigger.Stacks: %s", d)
	}
	if len(rule.Targets) != 1 || rule.Targets[0].Arn != bus || rule.Targets[0].RoleArn != "arn:forwarder" {
		t.Errorf("it sends to %v", rule.Targets)
	}
	r := roleOf(t, all["Forwarder"])
	if d := cmp.Diff([]string{"events:PutEvents"}, r.allowed()); d != "" || r.statement(t, "Forward").Resource != bus {
		t.Errorf("the forwarder may %v", r.Policies)
	}
	if d := cmp.Diff(map[string]map[string]any{
		"StringEquals": {"aws:SourceAccount": there},
		"ArnEquals":    {"aws:SourceArn": "arn:aws:events:us-east-1:" + there + ":rule/" + rule.Name},
	}, r.AssumeRolePolicyDocument.Statement[0].Condition); d != "" {
		t.Error(d)
	}
}

// A parameter refuses invalid values, and says what it accepts.
func TestParameters(t *testing.T) {
	for file, parameters := range given() {
		parsed := parse(t, file)
		if got := len(parsed.ParameterNames()); got != len(parsed.Parameters) || got < len(parameters) {
			t.Errorf("%s has the parameters %v", file, parsed.ParameterNames())
		}
		for name, p := range parsed.Parameters {
			if p.Description == "" || p.AllowedPattern == "" || p.ConstraintDescription == "" {
				t.Errorf("parameter %s of %s: describe it, give a pattern, and describe the pattern in ConstraintDescription", name, file)
			}
			if value, ok := parameters[name]; ok {
				if err := p.Check(value); err != nil {
					t.Errorf("parameter %s of %s refuses %q: %v", name, file, value, err)
				}
			}
			if err := p.Check("no, this is not it!"); err == nil {
				t.Errorf("parameter %s of %s takes anything", name, file)
			}
		}
	}
}
