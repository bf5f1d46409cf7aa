package plan

// retry repeats a run that has ended. When the new run is planned, it takes over the
// operation, the files and the options of that run.
func retry() Operation {
	return Operation{
		Name:        "retry",
		Requestable: true, Repeats: true,
		Options: []Option{OptionForce, OptionRollback, OptionRefuse, OptionMaxDeletions, OptionSkip, OptionWhileSuspended},
		Effect:  "it repeats run {run}",
	}
}
