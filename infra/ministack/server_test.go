// Package ministack installs Stackwright on MiniStack, an emulator of AWS by other authors: the synthesized template as it is, and
// the functions built for this machine. MiniStack checks the permissions of each request with its own evaluation of IAM. It knows
// nothing of Stackwright, so it notices where the template, the functions and our own emulators agree with one another and not
// with AWS. make integration runs it.
package ministack

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Where MiniStack is: in an account and a region of its own choice.
const (
	account = "000000000000"
	region  = "us-east-1"
)

// owner is the administrator of the account: MiniStack takes these credentials for those of the root.
var owner = []string{"AWS_ACCESS_KEY_ID=owner", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN="}

// A server is a MiniStack that runs.
type server struct {
	*testing.T
	url    string
	config aws.Config // of the owner
	log    string     // a file
	trust  string     // a file with its certificate
	client *http.Client
}

// certified makes a client that trusts a certificate for this machine, and files with it and with its key. The bucket of an
// installation refuses requests without TLS, and MiniStack knows that.
func certified(t *testing.T) (client *http.Client, certificate, key string) {
	t.Helper()
	example := httptest.NewTLSServer(nil)
	defer example.Close()
	private, err := x509.MarshalPKCS8PrivateKey(example.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(t.TempDir(), "certificate.pem"), filepath.Join(t.TempDir(), "key.pem")
	err = errors.Join(
		os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: example.Certificate().Raw}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	return example.Client(), certificate, key
}

// start starts MiniStack at a free port of this machine, and ends it with the test. If the test fails, its log is printed.
func start(t *testing.T, program string) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err = errors.Join(err, listener.Close()); err != nil {
		t.Fatal(err)
	}
	s := &server{T: t, url: "https://127.0.0.1:" + port, log: filepath.Join(t.TempDir(), "log")}
	var key string
	s.client, s.trust, key = certified(t)
	s.config = aws.Config{
		Region: region, BaseEndpoint: &s.url, HTTPClient: s.client,
		Credentials: credentials.NewStaticCredentialsProvider("owner", "secret", ""),
	}
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	run := exec.Command(program)
	run.Stdout, run.Stderr = log, log
	run.Dir = home
	// AUTH makes MiniStack check permissions. The functions get AWS_ENDPOINT_URL from it, which AWS's SDK reads.
	run.Env = append(s.environ(), "BIND_HOST=127.0.0.1", "GATEWAY_PORT="+port, "AUTH=true", "USE_SSL=true", "MINISTACK_SSL_CERT="+s.trust, "MINISTACK_SSL_KEY="+key, "MINISTACK_HOST=127.0.0.1", "MINISTACK_REGION="+region,
		"PATH="+os.Getenv("PATH"), "HOME="+home, "TMPDIR="+home, "STATE_DIR="+home, "S3_DATA_DIR="+home, "DOCKER_HOST=unix://"+filepath.Join(home, "none"))
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with the functions that it starts
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(syscall.Kill(-run.Process.Pid, syscall.SIGKILL), log.Close()); err != nil {
			t.Error(err)
		}
		var killed *exec.ExitError
		if err := run.Wait(); !errors.As(err, &killed) {
			t.Errorf("MiniStack ended by itself: %v", err)
		}
		if t.Failed() {
			s.printLog()
		}
	})
	s.wait("MiniStack to start", func() (bool, error) {
		answer, err := s.client.Get(s.url + "/_ministack/health")
		if err != nil {
			return false, nil // it does not listen yet
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
	return s
}

// environ is the environment of programs that use MiniStack as its owner.
func (s *server) environ() []string {
	return append([]string{
		"AWS_ENDPOINT_URL=" + s.url, "AWS_REGION=" + region, "AWS_DEFAULT_REGION=" + region, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CA_BUNDLE=" + s.trust, "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null",
	}, owner...)
}

// printLog prints the end of MiniStack's log, which also has what the functions log, without what went well.
func (s *server) printLog() {
	body, err := os.ReadFile(s.log)
	if err != nil {
		s.Error(err)
		return
	}
	var lines []string
	for line := range strings.Lines(string(body)) {
		if !strings.Contains(line, " INFO ") && !strings.Contains(line, `"level":"INFO"`) {
			lines = append(lines, line)
		}
	}
	s.Logf("the log of MiniStack ends with:\n%s", strings.Join(lines[max(0, len(lines)-200):], ""))
}

// patience is how long a test waits for anything. It decides no result of a test that succeeds.
const patience = 3 * time.Minute

// wait waits until something has happened. An error ends the test.
func (s *server) wait(what string, happened func() (bool, error)) {
	s.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		is, err := happened()
		if err != nil {
			s.Fatalf("wait for %s: %v", what, err)
		}
		if is {
			return
		}
	}
	s.Fatalf("waited %s for %s", patience, what)
}

// command runs a program as the owner, and returns what it prints.
func (s *server) command(ctx context.Context, dir, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	run := exec.CommandContext(ctx, program, args...)
	run.Dir = dir
	run.Env = append(append(os.Environ(), s.environ()...), "STACKWRIGHT_DIRECT=true") // the URL of its API leads nowhere
	var out, said bytes.Buffer
	run.Stdout, run.Stderr = &out, &said
	if err := run.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(program), strings.Join(args, " "), err, out.String(), said.String())
	}
	return out.String(), nil
}
