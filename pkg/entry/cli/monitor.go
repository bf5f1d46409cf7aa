package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// pulse is how often the monitor checks that a followed run has an execution.
const pulse = 10 * time.Second

// A monitor prints, while a run is followed, what the run itself does not show:
// which runs it waits for, and that no execution executes it. It prints each
// message once.
type monitor struct {
	*session
	view      view // that shows the run meanwhile; may be nil
	said      string
	requested time.Time // when the execution was last checked
	alone     string    // the execution that was then found ended
	away      bool      // the installation does not answer, and that was reported
}

// tell prints the messages about r, which has not ended and does not wait for a
// person. If the installation cannot be read, a later call prints them.
func (l *monitor) tell(ctx context.Context, r run.Run) {
	line := ""
	switch {
	case r.State == run.StateQueued:
		line = l.queued(ctx, r)
	case r.Epoch > 0 && time.Since(l.requested) >= pulse:
		l.requested = time.Now()
		line = l.unexecuted(ctx, r)
	}
	if line != "" && line != l.said {
		l.said = line
		l.say(line)
	}
}

// say prints a line beside the view.
func (l *monitor) say(line string) {
	if l.call.flags.quiet {
		return
	}
	if screen, ok := l.view.(interface{ Clear() error }); ok {
		if err := screen.Clear(); err != nil {
			return // the reader of the output has closed it; the next Show reports that
		}
	}
	fmt.Fprintln(l.call.Err, line)
}

// gone prints, once, that the installation does not answer.
func (l *monitor) gone(err error) {
	if !l.away && l.call.flags.endpoint+l.call.flags.installation != "" {
		l.say(fmt.Sprintf("%s does not answer (%v): trying again for two minutes", l.label, rootOf(err)))
		l.away = true
	}
}

// back prints that the installation answers again.
func (l *monitor) back() {
	if l.away {
		l.say(l.label + " answers again")
	}
	l.away = false
}

// rootOf is the innermost cause of an error, which has the shortest text.
func rootOf(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// unexecuted says that the execution of r has ended though r has not. It says so
// when two polls in a row find that, because between the end of an execution and
// the start of the next one the run has none.
func (l *monitor) unexecuted(ctx context.Context, r run.Run) string {
	name := fmt.Sprintf("%s-%d", r.ID, r.Epoch)
	s, err := l.flows.ExecutionStatus(ctx, name)
	if err != nil || !s.Started || s.Running {
		l.alone = ""
		return ""
	}
	if l.alone != name {
		l.alone = name
		return ""
	}
	return fmt.Sprintf("run %s is not being executed: execution %s has ended (%s). Stackwright restarts it within five minutes", r.ID, name, s.Why)
}

// queued says which run r waits for, or "" if the lock cannot be read.
func (s *session) queued(ctx context.Context, r run.Run) string {
	lock, err := s.reader.Lock(ctx, r.Project)
	if err != nil || lock.Owner.Run == "" || lock.Owner.Run == r.ID {
		return ""
	}
	before := []string{s.named(ctx, lock.Owner.Run)}
	for _, w := range lock.Waiting {
		if w.Run == r.ID {
			break
		}
		before = append(before, s.named(ctx, w.Run))
	}
	return fmt.Sprintf("run %s waits for %s", r.ID, strings.Join(before, ", then "))
}

// named says which run that is.
func (s *session) named(ctx context.Context, id string) string {
	r, err := s.reader.Run(ctx, id)
	if err != nil {
		return id
	}
	return fmt.Sprintf("%s (%s, %s, %s)", id, r.Operation, r.State, r.Who)
}
