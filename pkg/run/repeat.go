package run

// Repeat makes r, a retry, request what old did: its operation, files and options. What r says itself overrides, where a retry may say something else.
func (r *Run) Repeat(old Run) {
	r.Operation, r.Source, r.Schedule = old.Operation, old.Source, old.Schedule
	r.Authors = old.AllAuthors() // who repeats what another person has requested does not approve it in his place
	r.Selection, r.Adopt, r.Retain, r.To, r.Snapshot, r.Revision = old.Selection, old.Adopt, old.Retain, old.To, old.Snapshot, old.Revision
	r.FromEnvironment, r.FromRevision = old.FromEnvironment, old.FromRevision
	if old.Started.IsZero() { // it has done nothing, so its saved plan can still be carried out
		r.Plan, r.Rollback = old.Plan, r.Rollback || old.Plan != "" && old.Rollback
	}
	r.NoBackups, r.KeepBackups = old.NoBackups, old.KeepBackups
	r.WhileSuspended = r.WhileSuspended || old.WhileSuspended
	if r.MaxDeletions == nil {
		r.MaxDeletions = old.MaxDeletions
	}
}
