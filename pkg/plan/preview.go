package plan

// PlanDestroy is the name of the operation that shows what a destroy would do.
const PlanDestroy = "plan-destroy"

// preview shows what a deploy would do.
func preview() Operation {
	return Operation{
		Name: "plan", Plan: Deploy,
		Requestable: true, NeedsFiles: true, Preview: true,
		Options: []Option{OptionOnly, OptionMaxDeletions, OptionExact},
		Effect:  "it is planned",
	}
}

// previewDestroy shows what a destroy would do.
func previewDestroy() Operation {
	return Operation{
		Name: PlanDestroy, Plan: Destroy,
		Requestable: true, Preview: true,
		Options: []Option{OptionOnly},
		Command: "destroy --plan",
		Effect:  "the deletion of all stacks is planned",
	}
}
