package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
)

// line returns the run that holds the lock of a project and the queue, or nil if
// no run holds it.
func (s *session) line(ctx context.Context, project string) (*report.QueueEntry, error) {
	return report.QueueEntryOf(ctx, s.reader, project)
}

// tell prints the owner of a lock and the queue.
func tell(c *call, l report.QueueEntry) {
	o := l.Owner
	fmt.Fprintf(c.Err, "%s is locked by run %s (%s, %s) of %s: %s\n", l.Project, o.Run, o.Operation, o.State, cmp.Or(o.Who, "somebody"), o.Does)
	for i, p := range l.Waiting {
		fmt.Fprintf(c.Err, "  %d. run %s (%s) of %s waits since %s: %s\n",
			i+1, p.Run, p.Operation, cmp.Or(p.Who, "somebody"), p.Requested.Local().Format(time.TimeOnly), p.Does)
	}
}
