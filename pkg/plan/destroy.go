package plan

// destroy deletes every stack that is recorded.
func destroy() Operation {
	return Operation{
		Name: "destroy", Plan: Destroy,
		Requestable: true, Approvable: true, Writes: true, DeletesAll: true, Retryable: true, Schedulable: true,
		Options: []Option{OptionRefuse, OptionOnly},
		Effect:  "it deletes all stacks",
	}
}

// Destroy is Deploy of a project without stacks. It has no limit of deletions, because
// the user requested them.
func Destroy(v View) (Plan, error) {
	v.Desired.Nodes = nil
	return v.plan(nil)
}
