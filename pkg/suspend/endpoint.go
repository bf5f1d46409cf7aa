package suspend

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// endpointKind is an endpoint of SageMaker, which has operations to create, to update and to delete one, and none to stop it.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DeleteEndpoint.html
func endpointKind() Kind {
	return Kind{Type: "AWS::SageMaker::Endpoint", Name: "SageMaker endpoint", Switch: unstoppable{
		"SageMaker can only delete an endpoint: take its stack out of the project while it is not needed, or let the hooks after_suspend and before_resume call what deletes and creates it",
	}}
}

// unstoppable is a Switch of resources that cost money by the hour and cannot be stopped at all: a suspend says why.
type unstoppable struct{ why string }

// See implements Switch, without a request: a stack has them.
func (u unstoppable) See(_ context.Context, _ Services, _ project.Target, ids []string) (map[string]Seen, error) {
	all := make(map[string]Seen, len(ids))
	for _, id := range ids {
		all[id] = Seen{State: Fixed, Says: u.why}
	}
	return all, nil
}

// Stop implements Switch. Nobody calls it.
func (u unstoppable) Stop(_ context.Context, _ Services, _ project.Target, id string) error {
	return fault.New(fault.Broken, "stop %s: %s", id, u.why)
}

// Start implements Switch. Nobody calls it.
func (u unstoppable) Start(_ context.Context, _ Services, _ project.Target, id, _ string) error {
	return fault.New(fault.Broken, "start %s: %s", id, u.why)
}
