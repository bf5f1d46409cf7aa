package plan

import (
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// pruneSnapshots deletes the snapshots that the policy of the project does not keep.
func pruneSnapshots() Operation {
	return Operation{
		Name: "prune-snapshots", Plan: PruneSnapshots,
		Requestable: true, Approvable: true, Retryable: true, Schedulable: true, PrunesSnapshots: true,
		Options: []Option{OptionReason, OptionRefuse},
		Command: "snapshots prune",
		Effect:  "it deletes the snapshots, with their backups, that the policy of the project does not keep; the stacks stay as they are",
	}
}

// PruneSnapshots plans to delete the snapshots that are not among the newest that the policy keeps, and those that are older
// than it keeps them. Those whose backups are in use stay. Snapshots without backups do not count before one with backups.
func PruneSnapshots(v View) (Plan, error) {
	var p Plan
	s := v.Snapshots
	if !s.Policy.Known() {
		return p, fault.New(fault.Refused, "%s: the files that were deployed last do not say which snapshots are kept: write snapshots: with keep: or for: into the project file, and deploy it", v.Desired.ID())
	}
	backed := 0 // how many newer ones have backups
	for i, one := range s.Kept {
		newer := i
		if len(Left(one.Backups)) > 0 {
			newer = backed
			backed++
		}
		why := s.Policy.Drops(newer, one.Made, s.Now)
		if why == "" {
			p.Snapshots = append(p.Snapshots, one.planned(false, false, fmt.Sprintf("the policy is to keep %s", s.Policy)))
			continue
		}
		if refusals := v.inUse(one); len(refusals) > 0 {
			var reasons []string
			for _, err := range refusals {
				reasons = append(reasons, err.Error())
				p.Messages = append(p.Messages, "kept: "+err.Error())
			}
			p.Snapshots = append(p.Snapshots, one.planned(false, false, reasons...))
			continue
		}
		p.Snapshots = append(p.Snapshots, one.planned(true, true, why))
		p.Messages = append(p.Messages, fmt.Sprintf("snapshot %s of %s is deleted, with %d backups: %s", one.Name, one.Made.UTC().Format(time.RFC3339), len(Left(one.Backups)), why))
		if err := p.dropping(one); err != nil {
			return p, err
		}
	}
	if len(p.Steps) == 0 {
		p.Messages = append(p.Messages, fmt.Sprintf("no snapshot is deleted: the policy is to keep %s", s.Policy))
	}
	return p, nil
}
