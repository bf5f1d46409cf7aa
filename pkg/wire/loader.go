package wire

import (
	"context"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/check"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A loader loads the configuration of one run. It holds the templates that it has
// read until a step needs one: only the templates of nodes with a step are stored.
type loader struct {
	bucket   *s3.Bucket
	registry *dynamodb.Table
	home     project.Target
	own      check.Installation

	templates map[string]func() error // by digest: each stores its template when it is first called
}

// installation names the resources that no project may change.
func installation(env Environment) check.Installation {
	return check.Installation{
		Stack: env.Stack, Bucket: env.Bucket, Table: env.Table,
		StateMachine: env.StateMachine[strings.LastIndex(env.StateMachine, ":")+1:],
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
	targets, err := l.targets(ctx)
	if err != nil {
		return project.Project{}, fmt.Errorf("targets: %w", err)
	}
	name, environment, _ := strings.Cut(r.Project, "@")
	loaded, err := format.Read(files, format.Options{
		Project: name, Environment: environment, Targets: targets, Installation: l.own,
	})
	l.templates = make(map[string]func() error)
	for digest, body := range loaded.Templates {
		l.templates[digest] = once(func() error { return l.bucket.SaveTemplate(ctx, digest, body) })
	}
	return loaded.Project, err
}

// once returns a function that calls store when it is first called. Concurrent calls wait
// for that call in a channel: unlike in a sync.Once, the virtual time of tests goes on
// while they wait, so that a request can be repeated after a pause.
func once(store func() error) func() error {
	turn, done := make(chan struct{}, 1), false
	var err error
	return func() error {
		turn <- struct{}{}
		defer func() { <-turn }()
		if !done {
			err, done = store(), true
		}
		return err
	}
}

// SaveSpec implements engine.Specs. It stores the node's template before its spec.
func (l *loader) SaveSpec(ctx context.Context, n project.Node) (string, error) {
	if store, ok := l.templates[n.Template.Digest]; ok {
		if err := store(); err != nil {
			return "", fmt.Errorf("template of %s: %w", n.Name, err)
		}
	}
	return l.bucket.SaveSpec(ctx, n)
}

// Spec implements engine.Specs.
func (l *loader) Spec(ctx context.Context, digest string) (project.Node, error) {
	return l.bucket.Spec(ctx, digest)
}
