package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// losses says what CloudFormation will refuse and what is replaced, a stack a line, and which data is lost or may be lost.
func losses(c plan.Changes) (replaced, lost, maybeLost []string) {
	l := c.Losses()
	return slices.Concat(l.Refused, l.Replaced), slices.Concat(l.Lost, l.Skipped), l.MayLose
}

// verdicts says what policies deny and what they warn of, a violation a line.
func verdicts(c plan.Changes) (denied, warned []string) {
	for _, v := range c.Policies {
		if v.Level == project.Deny {
			denied = append(denied, "DENIED: "+v.String())
		} else {
			warned = append(warned, "WARNING: "+v.String())
		}
	}
	return denied, warned
}

// planTotals is the last line of a plan.
func planTotals(c plan.Changes) string {
	if len(c.Snapshots) > 0 {
		return snapshotTotals(c.Snapshots)
	}
	s := c.Summary
	var words []string
	n := 0
	for _, part := range []struct {
		n     int
		words string
	}{
		{s.Create, "to create"}, {s.Update, "to update"}, {s.Possible, "possible"}, {s.Replace, "to replace"}, {s.Delete, "to delete"},
		{s.Adopt, "to adopt"}, {s.Import, "with imports"}, {s.Forget, "to forget"}, {s.Revert, "to bring back"}, {s.Suspend, "to suspend"}, {s.Resume, "to resume"}, {s.Level, "with another level of approval"}, {s.Retain, "with another retain"}, {s.Hooks, "with only hooks"},
	} {
		if part.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", part.n, part.words))
			n += part.n
		}
	}
	if n == 0 {
		return fmt.Sprintf("no changes, %d unchanged", s.Unchanged)
	}
	text := fmt.Sprintf("%s: %s; %d unchanged", Plural(n, "change"), strings.Join(words, ", "), s.Unchanged)
	if s.ResourcesReplaced > 0 {
		text += "; " + Plural(s.ResourcesReplaced, "resource") + " replaced"
	}
	if s.DataLoss > 0 {
		text += "; data loss in " + Plural(s.DataLoss, "resource")
	}
	if s.HookDataLoss > 0 {
		text += "; data deleted by " + Plural(s.HookDataLoss, "hook")
	}
	if s.PossibleDataLoss > 0 {
		text += "; possible data loss in " + Plural(s.PossibleDataLoss, "resource")
	}
	if s.UnknownDataLoss > 0 {
		text += "; data loss unknown in " + Plural(s.UnknownDataLoss, "stack")
	}
	return text + "; " + run.About(c.Seconds.Duration())
}
