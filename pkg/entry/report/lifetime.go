package report

import (
	"context"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Lifetime says until when an environment lives.
type Lifetime struct {
	Expires  time.Time `json:"expires"`
	TTL      string    `json:"ttl"`                    // of the files that were deployed last, such as 3d
	Pattern  string    `json:"pattern,omitempty"`      // under environments: in these files, that its name fits; missing if they list it by its name
	Set      time.Time `json:"set"`                    // when the end was set
	Run      string    `json:"run"`                    // the deploy or the extend that has set it
	Who      string    `json:"who,omitempty"`          // requested that run
	Warned   bool      `json:"warned,omitempty"`       // the warning that it expires was requested
	Attempts int       `json:"attempts,omitempty"`     // how many destroys were requested since it has expired
	Attempt  string    `json:"attempt,omitempty"`      // the run of the newest
	Next     time.Time `json:"next_attempt,omitzero"`  // when the next is requested, if that one fails
	GivenUp  bool      `json:"given_up,omitempty"`     // no destroy is requested any more: a person has to destroy or extend it
	Destroys string    `json:"destroyed_by,omitempty"` // the run that destroys it, from when that has started
}

// LifetimeOf is a lifetime as it is shown; nil for an environment that lives for ever.
func LifetimeOf(l project.Lifetime) *Lifetime {
	if !l.Known() {
		return nil
	}
	shown := Lifetime{
		Expires: l.Expires, TTL: l.TTL.String(), Pattern: l.Pattern, Set: l.Set, Run: l.Run, Who: l.Who, Warned: l.Warned, Attempts: l.Attempts, Attempt: l.Attempt, GivenUp: l.GivenUp(), Destroys: l.Destroys,
	}
	if !l.GivenUp() {
		shown.Next = l.Next
	}
	return &shown
}

// A LivingEnvironment is an environment that has stacks or an end.
type LivingEnvironment struct {
	Project  string      `json:"project"` // "shop@pr-42"
	Stacks   int         `json:"stacks"`  // how many are recorded
	Lifetime *Lifetime   `json:"lifetime,omitempty"`
	Deployed *LastDeploy `json:"deployed,omitempty"` // by the newest deploy that was not refused, among the newest 20 runs
}

// A LastDeploy is the newest deploy of an environment.
type LastDeploy struct {
	Run       string    `json:"run"`
	State     run.State `json:"state"`
	Who       string    `json:"who"`
	Requested time.Time `json:"requested"`
}

// A LivingPage is a page of the environments of projects.
type LivingPage struct {
	Environments []LivingEnvironment `json:"environments"`    // sorted by project and environment
	After        string              `json:"after,omitempty"` // the parameter of the request for the next page; empty on the last page. A page may have no environments although there is a next one
}

// Lives reads what Living needs.
type Lives interface {
	Stacks(ctx context.Context, project string) (int, error)
	Lifetime(ctx context.Context, project string) (project.Lifetime, error)
	List(ctx context.Context, project string, most int) ([]run.Run, error)
}

// newest is how many runs of an environment are read to find its newest deploy.
const newest = 20

// Living returns an environment, and whether it has stacks or an end.
func Living(ctx context.Context, from Lives, id string) (e LivingEnvironment, lives bool, err error) {
	e.Project = id
	if e.Stacks, err = from.Stacks(ctx, id); err != nil {
		return e, false, err
	}
	l, err := from.Lifetime(ctx, id)
	if err != nil || e.Stacks == 0 && !l.Known() {
		return e, false, err
	}
	e.Lifetime = LifetimeOf(l)
	runs, err := from.List(ctx, id, newest)
	if i := slices.IndexFunc(runs, func(r run.Run) bool {
		o := plan.AllOperations().Of(r.Operation)
		return o.Writes && o.Deploys() && r.State != run.StateRefused
	}); i >= 0 {
		e.Deployed = &LastDeploy{Run: runs[i].ID, State: runs[i].State, Who: runs[i].By(), Requested: runs[i].Requested}
	}
	return e, true, err
}
