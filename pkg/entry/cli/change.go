package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/cli/term"
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
	if f := c.flags; f.deletions.n != nil || f.rollback || f.refuse || len(f.only) > 0 {
		return c.request(ctx, "deploy")
	}
	return c.ask(ctx, "deploy", func(s *session, p packed) (string, error) {
		if err := s.confirmSuperseding(ctx, p); err != nil {
			return "", err
		}
		return s.upload(ctx, fmt.Sprintf("projects/%s/%s.zip", p.Name, p.Environment), p.body)
	})
}

// refresh requests that the live stacks are read into the records, and follows the run.
func refresh(ctx context.Context, c *call) (int, error) { return c.request(ctx, "refresh") }

// preview requests a plan, and shows it.
func preview(ctx context.Context, c *call) (int, error) {
	var changes bool
	code, err := c.ask(ctx, "plan", func(s *session, p packed) (string, error) {
		id, err := s.request(ctx, "plan", p)
		s.ended = func(r run.Run) { changes = len(r.Steps) > 0 }
		return id, err
	})
	if code == ExitOK && err == nil && c.flags.exitCode && changes {
		code = ExitChanges
	}
	return code, err
}

// destroy asks the user to confirm, requests the operation and follows the run.
func destroy(ctx context.Context, c *call) (int, error) {
	if !c.flags.yes && !c.Asks {
		return c.refuse("destroy", fault.New(fault.Refused, "destroy deletes every stack of the project, and there is no terminal on which to confirm it: confirm with --yes"))
	}
	return c.request(ctx, "destroy")
}

// request requests an operation with a request object, and follows the run.
func (c *call) request(ctx context.Context, operation string) (int, error) {
	return c.ask(ctx, operation, func(s *session, p packed) (string, error) {
		if plan.AllOperations().Of(operation).DeletesAll && !c.flags.yes {
			if err := s.confirm(ctx, p); err != nil {
				return "", err
			}
		}
		return s.request(ctx, operation, p)
	})
}

// ask checks the project's files, requests a run and follows it.
func (c *call) ask(ctx context.Context, operation string, begin func(*session, packed) (id string, err error)) (int, error) {
	p, err := c.pack(ctx)
	if err != nil {
		return c.refuse(operation, err)
	}
	s, err := c.open(ctx)
	if err != nil {
		return ExitFailed, err
	}
	return s.leave(ctx, func() (int, error) {
		id, err := begin(s, p)
		if fault.Is(err, fault.Refused) {
			return c.refuse(operation, err)
		}
		if err != nil {
			return ExitFailed, err
		}
		q, err := s.toTheEnd(ctx, watch{run: id})
		if errors.Is(err, errInterrupted) {
			return s.detach(ctx, q.last(id))
		}
		if err == nil && s.ended != nil {
			s.ended(q.first)
		}
		return q.exit(""), err
	})
}

// A packed is a project that was checked, with the archive that is uploaded.
type packed struct {
	project.Project
	body []byte
}

// pack reads and checks the project that the call names.
func (c *call) pack(ctx context.Context) (packed, error) {
	files, loaded, err := c.load(ctx)
	if err != nil {
		return packed{}, err
	}
	body, err := archive.Pack(files)
	return packed{loaded.Project, body}, err
}

// refuse prints why no run was requested, as a run in state refused would say it.
func (c *call) refuse(operation string, err error) (int, error) {
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
	lock, err := s.reader.Lock(ctx, p.ID())
	if err != nil {
		return fmt.Errorf("read the lock of %s: %w", p.ID(), err)
	}
	for _, w := range append([]run.Writer{lock.Owner}, lock.Waiting...) {
		if w.Run == "" {
			continue
		}
		r, err := s.reader.Run(ctx, w.Run)
		if err != nil {
			return fmt.Errorf("run %s: %w", w.Run, err)
		}
		if !r.Upload || r.State.Over() || r.Command.Stops() || r.Who == s.who(ctx) {
			continue
		}
		what := fmt.Sprintf("this deploy supersedes run %s, requested by %s (%s of %s, %s)", r.ID, cmp.Or(r.Who, "somebody"), r.Operation, r.Project, r.State)
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
	fmt.Fprintf(c.Err, "%s\ntype yes to go on: ", what)
	answer, err := bufio.NewReader(c.In).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return fault.New(fault.Refused, "the answer was not yes")
	}
	return err
}

// confirm asks the user to confirm that all stacks are deleted.
func (s *session) confirm(ctx context.Context, p packed) error {
	records, err := s.reader.Records(ctx, p.ID())
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(records))
	what := fmt.Sprintf("the %d stacks of %s", len(names), p.ID())
	if only := s.call.flags.only; len(only) > 0 {
		what, names = "of "+p.ID(), only
	}
	return s.call.agree(fmt.Sprintf("destroy deletes %s: %s\nat %s", what, strings.Join(names, ", "), s.label))
}

// made is the request of an operation or command, with the options that the
// flags of the call set. The source is the configuration that it deploys.
func (s *session) made(ctx context.Context, operation, project string, source run.Source) run.Request {
	f := s.call.flags
	return run.Request{Project: project, Operation: operation, Source: source, Who: s.who(ctx), Options: run.Options{
		Force: f.force, Reason: f.reason, Rollback: f.rollback, Refuse: f.refuse, Only: f.only, MaxDeletions: f.deletions.n,
	}}
}

// request uploads a configuration and a request object that names it, and returns
// the ID of the run that the request starts.
func (s *session) request(ctx context.Context, operation string, p packed) (string, error) {
	key := fmt.Sprintf("revisions/%s/%s/%s.zip", p.Name, p.Environment, digest(p.body))
	version, err := s.objects.By(s.who(ctx)).Put(ctx, key, p.body)
	if err != nil {
		return "", fmt.Errorf("upload to %s: %w", s.label, err)
	}
	return s.post(ctx, s.made(ctx, operation, p.Project.ID(), run.Source{Key: key, Version: version}))
}

// post uploads the request object of a request and returns the ID of its run.
func (s *session) post(ctx context.Context, q run.Request) (string, error) {
	body, err := json.Marshal(q.Body())
	if err != nil {
		return "", fault.New(fault.Broken, "request %s: %w", q.Operation, err)
	}
	name, environment, _ := strings.Cut(q.Project, "@")
	return s.upload(ctx, fmt.Sprintf("requests/%s/%s/%s.json", name, environment, unique()), body)
}
