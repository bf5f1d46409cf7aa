package api

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/revision"
	"github.com/stackwright/stackwright/pkg/run"
)

// Configurations reads what was uploaded.
type Configurations interface {
	// Configuration returns the configuration of a run, or an error of kind Missing if it is not in the bucket any more.
	Configuration(ctx context.Context, r run.Run) (report.Configuration, error)
}

// difference shows what differs between two revisions of a project, each named as a rollback names it, or by a run that has read it.
func (a API) difference(ctx context.Context, q question) (answer, error) {
	var sides [2]report.Configuration
	var compared [2]report.ComparedRevision
	for i, name := range []string{"from", "to"} {
		r, err := revision.Files(ctx, a.Reader, q.project, q.PathParameters[name])
		if err != nil {
			return answer{}, err
		}
		if sides[i], err = a.Configurations.Configuration(ctx, r); err != nil {
			return answer{}, fmt.Errorf("the files of run %s: %w", r.ID, err)
		}
		compared[i] = report.ComparedRevision{Source: r.Source, Run: r.ID}
	}
	d := report.DifferenceOf(sides[0], sides[1])
	d.From, d.To = compared[0], compared[1]
	return q.differencePage(d)
}

// differencePage is the answer with a page of a difference, whose entries are its files, its stacks and its templates.
func (q question) differencePage(d report.Difference) (answer, error) {
	files, stacks := len(d.Files), len(d.Files)+len(d.Stacks)
	page, next, err := cut(q.number("from"), stacks+len(d.Templates), func(i int) any {
		switch {
		case i < files:
			return d.Files[i]
		case i < stacks:
			return d.Stacks[i-files]
		}
		return d.Templates[i-stacks]
	})
	d.Files, d.Stacks, d.Templates, d.Next = []report.NamedChange{}, []report.StackDifference{}, []report.TemplateDifference{}, next
	for _, entry := range page {
		switch entry := entry.(type) {
		case report.NamedChange:
			d.Files = append(d.Files, entry)
		case report.StackDifference:
			d.Stacks = append(d.Stacks, entry)
		case report.TemplateDifference:
			d.Templates = append(d.Templates, entry)
		}
	}
	return answer{body: d}, err
}
