package main

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A user who follows a queued run, or asks for its status, learns which run it waits
// for. When that run has ended, the queued run starts.
func TestQueuedRunNamesTheRunBefore(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(1)
	var out, err, second syncBuffer
	done := make(chan int, 2)
	go func() { done <- l.runTo(&out, &err, "deploy", l.project) }()
	id := l.running(&out)
	l.must(cli.ExitOK, "pause", id)
	<-done
	go func() { done <- l.runTo(&second, &second, "destroy", l.project, "--yes") }()
	waits := l.until(&second, `run (\w+) waits for `+id+` \(deploy, waiting, `)
	status := l.run("status", waits)
	l.has(status.err, "run "+waits+" waits for "+id+" (deploy, waiting, ")
	l.has(status.out, "destroy of pair@default is queued")
	l.must(cli.ExitOK, "cancel", id)
	if code := <-done; code != cli.ExitOK {
		t.Errorf("what waited ended with %d\n%s", code, second.String())
	}
}
