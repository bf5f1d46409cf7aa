package wire

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/config"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A desk is where one plan is made. It keeps the templates of the configuration
// that it has read at hand, so that those of the nodes that have a step can be
// stored, and no others.
type loader struct {
	bucket   *s3.Bucket
	registry *dynamodb.Table
	home     project.Target
	own      config.Installation

	mu        sync.Mutex
	templates map[string]*template // by digest
}

// A template is stored once, however many nodes have it.
type template struct {
	body  []byte
	begun bool
	done  chan struct{} // closed when it is stored, or cannot be
	err   error
}

// installation is what no project may touch.
func installation(env Environment) config.Installation {
	return config.Installation{
		Stack: env.Stack, Bucket: env.Bucket, Table: env.Table,
		StateMachine: env.StateMachine[strings.LastIndex(env.StateMachine, ":")+1:],
	}
}

// Project is engine.Configurations.
func (d *loader) Project(ctx context.Context, r run.Run) (project.Project, error) {
	body, err := d.bucket.Object(ctx, r.Source.Key, r.Source.Version)
	if err != nil {
		return project.Project{}, fmt.Errorf("configuration: %w", err)
	}
	files, err := config.Archive(r.Source.Key, body)
	if err != nil {
		return project.Project{}, err
	}
	targets, err := d.targets(ctx)
	if err != nil {
		return project.Project{}, fmt.Errorf("targets: %w", err)
	}
	name, environment, _ := strings.Cut(r.Project, "@")
	loaded, err := config.Read(files, config.Options{
		Project: name, Environment: environment, Targets: targets, Installation: d.own,
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.templates = make(map[string]*template)
	for digest, body := range loaded.Templates {
		d.templates[digest] = &template{body: body, done: make(chan struct{})}
	}
	return loaded.Project, err
}

// Keep is engine.Specs: the node's template is there before its spec is.
func (d *loader) SaveSpec(ctx context.Context, n project.Node) (string, error) {
	if err := d.store(ctx, n.Template.Digest); err != nil {
		return "", fmt.Errorf("template of %s: %w", n.Name, err)
	}
	return d.bucket.SaveSpec(ctx, n)
}

// store stores a template, or waits until somebody else has.
func (d *loader) store(ctx context.Context, digest string) error {
	d.mu.Lock()
	t := d.templates[digest]
	mine := t != nil && !t.begun
	if mine {
		t.begun = true
	}
	d.mu.Unlock()
	switch {
	case t == nil:
		return nil
	case mine:
		t.err = d.bucket.SaveTemplate(ctx, digest, t.body)
		close(t.done)
	}
	<-t.done
	return t.err
}

// Spec is engine.Specs.
func (d *loader) Spec(ctx context.Context, digest string) (project.Node, error) {
	return d.bucket.Spec(ctx, digest)
}
