package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
)

// listHistory lists what runs did to a stack, newest first.
func listHistory(ctx context.Context, c *call) (int, error) {
	return c.show(ctx, []string{"RUN", "PROJECT", "STEP", "RESULT", "ENDED", "TOOK", "BY", "WHY"}, func(s *session) (objects []any, cells [][]string, err error) {
		projects, err := s.projects(ctx)
		for _, p := range projects {
			steps, err := s.to.History(ctx, p, c.args[0])
			if err != nil {
				return nil, nil, fmt.Errorf("read the history of %s in %s: %w", c.args[0], p, err)
			}
			for _, past := range steps {
				objects = append(objects, struct {
					Project string `json:"project"`
					report.PastStep
				}{p, past})
				cells = append(cells, []string{
					past.Run, p, past.Step, string(past.Status), past.Ended.Local().Format(time.DateTime), past.Ended.Sub(past.Started).Round(time.Second).String(),
					past.Who, firstLine(past.Why),
				})
			}
		}
		if err != nil || len(objects) > 0 {
			return objects, cells, err
		}
		rows, err := s.records(ctx)
		for _, r := range rows {
			if r.Node == c.args[0] {
				return nil, nil, nil // nothing was recorded of what was done to it
			}
		}
		if err == nil {
			err = c.noStack(rows)
		}
		return nil, nil, err
	})
}

// firstLine is the first line of a text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
