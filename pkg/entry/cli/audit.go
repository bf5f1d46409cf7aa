package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
)

// listAudit lists the changes that were requested, newest first in each project.
func listAudit(ctx context.Context, c *call) (int, error) {
	return c.show(ctx, []string{"TIME", "PROJECT", "RUN", "WHAT", "STATE", "BY", "REASON"}, func(s *session) (objects []any, cells [][]string, err error) {
		projects, err := s.projects(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range projects {
			entries, err := s.to.Audited(ctx, p)
			if err != nil {
				return nil, nil, fmt.Errorf("read the audit log of %s: %w", p, err)
			}
			for _, e := range entries {
				objects = append(objects, struct {
					Project string `json:"project"`
					report.AuditEntry
				}{p, e})
				cells = append(cells, []string{e.Time.Local().Format(time.DateTime), p, e.Run, e.What, string(e.State), e.Who, firstLine(e.Why)})
			}
		}
		return objects, cells, nil
	})
}
