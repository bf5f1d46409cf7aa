package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// savedFormat is the number of the format of the files that plan --out writes.
const savedFormat = 1

// A savedPlan is a plan in a file: what to request to carry it out, and nothing else. The
// installation has the plan itself.
type savedPlan struct {
	Format  int      `json:"format"`
	Project string   `json:"project"` // as in "shop@prod"
	Digest  string   `json:"digest"`  // of the plan, for people: as plan -o json, and a refusal of the plan, have it
	Request run.Body `json:"request"` // of the deploy
}

// savePlan writes the plan of a run that the call has requested into the file that it names.
func (c *call) savePlan(r run.Run) error {
	f, selection := c.flags, c.flags.selection()
	selection.ChangedSince = r.ChangedSince // the flag may be the beginning of it
	q := run.Request{Operation: "deploy", Source: r.Source, Options: run.Options{Selection: selection, Adopt: f.adopt, Skip: f.skip, MaxDeletions: f.deletions.n, Rollback: f.rollback, Plan: r.Changes}}
	text, err := json.MarshalIndent(savedPlan{savedFormat, r.Project, r.Digest, q.Body()}, "", "  ")
	if err == nil {
		err = os.WriteFile(c.flags.out, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fault.New(fault.Invalid, "--out: the plan cannot be written: %w", err)
	}
	return nil
}

// readPlan reads the plan in a file.
func readPlan(file string) (run.Request, error) {
	wrong := func(err error) (run.Request, error) {
		return run.Request{}, fault.New(fault.Invalid, "--plan %s: it is no plan that plan --out has written: %w", file, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return run.Request{}, fault.New(fault.Invalid, "--plan: the file cannot be read: %w", err)
	}
	var format struct{ Format int }
	if err := json.Unmarshal(text, &format); err != nil {
		return wrong(err)
	}
	if format.Format != savedFormat {
		return wrong(fault.New(fault.Invalid, "its format is %d, and this version reads format %d", format.Format, savedFormat))
	}
	var p savedPlan
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&p); err != nil {
		return wrong(err)
	}
	deploys := plan.AllOperations().Of(p.Request.Operation).ShownBy == plan.PreviewOf(p.Request.Operation)
	switch o := p.Request.Options; {
	case p.Project == "" || !deploys || p.Request.Source == (run.Source{}) || o.Plan == "":
		return wrong(fault.New(fault.Invalid, "it does not say which project to deploy, which files, or which plan"))
	default:
		return run.Request{Project: p.Project, Operation: p.Request.Operation, Source: p.Request.Source, Options: run.Options{
			Selection: o.Selection, Adopt: o.Adopt, Skip: o.Skip, MaxDeletions: o.MaxDeletions, Rollback: o.Rollback, Plan: o.Plan,
		}}, nil
	}
}

// hasPlans refuses a folder without an installation: no plan was made there, and a deploy would make an installation.
func (c *call) hasPlans() error {
	if c.flags.onAWS() || c.flags.endpoint != "" {
		return nil
	}
	if _, err := os.Stat(c.flags.data); errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Refused, "--plan: there is no installation in folder %s, so the plan was made by another one: name its folder with --data, or use the installation on AWS that has made it", quoted(c.flags.data))
	}
	return nil
}

// deploySaved requests a deploy that carries out the plan in a file, and follows the run.
func deploySaved(ctx context.Context, c *call) (int, error) {
	for _, flag := range strings.Fields("only " + selected + "changed-since adopt skip max-deletions rollback env " + sceptred) {
		if c.flags.given[flag] {
			return c.refuse(fault.New(fault.Invalid, "--%s: the saved plan says it: leave it out, or plan again", flag))
		}
	}
	if len(c.args) > 0 {
		return c.refuse(fault.New(fault.Invalid, "%s: the saved plan names its files: leave it out, or plan again", quoted(c.args[0])))
	}
	q, err := readPlan(c.flags.saved)
	if err == nil {
		err = c.hasPlans()
	}
	if err != nil {
		return c.refuse(err)
	}
	q.Refuse = c.flags.refuse
	return c.in(ctx, c.open, func(s *session) (int, error) {
		id, err := s.to.Request(ctx, q)
		switch {
		case fault.Is(err, fault.Refused):
			return c.refuse(err)
		case err != nil:
			return ExitFailed, err
		}
		return s.watch(ctx, watch{run: id})
	})
}
