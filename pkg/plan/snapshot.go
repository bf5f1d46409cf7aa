package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/project"
)

// SnapshotName is the form of the names of snapshots.
var SnapshotName = pattern.New(`^[A-Za-z0-9][-_A-Za-z0-9]{0,63}$`)

// MostSnapshots is how many snapshots a project may have: they are part of one item.
const MostSnapshots = 50

// snapshot gives a name to the revision that is deployed, and backs up what its stacks hold.
func snapshot() Operation {
	return Operation{
		Name: "snapshot", Plan: TakeSnapshot,
		Requestable: true, Retryable: true, TakesSnapshot: true,
		Options: []Option{OptionSnapshot, OptionNoBackups, OptionReason, OptionRefuse},
		Effect:  "it gives a name to the revision that is deployed, which stays until the snapshot is deleted, and backs up the data of its stacks",
	}
}

// deleteSnapshot deletes the name that a snapshot has given, and its backups.
func deleteSnapshot() Operation {
	return Operation{
		Name: "delete-snapshot", Plan: DeleteSnapshot,
		Requestable: true, Approvable: true, Retryable: true, DeletesSnapshot: true,
		Options: []Option{OptionSnapshot, OptionKeepBackups, OptionReason, OptionRefuse},
		Command: "snapshots delete",
		Effect:  "it deletes a snapshot and its backups; the stacks stay as they are",
	}
}

// Snapshots is what a plan knows about the snapshots of its project.
type Snapshots struct {
	Name    string   // that the request gives
	Named   []string // the names of those that there are
	Current string   // the run of the revision that is deployed now; "" if none is known
	Later   string   // the run that has changed stacks last, if that is another one

	Unrestored map[string]string // what a restore was to create from a backup, and has not, as "db.Database", with what names the backup

	Kept   []KeptSnapshot         // newest first
	Policy project.SnapshotPolicy // of the files that were deployed last
	Now    time.Time
	Since  time.Time // a retry is about the snapshots that there were then, when the run that it repeats started; zero if it is no retry

	Without  bool                // a request that makes a snapshot without backups, or deletes one and keeps them
	Holding  []string            // the nodes whose templates have resources that hold data, sorted
	Holdings map[string]Holdings // by node, if these are to be backed up
}

// unknown refuses the name if there is no such snapshot.
func (s Snapshots) unknown() error {
	if slices.Contains(s.Named, s.Name) {
		return s.another()
	}
	return UnknownSnapshot(s.Name, s.Named)
}

// another refuses a retry if the snapshot was made after the run that it repeats.
func (s Snapshots) another() error {
	for _, one := range s.Kept {
		if one.Name == s.Name && !s.Since.IsZero() && one.Made.After(s.Since) {
			return fault.New(fault.Refused, "snapshot %s is not the one of the run that is retried: it was made at %s, after that run had started: if you mean this one, request that again instead of a retry", s.Name, one.Made.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// UnknownSnapshot says that none of the snapshots of a project has a name.
func UnknownSnapshot(name string, named []string) error {
	if len(named) == 0 {
		return fault.New(fault.Missing, "there is no snapshot %.200q, nor any other: stackwright snapshot makes one", name)
	}
	return fault.New(fault.Missing, "there is no snapshot %.200q%s", name, suggest.Hint(name, named))
}

// TakeSnapshot plans to give a name to the revision that is deployed. Its steps back up the data of the stacks. The history has the name when the run has
// succeeded.
func TakeSnapshot(v View) (Plan, error) {
	s := v.Snapshots
	var refusals []error
	if slices.Contains(s.Named, s.Name) {
		refusals = append(refusals, fault.New(fault.Refused, "there is a snapshot %s already: choose another name, or delete it first: stackwright snapshots delete %s", s.Name, s.Name))
	}
	if len(s.Named) >= MostSnapshots {
		refusals = append(refusals, fault.New(fault.Refused, "%s has %d snapshots, and at most %d are kept: delete one first: stackwright snapshots delete NAME", v.Desired.ID(), len(s.Named), MostSnapshots))
	}
	if s.Current == "" {
		refusals = append(refusals, fault.New(fault.Refused, "%s: no deploy of all stacks has succeeded, or they were destroyed since, so there is no revision to name: deploy all stacks first", v.Desired.ID()))
	}
	if refusals = append(refusals, v.refuseHoldings()...); len(refusals) > 0 {
		return Plan{}, errors.Join(refusals...)
	}
	p := Plan{Messages: []string{NamesFiles(s.Name, s.Current)}}
	if s.Later != "" {
		p.Messages = append(p.Messages, "the last deploy, run "+s.Later+", was of some stacks only, or has not succeeded: a restore deploys the files of run "+s.Current+", the last successful deploy of all stacks")
	}
	p.Messages = append(p.Messages, v.beyondFiles()...)
	return v.backedUp(p)
}

// NamesFiles is the first message of the plan of a snapshot. Its other messages are caveats.
func NamesFiles(snapshot, run string) string {
	return "snapshot " + snapshot + " names the files of run " + run
}

// beyondFiles says which stacks a snapshot backs up as they are, and no files have as they are.
func (v View) beyondFiles() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.Deployed)) {
		digest, why := v.TemplateOf(name)
		switch r := v.Recorded[name]; {
		case digest == "" || why != "":
			all = append(all, fmt.Sprintf("stack %s: %s: its data is backed up as far as its resources can be listed, and a restore deploys the files of run %s", name, why, v.Snapshots.Current))
		case digest != r.Template:
			all = append(all, fmt.Sprintf("stack %s has another template than Stackwright has deployed: a restore deploys the files of run %s, without what was changed outside Stackwright, and would delete resources that came since", name, v.Snapshots.Current))
		}
	}
	return all
}

// DeleteSnapshot plans to delete a snapshot, with its backups.
func DeleteSnapshot(v View) (Plan, error) {
	s := v.Snapshots
	if err := s.unknown(); err != nil {
		return Plan{}, err
	}
	var p Plan
	i := slices.IndexFunc(s.Kept, func(one KeptSnapshot) bool { return one.Name == s.Name })
	switch {
	case i < 0:
		return p, nil
	case len(s.Kept[i].Backups) == 0:
		p.Snapshots = []PlannedSnapshot{s.Kept[i].planned(true, false)}
		return p, nil
	case s.Without:
		p.Snapshots = []PlannedSnapshot{s.Kept[i].planned(true, false)}
		p.Messages = []string{"these backups stay, and Stackwright does not know them any more: " + strings.Join(arns(Left(s.Kept[i].Backups)), ", ")}
		return p, nil
	}
	if refusals := v.inUse(s.Kept[i]); len(refusals) > 0 {
		return p, errors.Join(refusals...)
	}
	p.Snapshots = []PlannedSnapshot{s.Kept[i].planned(true, true)}
	return p, p.dropping(s.Kept[i])
}

// restore deploys the files of a snapshot again. It is a rollback to the revision that the snapshot names.
func restore() Operation {
	o := rollbackTo()
	o.Name, o.Command, o.Effect, o.Plan = "restore", "", "it deploys the files of a snapshot again, and restores data from its backups", Restore
	o.Options = ofSnapshot(o.Options)
	return o
}

// previewRestore shows what a restore would do.
func previewRestore() Operation {
	o := previewRollbackTo()
	o.Name, o.Command, o.Effect, o.Plan = PlanPrefix+"restore", "", "a restore of a snapshot is planned", Restore
	o.Options = ofSnapshot(o.Options)
	return o
}

// ofSnapshot are the options of a rollback to a revision that a snapshot names.
func ofSnapshot(all []Option) []Option {
	all = slices.Clone(all)
	all[slices.Index(all, OptionTo)] = OptionSnapshot
	return all
}

// NamesSnapshot reports whether a request for the operation names a snapshot.
func (o Operation) NamesSnapshot() bool { return slices.Contains(o.Options, OptionSnapshot) }
