package states_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/stackwright/stackwright/infra/local/states"
)

const three = `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"a","Next":"B"},
	"B":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken","Parameters":{"FunctionName":"b","Payload.$":"$$.Task.Token"},"Catch":[{"ErrorEquals":["States.ALL"],"Next":"F"}],"Next":"C"},
	"C":{"Type":"Task","Resource":"c","End":true},"F":{"Type":"Fail"}}}`

// An execution that was running when the folder was closed continues at the state that
// it had entered. Finished tasks are not run again, an interrupted task has not failed,
// and the history is complete.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	var a, b, c atomic.Int64
	var arn, done, machine string
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, func(ctx context.Context, name string, _ []byte) ([]byte, error) {
			switch name {
			case "a":
				a.Add(1)
				return []byte(`"made"`), nil
			case "b":
				b.Add(1)
				<-ctx.Done() // it hangs until all is closed
				return nil, ctx.Err()
			}
			return []byte(`"f"`), nil
		})
		machine = h.machine("m", three)
		done = h.start(h.machine("n", calls), "done", `{}`)
		h.waitFor(done, types.ExecutionStatusSucceeded)
		arn = h.start(machine, "e", `{}`)
		time.Sleep(time.Minute)
		h.close()
	})
	tear(t, filepath.Join(dir, "states.jsonl"))
	synctest.Test(t, func(t *testing.T) {
		var h *fixture
		h = open(t, dir, func(ctx context.Context, name string, payload []byte) ([]byte, error) {
			switch name {
			case "a":
				a.Add(1)
			case "b":
				b.Add(1)
				token, output := strings.Trim(string(payload), `"`), `"answered"`
				_, err := h.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: &output})
				return nil, err
			case "c":
				c.Add(1)
				return payload, nil
			}
			return nil, nil
		})
		h.service.Resume()
		if out := h.waitFor(arn, types.ExecutionStatusSucceeded); *out.Output != `"answered"` {
			t.Error(*out.Output)
		}
		if a.Load() != 1 || b.Load() != 2 || c.Load() != 1 {
			t.Errorf("a was called %d times, b %d, c %d", a.Load(), b.Load(), c.Load())
		}
		if out := h.describe(done); out.Status != types.ExecutionStatusSucceeded || len(h.history(done)) != 7 {
			t.Errorf("%s with %d events", out.Status, len(h.history(done)))
		}
		for i, e := range h.history(arn) {
			if e.Id != int64(i+1) || i > 0 && e.PreviousEventId >= e.Id || strings.Contains(string(e.Type), "Failed") {
				t.Errorf("event %d: %d<%d %s", i, e.Id, e.PreviousEventId, e.Type)
			}
		}
		if got := h.statuses(); got != "SUCCEEDED" {
			t.Errorf("events: %s", got)
		}
		if again := h.machine("m", three); again != machine {
			t.Error(again)
		}
	})
}

// tear writes half a line to the end of a file, like a process that is killed during a write.
func tear(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"of":"arn:aws:st`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// With Hold, no execution continues before Resume.
func TestHold(t *testing.T) {
	dir := t.TempDir()
	var arn string
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, nil)
		arn = h.start(h.machine("m", waits), "e", `{}`)
		h.close()
	})
	for _, hold := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var emitted atomic.Int64
			s, err := states.Open(copied(t, dir), states.Options{Hold: hold, Emit: func(string, string, []string, any) { emitted.Add(1) }})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour)
			if over := emitted.Load() == 1; over == hold {
				t.Errorf("hold=%v, and %s is over: %v", hold, arn, over)
			}
			s.Resume()
			s.Resume()
			time.Sleep(2 * time.Hour)
			if emitted.Load() != 1 {
				t.Errorf("%s ended %d times", arn, emitted.Load())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// copied returns a copy of a folder.
func copied(t *testing.T, dir string) string {
	t.Helper()
	other := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return other
}

// The aws command works with the emulator.
func TestCommandLine(t *testing.T) {
	if _, err := exec.LookPath("aws"); err != nil {
		t.Skip("aws, the command line interface, is not on PATH: nothing to try")
	}
	s, err := states.Open("", states.Options{Invoke: func(_ context.Context, _ string, payload []byte) ([]byte, error) { return payload, nil }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	file := filepath.Join(t.TempDir(), "m.asl.json")
	if err := os.WriteFile(file, []byte(calls), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "aws", append([]string{"stepfunctions", "--endpoint-url", server.URL, "--region", "us-east-1", "--output", "text"}, args...)...)
		cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret", "AWS_PAGER=")
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("aws %s: %v: %s", strings.Join(args, " "), err, said.String())
		}
		return strings.TrimSpace(string(out))
	}
	machine := run("create-state-machine", "--name", "m", "--definition", "file://"+file, "--role-arn", role, "--query", "stateMachineArn")
	execution := run("start-execution", "--state-machine-arn", machine, "--name", "e", "--input", `{"a":1}`, "--query", "executionArn")
	types := run("get-execution-history", "--execution-arn", execution, "--query", "events[].type")
	if want := []string{"ExecutionStarted", "TaskStateEntered", "LambdaFunctionScheduled", "LambdaFunctionStarted", "LambdaFunctionSucceeded", "TaskStateExited", "ExecutionSucceeded"}; strings.Join(strings.Fields(types), " ") != strings.Join(want, " ") {
		t.Errorf("history: %s", types)
	}
	if got := run("describe-execution", "--execution-arn", execution, "--query", "[status,output]"); strings.Join(strings.Fields(got), " ") != `SUCCEEDED {"a":1}` {
		t.Errorf("described as %s", got)
	}
}
