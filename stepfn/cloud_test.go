package stepfn_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	local "github.com/stackwright/stackwright/infra/local/cloudformation"
	cfn "github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// The adapter with the emulator of CloudFormation passes the same contract tests as
// the cloud in memory.
func TestCloud(t *testing.T) {
	contract.Cloud(t, func(t *testing.T, holds func(*testing.T, contract.Sky)) {
		synctest.Test(t, func(t *testing.T) {
			r := newEmulators(t)
			client := cfn.TargetClient{Client: cloudformation.NewFromConfig(r.cloud.Config())}
			clients := func(context.Context, project.Target) (cfn.TargetClient, error) { return client, nil }
			holds(t, testCloud{cfn.New(clients, inline{}), r})
		})
	})
}

// testCloud is the adapter, with which the contract tests also control the emulator.
type testCloud struct {
	*cfn.Cloud
	backend *emulators
}

func (c testCloud) Now() time.Time       { return time.Now() }
func (c testCloud) Pass(d time.Duration) { c.backend.Pass(d) }

func (c testCloud) Fail(stack string, v plan.Verb) {
	c.backend.inject(local.Fault{Stack: stack, Operation: operationOf(v), Reason: "injected", Times: 1})
}

func (c testCloud) Drift(stack string, deleted bool) {
	f := topicDrift(deleted)
	f.Stack = stack
	c.backend.inject(f)
}

func (c testCloud) Slow(stack string, d time.Duration) {
	c.backend.inject(local.Fault{Stack: stack, Seconds: d.Seconds()})
}

func (c testCloud) Lag(d time.Duration) { c.backend.inject(local.Fault{Lag: d.Seconds()}) }

func (c testCloud) Node(name, version string, imports ...string) project.Node {
	st := stack{version: version}
	text := string(st.template(nil))
	for _, i := range imports {
		text = strings.Replace(text, "["+version, "["+version+", !ImportValue "+i+"-Name", 1)
	}
	return project.Node{Name: name, Stack: name, Template: project.Template{Digest: text, Bytes: len(text), Pinned: true}}
}

// inline is a store of templates in which the digest is the template itself.
type inline struct{}

func (inline) Template(_ context.Context, body string) ([]byte, error) { return []byte(body), nil }
func (inline) URL(string) string                                       { return "" }
