package main

import (
	"net/http"
	"sync/atomic"
	"testing"

	emulator "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A user without a permission learns which permission is missing. A user whose
// credentials have expired learns to log in again.
func TestDeniedAtAnInstallation(t *testing.T) {
	l, h := newInstallation(t)
	l.env["STACKWRIGHT_DIRECT"] = "true"
	type refusal struct {
		of gateway.Call
		gateway.Fault
	}
	var now atomic.Pointer[refusal]
	h.Cloud.Gateway.Fail(func(q gateway.Request) *gateway.Failure {
		if r := now.Load(); q.AccessKey == "person" && r != nil && q.Call == r.of {
			return &gateway.Failure{Status: http.StatusBadRequest, Fault: r.Fault}
		}
		return nil
	})
	for _, c := range []struct {
		denied gateway.Call
		args   []string
		says   string
	}{
		{gateway.Call{Service: "cloudformation", Operation: "DescribeStacks"}, []string{"runs"}, "installation sw in region us-east-1: read the installation's stack: AWS denies cloudformation:DescribeStacks"},
		{gateway.Call{Service: "dynamodb", Operation: "Query"}, []string{"runs"}, "AWS denies dynamodb:Query"},
		{gateway.Call{Service: "s3", Operation: "PutObject"}, []string{"deploy", l.project}, "AWS denies s3:PutObject"},
		{gateway.Call{Service: "dynamodb", Operation: "TransactWriteItems"}, []string{"targets", "add", "near", "--projects", "*@*", "--region", "eu-west-1"}, "AWS denies dynamodb:PutItem, "},
	} {
		now.Store(&refusal{c.denied, gateway.Fault{Code: "AccessDeniedException", Message: "User is not authorized"}})
		r := l.run(c.args...)
		if l.has(r.err, c.says); r.code == cli.ExitOK {
			t.Errorf("%v ended well", c.args)
		}
	}
	expired := gateway.Fault{Code: "ExpiredTokenException", Message: "The security token included in the request is expired"}
	now.Store(&refusal{gateway.Call{Service: "dynamodb", Operation: "Query"}, expired})
	l.has(l.run("runs").err, "AWS does not accept the credentials")
}

// A temporary error does not end the watching of a run.
func TestFollowingOutlastsTroubleOfAWS(t *testing.T) {
	l, h := newInstallation(t)
	var requested atomic.Bool // the run: the command follows it from now on
	var reads atomic.Int32
	h.Cloud.Gateway.Fail(func(q gateway.Request) *gateway.Failure {
		if q.Operation == "CreateStack" {
			requested.Store(true)
		}
		if q.AccessKey != "person" || q.Service != "execute-api" {
			return nil
		}
		if !requested.Load() || reads.Add(1) > 4 {
			return nil
		}
		return &gateway.Failure{Status: http.StatusInternalServerError, Fault: gateway.Fault{Code: "InternalServerError", Message: "oh"}}
	})
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created")
	if n := reads.Load(); n <= 4 {
		t.Errorf("%d reads", n)
	}
}

// A user who loses the permission to watch a run, or the session, learns that the run
// continues.
func TestWatchingIsLost(t *testing.T) {
	l, h := newInstallation(t)
	var startedAt atomic.Bool
	var seen atomic.Int32
	h.Cloud.Gateway.Fail(func(q gateway.Request) *gateway.Failure {
		if q.Operation == "CreateStack" {
			startedAt.Store(true)
		}
		if q.AccessKey != "person" || q.Service != "execute-api" || !startedAt.Load() || seen.Add(1) <= 1 {
			return nil
		}
		return &gateway.Failure{Status: http.StatusForbidden, Fault: gateway.Fault{Code: "ExpiredTokenException", Message: "it has expired"}}
	})
	l.fail(h, emulator.Fault{Stack: "pair-*", Seconds: 2})
	r := l.run("deploy", l.project)
	if l.has(r.err, "it has expired", "continues; this command no longer follows it", "stackwright status ", " --follow", "log in again if the credentials have expired (aws sso login)"); r.code != cli.ExitFailed {
		t.Errorf("ended with %d\n%s", r.code, r.out)
	}
}
