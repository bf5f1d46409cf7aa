package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Checker checks plans by policies. Package policy has it. Only the function plan links
// that package, because it makes a function larger by a third.
type Checker interface {
	// Valid returns what is wrong with policies, as an error of kind Invalid.
	Valid(all []project.Policy) error

	// Holds evaluates the condition of a hook. It is a project.Condition.
	Holds(text string, s project.Situation) (bool, error)

	// Check implements engine.Policies.
	Check(ctx context.Context, all []project.Policy, f plan.Facts, c plan.Changes) ([]plan.Violation, error)
}

// policies are those in the bucket, with what checks them.
type policies struct {
	Checker
	bucket *s3.Bucket
	wrong  func(error) // reports what is wrong with the policies of the installation, to its owner
}

// Installed implements engine.Policies.
func (p policies) Installed(ctx context.Context) ([]project.Policy, error) {
	files, err := p.bucket.Policies(ctx)
	if err != nil {
		return nil, fmt.Errorf("policies of the installation: %w", err)
	}
	var all []project.Policy
	var unusable []error
	for _, f := range files {
		some, err := format.Policies(f.Key, f.Body)
		if err == nil {
			err = p.Valid(some)
		}
		if err != nil {
			p.wrong(err)
			unusable = append(unusable, engine.UnusablePolicies(f.Key))
		}
		all = append(all, some...)
	}
	return all, errors.Join(unusable...)
}
