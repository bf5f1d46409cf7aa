package term

import (
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
)

// snapshot draws the block of a snapshot that a plan deletes or keeps.
func (p *planText) snapshot(s plan.PlannedSnapshot) {
	sign, words := span{red, "-"}, "delete"
	if !s.Deleted {
		sign, words = span{dim, " "}, "stays"
	}
	p.add(2, sign, span{bold, " snapshot " + s.Snapshot}, span{normal, "  " + words + ", made at " + s.Made.Local().Format(time.DateTime)})
	for _, why := range s.Reasons {
		p.add(6, span{dim, oneLine(why)})
	}
	for _, c := range s.Caveats {
		p.add(6, span{yellow, oneLine(c)})
	}
	for _, b := range s.Backups {
		line := fmt.Sprintf("%s.%s, the backup of a %s: %s", b.Stack, b.Resource, b.Kind, b.ARN)
		switch {
		case b.Deleted:
			p.add(6, span{danger, "delete " + line})
		case s.Deleted:
			p.add(6, span{yellow, "stays in AWS: " + line})
		default:
			p.add(6, span{dim, line})
		}
	}
}

// snapshotTotals counts the snapshots and backups that a plan deletes, and those that stay.
func snapshotTotals(all []plan.PlannedSnapshot) string {
	var snapshots, backups, stay, left int
	for _, s := range all {
		if !s.Deleted {
			stay++
			continue
		}
		snapshots++
		for _, b := range s.Backups {
			if b.Deleted {
				backups++
			} else {
				left++
			}
		}
	}
	words := []string{Plural(snapshots, "snapshot") + " to delete"}
	if snapshots > 0 {
		words = append(words, Plural(backups, "backup")+" to delete")
	}
	if left > 0 {
		stays := " that stay in AWS"
		if left == 1 {
			stays = " that stays in AWS"
		}
		words = append(words, Plural(left, "backup")+stays)
	}
	if stay > 0 {
		words = append(words, fmt.Sprintf("%d to keep", stay))
	}
	return strings.Join(words, ", ")
}
