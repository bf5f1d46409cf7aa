package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/infra/local/lambda"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A syncBuffer can be read while another goroutine writes to it.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write is io.Writer.
func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// String returns everything that was written.
func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// patience is how long a test waits for a process or a run. Only a test that fails waits
// so long, on whatever machine.
const patience = 10 * time.Minute

// until waits until the written text matches a pattern, and returns the first group of
// the match.
func (l *laptop) until(out *syncBuffer, pattern string) string {
	l.Helper()
	re := regexp.MustCompile(pattern)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if m := re.FindStringSubmatch(out.String()); m != nil {
			return m[1]
		}
	}
	l.Fatalf("no %s in\n%s", pattern, out.String())
	return ""
}

// running waits until a step of a deploy is running, and returns the run.
func (l *laptop) running(out *syncBuffer) string {
	l.Helper()
	l.until(out, `(running)  topic/create`)
	return l.until(out, `: run (\w+),`)
}

// A host knows that an event waits for a function that fails, so that a watcher
// waits for the run that the event asks for.
func TestHostKnowsThatAnEventWaits(t *testing.T) {
	t.Parallel()
	c, err := cloud.Open(t.Context(), cloud.Options{Bucket: cli.Name, Functions: func(o *cloud.Cloud) (cloud.Invoker, error) {
		return lambda.InProcess(map[string]any{"start": func() error { return errors.New("it died") }}, o.Host())
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	h := &host.Host{Cloud: c}
	if h.Delivering() {
		t.Error("an event waits before there is any")
	}
	c.Bus.Emit("aws.s3", "Object Created", nil, map[string]any{
		"bucket": map[string]any{"name": cli.Name}, "object": map[string]any{"key": "projects/pair/prod.zip"},
	})
	if !h.Delivering() {
		t.Error("an event that cannot be delivered is given up at once")
	}
}

// After Ctrl-C, another process executes the run to its end.
func TestInterruptedDeployGoesOnWithoutItsWatcher(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	var carrier sync.WaitGroup
	var served syncBuffer
	l.begins = func(args []string) {
		carrier.Go(func() {
			s := cli.Shell{Laptop: host.Laptop{}, Out: &served, Err: &served, Self: "stackwright", Getenv: func(k string) string { return l.env[k] }}
			if code := cli.Execute(context.Background(), s, args); code != cli.ExitOK {
				t.Errorf("serve --until-idle ended with %d:\n%s", code, served.String())
			}
		})
	}
	var out, err syncBuffer
	done := make(chan int, 1)
	go func() { done <- l.runTo(&out, &err, "deploy", l.project, "--seconds", "1") }()
	id := l.running(&out)
	l.interrupts <- os.Interrupt
	if code := <-done; code != cli.ExitInterrupted {
		t.Errorf("ended with %d\n%s%s", code, out.String(), err.String())
	}
	l.has(err.String(), "continues; this command no longer follows it", "stackwright status "+id+" --follow --data "+l.data, "To stop it:\n  stackwright cancel "+id+" --data "+l.data)
	l.has(strings.Join(l.started[0], " "), "serve --until-idle", "--seconds 1 --functions inprocess")
	l.has(l.must(cli.ExitOK, "status", id, "--follow"), "3 created")
	carrier.Wait()
	l.has(l.must(cli.ExitOK, "stacks"), "queue  pair@default  pair-queue  CREATE_COMPLETE")
}

// A client of another process's server only ends; the server continues the run.
func TestInterruptedClientOnlyGoesAway(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(1)
	var out, err syncBuffer
	done := make(chan int, 1)
	go func() { done <- l.runTo(&out, &err, "deploy", l.project, "--endpoint", h.URL()) }()
	id := l.running(&out)
	l.interrupts <- os.Interrupt
	if code := <-done; code != cli.ExitInterrupted {
		t.Errorf("ended with %d", code)
	}
	l.has(err.String(), "stackwright status "+id+" --follow --endpoint "+h.URL())
	if len(l.started) > 0 {
		t.Errorf("started %v", l.started)
	}
	l.has(l.must(cli.ExitOK, "status", id, "--follow"), "3 created")
}

// A closedPipe fails every write.
type closedPipe struct{}

// Write is io.Writer.
func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// If the reader of the output ends, the run continues.
func TestRunGoesOnWhenNobodyReads(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(0.5)
	var err syncBuffer
	if code := l.runTo(closedPipe{}, &err, "deploy", l.project); code != cli.ExitInterrupted {
		t.Errorf("ended with %d", code)
	}
	l.has(err.String(), "continues; this command no longer follows it")
	l.has(l.must(cli.ExitOK, "status", "--follow"), "3 created")
}

// If two commands use one folder, the first hosts it for both. When the first ends, the
// run of the other continues.
func TestTwoCommandsShareAFolder(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	var carrier sync.WaitGroup
	l.begins = func(args []string) {
		carrier.Go(func() {
			s := cli.Shell{Laptop: host.Laptop{}, Out: io.Discard, Err: io.Discard, Getenv: func(k string) string { return l.env[k] }}
			if code := cli.Execute(context.Background(), s, args); code != cli.ExitOK {
				t.Errorf("serve --until-idle ended with %d", code)
			}
		})
	}
	var first, second, err syncBuffer
	done := make(chan int, 2)
	go func() { done <- l.runTo(&first, &err, "deploy", l.project, "--seconds", "1") }()
	l.running(&first)
	go func() { done <- l.runTo(&second, &err, "deploy", l.project, "--seconds", "1", "--env", "prod") }()
	for range 2 {
		if code := <-done; code != cli.ExitOK {
			t.Errorf("ended with %d\n%s\n%s\n%s%s", code, first.String(), second.String(), err.String(), l.log())
		}
	}
	carrier.Wait()
	l.has(second.String(), "3 created")
}
