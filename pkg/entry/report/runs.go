package report

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stackwright/stackwright/pkg/run"
)

// A Lister lists runs of a project without steps, newest first.
type Lister interface {
	// List returns the newest runs of a project.
	List(ctx context.Context, project string, most int) ([]run.Run, error)

	// Before returns the newest runs that are older than r, of the same project.
	Before(ctx context.Context, r run.Run, most int) ([]run.Run, error)
}

// A Scope selects projects and environments by their names. An empty name is that of all.
type Scope struct{ Project, Environment string }

// Has reports whether a project, as "shop@prod", is selected.
func (s Scope) Has(id string) bool {
	name, environment, _ := strings.Cut(id, "@")
	return (s.Project == "" || s.Project == name) && (s.Environment == "" || s.Environment == environment)
}

// A RunFilter selects runs. Empty fields select all.
type RunFilter struct {
	Scope
	Operation    string
	State        run.State
	Who          string    // a part of who requested the run
	Since, Until time.Time // the run was requested since the one, and before the other
}

// Wants reports whether a run is selected.
func (f RunFilter) Wants(r run.Run) bool {
	return f.Has(r.Project) && (f.Operation == "" || f.Operation == r.Operation) && (f.State == "" || f.State == r.State) && strings.Contains(r.Known(), f.Who) &&
		!r.Requested.Before(f.Since) && (f.Until.IsZero() || r.Requested.Before(f.Until))
}

// atOnce is how many projects are read at the same time.
const atOnce = 8

// NewestRuns lists the runs of some projects, newest first, that are older than a run; one without a time is later than all. It reads some
// runs of each project first, and more only of a project whose runs it has listed.
func NewestRuns(ctx context.Context, from Lister, projects []string, before run.Run, some int) iter.Seq2[run.Run, error] {
	return func(yield func(run.Run, error) bool) {
		read := make([][]run.Run, len(projects))
		more := func(ctx context.Context, i int, than run.Run) (err error) {
			if than.Project = projects[i]; than.Requested.IsZero() {
				read[i], err = from.List(ctx, projects[i], some)
			} else {
				read[i], err = from.Before(ctx, than, some)
			}
			return err
		}
		group, within := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		for i := range projects {
			group.Go(func() error { return more(within, i, before) })
		}
		if err := group.Wait(); err != nil {
			yield(run.Run{}, err)
			return
		}
		for {
			next := -1
			for i, runs := range read {
				if len(runs) > 0 && (next < 0 || Newer(runs[0], read[next][0]) < 0) {
					next = i
				}
			}
			if next < 0 {
				return
			}
			r := read[next][0]
			if read[next] = read[next][1:]; len(read[next]) == 0 {
				if err := more(ctx, next, r); err != nil {
					yield(run.Run{}, err)
					return
				}
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Newer orders runs, the newest first.
func Newer(a, b run.Run) int {
	return cmp.Or(b.Requested.Compare(a.Requested), cmp.Compare(b.ID, a.ID))
}
