package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

func TestCloud(t *testing.T) {
	contract.Cloud(t, func(t *testing.T, holds func(*testing.T, contract.Sky)) {
		clock := NewClock()
		holds(t, contractCloud{NewCloud(clock), clock})
	})
}

// contractCloud is the cloud in memory as the contract controls it.
type contractCloud struct {
	*Cloud
	clock *Clock
}

func (s contractCloud) Now() time.Time { return s.clock.Now() }

func (s contractCloud) Pass(d time.Duration) {
	passed := false
	s.clock.After(d, func() { passed = true })
	s.clock.Run(func() bool { return passed })
}

func (s contractCloud) Fail(stack string, v plan.Verb) { s.Cloud.Fail[stack+"/"+string(v)]++ }

func (s contractCloud) Node(stack, version string, imports ...string) project.Node {
	return project.Node{Name: stack, Stack: stack, Template: project.Template{Digest: version + " imports " + strings.Join(imports, " "), Pinned: true}}
}

func (s contractCloud) Drift(stack string, deleted bool) { s.Cloud.Drift(stack, deleted) }

func (s contractCloud) Slow(stack string, d time.Duration) { s.Cloud.Seconds[stack] = d.Seconds() }

func (s contractCloud) Lag(d time.Duration) { s.Cloud.Lag = d }
