package report

import (
	"context"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// An AuditEntry is a change that somebody requested: of a project or, without a project, of the installation.
type AuditEntry struct {
	Time      time.Time `json:"time"`
	Project   string    `json:"project,omitempty"`
	Run       string    `json:"run,omitempty"`
	What      string    `json:"what"` // the operation of the run, a command that it was given, or the answer to a step; or what changed in the installation
	Force     bool      `json:"force,omitempty"`
	Skip      string    `json:"skip,omitempty"` // of a run: the resources that continued rollbacks skip, with commas
	Who       string    `json:"who"`
	From      string    `json:"from,omitempty"`      // the IP address that the request came from, if AWS has said it
	Requester string    `json:"requester,omitempty"` // of a run: the account that S3 names as the sender of the upload or the request object
	Schedule  string    `json:"schedule,omitempty"`  // of a run: the schedule that requested it
	Why       string    `json:"why,omitempty"`       // the reason
	State     run.State `json:"state,omitempty"`     // of a run: what has become of it
	Messages  []string  `json:"messages,omitempty"`  // of a run that was refused: why
}

// An AuditPage is a page of the changes that were requested.
type AuditPage struct {
	Entries []AuditEntry `json:"entries"`          // newest first
	Before  string       `json:"before,omitempty"` // the parameter of the request for the next page; empty on the last page
}

// AuditOf lists what was requested, newest first: the runs, what read returns for each, and the changes of the installation.
func AuditOf(ctx context.Context, runs []run.Run, read func(context.Context, string) ([]run.AuditEntry, error), changes ...run.AuditEntry) ([]AuditEntry, error) {
	all := []AuditEntry{}
	for _, r := range runs {
		given, err := read(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		for n, e := range r.Audited(given) {
			shown := auditEntry(e)
			shown.Project = r.Project
			if n == 0 {
				shown.Requester, shown.Schedule, shown.State = r.Requester, r.Schedule, r.State
			}
			if n == 0 && r.State == run.StateRefused {
				shown.Messages = r.Messages
			}
			all = append(all, shown)
		}
	}
	for _, e := range changes {
		all = append(all, auditEntry(e))
	}
	NewestFirst(all)
	return all, nil
}

// auditEntry is an entry in JSON.
func auditEntry(e run.AuditEntry) AuditEntry {
	return AuditEntry{Time: e.Time, Run: e.Run, What: e.What, Force: e.Force, Skip: e.Skip, Who: e.Who, From: e.From, Why: e.Why}
}

// NewestFirst sorts entries of audit logs.
func NewestFirst(all []AuditEntry) {
	slices.SortStableFunc(all, func(a, b AuditEntry) int { return b.Time.Compare(a.Time) })
}
