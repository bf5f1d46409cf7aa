package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A runCommand is a command that acts on a run.
type runCommand struct {
	which   choice             // the run, if none is named
	anew    bool               // it starts a new run
	success run.State          // the state of the run that is a success for this command; may be empty
	done    func(run.Run) bool // reports whether to stop following

	confirm    func(context.Context, *session, run.Run) error      // shows what is confirmed, and asks; may be nil
	unreadable func(context.Context, *session, error) (int, error) // what to do if the run cannot be read; may be nil
}

// give sends the request of the command about a run, and follows the run.
func (w runCommand) give(ctx context.Context, c *call) (int, error) {
	name := c.command.name
	control, _ := run.ControlNamed(name)
	if control.NeedsReason && strings.TrimSpace(c.flags.reason) == "" {
		return c.refuse(fault.New(fault.Invalid, "%s: give a reason with --reason TEXT: it is recorded with the run", name))
	}
	return c.in(ctx, c.open, func(s *session) (int, error) { return w.giveTo(ctx, s, control) })
}

// giveTo sends the request of the command through a session, and follows the run.
func (w runCommand) giveTo(ctx context.Context, s *session, control run.Control) (int, error) {
	c := s.call
	name := c.command.name
	about, err := s.chosen(ctx, w.which)
	if w.unreadable != nil && fault.Is(err, fault.Missing, fault.Broken) {
		return w.unreadable(ctx, s, err)
	}
	if err != nil {
		return ExitFailed, err
	}
	asks := w.confirm != nil && c.Asks && !c.flags.yes // the question names the run
	if !asks {
		c.name(about)
	}
	if w.confirm != nil {
		if err := w.confirm(ctx, s, about); err != nil {
			return c.refuse(err)
		}
	}
	q := s.newRequest(about.Project, run.Source{}) // the run has its files, which may be those of another environment
	q.Of = about.ID
	if w.anew {
		id, err := s.to.Request(ctx, q)
		if err != nil {
			return ExitFailed, err
		}
		return s.watch(ctx, watch{run: id})
	}
	steps := []string{""} // that are answered
	if control.Answers {
		if steps = about.Asks(); c.flags.step != "" || len(steps) == 0 {
			steps = []string{c.flags.step}
		}
	}
	var ids []string // of the requests, if the installation has not taken them yet
	for i, step := range steps {
		if q.Step = step; control.Answers {
			q.PlanDigest = about.DigestFor(step)
		}
		id, err := s.to.Command(ctx, q)
		if err != nil && i > 0 {
			fmt.Fprintf(c.Err, "%s of %s is done, the rest is not\n", name, strings.Join(steps[:i], ", "))
			return ExitFailed, err
		}
		switch {
		case fault.Is(err, fault.Refused):
			return c.refuse(err)
		case err != nil:
			return ExitFailed, err
		case id != "":
			ids = append(ids, id)
		}
	}
	// What is followed is the run itself, or the refusal of a command.
	return s.watch(ctx, watch{run: about.ID, instead: ids, success: w.success, done: func(r run.Run) bool {
		if r.ID != about.ID {
			return finished(r)
		}
		return w.done(r) && r.Generation >= about.Generation+len(steps) && (!control.Answers || hasAnswers(r, ids))
	}})
}

// name prints which run the command is about, if the user has not given its whole ID.
func (c *call) name(about run.Run) {
	if about.ID != strings.Join(c.args, "") && !c.flags.quiet {
		fmt.Fprintf(c.Err, "%s of run %s\n", c.command.name, described(about))
	}
}

// hasAnswers reports whether all answers with the given IDs are recorded with a run.
func hasAnswers(r run.Run, ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool {
		return !slices.ContainsFunc(r.Steps, func(s run.Step) bool { return s.Answer.ID == id })
	})
}

// answered reports whether a run that was given an answer, or was continued, has ended, or waits for a person again.
func answered(r run.Run) bool {
	return over(r) || r.State == run.StateWaiting && r.ObservedGeneration == r.Generation
}

// approvePlan shows what a run would change, and asks the user to confirm it.
func approvePlan(ctx context.Context, s *session, r run.Run) error {
	if len(r.Asks()) == 0 {
		return fault.New(fault.Refused, "run %s has no plan that waits for approval: it is %s", r.ID, r.State)
	}
	steps := r.Asks()
	if step := s.call.flags.step; step != "" {
		steps = []string{step}
		if _, err := r.Question("", step); err != nil {
			return err
		}
	}
	c, _, err := s.changesOf(ctx, r)
	if err != nil {
		return err
	}
	var stacks []string // that wait for approval; empty if the whole plan does
	for _, id := range steps {
		if step := r.Step(id); step != nil && step.Node != "" {
			stacks = append(stacks, step.Node)
		}
	}
	if s.call.flags.targets {
		c.Targets = nil
	}
	fmt.Fprintln(s.call.Err, strings.Join(term.Plan(c, s.call.width(), false, stacks...), "\n"))
	if s.call.flags.yes {
		return nil
	}
	what := fmt.Sprintf("plan %.12s", r.Digest)
	if len(stacks) > 0 {
		what = "the changes of " + strings.Join(stacks, ", ") + " in " + what
	}
	return s.call.agree(fmt.Sprintf("approve %s of %s, run %s", what, r.Project, r.ID))
}

// confirmCancel asks whether to cancel a run that the user has not named.
func confirmCancel(_ context.Context, s *session, r run.Run) error {
	if len(s.call.args) > 0 || s.call.flags.yes || !s.call.Asks {
		return nil
	}
	return s.call.agree(fmt.Sprintf("cancel run %s: its running steps finish, and no other one starts", described(r)))
}

// confirmRetry shows what a repetition of a run would do, and asks, as the command for the operation of the run does.
// Without a terminal, it refuses to repeat a run that deletes stacks and that the user has not named: it may be of
// another project.
func confirmRetry(ctx context.Context, s *session, r run.Run) error {
	o, known := plan.AllOperations().Named(r.Operation)
	deletes, named := !known || o.NeedsConsent(), len(s.call.args) > 0
	switch {
	case s.call.flags.yes:
		return nil
	case !s.call.Asks && deletes && !named:
		return fault.New(fault.Refused, "the newest run that failed is %s, which deletes stacks: name it (%s), or add --yes", described(r), s.call.commandLine("retry", r.ID))
	case !s.call.Asks:
		return nil
	}
	s.call.name(r)
	if o.Recreates { // its plan alone does not say what the runs before have deleted
		return s.call.agree(fmt.Sprintf("repeat run %s, which deletes stacks", described(r)))
	}
	_, err := s.review(ctx, s.repeated(r, o))
	return err
}

// repeated requests what a retry of a run does, without being a retry.
func (s *session) repeated(old run.Run, o plan.Operation) run.Request {
	r := run.Run{Request: s.newRequest(old.Project, run.Source{})}
	r.Repeat(old)
	q := r.Request
	switch from := r.Revision; {
	case !o.FromRevision:
		return q
	case o.Promotes && from != "":
		q.FromRevision = from
	case from != "" && q.Snapshot == "":
		q.To = from
	}
	q.Source = run.Source{}
	return q
}

// load returns the run of the given ID.
func (s *session) load(ctx context.Context, id string) (run.Run, error) {
	r, err := s.to.Follow(ctx, id)
	if err != nil {
		return r, fmt.Errorf("run %s: %w", id, err)
	}
	return r, nil
}

// release requests that the lock is taken from a run that cannot be read because of
// cause, and waits until it is. The run is the one that the call names, or the only
// such run that holds a lock.
func release(ctx context.Context, s *session, cause error) (int, error) {
	projects, err := s.projects(ctx)
	if err != nil {
		return ExitFailed, err
	}
	var about []run.Request
	for _, p := range projects {
		lock, err := s.to.Lock(ctx, p)
		if err != nil {
			return ExitFailed, fmt.Errorf("read the lock of %s: %w", p, err)
		}
		id := lock.Owner.Run
		if id == "" || len(s.call.args) > 0 && !strings.HasPrefix(id, strings.ToLower(s.call.args[0])) {
			continue
		}
		if _, why := s.load(ctx, id); fault.Is(why, fault.Missing, fault.Broken) {
			q := s.newRequest(p, run.Source{})
			q.Of, cause = id, why
			about = append(about, q)
		}
	}
	if len(about) != 1 {
		return ExitFailed, cause
	}
	q := about[0]
	id, err := s.to.Command(ctx, q)
	switch {
	case fault.Is(err, fault.Refused):
		return s.call.refuse(err)
	case err != nil:
		return ExitFailed, err
	}
	fmt.Fprintf(s.call.Err, "unlock: %v\nOnly the lock on %s is released. The next run finds the operations that are in progress.\n", cause, q.Project)
	for {
		lock, err := s.to.Lock(ctx, q.Project)
		if err != nil {
			return ExitFailed, fmt.Errorf("read the lock of %s: %w", q.Project, err)
		}
		if lock.Owner.Run != q.Of {
			fmt.Fprintf(s.call.Err, "run %s no longer holds the lock on %s\n", q.Of, q.Project)
			return ExitOK, nil
		}
		if id != "" {
			if r, err := s.load(ctx, id); err == nil && r.State == run.StateRefused {
				return s.call.refuse(fault.New(fault.Refused, "%s", strings.Join(r.Messages, "; ")))
			}
		}
		select {
		case <-ctx.Done():
			return ExitFailed, context.Cause(ctx)
		case <-s.call.Interrupts:
			return ExitFailed, errInterrupted
		case <-time.After(pollInterval):
		}
	}
}

// lockOwner is the only run that holds a lock. If several runs do, the user must choose,
// also if some of them cannot be read.
func lockOwner(ctx context.Context, s *session) (run.Run, error) {
	projects, err := s.projects(ctx)
	if err != nil {
		return run.Run{}, err
	}
	var owner run.Run
	var owners []string
	var unreadable error
	for _, p := range projects {
		lock, err := s.to.Lock(ctx, p)
		if err != nil {
			return run.Run{}, fmt.Errorf("read the lock of %s: %w", p, err)
		}
		id := lock.Owner.Run
		if id == "" {
			continue
		}
		owner, err = s.load(ctx, id)
		switch {
		case fault.Is(err, fault.Missing, fault.Broken):
			unreadable = err
			owners = append(owners, fmt.Sprintf("%s (of %s, cannot be read)", id, p))
		case err != nil:
			return run.Run{}, err
		default:
			owners = append(owners, described(owner))
		}
	}
	switch len(owners) {
	case 0:
		return run.Run{}, fault.New(fault.Refused, "no run holds a lock: there is nothing to unlock")
	case 1:
		return owner, unreadable
	}
	return run.Run{}, fault.New(fault.Refused, "%d runs hold a lock: give the ID of one of them: %s", len(owners), strings.Join(owners, ", "))
}
