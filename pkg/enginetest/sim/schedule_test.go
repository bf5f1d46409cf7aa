package sim_test

import (
	"context"
	"testing"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/project"
)

// calendar lets the contract read schedules.
type calendar struct{ *sim.Schedules }

func (c calendar) Stored(_ context.Context, id string) (map[string]project.Schedule, error) {
	all := make(map[string]project.Schedule)
	for name, s := range c.Of(id) {
		all[name] = project.Schedule{Operation: s.Operation, Expression: s.Expression, Zone: s.Zone, Except: s.Except}
	}
	return all, nil
}

func (c calendar) StoredAuthors(_ context.Context, id string) (map[string][]string, error) {
	return c.Authors(id), nil
}

func TestSchedulesKeepTheContract(t *testing.T) {
	contract.Schedules(t, func(*testing.T) contract.Calendar { return calendar{sim.NewSchedules()} })
}
