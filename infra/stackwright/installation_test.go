package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	emulator "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/host"
	tokens "github.com/stackwright/stackwright/infra/local/sts"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// ownExecution is the execution role of the laptop's installation.
const ownExecution = "arn:aws:iam::000000000000:role/stackwright/sw-us-east-1-execution"

// made are the outputs of the stack of the laptop's installation, like those of an
// installation on AWS.
func made() map[string]string {
	return map[string]string{"BucketName": cli.Name, "TableName": cli.Name, "StateMachineArn": cli.MachineARN(), "ExecutionRoleArn": ownExecution, "ScheduleGroupName": cli.Name}
}

// newInstallation returns a laptop that commands use like AWS: it is served, it has the
// stack sw whose outputs describe the installation, and commands find it by the
// environment variables of the SDK.
func newInstallation(t *testing.T) (*laptop, *host.Host) {
	l := newLaptop(t)
	h := l.serve(0.05)
	l.elsewhere = true
	l.env["STACKWRIGHT_INSTALLATION"] = "sw"
	for k, v := range map[string]string{
		"AWS_ENDPOINT_URL": h.URL(), "AWS_REGION": cli.Region, "AWS_ACCESS_KEY_ID": "person", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "",
		"AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(k, v)
	}
	outputs := made()
	outputs["ApiUrl"] = h.URL() + "/"
	l.install(h, "sw", outputs)
	return l, h
}

// install creates a stack with outputs whose resources cost nothing.
func (l *laptop) install(h *host.Host, stack string, outputs map[string]string) {
	l.Helper()
	var body strings.Builder
	body.WriteString("Resources:\n  Nothing: { Type: AWS::CloudFormation::WaitConditionHandle }\nOutputs:\n  Other: { Value: x }\n")
	for _, k := range slices.Sorted(maps.Keys(outputs)) {
		fmt.Fprintf(&body, "  %s: { Value: %q }\n", k, outputs[k])
	}
	client := cloudformation.NewFromConfig(h.Cloud.Config())
	if _, err := client.CreateStack(l.Context(), &cloudformation.CreateStackInput{StackName: &stack, TemplateBody: aws.String(body.String())}); err != nil {
		l.Fatal(err)
	}
	made := cloudformation.NewStackCreateCompleteWaiter(client, func(o *cloudformation.StackCreateCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, 100*time.Millisecond
	})
	if err := made.Wait(l.Context(), &cloudformation.DescribeStacksInput{StackName: &stack}, time.Minute); err != nil {
		l.Fatal(err)
	}
}

// Every command that works on the laptop works with an installation, which its stack
// describes. A person needs no more than its API, and its owner no more than docs/commands.md lists.
func TestCommandsOnAnInstallation(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## On AWS\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, direct := range []bool{false, true} {
		t.Run(fmt.Sprintf("direct %v", direct), func(t *testing.T) {
			l, h := newInstallation(t)
			flags := []string{"--installation", "sw"}
			if direct {
				flags = append(flags, "--direct")
			}
			all := l.everyCommand(h, flags)
			want := []string{"cloudformation:DescribeStacks", "execute-api:Invoke"}
			if !direct && !slices.Equal(all, want) {
				t.Errorf("a person made the calls %v, want %v", all, want)
			}
			if direct && (len(all) < 5 || slices.Contains(all, "execute-api:Invoke")) {
				t.Errorf("the owner made only the calls %v", all)
			}
			for _, action := range all {
				_, operation, _ := strings.Cut(action, ":")
				l.has(section, "`"+operation+"`")
			}
		})
	}
}

// everyCommand carries out the commands on an installation, and returns the permissions that they needed.
func (l *laptop) everyCommand(h *host.Host, flags []string) []string {
	l.Helper()
	requests := l.spy(h)
	l.env["STACKWRIGHT_INSTALLATION"] = ""
	must := func(code int, args ...string) string {
		l.Helper()
		return l.must(code, append(args, flags...)...)
	}
	l.has(must(cli.ExitChanges, "plan", l.project, "--exit-code"), "3 changes")
	l.has(must(cli.ExitOK, "deploy", l.project), "deploy pair@default: run ", "3 created")
	l.has(must(cli.ExitOK, "deploy", l.project), "3 unchanged")
	l.has(must(cli.ExitOK, "stacks"), "queue  pair@default  pair-queue  CREATE_COMPLETE")
	l.has(must(cli.ExitOK, "outputs", "queue"), "arn:aws:sns:us-east-1:000000000000:")
	l.has(must(cli.ExitOK, "graph", l.project), "3 stacks, 1 edge")
	must(cli.ExitOK, "schedules")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.has(must(cli.ExitOK, "deploy", l.project, "--rollback"), "1 updated")
	id := l.objects(must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string)
	l.has(must(cli.ExitOK, "status", id, "--follow"), "succeeded")
	l.has(must(cli.ExitOK, "revisions"), id+"  pair@default  now ")
	l.has(must(cli.ExitOK, "diff", "previous"), "~ stack topic: parameter", "to run "+id)
	l.has(must(cli.ExitOK, "rollback", l.project, "--to", "previous", "--plan"), "rollback --plan of pair@default")
	l.has(must(cli.ExitOK, "rollback", "--reason", "it fails"), "rollback of pair@default succeeded", "1 updated")
	l.has(must(cli.ExitOK, "refresh", l.project), "3 read")
	l.answers = "no\n"
	l.has(l.run(append([]string{"destroy", l.project}, flags...)...).err, "in 000000000000 us-east-1 (installation sw)\ntype yes to continue")
	must(cli.ExitOK, "destroy", l.project, "--yes")
	l.elsewhere = false
	l.has(l.must(cli.ExitOK, "runs"), "pair@default  destroy           succeeded")
	l.elsewhere = true
	must(cli.ExitOK, "targets", "add", "near", "--projects", "*@*", "--region", "us-west-2")
	l.has(must(cli.ExitOK, "targets"), "near     000000000000  us-west-2  *@*")
	must(cli.ExitOK, "targets", "remove", "near")
	return requests()
}

// spy returns a function that lists the permissions for the calls of users since then.
func (l *laptop) spy(h *host.Host) func() []string {
	var mu sync.Mutex
	seen := make(map[string]bool)
	h.Cloud.Gateway.Fail(func(q gateway.Request) *gateway.Failure {
		if q.AccessKey == "person" {
			action := q.Service + ":" + q.Operation
			if q.Operation == "TransactWriteItems" {
				action = "dynamodb:PutItem and dynamodb:DeleteItem"
			}
			mu.Lock()
			defer mu.Unlock()
			for one := range strings.SplitSeq(action, " and ") {
				seen[one] = true
			}
		}
		return nil
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Sorted(maps.Keys(seen))
	}
}

// The commands that commands print are for the same installation.
func TestSteeringOnAnInstallation(t *testing.T) {
	l, h := newInstallation(t)
	l.env["STACKWRIGHT_INSTALLATION"] = ""
	l.fail(h, emulator.Fault{Stack: "pair-topic", Operation: "create", Times: 1})
	out := l.must(cli.ExitFailed, "deploy", l.project, "--installation", "sw")
	_, next, found := strings.Cut(strings.TrimSpace(out), "to retry with the same files: stackwright ")
	next, after, _ := strings.Cut(next, "\n")
	_, where, _ := strings.Cut(after, "\n")
	if !found || !strings.HasSuffix(next, " --installation sw") || where != "in 000000000000 us-east-1 (installation sw)" {
		t.Fatalf("to go on: %q in\n%s", next, out)
	}
	l.env["STACKWRIGHT_INSTALLATION"] = "sw"
	id := strings.Fields(next)[1]
	l.has(l.must(cli.ExitOK, "status"), "to retry with the same files: stackwright retry "+id+"\n")
	l.must(cli.ExitOK, "retry", id)
	r := l.run("cancel", id)
	if l.has(r.err, "run "+id+" has ended", "cancel refused: nothing was done"); r.code != cli.ExitRefused {
		t.Errorf("cancel ended with %d", r.code)
	}
	l.has(l.run("unlock", "--reason", "x").err, "no run holds a lock")
}

// The external ID, the own account and the execution role are the
// installation's.
func TestTargetsOfAnInstallation(t *testing.T) {
	l, h := newInstallation(t)
	outputs := made()
	outputs["StateMachineArn"] = "arn:aws:states:eu-west-1:222222222222:stateMachine:sw"
	outputs["ExecutionRoleArn"] = "arn:aws:iam::222222222222:role/stackwright/abroad-eu-west-1-execution"
	outputs["TargetAccounts"] = "333333333333,444444444444,111111111111"
	outputs["Projects"] = "pair@default,smoke-*@*"
	l.install(h, "abroad", outputs)
	l.env["STACKWRIGHT_INSTALLATION"], l.env["STACKWRIGHT_DIRECT"] = "abroad", "true"
	added := l.must(cli.ExitOK, "targets", "add", "eu", "--projects", "pair@*", "--account", "111111111111", "--region", "eu-west-1", "--role", "arn:aws:iam::111111111111:role/stackwright/abroad-orchestrator", "--execution-role", "arn:aws:iam::111111111111:role/stackwright/abroad-execution")
	l.has(added, "account 222222222222 to assume arn:aws:iam::111111111111:role/stackwright/abroad-orchestrator with the external ID sw-")
	l.has(l.run("targets", "add", "us", "--projects", "pair@*", "--account", "555555555555", "--region", "us-west-2", "--role", "arn:aws:iam::555555555555:role/stackwright/abroad-orchestrator", "--execution-role", "arn:aws:iam::555555555555:role/stackwright/abroad-execution").err,
		"the installation may not assume roles of account 555555555555: add 555555555555 to its setting targetAccounts")
	external := regexp.MustCompile(`sw-[0-9a-f]{32}`).FindString(added)
	l.must(cli.ExitOK, "targets", "add", "near", "--projects", "*@*", "--region", "us-west-2")
	l.has(l.must(cli.ExitOK, "targets"), "default  222222222222  eu-west-1  pair@default,smoke-*@*", external, "near     222222222222  us-west-2  *@*", outputs["ExecutionRoleArn"])
	if n := strings.Count(l.must(cli.ExitOK, "targets"), outputs["ExecutionRoleArn"]); n != 2 {
		t.Errorf("the execution role is that of %d targets, not of the two in the own account", n)
	}
	l.edit("stackwright.yaml", "project: pair\n", "project: pair\ndefaults: { \"\": { targets: [eu, near] } }\n")
	l.has(l.must(cli.ExitOK, "graph", l.project), "topic@eu", "queue@near")
	l.must(cli.ExitOK, "targets", "remove", "eu")
	delete(outputs, "Projects")
	l.install(h, "closed", outputs)
	l.env["STACKWRIGHT_INSTALLATION"] = "closed"
	l.has(l.must(cli.ExitOK, "targets"), "default  222222222222  eu-west-1  none ")
	l.env["STACKWRIGHT_INSTALLATION"] = "abroad"
	l.has(l.run("graph", l.project).err, "target eu, named 3 times, is not registered: register it with stackwright targets add eu")
}

// Nobody can compute the external ID of a role: a target that is registered again has another. Targets
// with the same role share one, because the role's trust policy names one, and a target keeps it.
func TestExternalIDs(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	id := func(target, account string, args ...string) string {
		t.Helper()
		role := "arn:aws:iam::" + account + ":role/stackwright/stackwright-orchestrator"
		l.must(cli.ExitOK, append([]string{"targets", "add", target, "--projects", "*@*", "--account", account, "--role", role}, args...)...)
		for _, o := range l.objects(l.must(cli.ExitOK, "targets", "-o", "json")) {
			if o["target"] == target {
				return o["external_id"].(string)
			}
		}
		return ""
	}
	eu := id("eu", "111111111111", "--region", "eu-west-1")
	us := id("us", "111111111111", "--region", "us-west-2")
	again := id("eu", "111111111111", "--region", "eu-north-1")
	other := id("other", "222222222222", "--region", "eu-west-1")
	if eu == "" || us != eu || again != eu || other == eu {
		t.Errorf("the external IDs are %s, %s, %s for one role and %s for another", eu, us, again, other)
	}
	l.must(cli.ExitOK, "targets", "remove", "eu")
	l.must(cli.ExitOK, "targets", "remove", "us")
	if anew := id("eu", "111111111111", "--region", "eu-west-1"); anew == eu {
		t.Errorf("a target that is registered anew has the external ID %s again", anew)
	}
}

// If an installation cannot be used, the error says why and what to do.
func TestNoSuchInstallation(t *testing.T) {
	l, h := newInstallation(t)
	older := made()
	delete(older, "TableName")
	l.install(h, "older", older)
	l.install(h, "other", nil)
	for _, c := range []struct {
		stack string
		env   map[string]string
		code  int
		says  []string
	}{
		{"nowhere", nil, cli.ExitRefused, []string{"installation nowhere in region us-east-1", "does not exist", "installations here: sw"}},
		{"nowhere", map[string]string{"AWS_REGION": "us-west-2"}, cli.ExitRefused, []string{"installation nowhere in region us-west-2", "no stack here is an installation", "AWS_REGION", "make deploy"}},
		{"older", nil, cli.ExitRefused, []string{"CREATE_COMPLETE and has no output TableName: another version of Stackwright created it"}},
		{"other", nil, cli.ExitRefused, []string{"it is not an installation of Stackwright", "here: sw"}},
		{"sw", map[string]string{"AWS_REGION": ""}, cli.ExitRefused, []string{"no AWS region is configured: set AWS_REGION"}},
		{"sw", map[string]string{"AWS_PROFILE": "nobody"}, cli.ExitFailed, []string{"the AWS configuration cannot be used", "nobody", "AWS_PROFILE"}},
		{"sw", map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, cli.ExitFailed, []string{"there are no AWS credentials", "aws sso login"}},
	} {
		t.Run(c.stack+fmt.Sprint(c.env), func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			l := &laptop{T: t, env: map[string]string{"STACKWRIGHT_INSTALLATION": c.stack}, elsewhere: true}
			r := l.run("runs")
			if l.has(r.err, c.says...); r.code != c.code {
				t.Errorf("ended with %d", r.code)
			}
		})
	}
}

// A profile may assume a role that requires the code of an MFA device.
func TestProfileWithDevice(t *testing.T) {
	l, h := newInstallation(t)
	role := "arn:aws:iam::" + cli.Account + ":role/stackwright/stackwright-orchestrator"
	l.elsewhere, l.env["STACKWRIGHT_INSTALLATION"] = false, ""
	added := l.must(cli.ExitOK, "targets", "add", "own", "--projects", "*@*", "--region", "eu-west-1", "--role", role)
	l.elsewhere, l.env["STACKWRIGHT_INSTALLATION"] = true, "sw"
	profile := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("[profile mfa]\nrole_arn = %s\nexternal_id = %s\n"+
		"mfa_serial = arn:aws:iam::%s:mfa/ann\nsource_profile = own\n[profile own]\naws_access_key_id = person\naws_secret_access_key = secret\n", role, regexp.MustCompile(`sw-[0-9a-f]{32}`).FindString(added), cli.Account)
	if err := os.WriteFile(profile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"AWS_CONFIG_FILE": profile, "AWS_PROFILE": "mfa", "AWS_ENDPOINT_URL_STS": h.URL(), "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""} {
		t.Setenv(k, v)
	}
	r := l.run("runs")
	if l.has(r.err, "needs the code of an MFA device, and there is no terminal to ask for it"); r.code != cli.ExitFailed {
		t.Errorf("ended with %d", r.code)
	}
	l.answers = "123456\n"
	r = l.run("runs")
	if l.has(r.err, "code of the MFA device: "); r.code != cli.ExitOK {
		t.Errorf("ended with %d: %s", r.code, r.err)
	}
}

// Flags override the environment variables that name an installation.
func TestWhereToWork(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.elsewhere = true
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"runs", "--installation", "sw", "--data", l.data}, "--installation is on AWS, --data and --endpoint are on a laptop: give one of them"},
		{[]string{"runs", "--installation", ""}, "--installation: name its CloudFormation stack"},
		{[]string{"deploy", l.project, "--installation", "sw", "--seconds", "1"}, "--seconds is for a laptop, and installation sw is on AWS"},
	} {
		r := l.run(c.args...)
		if l.has(r.err, c.says); r.code != cli.ExitRefused {
			t.Errorf("%v ended with %d", c.args, r.code)
		}
	}
	l.env["STACKWRIGHT_INSTALLATION"] = "sw"
	l.elsewhere = false
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created")
	l.has(l.must(cli.ExitOK, "runs"), "pair@default")
}

// The requester of a run of an installation is the caller as AWS says: the ARN with the session name. Nothing of it is a
// claim.
func TestRequestsToAnInstallationNameTheCaller(t *testing.T) {
	l, _ := newInstallation(t)
	role := tokens.AssumedRole{Account: cli.Account, Role: "developer", Session: "ann@example.com", Expires: time.Now().Add(time.Hour)}
	t.Setenv("AWS_ACCESS_KEY_ID", role.AccessKey())
	for _, operation := range []string{"deploy", "refresh"} {
		if r := l.run(operation, l.project); r.code != cli.ExitOK || r.err != "" {
			t.Errorf("%s ended with %d: %s", operation, r.code, r.err)
		}
		newest := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]
		if newest["operation"] != operation || newest["who"] != role.ARN() || newest["claim"] != nil || newest["requester"] != nil {
			t.Errorf("%s requested by %v, claim %v, of account %v", newest["operation"], newest["who"], newest["claim"], newest["requester"])
		}
	}
}

// A direct request to an installation claims the ARN of the caller with the session
// name. If STS denies it, it claims the user of the machine.
func TestDirectRequestsToAnInstallationClaimTheCaller(t *testing.T) {
	l, h := newInstallation(t)
	l.env["STACKWRIGHT_DIRECT"] = "true"
	role := tokens.AssumedRole{Account: cli.Account, Role: "developer", Session: "ann@example.com", Expires: time.Now().Add(time.Hour)}
	t.Setenv("AWS_ACCESS_KEY_ID", role.AccessKey())
	var identified atomic.Int32
	var denies atomic.Bool
	h.Cloud.Gateway.Fail(func(q gateway.Request) *gateway.Failure {
		if q.AccessKey != role.AccessKey() || q.Operation != "GetCallerIdentity" {
			return nil
		}
		identified.Add(1)
		if !denies.Load() {
			return nil
		}
		return &gateway.Failure{Status: http.StatusForbidden, Fault: gateway.Fault{Code: "AccessDenied", Message: "User is not authorized"}}
	})
	requester := func(operation string) string {
		t.Helper()
		if r := l.run(operation, l.project); r.code != cli.ExitOK || r.err != "" {
			t.Errorf("%s ended with %d: %s", operation, r.code, r.err)
		}
		newest := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]
		if newest["operation"] != operation || newest["requester"] != cli.Account {
			t.Errorf("%s of account %s, want a %s of account %s", newest["operation"], newest["requester"], operation, cli.Account)
		}
		if want := "unknown principal of account " + cli.Account; newest["who"] != want {
			t.Errorf("%s requested by %s, want %s", operation, newest["who"], want)
		}
		return newest["claim"].(string)
	}
	l.must(cli.ExitOK, "runs")
	if n := identified.Load(); n != 0 {
		t.Errorf("a command that requests nothing called STS %d times", n)
	}
	for i, operation := range []string{"deploy", "refresh"} {
		if who := requester(operation); who != role.ARN() || int(identified.Load()) != i+1 {
			t.Errorf("%s requested by %s, want %s; STS was called %d times, want %d", operation, who, role.ARN(), identified.Load(), i+1)
		}
	}
	denies.Store(true)
	for _, operation := range []string{"deploy", "refresh"} {
		if who := requester(operation); !strings.HasPrefix(who, "ann@") || who == role.ARN() {
			t.Errorf("%s requested by %s, want the user of the machine", operation, who)
		}
	}
}
