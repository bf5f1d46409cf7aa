package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
)

// listAudit lists the changes that were requested, newest first.
func listAudit(ctx context.Context, c *call) (int, error) {
	return c.show(ctx, []string{"TIME", "PROJECT", "RUN", "WHAT", "STATE", "BY", "FROM", "REASON"}, func(s *session) (objects []any, cells [][]string, err error) {
		all, err := s.audited(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("read the audit log: %w", err)
		}
		for _, e := range all {
			objects = append(objects, e)
			cells = append(cells, []string{
				e.Time.Local().Format(time.DateTime), cmp.Or(e.Project, "-"), cmp.Or(e.Run, "-"), whatOf(e), string(e.State), e.Who, cmp.Or(e.From, "-"), firstLine(e.Why),
			})
		}
		return objects, cells, nil
	})
}

// whatOf is what was requested, for people.
func whatOf(e report.AuditEntry) string {
	if e.Skip == "" {
		return e.What
	}
	return e.What + ", skips " + e.Skip
}

// audited returns the audit logs of the selected projects or, if none is selected, all that there is.
func (s *session) audited(ctx context.Context) ([]report.AuditEntry, error) {
	if s.call.flags.project == "" && s.call.flags.env == "" {
		return s.to.AuditedAll(ctx)
	}
	projects, err := s.projects(ctx)
	if err != nil {
		return nil, err
	}
	var all []report.AuditEntry
	for _, p := range projects {
		entries, err := s.to.Audited(ctx, p)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	report.NewestFirst(all)
	return all, nil
}
