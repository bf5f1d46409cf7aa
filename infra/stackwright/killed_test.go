package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// If serve is killed at any time, the next one continues what was in progress.
func TestKilledServe(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	chance := rand.New(rand.NewPCG(1, 0))
	server := l.server()
	var out syncBuffer
	done := make(chan int, 1)
	go func() { done <- l.runTo(&out, &out, "deploy", l.project) }()
	id := l.running(&out)
	l.interrupts <- os.Interrupt
	if code := <-done; code != cli.ExitInterrupted {
		t.Errorf("who was interrupted ended with %d\n%s", code, out.String())
	}
	for range 4 {
		if err := server.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Wait(); err == nil {
			t.Error("it was not killed")
		}
		server = l.server()
		time.Sleep(time.Duration(chance.IntN(500)) * time.Millisecond) // any moment of the deploy will do
	}
	l.has(l.must(cli.ExitOK, "status", id, "--follow"), "3 created")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 unchanged")
	holder, _, err := cloud.LockedBy(l.data)
	if err != nil {
		t.Fatal(err)
	}
	once(t, cloudformation.New(cloudformation.Options{
		Region: cli.Region, BaseEndpoint: &holder.URL, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}), 3)
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}

// server serves the laptop's folder in another process.
func (l *laptop) server() *exec.Cmd {
	l.Helper()
	cmd, err := program(l.TempDir(), "serve", "--data", l.data, "--listen", "127.0.0.1:0", "--seconds", "0.7")
	if err != nil {
		l.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = cmd.Process.Kill() }) // unless it is over
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		holder, _, err := cloud.LockedBy(l.data)
		if err != nil {
			l.Fatal(err)
		}
		if holder.URL != "" && holder.PID == cmd.Process.Pid {
			return cmd
		}
	}
	l.Fatal("it never serves")
	return nil
}

// once checks that only the wanted stacks were ever created, that each still exists, and
// that each was created by one request.
func once(t *testing.T, stacks *cloudformation.Client, want int) {
	t.Helper()
	out, err := stacks.ListStacks(t.Context(), &cloudformation.ListStacksInput{})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.StackSummaries) != want {
		t.Errorf("there have been %d stacks, not %d", len(out.StackSummaries), want)
	}
	seen := make(map[string]bool)
	for _, s := range out.StackSummaries {
		name := aws.ToString(s.StackName)
		if seen[name] || s.StackStatus != "CREATE_COMPLETE" {
			t.Errorf("stack %s is %s, or was created twice", name, s.StackStatus)
		}
		seen[name] = true
		events, err := stacks.DescribeStackEvents(t.Context(), &cloudformation.DescribeStackEventsInput{StackName: s.StackId})
		if err != nil {
			t.Fatal(err)
		}
		creations := 0
		for _, e := range events.StackEvents {
			if aws.ToString(e.PhysicalResourceId) == aws.ToString(s.StackId) && e.ResourceStatus != "CREATE_COMPLETE" {
				creations++
			}
		}
		if creations != 1 {
			t.Errorf("stack %s was created by %d requests, not one", name, creations)
		}
	}
}
