// Package moto judges the adapters for AWS, and our emulators, by moto: an emulator of AWS by other authors, who read the same
// documentation. Where moto differs from it, or lacks a call, a table of this package says so, with what the documentation says. A test fails
// if a listed difference is gone, and if there is one that is not listed. make integration runs it.
package moto

import (
	"errors"
	"flag"
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

var program = flag.String("moto", "", "the `program` moto_server; without it, there is no test")

// Where moto is.
const (
	account = "000000000000"
	region  = "us-east-1"
)

// A server is a moto that runs.
type server struct {
	*testing.T
	url    string
	played *player
	config aws.Config // all requests go to moto through the player
	log    string     // a file
}

// start starts moto at a free port of this machine, and ends it with the test. If the test fails, the end of its log is printed.
func start(t *testing.T) *server {
	t.Helper()
	if *program == "" {
		t.Skip("make integration runs it")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err = errors.Join(err, listener.Close()); err != nil {
		t.Fatal(err)
	}
	s := &server{T: t, url: "http://127.0.0.1:" + port, log: filepath.Join(t.TempDir(), "log")}
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(*program, "-H", "127.0.0.1", "-p", port)
	run.Stdout, run.Stderr = log, log
	run.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "MOTO_ACCOUNT_ID=" + account, "AWS_ACCESS_KEY_ID=any", "AWS_SECRET_ACCESS_KEY=any",
		"AWS_DEFAULT_REGION=" + region, "AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
	}
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with what it starts
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(syscall.Kill(-run.Process.Pid, syscall.SIGKILL), log.Close()); err != nil {
			t.Error(err)
		}
		var killed *exec.ExitError
		if err := run.Wait(); !errors.As(err, &killed) {
			t.Errorf("moto ended by itself: %v", err)
		}
		if t.Failed() {
			text := s.logged()
			t.Logf("the log of moto ends with:\n%s", text[max(0, len(text)-4000):])
		}
	})
	s.awaits()
	s.played = &player{moto: s.url}
	s.played.forget()
	way := httptest.NewServer(s.played)
	t.Cleanup(way.Close)
	s.config = aws.Config{
		Region: region, BaseEndpoint: &way.URL, Credentials: credentials.NewStaticCredentialsProvider("any", "any", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	}
	return s
}

// patience is how long a test waits for moto. It decides no result of a test that succeeds.
const patience = time.Minute

// awaits waits until moto answers.
func (s *server) awaits() {
	s.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		answer, err := http.Get(s.url + "/moto-api/data.json")
		if err == nil && answer.StatusCode == http.StatusOK && answer.Body.Close() == nil {
			return
		}
	}
	s.Fatalf("moto did not start within %s", patience)
}

// reset empties moto.
func (s *server) reset() {
	s.Helper()
	answer, err := http.Post(s.url+"/moto-api/reset", "", strings.NewReader(""))
	if err != nil {
		s.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		s.Fatal(answer.Status, err)
	}
	s.played.forget()
}

// logged is what moto has logged.
func (s *server) logged() string {
	body, err := os.ReadFile(s.log)
	if err != nil {
		s.Fatal(err)
	}
	return string(body)
}
