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
	"github.com/stackwright/stackwright/pkg/run"
)

// usualRevisions is how many revisions are listed without --limit.
const usualRevisions = 20

// listRevisions lists the revisions of projects, newest first.
func listRevisions(ctx context.Context, c *call) (int, error) {
	return c.aboutProjects(ctx, func(s *session, ids []string) (int, error) {
		all, err := s.revisionsOf(ctx, ids)
		if err == nil && c.flags.before != "" {
			all, err = s.olderThan(ctx, all, ids, c.flags.before)
		}
		if fault.Is(err, fault.Missing, fault.Invalid, fault.Refused) {
			return c.refuse(err)
		}
		if err != nil {
			return ExitFailed, err
		}
		most := usualRevisions
		if n := c.flags.limit.n; n != nil {
			most = *n
		}
		shown := all[:min(len(all), most)]
		if c.flags.output == "json" {
			var objects []any
			for _, v := range shown {
				objects = append(objects, v)
			}
			return ExitOK, c.printJSON(objects...)
		}
		head := []string{"REVISION", "PROJECT", "DEPLOYED", "OPERATION", "STATE", "REQUESTED", "TOOK", "BY"}
		_, err = fmt.Fprintln(c.Out, strings.Join(term.Table(head, revisionRows(shown), c.width()), "\n"))
		if more := len(all) - len(shown); more > 0 && len(shown) > 0 {
			fmt.Fprintf(c.Err, "%d older: %s\n", more, c.commandAbout("revisions", "--before", shown[len(shown)-1].Run))
		}
		return ExitOK, err
	})
}

// A revisionOf is a revision of a project, as JSON.
type revisionOf struct {
	Project string `json:"project"`
	report.Revision
}

// revisionsOf lists the revisions of projects, newest first.
func (s *session) revisionsOf(ctx context.Context, ids []string) ([]revisionOf, error) {
	var all []revisionOf
	for _, id := range ids {
		some, err := s.to.Revisions(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("list the revisions of %s: %w", id, err)
		}
		for _, v := range some {
			all = append(all, revisionOf{id, v})
		}
	}
	slices.SortStableFunc(all, func(a, b revisionOf) int { return b.Requested.Compare(a.Requested) })
	return all, nil
}

// olderThan are the revisions that are older than the one that a word names in one of the projects.
func (s *session) olderThan(ctx context.Context, all []revisionOf, ids []string, word string) ([]revisionOf, error) {
	var found []report.Revision
	missing := fault.New(fault.Missing, "none of the %d projects and environments has a revision %s", len(ids), quoted(word))
	for _, id := range ids {
		v, err := s.to.Revision(ctx, id, word)
		switch {
		case err == nil:
			found = append(found, v)
		case fault.Is(err, fault.Missing):
			if len(ids) == 1 {
				missing = err
			}
		default:
			return nil, fmt.Errorf("--before: %w", err)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("--before: %w", missing)
	case 1:
		return slices.DeleteFunc(all, func(v revisionOf) bool { return !v.Requested.Before(found[0].Requested) }), nil
	}
	return nil, fault.New(fault.Invalid, "--before %s: %d projects and environments have such a revision: give --project and --env",
		quoted(word), len(found))
}

// revisionRows are the rows of a table of revisions.
func revisionRows(all []revisionOf) [][]string {
	var rows [][]string
	for _, v := range all {
		deployed, state, took := "", string(v.State), ""
		if v.Current {
			deployed = "now"
		}
		if v.Partial {
			state += ", some stacks"
		}
		if v.Unchanged {
			state += ", changed nothing"
		}
		if !v.Ended.IsZero() {
			took = v.Ended.Sub(v.Started).Round(time.Second).String()
		}
		rows = append(rows, []string{v.Run, v.Project, deployed, v.Operation, state, v.Requested.Local().Format(time.DateTime), took, v.Who})
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
	if err := c.checkPlan(plan.AllOperations().Of(c.operation())); err != nil {
		return c.refuse(err)
	}
	return c.aboutProject(ctx, c.open, func(s *session, id string) (int, error) {
		v, err := s.to.Revision(ctx, id, cmp.Or(c.flags.to, run.PreviousRevision))
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

// begin sends a request that names no files, once the user agrees to what it destroys, and follows the run.
func (s *session) begin(ctx context.Context, q run.Request) (int, error) {
	q, err := s.review(ctx, q)
	started := ""
	if err == nil {
		started, err = s.to.Request(ctx, q)
	}
	if fault.Is(err, fault.Missing, fault.Invalid, fault.Denied, fault.Refused) {
		return s.call.refuse(err)
	}
	if err != nil {
		return ExitFailed, err
	}
	return s.watch(ctx, watch{run: started})
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
