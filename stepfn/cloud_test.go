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

// The adapter on the emulator keeps the laws that the cloud in memory keeps.
func TestCloud(t *testing.T) {
	contract.Cloud(t, func(t *testing.T, holds func(*testing.T, contract.Sky)) {
		synctest.Test(t, func(t *testing.T) {
			r := newEmulators(t)
			client := cloudformation.NewFromConfig(r.cloud.Config())
			holds(t, testCloud{cfn.New(cfn.SingleTarget(client), inline{}), r})
		})
	})
}

// sky is CloudFormation as the contract turns it.
type testCloud struct {
	*cfn.Cloud
	real *emulators
}

func (s testCloud) Now() time.Time       { return time.Now() }
func (s testCloud) Pass(d time.Duration) { s.real.Pass(d) }

func (s testCloud) Fail(stack string, v plan.Verb) {
	s.real.inject(local.Fault{Stack: stack, Operation: string(v), Reason: "injected", Times: 1})
}

func (s testCloud) Slow(stack string, d time.Duration) {
	s.real.inject(local.Fault{Stack: stack, Seconds: d.Seconds()})
}

func (s testCloud) Node(name, version string, imports ...string) project.Node {
	st := stack{version: version}
	text := string(st.template(nil))
	for _, i := range imports {
		text = strings.Replace(text, "["+version, "["+version+", !ImportValue "+i+"-Name", 1)
	}
	return project.Node{Name: name, Stack: name, Template: project.Template{Digest: text, Bytes: len(text), Pinned: true}}
}

// inline keeps templates under themselves.
type inline struct{}

func (inline) Template(_ context.Context, body string) ([]byte, error) { return []byte(body), nil }
func (inline) URL(string) string                                       { return "" }
