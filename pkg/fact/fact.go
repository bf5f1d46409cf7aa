// Package fact has the facts that plans are made from: what each adds to a view, and how it is read.
package fact

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Fact is something that plans are made from, besides the files, the records and the live stacks: a row of All, in a file of its own. The engine calls
// the columns that a row has, in the order of the rows, and reads nothing else for a plan. All of them are called under the lock of the project.
type Fact struct {
	// Resolve completes the desired project, before the values outside it are read.
	Resolve func(ctx context.Context, e Reading, p project.Project) (project.Project, error)

	// Before completes a view whose live stacks are not observed yet. The stacks that it puts into v.Live are not observed.
	Before func(ctx context.Context, e Reading, v *plan.View) error

	// Complete completes a view that has the live stacks.
	Complete func(ctx context.Context, e Reading, v *plan.View) error

	// Of reports whether the fact is the value of a source. Values reads such sources as they are now, of a desired project; it is called only if there are some.
	Of     func(s project.Source) bool
	Values func(ctx context.Context, e Reading, p project.Project, sources []project.Source) (Value, error)
}

// A Value returns the value of a source. The error is of kind Missing if it does not exist.
type Value func(project.Source) (string, error)

// Facts are the rows that an engine reads.
type Facts []Fact

// Services are what facts are read from, besides the store and CloudFormation, and what the installation allows projects. All of them are needed.
type Services struct {
	Units      Units
	Suspends   project.Grants // the projects that may be suspended
	BacksUp    project.Grants // the projects whose data may be backed up
	Backups    Backups
	Externals  project.Externals // the stacks outside their projects whose outputs and exports these may read
	Parameters Parameters
}

// All returns the facts of this version. Each may use what those before it have put into the view.
func (s Services) All() Facts {
	return Facts{
		outputFact(), exportFact(s.Externals), parameterFact(s.Parameters),
		unitFact(s.Units), suspendFact(s.Suspends), historyFact(), wholeFact(), deployedFact(),
		snapshotFact(s.BacksUp, s.Backups), rollbackFact(), retryFact(), adoptFact(), replaceFact(), inUseFact(), takenFact(), importFact(), moveFact(),
	}
}

// A Reading is the run whose plan is made, and what its facts are read with. All its fields are needed.
type Reading struct {
	Run        run.Run
	Operations plan.Operations
	Verbs      action.Verbs
	Store      Store
	Clouds     Clouds
	Changes    Templates
	Specs      Specs
	Now        func() time.Time

	// Templates reads templates by their digests. The result returns an error for a template that does not exist or cannot be understood.
	Templates func(ctx context.Context, digests []string) (plan.Templates, error)

	// Permit returns the errors of kind Denied of those of some targets that the project of the run may not use, joined.
	Permit func(ctx context.Context, targets []project.Target) error

	// Parallel calls do for 0 to n-1, several at the same time, and returns after the last of them, with the first error.
	Parallel func(ctx context.Context, n int, do func(ctx context.Context, i int) error) error
}

// A Store reads what earlier runs have left, as engine.Store does.
type Store interface {
	Run(ctx context.Context, id string) (run.Run, error)
	Load(ctx context.Context, id string) (run.Run, error)
	Lock(ctx context.Context, project string) (run.Lock, error)
	Records(ctx context.Context, project string) (map[string]plan.Record, error)
	Projects(ctx context.Context) ([]string, error)
}

// Clouds reads live stacks, as engine.Clouds does. What it observes, and what it reads of exports, importers and resources, is counted in the budgets of the run.
type Clouds interface {
	Observe(ctx context.Context, places []plan.Location) (map[string]plan.Live, error)
	DeployedTemplate(ctx context.Context, p plan.Location) ([]byte, error)
	Holder(ctx context.Context, t project.Target, physicalID string) (stack string, err error)
	Exports(ctx context.Context, t project.Target, names []string) (map[string]plan.Export, error)
	Importers(ctx context.Context, t project.Target, exports []string) (map[string][]string, error)
	Resources(ctx context.Context, p plan.Location) (map[string]string, error)
}

// Templates reads templates, as engine.Changes does.
type Templates interface {
	Template(ctx context.Context, digest string) ([]byte, error)
}

// Specs stores templates, as engine.Specs does.
type Specs interface {
	SaveDeployedTemplate(ctx context.Context, body []byte) (digest string, err error)
}

// operation returns the row of a run's operation; the zero row if there is none.
func (e Reading) operation(r run.Run) plan.Operation { return e.Operations.Of(r.Operation) }

// CheckValues refuses values outside the project that their templates do not allow, as the reader of the files refuses those
// that are written there.
func (e Reading) CheckValues(ctx context.Context, before, after project.Project) error {
	var digests []string
	for _, n := range before.Nodes {
		if n.ReadsParameters() {
			digests = append(digests, n.Template.Digest)
		}
	}
	slices.Sort(digests)
	templates, err := e.Templates(ctx, slices.Compact(digests))
	if err != nil {
		return fmt.Errorf("check the values outside the project: %w", err)
	}
	return plan.CheckValues(before, after, templates)
}

// Resolve completes a desired project by all facts.
func (f Facts) Resolve(ctx context.Context, e Reading, p project.Project) (project.Project, error) {
	for _, one := range f {
		if one.Resolve != nil {
			var err error
			if p, err = one.Resolve(ctx, e, p); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// Before completes a view by all facts, before its live stacks are observed.
func (f Facts) Before(ctx context.Context, e Reading, v *plan.View) error {
	return f.complete(ctx, e, v, func(one Fact) completion { return one.Before })
}

// Complete completes a view by all facts.
func (f Facts) Complete(ctx context.Context, e Reading, v *plan.View) error {
	return f.complete(ctx, e, v, func(one Fact) completion { return one.Complete })
}

// ofDeploy returns a column that is only read for a deploy that does not recreate stacks; its errors say what it reads.
func ofDeploy(what string, read completion) completion {
	return func(ctx context.Context, e Reading, v *plan.View) error {
		if o := e.operation(e.Run); o.Recreates || !o.Deploys() {
			return nil
		}
		if err := read(ctx, e, v); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
}

type completion = func(context.Context, Reading, *plan.View) error

func (f Facts) complete(ctx context.Context, e Reading, v *plan.View, column func(Fact) completion) error {
	for _, one := range f {
		if read := column(one); read != nil {
			if err := read(ctx, e, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Values reads sources of a desired project as they are now. A source has the value of the first fact that it is of.
func (f Facts) Values(ctx context.Context, e Reading, p project.Project, sources []project.Source) (Value, error) {
	read := make([]Value, len(f))
	left := slices.Clone(sources)
	for i, one := range f {
		if one.Of == nil {
			continue
		}
		var its, others []project.Source
		for _, s := range left {
			if one.Of(s) {
				its = append(its, s)
			} else {
				others = append(others, s)
			}
		}
		if left = others; len(its) == 0 {
			continue
		}
		var err error
		if read[i], err = one.Values(ctx, e, p, its); err != nil {
			return nil, err
		}
	}
	return func(s project.Source) (string, error) {
		i := slices.IndexFunc(f, func(one Fact) bool { return one.Of != nil && one.Of(s) })
		if i < 0 || read[i] == nil {
			return "", fault.New(fault.Broken, "this version of the functions cannot read ${%s}: update the installation to the newer version", s)
		}
		return read[i](s)
	}, nil
}
