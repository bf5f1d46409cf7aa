package sim_test

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/project"
)

// Permits obeys the contract.
func TestPermits(t *testing.T) {
	contract.Permits(t, func(t *testing.T, holds func(*testing.T, contract.Registry)) { holds(t, registry{sim.Permits{}}) })
}

// A registry is permits that a test controls.
type registry struct{ sim.Permits }

func (r registry) Register(t project.Target, projects ...string) { r.Permits[t.Name] = projects }
func (r registry) Pass(time.Duration)                            {}
