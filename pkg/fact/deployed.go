package fact

import (
	"context"
	"fmt"
	"maps"

	"github.com/stackwright/stackwright/pkg/plan"
)

// deployedFact is the templates of the stacks that are not certainly as recorded. What these have is read from
// CloudFormation, so that a plan says what a deploy or a deletion does with it.
func deployedFact() Fact {
	return Fact{Complete: func(ctx context.Context, e Reading, v *plan.View) error {
		o := e.operation(e.Run)
		if !o.Approvable && !o.Preview && !o.Restores && !o.TakesSnapshot {
			return nil // it changes no resource
		}
		if err := readDeployed(ctx, e, v); err != nil {
			return fmt.Errorf("read the templates of stacks that were changed: %w", err)
		}
		return nil
	}}
}

// readDeployed reads into v the templates of the stacks that are not certainly as recorded. A record is Current after
// that if its stack has turned out to be as recorded.
func readDeployed(ctx context.Context, e Reading, v *plan.View) error {
	names := v.Unproved()
	if len(names) == 0 {
		return nil
	}
	all := make([]plan.Deployed, len(names))
	err := e.Parallel(ctx, len(names), func(ctx context.Context, i int) (err error) {
		all[i], err = e.Deployed(ctx, *v, names[i])
		return err
	})
	if err != nil {
		return err
	}
	v.Deployed, v.Recorded = make(map[string]plan.Deployed, len(names)), maps.Clone(v.Recorded)
	for i, name := range names {
		v.Deployed[name] = all[i]
		if r, live := v.Recorded[name], v.Live[name]; r.Proves(live, all[i].Digest) {
			r.LastUpdated = live.LastUpdated
			v.Recorded[name] = r
		}
	}
	return nil
}

// Deployed reads and stores the template of the stack of a recorded node.
func (e Reading) Deployed(ctx context.Context, v plan.View, name string) (plan.Deployed, error) {
	is, err := e.liveOf(ctx, v, name)
	if err != nil || is.unreadable != "" {
		return plan.Deployed{Unreadable: is.unreadable}, err
	}
	digest, err := e.Specs.SaveDeployedTemplate(ctx, is.body)
	return plan.Deployed{Digest: digest, Lost: is.lost}, err
}
