package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Publisher copies files from the installation's bucket into those of accounts, and finds container images there.
type Publisher interface {
	// Publish copies an asset of a project, as "shop@prod", into its bucket in a target, with the role that the
	// asset names. It reports true if the asset is there already. Publishing one twice has no effect. Its error is of
	// kind Throttled or Unavailable if it may succeed later, and of kind Missing for a container image that is not there.
	Publish(ctx context.Context, project string, t project.Target, a project.Asset) (published bool, err error)
}

// publishVerb copies an asset into the bucket from which a stack's resources use it.
func publishVerb(p Publisher) Verb {
	return Verb{Name: plan.Publish, Action: publish{p}, Past: "published"}
}

// publish copies an asset. It sends no request to CloudFormation.
type publish struct{ Publisher }

// Start does nothing: a poll publishes, because a crash does no harm there.
func (publish) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll publishes the asset unless it is published.
func (a publish) Poll(ctx context.Context, t Task) (Progress, error) {
	var what plan.Publication
	if err := t.Step.Arguments.Read(plan.PublicationVersion, &what); err != nil {
		return Progress{Over: true, Err: err}, nil
	}
	published, err := a.Publish(ctx, t.Project, what.Target, what.Asset)
	why := what.Asset.Place()
	switch {
	case fault.Is(err, fault.Throttled, fault.Unavailable):
		return Progress{}, err
	case err != nil:
		return Progress{Over: true, Err: err}, nil
	case published:
		why += " was published before"
	}
	return Progress{Over: true, Why: why}, nil
}
