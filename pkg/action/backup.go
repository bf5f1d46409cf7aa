package action

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Backups backs up what stacks hold. Its methods are those of backup.Services.
type Backups interface {
	// BackUp starts a backup. A repeated call with the same name is the same backup.
	BackUp(ctx context.Context, d plan.Data, name string, tags map[string]string) (plan.Backup, error)

	// Ready reports whether a backup is available, and says how far it is. The error is of kind Refused if it never will be, and Missing if there is none.
	Ready(ctx context.Context, b plan.Backup) (ready bool, says string, err error)

	// Delete deletes backups. One that has no ARN is found by the name that its resource has. One that does not exist is no error.
	Delete(ctx context.Context, all []plan.Backup, name func(plan.Data) string) error

	// Left lists for people which of some backups exist.
	Left(ctx context.Context, all []plan.Backup, name func(plan.Data) string) ([]string, error)
}

// SnapshotTag is the tag with the name of the snapshot that a backup belongs to. It has the tag of the project, too.
const SnapshotTag = "stackwright:snapshot"

// maxBusy is how long a step waits until its resource can be backed up, or its backup can be deleted.
const maxBusy = time.Hour

// maxUnlisted is how long a list of AWS may lack a backup that was just made: lists are eventually consistent.
const maxUnlisted = 2 * MaxStartTime

// backupName is the name of a backup that the task's run makes for a snapshot.
func (t Task) backupName(snapshot string) func(plan.Data) string {
	return func(d plan.Data) string { return plan.BackupName(t.Run, t.TokenKey, t.Project, snapshot, d) }
}

// backUpVerb makes a native backup of a resource.
func backUpVerb(x Backups) Verb {
	return Verb{Name: plan.BackUp, Action: backUp{x}, Past: "backed up"}
}

// backUp makes the backup that its arguments name. Only the function that has the claim starts it, and a repeated start has the same name.
type backUp struct{ Backups }

// Start starts the backup.
func (a backUp) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	var d plan.Backing
	if err := t.Step.Arguments.Read(plan.BackingVersion, &d); err != nil {
		return plan.Receipt{}, err
	}
	b, err := a.BackUp(ctx, d.Data, t.backupName(d.Snapshot)(d.Data), map[string]string{project.ProjectTag: t.Project, project.StackTag: d.Node, SnapshotTag: d.Snapshot})
	if err != nil {
		return plan.Receipt{}, t.stillBusy(err)
	}
	return plan.Receipt{Backup: b.ARN}, nil
}

// stillBusy returns the error of a start that does not wait any longer.
func (t Task) stillBusy(err error) error {
	if fault.Is(err, fault.Busy, fault.Throttled) && t.tried() >= maxBusy {
		return fault.New(fault.Refused, "it could not start within %s: %w", project.Timeout(maxBusy), err)
	}
	return err
}

// Poll reports that the step is over when the backup is available.
func (a backUp) Poll(ctx context.Context, t Task) (Progress, error) {
	var d plan.Backing
	if err := t.Step.Arguments.Read(plan.BackingVersion, &d); err != nil {
		return Progress{}, err
	}
	if p, unknown := t.unanswered(); p.Repeat {
		return a.again(ctx, t, d)
	} else if unknown {
		return p, nil
	}
	ready, says, err := a.Ready(ctx, plan.Backup{Data: d.Data, ARN: t.Receipt.Backup})
	switch {
	case fault.Is(err, fault.Missing) && t.young(): // AWS may not show yet what it has accepted
		return Progress{}, nil
	case fault.Is(err, fault.Missing):
		return Progress{Over: true, Err: fault.New(fault.Refused, "the backup %s was deleted while it was made: request the snapshot again", t.Receipt.Backup)}, nil
	case fault.Is(err, fault.Refused):
		return Progress{Over: true, Err: err}, nil
	case err != nil:
		return Progress{}, err
	case !ready && t.overdue():
		return Progress{Over: true, Err: fault.New(fault.Refused, "the backup %s is not available after %s: it is %s", t.Receipt.Backup, t.Step.Timeout, says)}, nil
	case !ready:
		return Progress{Why: "the backup is " + says}, nil
	}
	return Progress{Over: true, Why: "backup " + t.Receipt.Backup}, nil
}

// again repeats a start that has not answered, as soon as AWS lists the backup that it has made, or must list it if there is one. Names are not unique in each
// service: a start that is repeated before would make a second backup.
func (a backUp) again(ctx context.Context, t Task, d plan.Backing) (Progress, error) {
	listed, err := a.Left(ctx, []plan.Backup{{Data: d.Data}}, t.backupName(d.Snapshot))
	if err != nil {
		return Progress{}, err
	}
	if len(listed) == 0 && t.Now.Sub(t.Claimed) < maxUnlisted {
		return Progress{Why: "AWS has not answered, and may not list yet what it has made"}, nil
	}
	return Progress{Repeat: true}, nil
}

// unanswered is the progress of a step whose start has not answered: when the function that claimed it can no longer be running, another claim repeats the
// start. It reports false if it has answered.
func (t Task) unanswered() (Progress, bool) {
	switch {
	case t.Receipt.Known():
		return Progress{}, false
	case t.young():
		return Progress{}, true
	case t.tried() >= maxBusy:
		return Progress{Over: true, Err: fault.New(fault.Refused, "AWS has not answered within %s: retry the run", project.Timeout(maxBusy))}, true
	}
	return Progress{Repeat: true}, true
}

// deleteBackupVerb deletes native backups.
func deleteBackupVerb(x Backups) Verb {
	return Verb{Name: plan.DeleteBackup, Action: deleteBackup{x}, Past: "backups deleted"}
}

// deleteBackup deletes the backups that its arguments name.
type deleteBackup struct{ Backups }

// Start deletes them.
func (a deleteBackup) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	var d plan.BackupDeletion
	if err := t.Step.Arguments.Read(plan.BackupDeletionVersion, &d); err != nil {
		return plan.Receipt{}, err
	}
	if err := a.Delete(ctx, d.Backups, t.backupName(d.Snapshot)); err != nil {
		return plan.Receipt{}, t.stillBusy(err)
	}
	return plan.Receipt{Executed: true}, nil
}

// Poll reports that the step is over when none of the backups exists.
func (a deleteBackup) Poll(ctx context.Context, t Task) (Progress, error) {
	var d plan.BackupDeletion
	if err := t.Step.Arguments.Read(plan.BackupDeletionVersion, &d); err != nil {
		return Progress{}, err
	}
	if p, unknown := t.unanswered(); unknown {
		return p, nil
	}
	left, err := a.Left(ctx, d.Backups, t.backupName(d.Snapshot))
	byName := slices.ContainsFunc(d.Backups, func(b plan.Backup) bool { return b.ARN == "" })
	if err == nil && byName && len(left) > 0 { // AWS may not have listed one when the step started
		if err = a.Delete(ctx, d.Backups, t.backupName(d.Snapshot)); fault.Is(err, fault.Busy, fault.Throttled) {
			err = nil
		}
	}
	switch says := strings.Join(left, "; "); {
	case err != nil && t.overdue() && !fault.Is(err, fault.Throttled, fault.Unavailable): // another job of the resource may run as long as it likes
		return Progress{Over: true, Err: fault.New(fault.Refused, "not over after %s: %w: request the deletion again when that is over", t.Step.Timeout, err)}, nil
	case err != nil:
		return Progress{}, err
	case len(left) > 0 && t.overdue():
		return Progress{Over: true, Err: fault.New(fault.Refused, "not over after %s: %s", t.Step.Timeout, says)}, nil
	case len(left) > 0:
		return Progress{Why: "waits: " + says}, nil
	case byName && t.Now.Sub(t.Claimed) < maxUnlisted:
		return Progress{Why: "waits: AWS may not list yet what was just made"}, nil
	}
	return Progress{Over: true}, nil
}

// dropSnapshotVerb takes a snapshot out of the history, once its backups are deleted: the end of the run does so.
func dropSnapshotVerb() Verb {
	return Verb{Name: plan.DropSnapshot, Action: barrier{}, Past: "snapshots deleted"}
}
