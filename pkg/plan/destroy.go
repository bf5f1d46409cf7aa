package plan

import "github.com/stackwright/stackwright/pkg/project"

// DestroyName is the name of the operation destroy.
const DestroyName = "destroy"

// destroy deletes every stack that is recorded.
func destroy() Operation {
	return Operation{
		Name: DestroyName, Plan: Destroy,
		Requestable: true, Approvable: true, Writes: true, DeletesAll: true, Retryable: true, Schedulable: true,
		Options: append(Selecting(), OptionRefuse, OptionPlan),
		Effect:  "it deletes all stacks",
	}
}

// Destroy is Deploy of a project without stacks. It has no limit of deletions, because
// the user requested them. If all nodes are destroyed, the hooks of the destroy are called before and after that. If there is
// nothing left to destroy, a destroy before has failed after that, and the hooks after it are called again: once a destroy
// has succeeded, the view has no hooks.
func Destroy(v View) (Plan, error) {
	v.Desired.Nodes = nil
	p, err := v.plan(nil)
	switch {
	case err != nil || v.Partial():
		return p, err
	case len(p.Steps) == 0:
		return v.around(p, "", project.AfterDestroy)
	}
	return v.around(p, project.BeforeDestroy, project.AfterDestroy)
}
