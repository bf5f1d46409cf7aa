package suspend

import (
	"context"

	"github.com/stackwright/stackwright/pkg/project"
)

// Machines are resources of one service that are stopped and started as a whole, such as instances of EC2.
type Machines interface {
	// Machines reads some, of the account and region of the target, by their physical IDs. It leaves out those that do not exist.
	Machines(ctx context.Context, in project.Target, ids []string) (map[string]Machine, error)

	// StopMachine stops one. The error is of kind Busy if it cannot be stopped now, and Missing if there is none.
	StopMachine(ctx context.Context, in project.Target, id string) error

	// StartMachine starts one. The error is of kind Busy if it cannot be started now.
	StartMachine(ctx context.Context, in project.Target, id string) error
}

// A Machine is one of them.
type Machine struct {
	Status string // as its service calls it
	Why    string // why it has this status, as its service says; "" if it says nothing
	Member bool   // it belongs to a resource of another kind, with which it is stopped
	Fixed  string // why it cannot be stopped; "" if it can

	Charged string // what it is charged by the hour while it is on, without storage, for price.Charged; empty if that is not known
}

// machines stops and starts Machines. In a status that states does not have, one can be neither stopped nor started.
type machines struct {
	of     func(Services) Machines
	states map[string]State
}

// See implements Switch.
func (m machines) See(ctx context.Context, s Services, in project.Target, ids []string) (map[string]Seen, error) {
	found, err := m.of(s).Machines(ctx, in, ids)
	if err != nil {
		return nil, err
	}
	all := make(map[string]Seen, len(found))
	for id, one := range found {
		state, known := m.states[one.Status]
		switch {
		case one.Member:
			continue
		case !known:
			state = Occupied
		case one.Fixed != "" && state != Off:
			all[id] = Seen{State: Fixed, Says: one.Fixed}
			continue
		}
		says := one.Status
		if one.Why != "" {
			says += " (" + one.Why + ")"
		}
		all[id] = Seen{State: state, Says: says, Charged: one.Charged}
	}
	return all, nil
}

// Stop implements Switch.
func (m machines) Stop(ctx context.Context, s Services, in project.Target, id string) error {
	return m.of(s).StopMachine(ctx, in, id)
}

// Start implements Switch.
func (m machines) Start(ctx context.Context, s Services, in project.Target, id, _ string) error {
	return m.of(s).StartMachine(ctx, in, id)
}
