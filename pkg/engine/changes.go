package engine

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// maxCompared is how many different templates one plan reads: the plan function has to
// hold them in memory. The stacks of further templates are not compared.
const maxCompared = 1000

// saveChanges stores what the plan of a preview would change, and returns a reference to
// it. Only stacks with steps are compared, and each template is read once.
func (e *Engine) saveChanges(ctx context.Context, r run.Run, v plan.View, p plan.Plan) (string, error) {
	templates, err := e.templates(ctx, v.TemplateDigests(p))
	if err != nil {
		return "", fmt.Errorf("compare templates: %w", err)
	}
	c := v.Describe(p, templates)
	c.Run, c.Operation, c.Digest, c.Revision, c.Messages = r.ID, r.Operation, r.Digest, r.Source.Version, r.Messages
	c.MaxParallel, c.Seconds = r.MaxParallel, plan.SecondsOf(r.Estimate())
	if c, err = c.Fit(plan.MaxChanges); err != nil {
		return "", err
	}
	reference, err := e.Changes.SaveChanges(ctx, c)
	if err != nil {
		return "", fmt.Errorf("store what the plan changes: %w", err)
	}
	return reference, nil
}

// templates reads templates. The result returns an error for a template that does not
// exist or cannot be understood.
func (e *Engine) templates(ctx context.Context, digests []string) (plan.Templates, error) {
	digests = digests[:min(len(digests), maxCompared)]
	bodies, missing := make([][]byte, len(digests)), make([]error, len(digests))
	err := e.Parallel(ctx, len(digests), func(ctx context.Context, i int) (err error) {
		bodies[i], err = e.Changes.Template(ctx, digests[i])
		if fault.Is(err, fault.Missing) {
			missing[i], err = fault.New(fault.Missing, "it is no longer stored"), nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	read := make(map[string]func() (*template.Template, error), len(digests))
	for i, digest := range digests {
		read[digest] = func() (*template.Template, error) {
			if missing[i] != nil {
				return nil, missing[i]
			}
			return template.Parse("template", bodies[i])
		}
	}
	parsed := make(map[string]*template.Template)
	return func(digest string) (*template.Template, error) {
		if t, ok := parsed[digest]; ok {
			return t, nil
		}
		parse, ok := read[digest]
		if !ok {
			return nil, fault.New(fault.Refused, "the plan has more than %d different templates", maxCompared)
		}
		t, err := parse()
		if err == nil {
			parsed[digest] = t
		}
		return t, err
	}, nil
}
