// Package suspend has the kinds of resources that a suspended stack stops: how each is found, stopped and started.
package suspend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// CallTime is the longest time that one call of Stop or Start may take: a function of Stackwright must end before its step can be
// started again.
const CallTime = 25 * time.Second

// A Kind is a kind of resources that can be stopped: a row of All, in a file of its own. All other code reads the columns of the row and
// never its type.
type Kind struct {
	Type string // in templates
	Name string // for people, as "Auto Scaling group"

	Switch // stops and starts it
}

// A Switch stops and starts resources of one kind. Its errors are of kind Busy if the resource does not allow it now, Throttled if the
// request had certainly no effect, Unavailable if nobody knows, and of another kind if AWS refuses the request.
type Switch interface {
	// See reads resources by their physical IDs. It leaves out those that do not exist, and those that another kind stops.
	See(ctx context.Context, s Services, in project.Target, ids []string) (map[string]Seen, error)

	// Stop stops a resource. It is no error if it is stopped.
	Stop(ctx context.Context, s Services, in project.Target, id string) error

	// Start starts a resource as it was.
	Start(ctx context.Context, s Services, in project.Target, id, was string) error
}

// A State is how far a resource is stopped or started.
type State string

// The states.
const (
	On       State = "on"
	Off      State = "off"
	Starting State = "starting"
	Stopping State = "stopping"
	Occupied State = "occupied" // something else happens to it, and meanwhile it can be neither stopped nor started
	Fixed    State = "fixed"    // it is on, and cannot be stopped at all
)

// runs reports whether there is something to stop.
func (s State) runs() bool { return s == On || s == Starting || s == Occupied }

// Seen is a resource as it is now.
type Seen struct {
	State State
	As    string // what Start needs to make it again what it is now
	Says  string // the same for people; of a Fixed resource: why it cannot be stopped

	Charged string // what it is charged by the hour while it is on, for price.Charged; empty if that is not known
}

// asBefore reports whether a recorded resource runs as it did before it was stopped.
func (s Seen) asBefore(r plan.Stopped) bool {
	return s.State.runs() && s.State != Occupied && s.As == r.Was
}

// All lists the kinds of this version, in the order in which a suspend stops them in one stack.
func All() []Kind {
	return []Kind{serviceKind(), instanceKind(), groupKind(), databaseKind(), clusterKind(), graphKind(), documentKind(), warehouseKind(), notebookKind(), endpointKind()}
}

// Named returns the kind of a resource type. It reports false if there is none.
func Named(kind string) (Kind, bool) {
	for _, k := range All() {
		if k.Type == kind {
			return k, true
		}
	}
	return Kind{}, false
}

// Stacks are stacks of CloudFormation.
type Stacks interface {
	// ResourcesByType returns the physical IDs of the resources that a stack of the target has now, and those of the stacks that are nested in it,
	// sorted, by their types; none if the stack does not exist.
	ResourcesByType(ctx context.Context, in project.Target, stack string) (map[string][]string, error)
}

// Services are what stops and starts resources, each in the account and region of a target and with its role.
type Services struct {
	Stacks       Stacks
	TaskServices TaskServices
	Instances    Machines
	Groups       Groups
	Databases    Machines // DB instances of RDS
	Clusters     Machines // DB clusters of Aurora, Neptune and DocumentDB
	Warehouses   Machines
	Notebooks    Machines
}

// Running lists what a stack has that runs and can be stopped, in the order of All, and says why other resources of these kinds keep
// running.
func (s Services) Running(ctx context.Context, in project.Target, stack string) (running []plan.Stopped, fixed []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	err = s.each(ctx, in, stack, func(k Kind, id string, now Seen) {
		switch {
		case now.State.runs():
			running = append(running, plan.Stopped{Type: k.Type, ID: id, Was: now.As, Charged: now.Charged})
		case now.State == Fixed:
			fixed = append(fixed, k.Name+" "+id+" keeps running: "+now.Says)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return running, fixed, nil
}

// each calls do for what a stack has that can be stopped, in the order of All.
func (s Services) each(ctx context.Context, in project.Target, stack string, do func(k Kind, id string, now Seen)) error {
	found, err := s.Stacks.ResourcesByType(ctx, in, stack)
	if err != nil {
		return err
	}
	for _, k := range All() {
		ids := found[k.Type]
		if len(ids) == 0 {
			continue
		}
		seen, err := k.See(ctx, s, in, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if now, exists := seen[id]; exists {
				do(k, id, now)
			}
		}
	}
	return nil
}

// Stop stops resources that run. The error is of kind Busy or Throttled if nothing was stopped and the call can be repeated, Unavailable
// if it has to be repeated because nobody knows what was stopped, and of another kind if something cannot be stopped.
func (s Services) Stop(ctx context.Context, in project.Target, all []plan.Stopped) error {
	return s.change(ctx, in, all, func(ctx context.Context, k Kind, r plan.Stopped, now Seen) (bool, error) {
		if !now.State.runs() {
			return false, nil
		}
		return true, k.Stop(ctx, s, in, r.ID)
	})
}

// Start starts resources again, the last one first. Its errors are those of Stop.
func (s Services) Start(ctx context.Context, in project.Target, all []plan.Stopped) error {
	all = slices.Clone(all)
	slices.Reverse(all)
	return s.change(ctx, in, all, func(ctx context.Context, k Kind, r plan.Stopped, now Seen) (bool, error) {
		if now.State == Fixed || now.asBefore(r) {
			return false, nil
		}
		return true, k.Start(ctx, s, in, r.ID, r.Was)
	})
}

// change changes resources one after the other. What is Occupied is found before anything is changed. A resource that AWS refuses to
// change does not stop the others.
func (s Services) change(ctx context.Context, in project.Target, all []plan.Stopped, one func(context.Context, Kind, plan.Stopped, Seen) (requested bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	seen, err := s.see(ctx, in, all)
	if err != nil {
		return err
	}
	for i, r := range all {
		if seen[i].State == Occupied {
			return fault.New(fault.Busy, "%s is %s", nameOf(r), seen[i].Says)
		}
	}
	var refused []error
	changed := false
	for i, r := range all {
		if seen[i].State == "" { // it is gone
			continue
		}
		k, err := kindOf(r)
		if err != nil {
			return err
		}
		requested, err := one(ctx, k, r, seen[i])
		switch {
		case err == nil:
			changed = changed || requested
		case fault.Is(err, fault.Busy, fault.Throttled) && changed: // not without effect
			return fault.As(fault.Unavailable, err)
		case fault.Is(err, fault.Busy, fault.Throttled, fault.Unavailable):
			return err
		case !fault.Is(err, fault.Missing):
			refused = append(refused, err)
		}
	}
	return errors.Join(refused...)
}

// Unsettled lists what is not yet as a suspend leaves it, or as a resume does if on, and names what is gone. Both are for people.
func (s Services) Unsettled(ctx context.Context, in project.Target, all []plan.Stopped, on bool) (unsettled, gone []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	seen, err := s.see(ctx, in, all)
	if err != nil {
		return nil, nil, err
	}
	for i, r := range all {
		switch state := seen[i].State; {
		case state == "":
			gone = append(gone, nameOf(r))
		case state != Fixed && (on && state != On || !on && state != Off):
			unsettled = append(unsettled, fmt.Sprintf("%s is %s", nameOf(r), seen[i].Says))
		}
	}
	return unsettled, gone, nil
}

// see reads resources, in their order; one that is gone has no state.
func (s Services) see(ctx context.Context, in project.Target, all []plan.Stopped) ([]Seen, error) {
	ids := make(map[string][]string)
	for _, r := range all {
		ids[r.Type] = append(ids[r.Type], r.ID)
	}
	found := make(map[string]map[string]Seen)
	for _, r := range all {
		if found[r.Type] != nil {
			continue
		}
		k, err := kindOf(r)
		if err != nil {
			return nil, err
		}
		if found[r.Type], err = k.See(ctx, s, in, ids[r.Type]); err != nil {
			return nil, err
		}
		if found[r.Type] == nil {
			found[r.Type] = map[string]Seen{}
		}
	}
	seen := make([]Seen, len(all))
	for i, r := range all {
		seen[i] = found[r.Type][r.ID]
	}
	return seen, nil
}

// kindOf is the kind of a recorded resource.
func kindOf(r plan.Stopped) (Kind, error) {
	k, ok := Named(r.Type)
	if !ok {
		return k, fault.New(fault.Broken, "this version does not know how to stop and start %s: deploy the newer functions", r.Type)
	}
	return k, nil
}

// nameOf names a recorded resource for people.
func nameOf(r plan.Stopped) string {
	k, _ := Named(r.Type)
	return strings.TrimSpace(k.Name + " " + r.ID)
}

// Names names recorded resources for people.
func Names(all []plan.Stopped) string {
	var names []string
	for _, r := range all {
		names = append(names, nameOf(r))
	}
	return strings.Join(names, ", ")
}
