package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// TestMain lets this binary also run as the program, in another process.
func TestMain(m *testing.M) {
	if os.Getenv("STACKWRIGHT_TEST_AS_PROGRAM") != "" {
		main()
		return
	}
	code := m.Run()
	_ = os.RemoveAll(builds()) // what is left of it is the system's to clear away
	os.Exit(code)
}

// program returns the program as a command in a folder.
func program(dir string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = dir
	cmd.Env = []string{"STACKWRIGHT_TEST_AS_PROGRAM=yes", "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "USER=ann"}
	return cmd, nil
}

// left starts a deploy on a server that ends before the deploy does, and returns the
// run.
func (l *laptop) left() string {
	l.Helper()
	h, err := host.Open(context.Background(), l.hosting(2))
	if err != nil {
		l.Fatal(err)
	}
	var out syncBuffer
	done := make(chan int, 1)
	go func() { done <- l.runTo(&out, &out, "deploy", l.project) }()
	id := l.running(&out)
	l.interrupts <- os.Interrupt
	<-done
	if err := h.Close(); err != nil {
		l.Fatal(err)
	}
	return id
}

// A command that only reads a folder that no server hosts continues no run and starts no
// process. It says so, and does not lock the folder.
func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	id := l.left()
	for _, args := range [][]string{{"status", id}, {"runs"}, {"stacks"}, {"outputs"}} {
		r := l.run(args...)
		if r.code != cli.ExitOK {
			t.Errorf("%v ended with %d: %s", args, r.code, r.err)
		}
		l.has(r.err, "is in progress in data folder", "no server goes on with it", "stackwright serve --data "+l.data)
	}
	l.has(l.must(cli.ExitOK, "runs"), id, "running")
	if len(l.started) > 0 {
		t.Errorf("started %v", l.started)
	}
	l.serve(0.05)
	l.has(l.must(cli.ExitOK, "status", id, "--follow"), "3 created")
	if r := l.run("runs"); r.err != "" {
		t.Errorf("with a server it says %s", r.err)
	}
}

// A server that runs until it is idle hands over to a server that stays. Operations in
// progress continue there.
func TestServeTakesOver(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	id := l.left()
	caretaker, err := program("", "serve", "--until-idle", "--data", l.data, "--listen", "127.0.0.1:0", "--seconds", "30")
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	caretaker.Stdout, caretaker.Stderr = &said, &said
	if err := caretaker.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		holder, taken, err := cloud.LockedBy(l.data)
		if err != nil {
			t.Fatal(err)
		}
		if taken && holder.URL != "" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it never serves")
		}
	}
	staying, yielding := l.hosting(0.05), l.hosting(0.05)
	yielding.HandsOver = true
	if _, err := host.Serve(t.Context(), yielding); err == nil {
		t.Error("one who carries on took over from another")
	}
	h, err := host.Serve(t.Context(), staying)
	if err != nil {
		t.Fatal(err)
	}
	if err := caretaker.Wait(); err != nil {
		t.Errorf("the one who left: %v\n%s", err, said.String())
	}
	if _, err := host.Serve(t.Context(), staying); err == nil || !strings.Contains(err.Error(), h.URL()) {
		t.Errorf("one who means to stay was let in beside another: %v", err)
	}
	l.has(l.must(cli.ExitOK, "status", id, "--follow"), "3 created")
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
