package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// deploy uploads the project, which starts a run, and follows the run. An upload
// has no options. With options, deploy is a request: it is queued, and supersedes
// no run.
func deploy(ctx context.Context, c *call) (int, error) {
	if c.flags.saved != "" {
		return deploySaved(ctx, c)
	}
	f := c.flags
	queued := f.deletions.n != nil || f.rollback || f.refuse || f.whileSuspended || f.selection().Partial() || len(f.adopt)+len(f.skip) > 0
	if queued {
		return request(ctx, c)
	}
	return c.ask(ctx, func(s *session, p packed) (string, error) {
		if err := s.confirmSuperseding(ctx, p); err != nil {
			return "", err
		}
		if !c.reviews() {
			return s.to.Deploy(ctx, p.ID(), p.body)
		}
		q, err := s.stored(ctx, p)
		if err == nil {
			q, err = s.review(ctx, q)
		}
		switch {
		case err != nil:
			return "", err
		case q.Plan == "":
			return s.to.Deploy(ctx, p.ID(), p.body)
		}
		return s.to.Request(ctx, q)
	})
}

// requestOf requests the called command's operation for a packed project.
func (s *session) requestOf(ctx context.Context, p packed) (string, error) {
	q, err := s.stored(ctx, p)
	if err == nil {
		q, err = s.review(ctx, q)
	}
	if err != nil {
		return "", err
	}
	return s.to.Request(ctx, q)
}

// stored uploads the files of a packed project, and returns the request of the called command's operation for them.
func (s *session) stored(ctx context.Context, p packed) (run.Request, error) {
	source, err := s.to.Store(ctx, p.ID(), p.body)
	if err != nil {
		return run.Request{}, err
	}
	q := s.newRequest(p.ID(), source)
	if q.ChangedSince != "" {
		if q.ChangedSince, err = s.since(ctx, p.ID(), q.ChangedSince); err != nil {
			return q, fmt.Errorf("--changed-since: %w", err)
		}
	}
	return q, nil
}

// request requests the command's operation with a request object, and follows the run.
// If the operation deletes stacks and cannot do anything else, it asks the user to confirm first.
func request(ctx context.Context, c *call) (int, error) {
	o := plan.AllOperations().Of(c.operation())
	if err := c.checkFormat(o); err != nil {
		return c.refuse(err)
	}
	if !o.Preview && !o.Compares && c.flags.given["exit-code"] {
		return c.refuse(fault.New(fault.Invalid, "--exit-code is for a plan: add --plan"))
	}
	asks := o.NeedsConsent() && !c.flags.yes
	if asks && !c.Asks {
		return c.refuse(fault.New(fault.Refused, "%s deletes %s, and there is no terminal on which to confirm it: confirm with --yes",
			o.Name, deletedBy(o, c.flags.selection().Partial())))
	}
	return c.ask(ctx, func(s *session, p packed) (string, error) { return s.requestOf(ctx, p) })
}

// since is the ID of the run that --changed-since names: as a revision of the project, or as any run, such as a plan.
func (s *session) since(ctx context.Context, project, word string) (string, error) {
	v, err := s.to.Revision(ctx, project, word)
	if !fault.Is(err, fault.Missing) || run.IsRelative(word) {
		return v.Run, err
	}
	r, err := s.named(ctx, word)
	return r.ID, err
}

// checkFormat refuses the format of a plan for an operation that shows none.
func (c *call) checkFormat(o plan.Operation) error {
	if !o.Preview && c.flags.output == "markdown" {
		return fault.New(fault.Invalid, "-o markdown shows a plan: add --plan")
	}
	return nil
}

// checkPlan refuses flags that are for a plan, if the operation shows none.
func (c *call) checkPlan(o plan.Operation) error {
	if !o.Preview && c.flags.given["exit-code"] {
		return errors.Join(c.checkFormat(o), fault.New(fault.Invalid, "--exit-code is for a plan: add --plan"))
	}
	return c.checkFormat(o)
}

// operation is the operation that the command requests.
func (c *call) operation() string {
	name := cmp.Or(c.command.operation, c.command.name)
	if c.flags.revert {
		name = plan.RevertDriftName
	}
	if c.flags.plan {
		return plan.PlanPrefix + name
	}
	return name
}

// ask checks the project's files, requests a run and follows it.
func (c *call) ask(ctx context.Context, begin func(*session, packed) (id string, err error)) (int, error) {
	p, err := c.pack(ctx)
	if err != nil {
		return c.refuse(err)
	}
	return c.in(ctx, c.open, func(s *session) (int, error) {
		if err := s.register(ctx, p.places); err != nil {
			return ExitFailed, err
		}
		id, err := begin(s, p)
		switch {
		case fault.Is(err, fault.Refused):
			return c.refuse(err)
		case err != nil:
			return ExitFailed, err
		}
		return s.watch(ctx, watch{run: id})
	})
}

// A packed is a project that was checked, with the archive that is uploaded.
type packed struct {
	project.Project
	body   []byte
	places []project.Access // the targets that a laptop still has to register
}

// pack reads and checks the project that the call names.
func (c *call) pack(ctx context.Context) (packed, error) {
	l, err := c.load(ctx)
	if err != nil {
		return packed{}, err
	}
	body, err := archive.Pack(l.files)
	return packed{l.Project, body, l.places}, err
}

// refuse prints why no run was requested, as a run in state refused would say it.
func (c *call) refuse(err error) (int, error) {
	operation := c.command.path()
	if !fault.Is(err, fault.Invalid, fault.Refused, fault.Missing, fault.Denied) {
		return ExitFailed, err
	}
	if c.flags.output == "json" {
		r := run.Run{Request: run.Request{Operation: operation}, State: run.StateRefused, Messages: fault.Messages(err)}
		if shown := term.NewJSON(c.Out).End(r); shown != nil {
			return ExitFailed, shown
		}
	}
	c.explain(err)
	fmt.Fprintf(c.Err, "%s refused: nothing was done\n", operation)
	return ExitRefused, nil
}

// confirmSuperseding prints whose runs the upload would supersede, and asks the
// user to confirm. Without a terminal it prints them and does not ask.
func (s *session) confirmSuperseding(ctx context.Context, p packed) error {
	lock, err := s.to.Lock(ctx, p.ID())
	if err != nil {
		return fmt.Errorf("read the lock of %s: %w", p.ID(), err)
	}
	for _, w := range append([]run.Writer{lock.Owner}, lock.Waiting...) {
		if w.Run == "" {
			continue
		}
		r, err := s.to.Run(ctx, w.Run)
		if err != nil {
			return fmt.Errorf("run %s: %w", w.Run, err)
		}
		if !r.Upload || r.State.Over() || r.Command.Stops() || slices.Contains([]string{r.Who, r.Claim}, s.to.Caller(ctx)) {
			continue
		}
		what := fmt.Sprintf("this deploy supersedes run %s, requested by %s (%s of %s, %s)", r.ID, cmp.Or(r.By(), "somebody"), r.Operation, r.Project, r.State)
		if !s.call.Asks || s.call.flags.yes {
			fmt.Fprintln(s.call.Err, what)
			continue
		}
		if err := s.call.agree(what); err != nil {
			return err
		}
	}
	return nil
}

// agree asks the user, and returns an error of kind Refused unless the user agrees.
func (c *call) agree(what string) error {
	answer, err := c.prompt(what + "\ntype yes to continue (only the whole word is accepted): ")
	if answer == "yes" {
		return err
	}
	said := "there was no answer"
	if answer != "" {
		said = fmt.Sprintf("the answer was %q and not yes", answer)
	}
	other := ""
	if slices.Contains(strings.Fields(c.command.flags), "yes") {
		other = ", or add --yes"
	}
	return fault.New(fault.Refused, "%s: to continue, repeat the command and type the whole word yes%s", said, other)
}

// prompt asks the user for a line.
func (c *call) prompt(question string) (string, error) {
	fmt.Fprint(c.Err, question)
	line, err := bufio.NewReader(c.In).ReadString('\n')
	return strings.TrimSpace(line), err
}

// deletedBy is what an operation deletes, for people.
func deletedBy(o plan.Operation, some bool) string {
	switch {
	case o.Recreates:
		return "the named stacks, and those that import from them, with their data"
	case some:
		return "the selected stacks of the project"
	case o.Prunes:
		return "the obsolete stacks of the project"
	}
	return "every stack of the project"
}

// An unshown run is followed, and not shown.
type unshown struct{}

// Show is view.
func (unshown) Show(run.Run) error { return nil }

// End is view.
func (unshown) End(run.Run) error { return nil }

// newRequest returns the request of the called command, with the options that its flags
// set. The source is the configuration to deploy.
func (s *session) newRequest(project string, source run.Source) run.Request {
	f := s.call.flags
	return run.Request{Project: project, Operation: s.call.operation(), Source: source, Options: run.Options{
		Force: f.force, Reason: f.reason, Rollback: f.rollback, Refuse: f.refuse && !f.plan, Selection: f.selection(), Adopt: f.adopt, Retain: f.retain, Skip: f.skip, MaxDeletions: f.deletions.n, Exact: f.exact, WhileSuspended: f.whileSuspended, NoBackups: f.noBackups, KeepBackups: f.keepBackups,
	}}
}
