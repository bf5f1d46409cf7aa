package revision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Alarms reads alarms of CloudWatch in all targets.
type Alarms interface {
	// States returns the alarms of the given names in the account and region of a target, in their order. One that does not exist
	// has no state.
	States(ctx context.Context, in project.Target, names []string) ([]project.Alarm, error)

	// Raised returns when an alarm last went off since a time; zero if it did not.
	Raised(ctx context.Context, in project.Target, name string, since time.Time) (time.Time, error)
}

// ErrOvertaken means that something newer was deployed to the environment whose revision was to be promoted.
var ErrOvertaken = errors.New("nothing was done: another promotion follows that deploy, if it succeeds")

// checkPipeline decides whether p, a promotion that follows another run and that nobody requests, may go on: the files that were last deployed to its environment have
// to say so, nothing newer may have been deployed to the other one, and its alarms have to be healthy.
func (f Finder) checkPipeline(ctx context.Context, r run.Run, p run.Promotion) error {
	if why := p.Overtaken(r.Follows); why != "" {
		return fmt.Errorf("%s: %w", why, ErrOvertaken)
	}
	followed, err := f.Store.Run(ctx, r.Follows)
	if err != nil {
		return fmt.Errorf("the run that is promoted: %w", err)
	}
	refused := []error{p.Unwanted(r.FromEnvironment)}
	if followed.Promotion != nil {
		unhealthy, err := f.unhealthy(ctx, p.From, *followed.Promotion, followed.Ended)
		if err != nil {
			return err
		}
		refused = append(refused, unhealthy)
	}
	return errors.Join(refused...)
}

// unhealthy returns an error of kind Refused that names all alarms which are not OK, or have gone off since a time. Another error says that they cannot be
// read now.
func (f Finder) unhealthy(ctx context.Context, of string, p project.Promotion, since time.Time) (refused, err error) {
	names := make(map[project.Target][]string)
	var targets []project.Target
	for _, a := range p.Alarms {
		if names[a.Target] == nil {
			targets = append(targets, a.Target)
		}
		names[a.Target] = append(names[a.Target], a.Name)
	}
	var wrong []error
	for _, t := range targets {
		found, err := f.alarmsIn(ctx, of, t, slices.Compact(slices.Sorted(slices.Values(names[t]))), since)
		switch {
		case fault.Final(err):
			wrong = append(wrong, fmt.Errorf("the alarms %s of %s: %w", strings.Join(names[t], ", "), of, err))
		case err != nil:
			return nil, err
		}
		wrong = append(wrong, found...)
	}
	return errors.Join(wrong...), nil
}

// alarmsIn says what is wrong with the alarms of a target.
func (f Finder) alarmsIn(ctx context.Context, of string, t project.Target, names []string, since time.Time) ([]error, error) {
	if err := f.Permits.Permit(ctx, of, t); err != nil {
		return nil, err
	}
	all, err := f.Alarms.States(ctx, t, names)
	if err != nil {
		return nil, err
	}
	var wrong []error
	for _, a := range all {
		raised := time.Time{}
		if a.OK() && !a.Since.Before(since) { // it had another state before
			if raised, err = f.Alarms.Raised(ctx, t, a.Name, since); err != nil {
				return nil, err
			}
		}
		switch {
		case a.State == "":
			wrong = append(wrong, fault.New(fault.Refused, "there is no alarm %s in account %s and region %s: create it, or correct promote in the files, and promote yourself", a.Name, t.Account, t.Region))
		case !a.OK():
			wrong = append(wrong, fault.New(fault.Refused, "alarm %s of target %s is in the state %s: find out why, and promote yourself when it is OK", a.Name, t.Name, a.State))
		case !raised.IsZero():
			wrong = append(wrong, fault.New(fault.Refused, "alarm %s of target %s has gone off at %s, after the deploy of %s: find out why, and promote yourself", a.Name, t.Name, raised.UTC().Format(time.RFC3339), of))
		}
	}
	return wrong, nil
}
