package plan

import "cmp"

// PlanPrefix begins the names of the operations that show what another would do: plan-destroy
// shows the plan of a destroy.
const PlanPrefix = "plan-"

// PreviewOf names the operation that shows what the named one would do.
func PreviewOf(operation string) string {
	return cmp.Or(AllOperations().Of(operation).ShownBy, PlanPrefix+operation)
}

// preview shows what a deploy would do.
func preview() Operation {
	return Operation{
		Name: "plan", Plan: Deploy,
		Requestable: true, NeedsFiles: true, Preview: true, NeedsRunning: true,
		Options: append(Selecting(), OptionChangedSince, OptionRollback, OptionAdopt, OptionMaxDeletions, OptionSkip, OptionExact),
		Effect:  "it is planned",
	}
}

// previewDestroy shows what a destroy would do.
func previewDestroy() Operation {
	return Operation{
		Name: PlanPrefix + "destroy", Plan: Destroy,
		Requestable: true, Preview: true,
		Options: Selecting(),
		Effect:  "the deletion of all stacks is planned",
	}
}
