package main

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
)

// Who follows a run that waits in line is told for whom, and so is who only asks for its status; when that run is over,
// it goes on.
func TestWaitingInLineSaysForWhom(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(1)
	var out, err, second syncBuffer
	done := make(chan int, 2)
	go func() { done <- l.runTo(&out, &err, "deploy", l.project) }()
	id := l.running(&out)
	l.must(exitOK, "pause", id)
	<-done
	go func() { done <- l.runTo(&second, &second, "destroy", l.project, "--yes") }()
	waits := l.until(&second, `run (\w+) waits for `+id+` \(deploy, parked, `)
	status := l.run("status", waits)
	l.has(status.err, "run "+waits+" waits for "+id+" (deploy, parked, ")
	l.has(status.out, "destroy of pair@default is queued")
	l.must(exitOK, "cancel", id)
	if code := <-done; code != exitOK {
		t.Errorf("what waited ended with %d\n%s", code, second.String())
	}
}

// Who follows a run whose execution has ended, though the run has not, is told so.
func TestNobodyDrivesIsTold(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(3600)
	var out, err syncBuffer
	done := make(chan int, 1)
	go func() { done <- l.runTo(&out, &err, "deploy", l.project) }()
	id := l.running(&out)
	c := &call{shell: shell{err: &err, getenv: func(k string) string { return l.env[k] }}}
	look := &monitor{session: c.connect(c.laptop(h.url))}
	r, loadErr := look.load(t.Context(), id)
	if loadErr != nil {
		t.Fatal(loadErr)
	}
	tell := func() { look.asked = time.Time{}; look.tell(t.Context(), r) }
	tell()
	if err.String() != "" {
		t.Errorf("of a run that is driven it says %s", err.String())
	}
	arn := strings.Replace(h.cloud.Machine, ":stateMachine:", ":execution:", 1) + ":" + id + "-1"
	if _, err := sfn.NewFromConfig(h.cloud.Config()).StopExecution(t.Context(), &sfn.StopExecutionInput{ExecutionArn: aws.String(arn)}); err != nil {
		t.Fatal(err)
	}
	tell()
	tell()
	tell()
	l.has(err.String(), "nobody drives run "+id+": execution "+id+"-1 has ended (ABORTED)")
	l.interrupts <- nil
	<-done
}
