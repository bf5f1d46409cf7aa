package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
)

// purgeInstallation deletes old runs, and objects that nothing names any more. Unless the user has confirmed it, it shows first what it would delete.
func purgeInstallation(ctx context.Context, c *call) (int, error) {
	q := report.PurgeRequest{OlderThan: c.flags.age, Keep: report.UsualKeep, Plan: c.flags.plan}
	if n := c.flags.keep.n; n != nil {
		q.Keep = *n
	}
	if q.OlderThan == "" {
		return c.refuse(fault.New(fault.Invalid, "--older-than: say how long ago what is deleted has to have ended, such as 90d"))
	}
	if _, err := q.Retention(); err != nil {
		return c.refuse(err)
	}
	if !q.Plan && !c.flags.yes && !c.Asks {
		return c.refuse(fault.New(fault.Refused, "purge deletes runs and objects, and there is no terminal on which to confirm it: confirm with --yes"))
	}
	return c.in(ctx, c.open, func(s *session) (int, error) {
		if !q.Plan && !c.flags.yes {
			shown := q
			shown.Plan = true
			would, err := s.purge(ctx, shown)
			if err == nil {
				err = c.agree(would)
			}
			if err != nil {
				return c.refuse(err)
			}
		}
		text, err := s.purge(ctx, q)
		if err != nil {
			return c.refuse(err)
		}
		if c.flags.output == "text" {
			_, err = fmt.Fprintln(c.Out, text)
		}
		return ExitOK, err
	})
}

// purge requests all of a purge, prints what it has deleted if the output is not text, and returns it as text.
func (s *session) purge(ctx context.Context, q report.PurgeRequest) (string, error) {
	all := report.Purged{Plan: q.Plan}
	all.Versions = make(map[string]int)
	for {
		some, err := s.to.Purge(ctx, q)
		if err != nil {
			return "", fmt.Errorf("purge, after %s: %w", deleted(all), err)
		}
		all.Runs, all.Bytes = all.Runs+some.Runs, all.Bytes+some.Bytes
		for folder, n := range some.Versions {
			all.Versions[folder] += n
		}
		if q.After = some.After; q.After == "" {
			break
		}
	}
	if s.call.flags.output == "json" && q.Plan == s.call.flags.plan {
		return "", s.call.printJSON(all)
	}
	verb := map[bool]string{true: "would be deleted", false: "deleted"}[q.Plan]
	return deleted(all) + " " + verb, nil
}

// deleted says what a purge has deleted.
func deleted(p report.Purged) string {
	var folders []string
	n := 0
	for _, folder := range slices.Sorted(maps.Keys(p.Versions)) {
		n += p.Versions[folder]
		folders = append(folders, fmt.Sprintf("%s %d", folder, p.Versions[folder]))
	}
	text := fmt.Sprintf("%s and %s of objects", term.Plural(p.Runs, "run"), term.Plural(n, "version"))
	if n > 0 {
		text += fmt.Sprintf(" (%s; %.1f MB)", strings.Join(folders, ", "), float64(p.Bytes)/1e6)
	}
	return text
}
