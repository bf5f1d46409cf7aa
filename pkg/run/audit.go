package run

import (
	"strings"
	"time"
)

// An AuditEntry is a change that somebody requested: of a project or, without a Run, of the installation.
type AuditEntry struct {
	Run   string
	Time  time.Time
	What  string // the operation of the run, a command or an answer; or what changed in the installation, as in "target eu"
	Force bool   // of a command
	Skip  string // of a run: the resources that continued rollbacks skip, with commas
	Who   string
	From  string // the IP address that the request came from; "" if AWS did not say
	Why   string // the reason
}

// Audited lists who requested a run, and what was given to it.
func (r Run) Audited(given []AuditEntry) []AuditEntry {
	return append([]AuditEntry{{Run: r.ID, Time: r.Requested, What: r.Operation, Force: r.Force, Skip: strings.Join(r.Skip, ","), Who: r.By(), From: r.From, Why: r.Reason}}, given...)
}
