package ministack

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

// A life is that of an installation, with a project that uses it.
type life struct {
	*server
	folder string // of the project's files

	stack     types.Stack // the installation
	installed template
	added     types.Stack // the permissions in misjudged
	lacked    types.Stack // those that the last release lacks
	table     *table.Table
	player    *player
	stop      func()         // stops the player
	played    map[string]int // what players did

	run string // the last one of the project
}

const lifeProject = "life@default"

// open begins to use an installation that was just installed or updated.
func (l *life) open(stack types.Stack, all template) {
	l.Helper()
	want := types.StackStatusCreateComplete
	if l.stack.StackId != nil && *l.stack.StackId == *stack.StackId {
		want = types.StackStatusUpdateComplete
	}
	l.is(stack, want)
	l.stack, l.installed = stack, all
	for name, r := range l.resources(*stack.StackId) {
		if !strings.HasSuffix(string(r.ResourceStatus), "_COMPLETE") {
			l.Errorf("%s is %s", name, r.ResourceStatus)
		}
	}
	made := outputs(stack)
	l.table = table.New(dynamodb.NewFromConfig(l.config), made["TableName"])
	if l.added.StackId == nil {
		l.added = l.create("misjudged", []byte(misjudged))
		l.is(l.added, types.StackStatusCreateComplete)
	}
	p, stop := play(l.T, l.config, place{bucket: made["BucketName"], machine: made["StateMachineArn"], group: made["ScheduleGroupName"], runs: l.table})
	l.player = p
	l.stop = func() {
		stop()
		for kind, n := range p.counts {
			l.played[kind] += n
		}
	}
	l.saw("%s, %d resources", stack.StackStatus, len(l.resources(*stack.StackId)))
}

// misjudged are permissions that the roles have and that MiniStack 1.5.33 does not find, because it does not know what AWS compares
// them with: the role that a stack gets (cloudformation:RoleArn), the tags of a stack, and the group of a schedule. The roles get them
// in addition. All other permissions are those of the template.
const misjudged = `{"Resources": {
	"Stacks": {"Type": "AWS::IAM::Policy", "Properties": {"PolicyName": "misjudged-stacks", "Roles": ["stackwright-` + region + `-execute-step", "stackwright-` + region + `-wait-status"],
		"PolicyDocument": {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Resource": "*", "Action": ["cloudformation:CreateStack", "cloudformation:DeleteStack", "cloudformation:TagResource", "cloudformation:UpdateStack"]}}}},
	"Schedules": {"Type": "AWS::IAM::Policy", "Properties": {"PolicyName": "misjudged-schedules", "Roles": ["stackwright-` + region + `-plan"],
		"PolicyDocument": {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Resource": "arn:aws:scheduler:` + region + `:` + account + `:schedule/default/*", "Action": "scheduler:*Schedule"}}}}}}`

// lacked is a permission that the last release does not give its functions: it allows the action for a state machine, and AWS knows no
// resource type for it. Without it, a function that finds the end of an operation before an event does cannot continue the run.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsstepfunctions.html
const lacked = `{"Resources": {
	"Answers": {"Type": "AWS::IAM::Policy", "Properties": {"PolicyName": "lacked", "PolicyDocument": {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Resource": "*", "Action": "states:SendTaskSuccess"}},
		"Roles": ["stackwright-` + region + `-plan", "stackwright-` + region + `-stack-event", "stackwright-` + region + `-start", "stackwright-` + region + `-wait-status"]}}}}`

// A project of three stacks, the second of which is created when it gets a signal.
const (
	lifeFile = `project: life
%svariables: { text: %s }
stacks:
  first: { template: first.yaml, parameters: { Text: "${var.text}" } }
  middle: { template: middle.yaml, parameters: { Name: "${first.Name}" } }
  last: { template: last.yaml, parameters: { Name: "${middle.Name}" } }
`
	firstFile = `Parameters: { Text: { Type: String } }
Resources:
  Parameter: { Type: AWS::SSM::Parameter, Properties: { Type: String, Value: !Ref Text } }
Outputs: { Name: { Value: !Ref Parameter } }
`
	middleFile = `Parameters: { Name: { Type: String } }
Resources:
  Signalled: { Type: AWS::CloudFormation::WaitCondition, CreationPolicy: { ResourceSignal: { Timeout: PT5M } } }
Outputs: { Name: { Value: !Ref Name } }
`
	lastFile = `Parameters: { Name: { Type: String } }
Resources:
  Topic: { Type: AWS::SNS::Topic }
Outputs: { Name: { Value: !Ref Name } }
`
)

// write writes the project's files.
func (l *life) write(text, more string) {
	l.Helper()
	for name, body := range map[string]string{"stackwright.yaml": fmt.Sprintf(lifeFile, more, text), "first.yaml": firstFile, "middle.yaml": middleFile, "last.yaml": lastFile} {
		if err := os.WriteFile(filepath.Join(l.folder, name), []byte(body), 0o644); err != nil {
			l.Fatal(err)
		}
	}
}

// begin starts a command of a version that makes a run, by default a deploy, and waits until there is the run. The command does not wait for it.
func (l *life) begin(version string, args ...string) {
	l.Helper()
	if len(args) == 0 {
		args = []string{"deploy"}
	}
	if args[0] != "retry" {
		args = append(args, l.folder)
	}
	before := l.run
	ctx, cancel := context.WithCancel(l.Context())
	defer cancel()
	said := make(chan error, 1)
	go func() {
		_, err := l.command(ctx, l.folder, filepath.Join(version, "stackwright"), append(args, "--installation", "stackwright")...)
		said <- err
	}()
	l.wait("the run of "+args[0], func() (bool, error) {
		runs, err := l.table.List(l.Context(), lifeProject, 1)
		if err == nil && len(runs) == 1 && runs[0].ID != before {
			l.run = runs[0].ID
			return true, nil
		}
		select {
		case said := <-said:
			return false, errors.Join(err, fmt.Errorf("it made no run: %w", said))
		default:
			return false, err
		}
	})
}

// ends waits for the end of the run, and compares it and its steps.
func (l *life) ends(state string, want ...string) {
	l.Helper()
	defer l.explain()
	var got []string
	l.wait("the end of run "+l.run, func() (bool, error) {
		r, err := l.table.Load(l.Context(), l.run)
		if err != nil || !r.State.Over() {
			return false, err
		}
		for _, s := range r.Steps {
			did := fmt.Sprintf("%s %s", s.ID, s.Status)
			if s.Status == run.Done {
				did = strings.TrimSpace(did + " " + s.Why)
			} else if string(r.State) != state {
				l.Logf("%s: %s", did, s.Why)
			}
			got = append(got, did)
		}
		if string(r.State) != state {
			return false, fmt.Errorf("it is %s, want %s: %v", r.State, state, r.Messages)
		}
		l.saw("%s of %s %s by %s: %s", r.Operation, r.Project, r.State, r.Who, strings.Join(got, ", "))
		return true, nil
	})
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		l.Fatalf("the steps are not those that should be (-want +got):\n%s", d)
	}
}

// explain says where the run stands, and what its executions did last, if the test has failed.
func (l *life) explain() {
	if !l.Failed() {
		return
	}
	r, err := l.table.Load(context.WithoutCancel(l.Context()), l.run)
	if err != nil {
		l.Error(err)
		return
	}
	l.Logf("run %s is %s, with epoch %d and token %q", r.ID, r.State, r.Epoch, r.Token)
	for _, s := range r.Steps {
		l.Logf("  %s is %s: %s", s.ID, s.Status, s.Why)
	}
	flows := sfn.NewFromConfig(l.config)
	all, err := flows.ListExecutions(l.Context(), &sfn.ListExecutionsInput{StateMachineArn: &l.player.at.machine})
	if err != nil {
		l.Error(err)
		return
	}
	for _, e := range all.Executions {
		history, err := flows.GetExecutionHistory(l.Context(), &sfn.GetExecutionHistoryInput{ExecutionArn: e.ExecutionArn})
		if err != nil {
			l.Error(err)
			return
		}
		l.Logf("execution %s is %s, and ends with:", aws.ToString(e.Name), e.Status)
		for _, event := range history.Events[max(0, len(history.Events)-12):] {
			text, err := json.Marshal(event)
			l.Logf("  %s %v", text, err)
		}
	}
}

// signal lets the creation of the second stack succeed or fail, when it has started.
func (l *life) signal(status types.ResourceSignalStatus) {
	l.Helper()
	client := cloudformation.NewFromConfig(l.config)
	l.wait("the second stack to be created", func() (bool, error) {
		_, err := client.SignalResource(l.Context(), &cloudformation.SignalResourceInput{
			StackName: aws.String("life-middle"), LogicalResourceId: aws.String("Signalled"), UniqueId: aws.String(l.run), Status: status,
		})
		if awserr.Is(err, "ValidationError") {
			return false, nil // the stack does not wait yet
		}
		return err == nil, err
	})
}

// put puts an object into the bucket of the installation, and returns its version.
func (l *life) put(key string, body []byte) string {
	l.Helper()
	out, err := s3.NewFromConfig(l.config, pathStyle).PutObject(l.Context(), &s3.PutObjectInput{
		Bucket: aws.String(outputs(l.stack)["BucketName"]), Key: &key, Body: bytes.NewReader(body),
	})
	if err != nil {
		l.Fatal(err)
	}
	return aws.ToString(out.VersionId)
}

// archived is a folder as a zip file, with one text of stackwright.yaml replaced.
func archived(t *testing.T, folder fs.FS, from, to string) []byte {
	t.Helper()
	var body bytes.Buffer
	w := zip.NewWriter(&body)
	err := fs.WalkDir(folder, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		f, err := w.Create(path)
		if err == nil && path == "stackwright.yaml" {
			text = bytes.Replace(text, []byte(from), []byte(to), 1)
		}
		if err == nil {
			_, err = f.Write(text)
		}
		return err
	})
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return body.Bytes()
}

// runsPath and runPath are the routes of the API.
func runsPath(project string) string     { return "/projects/" + project + "/default/runs" }
func runPath(project, run string) string { return runsPath(project) + "/" + run }

// request starts a run by the API, and returns it when it has succeeded.
func (l *life) request(project, body string) (got report.Run) {
	l.Helper()
	status, answer := l.ask("POST", runsPath(project), body, true)
	if err := json.Unmarshal(answer, &got); err != nil || status != http.StatusAccepted {
		l.Fatalf("POST is answered %d: %s %v", status, answer, err)
	}
	l.wait("run "+got.Run, func() (bool, error) {
		status, answer := l.ask("GET", runPath(project, got.Run), "", true)
		if err := json.Unmarshal(answer, &got); err != nil || status != http.StatusOK {
			return false, fmt.Errorf("GET is answered %d: %s %w", status, answer, err)
		}
		if got.State.Over() && got.State != "succeeded" {
			return false, fmt.Errorf("it is %s: %v", got.State, got.Messages)
		}
		return got.State.Over(), nil
	})
	return got
}

// ask sends a request to the API, signed by the owner or not. MiniStack has the API below a path of its own address.
func (l *life) ask(method, path, body string, signed bool) (int, []byte) {
	l.Helper()
	host, _, _ := strings.Cut(strings.TrimPrefix(outputs(l.stack)["ApiUrl"], "https://"), ".")
	r, err := http.NewRequestWithContext(l.Context(), method, l.url+"/_aws/execute-api/"+host+"/$default"+path, strings.NewReader(body))
	if err != nil {
		l.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if signed {
		sum := sha256.Sum256([]byte(body))
		who, err := l.config.Credentials.Retrieve(l.Context())
		if err == nil {
			err = v4.NewSigner().SignHTTP(l.Context(), who, r, hex.EncodeToString(sum[:]), "execute-api", region, time.Now())
		}
		if err != nil {
			l.Fatal(err)
		}
	}
	answer, err := l.client.Do(r)
	if err != nil {
		l.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		l.Fatal(err)
	}
	return answer.StatusCode, text
}

// noTable fails if there is a table whose name begins so.
func (l *life) noTable(prefix string) {
	l.Helper()
	out, err := dynamodb.NewFromConfig(l.config).ListTables(l.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		l.Fatal(err)
	}
	for _, name := range out.TableNames {
		if strings.HasPrefix(name, prefix) {
			l.Errorf("there is a table %s", name)
		}
	}
}

// noStack fails if there is a stack whose name begins so.
func (l *life) noStack(prefix string) {
	l.Helper()
	out, err := cloudformation.NewFromConfig(l.config).DescribeStacks(l.Context(), &cloudformation.DescribeStacksInput{})
	if err != nil {
		l.Fatal(err)
	}
	for _, s := range out.Stacks {
		if strings.HasPrefix(aws.ToString(s.StackName), prefix) {
			l.Errorf("stack %s is %s", aws.ToString(s.StackName), s.StackStatus)
		}
	}
}

// stays checks what is left of an installation: exactly the resources that are kept.
func (l *life) stays() {
	l.Helper()
	kept, deleted := l.installed.kept(), l.had(*l.stack.StackId, types.ResourceStatusDeleteComplete)
	if d := cmp.Diff(kept, l.had(*l.stack.StackId, types.ResourceStatusDeleteSkipped)); d != "" {
		l.Errorf("other resources are left than those with a deletion policy (-want +got):\n%s", d)
	}
	for name := range l.installed.Resources {
		if !slices.Contains(kept, name) && !slices.Contains(deleted, name) {
			l.Errorf("%s was not deleted", name)
		}
	}
	made := outputs(l.stack)
	_, err := s3.NewFromConfig(l.config, pathStyle).HeadBucket(l.Context(), &s3.HeadBucketInput{Bucket: aws.String(made["BucketName"])})
	if err == nil {
		_, err = l.table.List(l.Context(), lifeProject, 1)
	}
	if err != nil {
		l.Fatal(err)
	}
	l.saw("%d resources are deleted; %v stay, with their data", len(deleted), kept)
}
