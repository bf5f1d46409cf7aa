package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// begin carries out a command in the background, and sends its exit code when it ends.
func (l *laptop) begin(args ...string) (out *syncBuffer, code chan int) {
	out, code = new(syncBuffer), make(chan int, 1)
	go func() { code <- l.runTo(out, out, args...) }()
	return out, code
}

// ended checks the exit code of a command that begin started.
func (l *laptop) ended(out *syncBuffer, code chan int, want int) {
	l.Helper()
	if got := <-code; got != want {
		l.Errorf("it ended with %d, not with %d\n%s", got, want, out.String())
	}
}

// slow calls f. The operation of a stack that starts meanwhile takes some seconds; slow waits for its start, because a step
// is shown as running before CloudFormation has its request.
func (l *laptop) slow(h *host.Host, stack string, seconds float64, f func()) {
	l.Helper()
	started := func() int {
		out, err := sdk.NewFromConfig(h.Cloud.Config()).DescribeStackEvents(l.Context(), &sdk.DescribeStackEventsInput{StackName: &stack})
		if err != nil {
			return 0 // there is no such stack yet
		}
		n := 0
		for _, e := range out.StackEvents {
			if aws.ToString(e.ResourceStatusReason) == "User Initiated" {
				n++
			}
		}
		return n
	}
	before := started()
	l.fail(h, cloudformation.Fault{Stack: stack, Seconds: seconds})
	f()
	for end := time.Now().Add(patience); started() == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			l.Fatalf("no operation of %s starts", stack)
		}
	}
	if err := h.Cloud.Stacks.ClearFaults(); err != nil {
		l.Error(err)
	}
}

// A command that watches a superseded run names the run that supersedes it. The one that
// watches the newer run names the run that it waits for. status shows the queue.
func TestNewerUploadSupersedes(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	var first *syncBuffer
	var one chan int
	var id string
	l.slow(h, "pair-topic", 6, func() {
		first, one = l.begin("deploy", l.project)
		id = l.running(first)
		l.until(first, `(done)  +alone/create`)
	})
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	bob := l.as("bob")
	bob.answers = "no\n"
	if r := bob.run("deploy", l.project); r.code != cli.ExitRefused || !strings.Contains(r.err, "this deploy supersedes run "+id) || !strings.Contains(r.err, `the answer was "no" and not yes`) {
		t.Errorf("who does not agree to supersede ends with %d: %s", r.code, r.err)
	}
	bob.answers = ""
	second, two := bob.begin("deploy", l.project)
	newer := l.until(second, `run (\w+) waits for `+id)
	l.has(second.String(), "this deploy supersedes run "+id+", requested by ann@")
	third, three := l.begin("refresh", l.project)
	last := l.until(third, `run (\w+) waits for `+id)

	status := l.run("status")
	l.has(status.err,
		"pair@default is locked by run "+id+" (deploy, running) of ann@", ": it finishes its running steps, then run "+newer+" supersedes it",
		"  1. run "+newer+" (deploy) of bob@", ": it deploys an upload, unless a newer upload replaces it",
		"  2. run "+last+" (refresh) of ann@", ": it reads the live stacks into the records")
	shown := l.last(l.must(cli.ExitOK, "status", last, "-o", "json"))
	lock := shown["lock"].(map[string]any)
	if shown["state"] != "queued" || lock["owner"].(map[string]any)["run"] != id || len(lock["waiting"].([]any)) != 2 {
		t.Errorf("%v", shown)
	}

	l.ended(first, one, cli.ExitStopped)
	l.has(first.String(), "deploy of pair@default was superseded by run "+newer, "skipped, superseded by "+newer+": queue",
		"to follow the newer run: stackwright status "+newer+" --follow")
	l.ended(second, two, cli.ExitOK)
	l.ended(third, three, cli.ExitOK)
	l.has(l.must(cli.ExitOK, "outputs", "topic"), "goodbye")
	l.has(l.must(cli.ExitOK, "runs"), "superseded by "+newer)
	if _, held := l.last(l.must(cli.ExitOK, "status", "-o", "json"))["lock"]; held {
		t.Error("the lock is held though all runs are over")
	}
}

// deploy --rollback also watches the rollback to its end, and its exit code says that
// the deploy has failed. It is the same with on_failure: rollback in the project.
func TestRollbackIsFollowed(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.fail(h, cloudformation.Fault{Stack: "pair-topic", Operation: "update", Times: 1})
	l.edit("templates/queue.yaml", "Resources:", "Metadata: { v: 2 }\nResources:")
	l.has(l.must(cli.ExitFailed, "deploy", l.project, "--rollback"),
		"deploy of pair@default failed in", " follows: it restores the last successful deploy\n", "rollback pair@default: run ", "rollback of pair@default succeeded")

	l.edit("stackwright.yaml", "project: pair", "project: pair\non_failure: rollback")
	l.fail(h, cloudformation.Fault{Stack: "pair-topic", Operation: "update", Times: 1})
	runs := l.objects(l.must(cli.ExitFailed, "deploy", l.project, "-o", "json"))
	var ends []map[string]any
	for _, o := range runs {
		if o["state"] != nil {
			ends = append(ends, o)
		}
	}
	if len(ends) != 2 || ends[0]["state"] != "failed" || ends[1]["operation"] != "rollback" || ends[1]["of"] != ends[0]["run"] || ends[1]["state"] != "succeeded" {
		t.Errorf("%v", ends)
	}
	l.has(l.must(cli.ExitOK, "outputs", "topic"), "hello")

	l.fail(h, cloudformation.Fault{Stack: "pair-prod-topic", Operation: "create", Times: 1})
	l.has(l.must(cli.ExitFailed, "deploy", l.project, "--env", "prod"), " follows: it deletes the stacks that the deploy created, because no deploy has succeeded yet\n", "rollback of pair@prod succeeded")
}

// cancel --rollback also watches the rollback to its end.
func TestCancelGoesBack(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.edit("templates/queue.yaml", "Resources:", "Metadata: { v: 2 }\nResources:")
	var out *syncBuffer
	var code chan int
	l.slow(h, "pair-topic", 4, func() {
		out, code = l.begin("deploy", l.project)
		l.until(out, `(running)  topic/update`)
		l.until(out, `(done)  +alone/update`)
	})
	id := l.until(out, `: run (\w+),`)
	l.has(l.must(cli.ExitOK, "cancel", id, "--rollback", "--reason", "wrong branch"), "deploy of pair@default is cancelled after", "rollback of pair@default succeeded")
	l.ended(out, code, cli.ExitStopped)
	l.has(l.must(cli.ExitOK, "outputs", "topic"), "hello")
}

// cancel --force does not wait for the end of an update. The output says how much time
// the update had left.
func TestCancelWithForce(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("stackwright.yaml", "project: pair", "project: pair\ntimeout: 2h\ndefaults: { topic: { timeout: 1h } }")
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	var out *syncBuffer
	var code chan int
	l.slow(h, "pair-topic", 3600, func() {
		out, code = l.begin("deploy", l.project)
		l.until(out, `(running)  topic/update  \(overdue at`)
	})
	id := l.until(out, `: run (\w+),`)
	l.has(l.must(cli.ExitOK, "status", id), " left · ", " · run "+id, "● topic  update  ", " left  critical path\n")
	shown := l.last(l.must(cli.ExitOK, "status", id, "-o", "json"))
	if step := shown["steps"].([]any)[0].(map[string]any); shown["deadline"] == nil || step["deadline"] == nil || step["started"] == nil {
		t.Errorf("%v", shown)
	}
	l.has(l.must(cli.ExitOK, "cancel", id, "--force"), "deploy of pair@default is cancelled after", "topic/update failed: UPDATE_ROLLBACK_COMPLETE: it was cancelled, as requested")
	l.ended(out, code, cli.ExitStopped)
	l.has(l.must(cli.ExitOK, "outputs", "topic"), "hello")
}

// unlock takes the lock from a run that makes no progress, with a reason. Before that, a
// request that does not wait is refused.
func TestUnlock(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(3600)
	r := l.run("unlock", "--reason", "it hangs")
	if r.code != cli.ExitRefused {
		t.Errorf("unlock of nothing ended with %d", r.code)
	}
	l.has(r.err, "no run holds a lock")
	out, code := l.begin("deploy", l.project)
	id := l.running(out)
	for _, args := range [][]string{{"deploy", l.project}, {"refresh", l.project}, {"destroy", l.project, "--yes"}} {
		l.has(l.must(cli.ExitRefused, append(args, "--refuse")...), "was refused", "run "+id+" (deploy, running) holds the lock on pair@default")
	}
	other, prod := l.begin("deploy", l.project, "--env", "prod")
	l.running(other)

	r = l.run("unlock")
	if r.code != cli.ExitRefused {
		t.Errorf("unlock without a reason ended with %d", r.code)
	}
	l.has(r.err, "give a reason with --reason TEXT")
	r = l.run("unlock", "--reason", "it hangs")
	if r.code != cli.ExitRefused {
		t.Errorf("unlock of two ended with %d", r.code)
	}
	l.has(r.err, "2 runs hold a lock: give the ID of one of them: ", id+" (deploy of pair@default, running)")
	l.has(l.must(cli.ExitOK, "unlock", "--env", "prod", "--reason", "it hangs"), "is cancelled after", "unlocked by ann@", ": it hangs")
	l.ended(other, prod, cli.ExitStopped)
	l.must(cli.ExitOK, "unlock", id, "--reason", "it hangs")
	l.ended(out, code, cli.ExitStopped)
	l.has(out.String(), "the next run finds out how its operation ended")
	l.has(l.must(cli.ExitRefused, "unlock", id, "--reason", "again"), "was refused")
}

// The lock of a run that cannot be read is released, and the next run finds the
// operations that are in progress. The unlock says what could not be read.
func TestUnlockUnreadableRun(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(ctx context.Context, table *dynamodb.Client, item map[string]types.AttributeValue) error
		says   string
	}{
		"missing": {func(ctx context.Context, table *dynamodb.Client, item map[string]types.AttributeValue) error {
			_, err := table.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(cli.Name), Key: item})
			return err
		}, "there is no run "},
		"unreadable": {func(ctx context.Context, table *dynamodb.Client, item map[string]types.AttributeValue) error {
			_, err := table.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: aws.String(cli.Name), Key: item, UpdateExpression: aws.String("SET version = :v"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberN{Value: "99"}},
			})
			return err
		}, "version 99"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLaptop(t)
			h := l.serve(3)
			out, code := l.begin("deploy", l.project)
			id := l.running(out)
			item := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "RUN#" + id}, "SK": &types.AttributeValueMemberS{Value: "RUN"}}
			if err := c.damage(t.Context(), dynamodb.NewFromConfig(h.Cloud.Config()), item); err != nil {
				t.Fatal(err)
			}
			if got := <-code; got == cli.ExitOK {
				t.Errorf("the watcher says that the run has succeeded\n%s", out)
			}
			other, prod := l.begin("deploy", l.project, "--env", "prod")
			second := l.running(other)
			r := l.run("unlock", "--reason", "damaged")
			if r.code != cli.ExitRefused {
				t.Errorf("unlock of two ended with %d", r.code)
			}
			l.has(r.err, "2 runs hold a lock: give the ID of one of them: ", id+" (of pair@default, cannot be read)", second+" (deploy of pair@prod, running)")
			l.ended(other, prod, cli.ExitOK)
			l.has(l.run("unlock", "--reason", "damaged").err, c.says, "Only the lock on pair@default is released", "run "+id+" no longer holds the lock on pair@default")
			l.must(cli.ExitOK, "deploy", l.project)
			l.has(l.run("unlock", id, "--reason", "damaged").err, c.says)
		})
	}
}
