package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// usualRevisions is how many revisions are listed without --limit.
const usualRevisions = 20

// listRevisions lists the revisions of a project, newest first.
func listRevisions(ctx context.Context, c *call) (int, error) {
	return c.aboutProject(ctx, c.openReadOnly, func(s *session, id string) (int, error) {
		all, err := s.to.Revisions(ctx, id)
		if err != nil {
			return ExitFailed, err
		}
		if before := c.flags.before; before != "" {
			than, err := s.to.Revision(ctx, id, before)
			if err != nil {
				return ExitFailed, fmt.Errorf("--before: %w", err)
			}
			all = slices.DeleteFunc(all, func(v report.Revision) bool { return !v.Requested.Before(than.Requested) })
		}
		most := usualRevisions
		if n := c.flags.limit.n; n != nil {
			most = *n
		}
		shown := all[:min(len(all), most)]
		if c.flags.output == "json" {
			var objects []any
			for _, v := range shown {
				objects = append(objects, struct {
					Project string `json:"project"`
					report.Revision
				}{id, v})
			}
			return ExitOK, c.printJSON(objects...)
		}
		_, err = fmt.Fprintln(c.Out, strings.Join(term.Table([]string{"REVISION", "PROJECT", "DEPLOYED", "OPERATION", "STATE", "REQUESTED", "TOOK", "BY"}, revisionRows(id, shown), c.width()), "\n"))
		if more := len(all) - len(shown); more > 0 && len(shown) > 0 {
			fmt.Fprintf(c.Err, "%d older: %s\n", more, c.commandLine("revisions", "--before", shown[len(shown)-1].Run))
		}
		return ExitOK, err
	})
}

// revisionRows are the rows of a table of revisions.
func revisionRows(id string, all []report.Revision) [][]string {
	var rows [][]string
	for _, v := range all {
		deployed, state, took := "", string(v.State), ""
		if v.Current {
			deployed = "now"
		}
		if v.Partial {
			state += ", some stacks"
		}
		if !v.Ended.IsZero() {
			took = v.Ended.Sub(v.Started).Round(time.Second).String()
		}
		rows = append(rows, []string{v.Run, id, deployed, v.Operation, state, v.Requested.Local().Format(time.DateTime), took, v.Who})
	}
	return rows
}

// compareRevisions shows what differs between two revisions, or between one and the current one.
func compareRevisions(ctx context.Context, c *call) (int, error) {
	words := append(slices.Clone(c.args), run.CurrentRevision)
	c.args = nil
	return c.aboutProject(ctx, c.openReadOnly, func(s *session, id string) (int, error) {
		d, err := s.to.Difference(ctx, id, words[0], words[1])
		if err != nil {
			return ExitFailed, err
		}
		switch c.flags.output {
		case "json":
			return ExitOK, json.NewEncoder(c.Out).Encode(d)
		case "markdown":
			_, err = fmt.Fprint(c.Out, term.DifferenceMarkdown(d))
		default:
			_, colour := term.Able(c.Getenv)
			_, err = fmt.Fprintln(c.Out, strings.Join(term.Difference(d, colour && c.Window != nil), "\n"))
		}
		return ExitOK, err
	})
}

// rollBack requests a deploy of the files of a revision, and follows the run.
func rollBack(ctx context.Context, c *call) (int, error) {
	o := plan.AllOperations().Of(c.operation())
	if err := c.checkPlan(o); err != nil {
		return c.refuse(err)
	}
	return c.aboutProject(ctx, c.open, func(s *session, id string) (int, error) {
		v, err := s.to.Revision(ctx, id, cmp.Or(c.flags.to, run.PreviousRevision))
		if err == nil && c.Asks && !c.flags.yes && !o.Preview {
			err = c.agree(fmt.Sprintf("rollback deploys the files of run %s (%s, %s), requested by %s at %s, to %s again\n%s",
				v.Run, v.Operation, v.State, v.Who, v.Requested.Local().Format(time.DateTime), id, s.place()))
		}
		if fault.Is(err, fault.Missing, fault.Invalid, fault.Refused) {
			return c.refuse(err)
		}
		if err != nil {
			return ExitFailed, err
		}
		q := s.newRequest(id, run.Source{})
		q.To = v.Run
		return s.begin(ctx, q)
	})
}

// begin sends a request that names no files, and follows the run.
func (s *session) begin(ctx context.Context, q run.Request) (int, error) {
	started, err := s.to.Request(ctx, q)
	if fault.Is(err, fault.Missing, fault.Invalid, fault.Denied, fault.Refused) {
		return s.call.refuse(err)
	}
	if err != nil {
		return ExitFailed, err
	}
	return s.watch(ctx, watch{run: started})
}

// aboutProject calls f with the project that the call is about: that of its folder, or the one that its flags choose. A function whose
// arguments name no folder takes them from the call before.
func (c *call) aboutProject(ctx context.Context, enter func(context.Context) (*session, error), f func(s *session, id string) (int, error)) (int, error) {
	id, err := c.projectHere(ctx)
	if err != nil {
		return c.refuse(err)
	}
	return c.in(ctx, enter, func(s *session) (int, error) {
		if id == "" {
			id, err = s.oneProject(ctx)
		}
		if fault.Is(err, fault.Missing, fault.Invalid) {
			return c.refuse(err)
		}
		if err != nil {
			return ExitFailed, err
		}
		return f(s, id)
	})
}

// projectHere is the project of the folder that the call names. If it names neither a folder nor a project, it is that of the current
// folder, as for deploy. It is empty if there is none.
func (c *call) projectHere(ctx context.Context) (string, error) {
	named := len(c.args) > 0
	switch {
	case named && c.flags.given["project"]:
		return "", fault.New(fault.Invalid, "--project: the project is that of %s: give one of them", quoted(c.args[0]))
	case !named && c.flags.project != "":
		return "", nil
	}
	path, err := c.folder()
	switch {
	case !named && fault.Is(err, fault.Missing):
		return "", nil
	case err != nil:
		return "", err
	}
	c.flags.env = cmp.Or(c.flags.env, project.DefaultEnvironment)
	l, err := c.load(ctx)
	if err == nil {
		return l.Project.ID(), nil
	}
	if name := nameIn(path); name != "" { // that is all that the command has to know
		id := project.ID(name, c.flags.env)
		why := fmt.Sprintf("has errors, which %s lists", c.commandLine("validate", path))
		if !fault.Is(err, fault.Invalid) {
			why = fmt.Sprintf("cannot be read (%v)", err)
		}
		fmt.Fprintf(c.Err, "%s %s: this command needs only the name of the project, and is about %s\n", quoted(path), why, id)
		return id, nil
	}
	c.explain(err)
	return "", fault.New(fault.Invalid, "this command needs the name of the project, and cannot read it from %s: correct the errors there, or give --project and --env instead of a folder, as in --project shop --env prod", quoted(path))
}

// oneProject is the only project and environment that the call's flags choose.
func (s *session) oneProject(ctx context.Context) (string, error) {
	all, err := s.projects(ctx)
	switch {
	case err != nil:
		return "", err
	case len(all) == 0:
		return "", fault.New(fault.Missing, "there is no such project: it has had no run, or you may not read it: %s lists the runs of all", s.call.commandLine("runs"))
	case len(all) > 1:
		return "", fault.New(fault.Invalid, "%d projects and environments have had runs: give --project and --env: %s", len(all), strings.Join(all[:min(len(all), 10)], ", "))
	}
	return all[0], nil
}

// revisionWords lists the revisions, for the completion of an argument or flag.
func revisionWords(ctx context.Context, s *session, _ []string) ([]string, error) {
	id, err := s.oneProject(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.to.Revisions(ctx, id)
	words := []string{run.PreviousRevision, run.CurrentRevision}
	for _, v := range all {
		words = append(words, fmt.Sprintf("%s\t%s, %s, %s", v.Run, v.Operation, v.State, v.Requested.Local().Format(time.DateTime)))
	}
	return words, err
}
