package lambda_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	aws "github.com/aws/aws-lambda-go/lambda"
	"github.com/stackwright/stackwright/infra/local/lambda"
)

// TestMain lets this binary also run as the bootstrap of the functions, if the environment names a runtime API.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		os.Exit(m.Run())
	}
	own := maps.Clone(functions)
	own["crash"] = func() error { os.Exit(7); return nil }
	own["killed"] = func() error {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		if err := self.Kill(); err != nil {
			return err
		}
		select {}
	}
	own["env"] = func() (string, error) { return os.Getenv("TABLE") + " " + os.Getenv("SELF"), nil }
	own["pid"] = func() (string, error) {
		fmt.Println("printed")
		time.Sleep(50 * time.Millisecond)
		return fmt.Sprint(os.Getpid()), nil
	}
	name := os.Getenv("AWS_LAMBDA_FUNCTION_NAME")
	if name == "dead" {
		os.Exit(3)
	}
	aws.Start(own[name])
}

func binaries(t *testing.T, log *bytes.Buffer) *lambda.Binaries {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"crash", "killed", "env", "pid", "dead"}
	for name := range functions {
		names = append(names, name)
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, filepath.Join(dir, name, "bootstrap")); err != nil {
			t.Fatal(err)
		}
	}
	h := host()
	h.Log = log
	h.Environ = func(function string) []string { return []string{"SELF=" + function} }
	b, err := lambda.NewBinaries(dir, []string{"TABLE=runs"}, h)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A function in another process behaves like one in this process. Only there can it crash.
func TestBinaries(t *testing.T) {
	b := binaries(t, &bytes.Buffer{})
	expect(t, b)
	for function, want := range map[string]string{"crash": "exit status 7", "dead": "exit status 3"} {
		var failed *lambda.FunctionError
		for range 2 {
			if _, err := b.Invoke(t.Context(), function, nil); !errors.As(err, &failed) || failed.Type != "Runtime.ExitError" || !strings.Contains(failed.Message, want) {
				t.Errorf("%s: %v", function, err)
			}
		}
	}
	if _, err := b.Invoke(t.Context(), "killed", nil); err == nil || errors.As(err, new(*lambda.FunctionError)) || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("a process that was killed: %v, want an error that is not of the function", err)
	}
	if got, err := b.Invoke(t.Context(), "env", nil); err != nil || strings.TrimSpace(string(got)) != `"runs env"` {
		t.Errorf("env: %s %v", got, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Invoke(t.Context(), "echo", []byte(`{}`)); err == nil {
		t.Error("a function ran after Close")
	}
}

// One process handles one invocation at a time, and is used again.
func TestProcessesAreUsedAgain(t *testing.T) {
	var log bytes.Buffer
	b := binaries(t, &log)
	pids := map[string]int{}
	var mu sync.Mutex
	for range 3 {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				pid, err := b.Invoke(t.Context(), "pid", nil)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				pids[string(pid)]++
			})
		}
		wg.Wait()
	}
	if len(pids) != 4 {
		t.Errorf("3 times 4 at once took %v, want 4 processes", pids)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "pid: printed\n") {
		t.Errorf("log %q", log.String())
	}
}
