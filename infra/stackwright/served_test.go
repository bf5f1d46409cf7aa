package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/wire"
)

// builds is the folder in which tests build the functions.
func builds() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("stackwright-test-%d", os.Getpid()))
}

// built builds the functions as make build does, once for all tests, and returns
// the folder in which the program finds them.
var built = sync.OnceValues(func() (string, error) {
	if err := os.RemoveAll(builds()); err != nil { // of a killed process that had the same ID
		return "", err
	}
	dir := filepath.Join(builds(), "build")
	out, err := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", dir+"/", "../../functions/...").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	for _, name := range wire.Names() {
		place, made := filepath.Join(dir, name), filepath.Join(dir, name+".new")
		err := errors.Join(os.Rename(place, made), os.Mkdir(place, 0o755), os.Rename(made, filepath.Join(place, "bootstrap")))
		if err != nil {
			return "", err
		}
	}
	return builds(), nil
})

// The deployed binaries of the functions work like the functions in this process.
func TestBinaries(t *testing.T) {
	l := newLaptop(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	r := l.run("deploy", l.project, "--functions", "binaries")
	if r.code != cli.ExitRefused {
		t.Errorf("without binaries it ended with %d", r.code)
	}
	l.has(r.err, "run make build")
	t.Chdir(dir)
	l.has(l.must(cli.ExitOK, "deploy", l.project, "--functions", "binaries"), "3 created")
	l.has(l.must(cli.ExitOK, "destroy", l.project, "--functions", "binaries", "--yes"), "3 deleted")
}

// With another CloudFormation instead of the emulator, a run succeeds without events of
// its stacks.
func TestAnotherCloudFormationWithoutEvents(t *testing.T) {
	t.Parallel()
	other, err := cloud.Open(t.Context(), cloud.Options{Seconds: 0.2, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	server := httptest.NewServer(other)
	defer server.Close()
	l := newLaptop(t)
	l.env["AWS_ENDPOINT_URL_CLOUDFORMATION"] = server.URL
	h := l.serve(0.2)
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created")
	l.has(l.must(cli.ExitOK, "stacks"), "queue  pair@default  pair-queue  CREATE_COMPLETE")
	if calls := h.Cloud.Stacks.Calls(); len(calls) > 0 {
		t.Errorf("our own CloudFormation was called: %v", calls)
	}
	if calls := other.Stacks.Calls(); calls["CreateStack"] != 3 {
		t.Errorf("the other one was called: %v", calls)
	}
}

// An awsCLI runs the aws command with a server.
type awsCLI struct {
	*testing.T
	url string
}

// run carries out a command and returns what it printed.
func (a awsCLI) run(args ...string) string {
	a.Helper()
	cmd := exec.Command("aws", append(args, "--endpoint-url", a.url)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + a.TempDir(), "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"AWS_DEFAULT_REGION=us-east-1", "AWS_PAGER=", "AWS_EC2_METADATA_DISABLED=true",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.Fatalf("aws %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A user who has only the aws command deploys by an upload, and can read everything
// about the run.
func TestUploadByTheCommandLineStartsOneRun(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("aws"); err != nil {
		t.Skip("there is no aws command on this machine")
	}
	l := newLaptop(t)
	h := l.serve(0.2)
	files, err := archive.Open(l.project)
	if err != nil {
		t.Fatal(err)
	}
	body, err := archive.Pack(files)
	if err != nil {
		t.Fatal(err)
	}
	zip := filepath.Join(t.TempDir(), "pair.zip")
	if err := os.WriteFile(zip, body, 0o644); err != nil {
		t.Fatal(err)
	}
	aws := awsCLI{t, h.URL()}
	aws.run("s3", "cp", zip, "s3://stackwright/projects/pair/prod.zip")
	runs := func() []map[string]any { return l.objects(l.must(cli.ExitOK, "runs", "-o", "json")) }
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if all := runs(); len(all) == 1 && all[0]["state"] == "succeeded" {
			break
		}
	}
	id, ok := runs()[0]["run"].(string)
	if !ok || runs()[0]["state"] != "succeeded" {
		t.Fatalf("runs: %v", runs())
	}

	var head struct{ VersionId string }
	text := aws.run("s3api", "head-object", "--bucket", "stackwright", "--key", "projects/pair/prod.zip")
	if err := json.Unmarshal([]byte(text), &head); err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(map[string]any{
		"source": "aws.s3", "detail-type": "Object Created", "account": cli.Account, "region": cli.Region,
		"detail": map[string]any{
			"bucket": map[string]any{"name": cli.Name},
			"object": map[string]any{"key": "projects/pair/prod.zip", "version-id": head.VersionId, "size": len(body)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := h.Cloud.Invoke(context.Background(), "start", twice); err != nil {
			t.Fatal(err)
		}
	}
	if all := runs(); len(all) != 1 {
		t.Errorf("the same upload made %d runs: %v", len(all), all)
	}

	machine := "arn:aws:states:us-east-1:000000000000:stateMachine:stackwright"
	l.has(aws.run("stepfunctions", "list-executions", "--state-machine-arn", machine), id+"-1", "SUCCEEDED")
	execution := strings.Replace(machine, "stateMachine", "execution", 1) + ":" + id + "-1"
	l.has(aws.run("stepfunctions", "get-execution-history", "--execution-arn", execution), "ExecutionSucceeded", "TaskStateEntered")
	l.has(aws.run("cloudformation", "describe-stacks", "--stack-name", "pair-prod-queue"), "CREATE_COMPLETE", "arn:aws:sns:")
	l.has(aws.run("dynamodb", "query", "--table-name", "stackwright", "--key-condition-expression", "PK = :p",
		"--expression-attribute-values", `{":p": {"S": "RUN#`+id+`"}}`), "STEP#00000", "succeeded")
}

// A person who uploads to a wrong key finds a refused run that says which keys are
// right.
func TestUploadToAWrongKeyIsARefusedRun(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.2)
	put, err := http.NewRequestWithContext(t.Context(), http.MethodPut, h.URL()+"/stackwright/projects/pair/prod.tgz", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	// The emulator reads only the service from the signature.
	put.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260301/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
	answer, err := http.DefaultClient.Do(put)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("put: %s, %v", answer.Status, err)
	}
	var all []map[string]any
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if all = l.objects(l.must(cli.ExitOK, "runs", "-o", "json")); len(all) == 1 && all[0]["state"] == "refused" {
			break
		}
	}
	if len(all) != 1 || all[0]["state"] != "refused" || all[0]["project"] != "pair@prod" {
		t.Fatalf("runs: %v", all)
	}
	l.has(l.run("status", all[0]["run"].(string)).out, `object "projects/pair/prod.tgz" does not name a project and an environment`, "upload a project to projects/<project>/<environment>.zip")
}
