package cloudformation_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

// The aws command line works as it does with AWS: in real time, over a socket.
func TestCommandLine(t *testing.T) {
	path, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("the aws command line is not on PATH")
	}
	service, err := cloudformation.Open("", cloudformation.Options{Seconds: -1})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service)
	defer server.Close()
	defer func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	}()
	file := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(file, []byte(queue), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(ok bool, args ...string) string {
		t.Helper()
		command := exec.Command(path, append([]string{"cloudformation", "--endpoint-url", server.URL, "--region", "us-east-1", "--output", "text"}, args...)...)
		command.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "NO_PROXY=127.0.0.1")
		out, err := command.CombinedOutput()
		if (err == nil) != ok {
			t.Fatalf("aws %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run(true, "create-stack", "--stack-name", "q", "--template-body", "file://"+file, "--parameters", "ParameterKey=Delay,ParameterValue=3", "--tags", "Key=team,Value=a")
	run(true, "wait", "stack-create-complete", "--stack-name", "q")
	for want, query := range map[string]string{
		"CREATE_COMPLETE\ta\t3": "Stacks[0].[StackStatus,Tags[0].Value,Parameters[0].ParameterValue]",
	} {
		if got := run(true, "describe-stacks", "--stack-name", "q", "--query", query); strings.TrimSpace(got) != want {
			t.Errorf("describe-stacks: %q", got)
		}
	}
	if got := run(true, "describe-stack-events", "--stack-name", "q", "--query", "length(StackEvents)"); strings.TrimSpace(got) != "8" {
		t.Errorf("describe-stack-events: %s", got)
	}
	if got := run(false, "update-stack", "--stack-name", "q", "--use-previous-template", "--parameters", "ParameterKey=Delay,UsePreviousValue=true"); !strings.Contains(got,
		"An error occurred (ValidationError) when calling the UpdateStack operation: No updates are to be performed.") {
		t.Errorf("update-stack: %s", got)
	}
	run(true, "deploy", "--stack-name", "d", "--template-file", file)
	if got := run(true, "list-exports", "--query", "Exports[].Name"); strings.TrimSpace(got) != "q-Arn\td-Arn" {
		t.Errorf("list-exports: %s", got)
	}
	run(true, "delete-stack", "--stack-name", "q")
	run(true, "wait", "stack-delete-complete", "--stack-name", "q")
}
