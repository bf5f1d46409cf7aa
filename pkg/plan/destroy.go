package plan

// destroy deletes every stack that is recorded.
func destroy() Operation {
	return Operation{
		Name: "destroy", Plan: Destroy,
		Requestable: true, Writes: true, DeletesAll: true, Retryable: true, Schedulable: true,
		Options: []Option{OptionRefuse, OptionOnly},
		Turn:    "it deletes all stacks",
	}
}

// Destroy is Deploy with nothing desired. No number limits its deletions: they are
// what was requested.
func Destroy(v View) (Plan, error) {
	v.Desired.Nodes = nil
	return v.plan(nil)
}
