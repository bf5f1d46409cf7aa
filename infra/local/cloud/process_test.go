package cloud_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	aws "github.com/aws/aws-lambda-go/lambda"
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/lambda"
)

// TestMain lets this binary also run as the bootstrap of a function, and as a process that is killed while it has a data
// folder open.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("AWS_LAMBDA_RUNTIME_API") != "":
		aws.Start(upload)
	case os.Getenv("DIE_WITH") != "":
		die(os.Getenv("DIE_WITH"))
	default:
		os.Exit(m.Run())
	}
}

// upload is a function as it would be deployed: it gets everything from the default configuration of the SDK.
func upload(ctx context.Context) (string, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return "", err
	}
	who, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil)
	if err != nil {
		return "", err
	}
	_, err = s3.NewFromConfig(cfg).PutObject(ctx, &s3.PutObjectInput{Bucket: awssdk.String("stackwright"), Key: awssdk.String("from/function"), Body: strings.NewReader("x")})
	return awssdk.ToString(who.Account), err
}

// serve opens the cloud behind a listener on loopback.
func serve(t *testing.T, opts cloud.Options) (*cloud.Cloud, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	if makes := opts.Functions; makes == nil {
		opts.Functions = func(c *cloud.Cloud) (cloud.Invoker, error) { return bootstraps(t, c, url) }
	}
	c := open(t, opts)
	server := &http.Server{Handler: c}
	go server.Serve(listener)
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	})
	return c, url
}

func bootstraps(t *testing.T, c *cloud.Cloud, url string) (cloud.Invoker, error) {
	dir, self := t.TempDir(), filepath.Join("upload", "bootstrap")
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "upload"), 0o755), os.Symlink(exe, filepath.Join(dir, self))); err != nil {
		return nil, err
	}
	return lambda.NewBinaries(dir, c.Environ(url), c.Host())
}

// A bootstrap needs only its environment to use the cloud.
func TestBootstrapReachesTheCloud(t *testing.T) {
	c, _ := serve(t, cloud.Options{Bucket: "stackwright", Account: "123456789012", Getenv: func(string) string { return "" }})
	answer, err := c.Invoke(t.Context(), "upload", []byte("{}"))
	if err != nil || strings.TrimSpace(string(answer)) != `"123456789012"` {
		t.Fatalf("answer %s %v", answer, err)
	}
	if content, err := c.Objects.Fetch(t.Context(), "stackwright", "from/function", ""); err != nil || string(content) != "x" {
		t.Errorf("object %q %v", content, err)
	}
}

// die opens a cloud, writes, and waits to be killed.
func die(data string) {
	c, err := cloud.Open(context.Background(), cloud.Options{Data: data, Bucket: "stackwright"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if err := c.Serving("http://127.0.0.1:4566", false); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	client := s3.NewFromConfig(c.Config())
	for i := 0; ; i++ {
		key := fmt.Sprint(i)
		if _, err := client.PutObject(context.Background(), &s3.PutObjectInput{Bucket: awssdk.String("stackwright"), Key: &key, Body: strings.NewReader(key)}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("put", i)
	}
}

// Only one process can open a folder. A second one gets an error that names the first
// process and its URL. When the first is killed, the folder can be opened again, and has
// every write that was answered.
func TestKilled(t *testing.T) {
	data := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "DIE_WITH="+data)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last, lines := -1, bufio.NewScanner(out)
	for last < 50 && lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "put %d", &last); err != nil {
			t.Fatal(lines.Text())
		}
	}
	var used *cloud.InUse
	if _, err := cloud.Open(t.Context(), cloud.Options{Data: data}); !errors.As(err, &used) || used.Holder.PID != cmd.Process.Pid || !strings.Contains(err.Error(), "http://127.0.0.1:4566") {
		t.Errorf("the second process got %v", err)
	}
	if holder, occupied, err := cloud.LockedBy(data); err != nil || !occupied || holder.URL != "http://127.0.0.1:4566" {
		t.Errorf("occupied by %+v %v %v", holder, occupied, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "put %d", &last); err != nil {
			break
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
	if _, occupied, err := cloud.LockedBy(data); err != nil || occupied {
		t.Errorf("still occupied by the dead: %v", err)
	}
	c := open(t, cloud.Options{Data: data, Bucket: "stackwright", Getenv: func(string) string { return "" }})
	defer c.Close()
	for i := range last + 1 {
		if content, err := c.Objects.Fetch(t.Context(), "stackwright", fmt.Sprint(i), ""); err != nil || string(content) != fmt.Sprint(i) {
			t.Fatalf("object %d of %d after the kill: %q %v", i, last, content, err)
		}
	}
}

// aws returns the real aws command, or skips the test.
func awsCLI(t *testing.T, url string) func(args ...string) string {
	path, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("the aws command line is not on the PATH")
	}
	return func(args ...string) string {
		t.Helper()
		cmd := exec.Command(path, append([]string{"--endpoint-url", url, "--output", "text"}, args...)...)
		cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_DEFAULT_REGION=us-east-1",
			"AWS_EC2_METADATA_DISABLED=true", "AWS_PAGER=", "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("aws %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
}

// waits is a machine that waits for an hour.
const waits = `{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":3600,"End":true}}}`

// execution returns the ARN of an execution of a machine.
func execution(machine, name string) string {
	return strings.Replace(machine, ":stateMachine:", ":execution:", 1) + ":" + name
}

// The aws command line works with every service.
func TestCommandLine(t *testing.T) {
	h := &invocations{}
	opts := options("", h)
	opts.Seconds, opts.Trust = 0.1, func(string) (string, bool) { return "", true }
	c, url := serve(t, opts)
	cli := awsCLI(t, url)
	file := filepath.Join(t.TempDir(), "shop.zip")
	if err := os.WriteFile(file, []byte(strings.Repeat("0123456789", 1_200_000)), 0o644); err != nil { // in parts
		t.Fatal(err)
	}
	copied, ask := file+".back", file+".ask"
	if err := os.WriteFile(ask, []byte(`{"name":"cli"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	waiting := strings.TrimSuffix(c.Machine, "stackwright") + "waits"
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"s3", "cp", file, "s3://stackwright/projects/shop/prod.zip"}, "upload:"},
		{[]string{"s3", "ls", "s3://stackwright/projects/shop/"}, "12000000 prod.zip"},
		{[]string{"s3", "cp", "s3://stackwright/projects/shop/prod.zip", copied}, "download:"},
		{[]string{"s3api", "list-object-versions", "--bucket", "stackwright"}, "projects/shop/prod.zip"},
		{[]string{"s3api", "put-object", "--bucket", "stackwright", "--key", "requests/1.json", "--if-none-match", "*", "--body", ask}, "3/"},
		{[]string{"dynamodb", "put-item", "--table-name", "stackwright", "--item", `{"PK":{"S":"RUN#1"},"SK":{"S":"RUN"}}`}, ""},
		{[]string{"dynamodb", "query", "--table-name", "stackwright", "--key-condition-expression", "PK = :p", "--expression-attribute-values", `{":p":{"S":"RUN#1"}}`, "--query", "[Count,ScannedCount]"}, "1\t1"},
		{[]string{"dynamodb", "list-tables"}, "stackwright"},
		{[]string{"dynamodb", "wait", "table-exists", "--table-name", "stackwright"}, ""},
		{[]string{"s3api", "get-bucket-versioning", "--bucket", "stackwright", "--query", "[Status,MFADelete]"}, "Enabled\tNone"},
		{[]string{"sts", "get-caller-identity"}, "000000000000"},
		{[]string{"sts", "assume-role", "--role-arn", "arn:aws:iam::111111111111:role/x", "--role-session-name", "me"}, "assumed-role/x/me"},
		{[]string{"events", "list-rules"}, "stackwright-start"},
		{[]string{"events", "describe-rule", "--name", "stackwright-sweep", "--query", "[ScheduleExpression,State,EventPattern]"}, "rate(5 minutes)\tENABLED\tNone"},
		{[]string{"events", "put-events", "--entries", `[{"Source":"me","DetailType":"x","Detail":"{}"}]`}, "00000000-0000-4000"},
		{[]string{"lambda", "invoke", "--function-name", "greet", "--payload", "fileb://" + ask, copied + ".json"}, "$LATEST"},
		{[]string{"cloudformation", "create-stack", "--stack-name", "shop", "--template-body", template, "--client-request-token", "sw-cli"}, "arn:aws:cloudformation"},
		{[]string{"cloudformation", "wait", "stack-create-complete", "--stack-name", "shop"}, ""},
		{[]string{"cloudformation", "describe-stacks", "--stack-name", "shop", "--query", "Stacks[0].StackStatus"}, "CREATE_COMPLETE"},
		{[]string{"stepfunctions", "start-execution", "--state-machine-arn", c.Machine, "--name", "x", "--input", `{"name":"cli"}`}, "arn:aws:states"},
		{[]string{"stepfunctions", "get-execution-history", "--execution-arn", execution(c.Machine, "x")}, "ExecutionStarted"},
		{[]string{"stepfunctions", "create-state-machine", "--name", "waits", "--definition", waits, "--role-arn", "arn:aws:iam::000000000000:role/x"}, "arn:aws:states"},
		{[]string{"stepfunctions", "start-execution", "--state-machine-arn", waiting, "--name", "y"}, "arn:aws:states"},
		{[]string{"stepfunctions", "stop-execution", "--execution-arn", execution(waiting, "y"), "--error", "Tired", "--cause", "of it"}, ""},
		{[]string{"stepfunctions", "describe-execution", "--execution-arn", execution(waiting, "y"), "--query", "[status,error,cause]"}, "ABORTED\tTired\tof it"},
	} {
		if got := cli(step.args...); !strings.Contains(got, step.want) {
			t.Errorf("aws %s said %q, want %q", strings.Join(step.args, " "), got, step.want)
		}
	}
	if back, err := os.ReadFile(copied); err != nil || len(back) != 12_000_000 {
		t.Errorf("what was copied there and back has %d bytes: %v", len(back), err)
	}
	for deadline := time.Now().Add(10 * time.Minute); !strings.Contains(h.String(), "stack sw-cli CREATE_COMPLETE"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("functions were called with %s", h)
		}
	}
	if !strings.HasPrefix(h.String(), "start projects/shop/prod.zip; start requests/1.json") {
		t.Errorf("functions were called with %s", h)
	}
}
