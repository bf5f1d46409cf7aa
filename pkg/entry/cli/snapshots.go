package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// listSnapshots lists the snapshots of projects, each project's newest first.
func listSnapshots(ctx context.Context, c *call) (int, error) {
	return c.aboutProjects(ctx, func(s *session, ids []string) (int, error) {
		var objects []any
		var rows [][]string
		var caveats strings.Builder
		for _, id := range ids {
			all, err := s.to.Snapshots(ctx, id)
			if err != nil {
				return ExitFailed, fmt.Errorf("list the snapshots of %s: %w", id, err)
			}
			for _, one := range all {
				for _, c := range one.Caveats {
					fmt.Fprintf(&caveats, "%s: %s\n", one.Snapshot, c)
				}
				deployed := ""
				if one.Revision.Current {
					deployed = "now"
				}
				objects = append(objects, struct {
					Project string `json:"project"`
					report.Snapshot
				}{id, one})
				rows = append(rows, []string{
					one.Snapshot, id, one.Revision.Run, deployed, backupsOf(one), one.Made.Local().Format(time.DateTime), one.Who, one.Reason,
				})
			}
		}
		if c.flags.output == "json" {
			return ExitOK, c.printJSON(objects...)
		}
		head := []string{"SNAPSHOT", "PROJECT", "REVISION", "DEPLOYED", "BACKUPS", "MADE", "BY", "REASON"}
		_, err := fmt.Fprintln(c.Out, strings.Join(term.Table(head, rows, c.width()), "\n"))
		if err == nil {
			_, err = fmt.Fprint(c.Out, caveats.String())
		}
		return ExitOK, err
	})
}

// backupsOf says how many backups a snapshot has.
func backupsOf(s report.Snapshot) string {
	left := 0
	for _, b := range s.Backups {
		if !b.Deleted {
			left++
		}
	}
	if left < len(s.Backups) {
		return fmt.Sprintf("%d of %d, deletion not finished", left, len(s.Backups))
	}
	return strconv.Itoa(left)
}

// pruneSnapshots requests the deletion of the snapshots that the policy does not keep, and follows the run.
func pruneSnapshots(ctx context.Context, c *call) (int, error) {
	if err := c.checkPlan(plan.AllOperations().Of(c.operation())); err != nil {
		return c.refuse(err)
	}
	return c.aboutProject(ctx, c.open, func(s *session, id string) (int, error) {
		return s.begin(ctx, s.newRequest(id, run.Source{}))
	})
}

// onSnapshot requests the command's operation on the snapshot that its argument names, and follows the run.
func onSnapshot(ctx context.Context, c *call) (int, error) {
	if err := c.checkPlan(plan.AllOperations().Of(c.operation())); err != nil {
		return c.refuse(err)
	}
	name := c.args[0]
	c.args = nil
	if !plan.SnapshotName.MatchString(name) {
		return c.refuse(fault.New(fault.Invalid, "%s is no name of a snapshot: write letters, digits, - and _, at most 64, the first a letter or a digit", quoted(name)))
	}
	return c.aboutProject(ctx, c.open, func(s *session, id string) (int, error) {
		q := s.newRequest(id, run.Source{})
		q.Snapshot = name
		return s.begin(ctx, q)
	})
}

// noWords completes an argument for which nobody knows a word.
func noWords(context.Context, *session, []string) ([]string, error) { return nil, nil }

// snapshotNames lists the snapshots, for the completion of an argument.
func snapshotNames(ctx context.Context, s *session, _ []string) ([]string, error) {
	id, err := s.oneProject(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.to.Snapshots(ctx, id)
	var words []string
	for _, one := range all {
		words = append(words, fmt.Sprintf("%s\t%s, run %s", one.Snapshot, one.Made.Local().Format(time.DateTime), one.Revision.Run))
	}
	return words, err
}
