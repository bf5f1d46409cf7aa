package wire

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/check"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/unit"
)

// A loader loads the configuration of one run. It holds the templates that it has
// read until a step needs one: only the templates of nodes with a step are stored.
type loader struct {
	bucket   *s3.Bucket
	registry *dynamodb.Table
	home     project.Target
	own      check.Installation
	holds    project.Condition
	remotes  remotes
	units    *unit.Follower

	name      string              // of the project
	store     packages.Store      // the bucket, for the files that templates name
	templates map[string][]byte   // by digest
	objects   map[string][]byte   // that templates need, by digest
	needs     map[string][]string // the digests of the objects, by the template's

	mu    sync.Mutex
	saved map[string]func() error // the objects that are being stored, or are stored
}

// installation names the resources that no project may change.
func installation(env Environment) check.Installation {
	own := parts(env)
	return check.Installation{
		Stack: env.Stack, Bucket: env.Bucket, Table: env.Table,
		StateMachine: env.StateMachine[strings.LastIndex(env.StateMachine, ":")+1:], Hooks: &env.Hooks, Parts: &own, Externals: &env.Externals,
		Assets: &env.Assets,
	}
}

// Project implements engine.Configurations.
func (l *loader) Project(ctx context.Context, r run.Run) (project.Project, error) {
	body, err := l.bucket.Object(ctx, r.Source.Key, r.Source.Version)
	if err != nil {
		return project.Project{}, fmt.Errorf("configuration: %w", err)
	}
	files, err := archive.Unpack(r.Source.Key, body)
	if err != nil {
		return project.Project{}, err
	}
	targets, units, err := l.targets(ctx)
	if err != nil {
		return project.Project{}, fmt.Errorf("targets: %w", err)
	}
	name, environment, _ := strings.Cut(r.Project, "@")
	var loaded format.Loaded
	err = format.WithUnits(format.Options{
		Project: name, Environment: environment, Targets: targets, Units: units, Installation: l.own, Store: l.store, Holds: l.holds,
		Accepted: accepted(r),
	}, func(o format.Options) (unregistered []string, err error) {
		loaded, err = l.remotes.read(ctx, r.Source, r.Project, files, o)
		return loaded.Unregistered, err
	}, func(names []string) (project.Members, error) {
		return l.units.Members(ctx, r.Selection.Partial(), names)
	})
	l.name, l.templates, l.objects, l.needs = loaded.Project.Name, loaded.Templates, loaded.Objects, loaded.Needs
	return loaded.Project, err
}

// accepted reports whether the files of r may have been deployed before. What AWS has accepted then must not become an
// error when the schemas of AWS are others: a rollback would be refused.
func accepted(r run.Run) bool {
	o := plan.AllOperations().Of(r.Operation)
	return !o.NeedsSource() || !o.Deploys() || o.Restores || r.Schedule != "" || r.State.Over()
}

// SaveTemplate implements engine.Specs. It stores the objects that the template needs
// before the template.
func (l *loader) SaveTemplate(ctx context.Context, digest string) error {
	for _, object := range l.needs[digest] {
		if err := l.saveObject(ctx, object); err != nil {
			return err
		}
	}
	return l.bucket.SaveTemplate(ctx, digest, l.templates[digest])
}

// saveObject stores an object once, however many templates need it.
func (l *loader) saveObject(ctx context.Context, digest string) error {
	l.mu.Lock()
	save, ok := l.saved[digest]
	if !ok {
		if l.saved == nil {
			l.saved = make(map[string]func() error)
		}
		save = sync.OnceValue(func() error { return l.bucket.SaveObject(ctx, packages.Key(l.name, digest), digest, l.objects[digest]) })
		l.saved[digest] = save
	}
	l.mu.Unlock()
	return save()
}

// SaveDeployedTemplate implements engine.Specs.
func (l *loader) SaveDeployedTemplate(ctx context.Context, body []byte) (digest string, err error) {
	return l.bucket.SaveDeployedTemplate(ctx, body)
}

// SaveSpecs implements engine.Specs.
func (l *loader) SaveSpecs(ctx context.Context, nodes []project.Node) ([]string, error) {
	return l.bucket.SaveSpecs(ctx, nodes)
}

// Spec implements engine.Specs.
func (l *loader) Spec(ctx context.Context, reference string) (project.Node, error) {
	return l.bucket.Spec(ctx, reference)
}

// SaveValues implements engine.Specs.
func (l *loader) SaveValues(ctx context.Context, values []project.SourceValue) (string, error) {
	return l.bucket.SaveValues(ctx, values)
}

// Values implements engine.Specs.
func (l *loader) Values(ctx context.Context, reference string) ([]project.SourceValue, error) {
	return l.bucket.Values(ctx, reference)
}

// Template implements engine.Changes.
func (l *loader) Template(ctx context.Context, digest string) ([]byte, error) {
	if body, ok := l.templates[digest]; ok {
		return body, nil
	}
	return l.bucket.Template(ctx, digest)
}

// PlannedChanges implements engine.Changes.
func (l *loader) PlannedChanges(ctx context.Context, reference string) (plan.Changes, error) {
	return l.bucket.PlannedChanges(ctx, reference)
}

// SaveProposal implements engine.Changes.
func (l *loader) SaveProposal(ctx context.Context, p plan.Proposal) (string, error) {
	return l.bucket.SaveProposal(ctx, p)
}

// Proposal implements engine.Changes.
func (l *loader) Proposal(ctx context.Context, reference string) (plan.Proposal, error) {
	return l.bucket.Proposal(ctx, reference)
}

// SaveChanges implements engine.Changes.
func (l *loader) SaveChanges(ctx context.Context, c plan.Changes) (string, error) {
	return l.bucket.SaveChanges(ctx, c)
}
