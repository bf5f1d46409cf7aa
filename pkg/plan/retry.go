package plan

// retry does again what a run did that has ended. Its run takes over the
// operation, the files and the options of that run when it is planned.
func retry() Operation {
	return Operation{
		Name:        "retry",
		Requestable: true, Repeats: true,
		Options: []Option{OptionForce, OptionRollback, OptionRefuse, OptionMaxDeletions},
		Turn:    "it repeats run {run}",
	}
}
