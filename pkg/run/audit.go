package run

import "time"

// An AuditEntry is a change that somebody requested.
type AuditEntry struct {
	Run   string
	Time  time.Time
	What  string // the operation of the run, a command or an answer
	Force bool   // of a command
	Who   string
	Why   string // the reason
}

// Audited lists who requested a run, and what was given to it.
func (r Run) Audited(given []AuditEntry) []AuditEntry {
	return append([]AuditEntry{{Run: r.ID, Time: r.Requested, What: r.Operation, Force: r.Force, Who: r.By(), Why: r.Reason}}, given...)
}
