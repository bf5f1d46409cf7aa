package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// takeEffect makes effective what the plan of r, which was approved just now, changes beside stacks: before that, a plan
// changes nothing. After a crash, it is repeated.
func (e *Engine) takeEffect(ctx context.Context, r run.Run) error {
	desired, err := e.desired(ctx, &r)
	if err != nil {
		return err
	}
	records, err := e.Store.Records(ctx, r.Project)
	if err != nil {
		return err
	}
	o := e.operation(r)
	_, leave, take := plan.Rename(desired, records, o.Renames(o.Selects(r.Selection)))
	return e.replace(ctx, r, desired, [][]plan.Record{leave, take})
}

// replace puts the schedules, the lifetime and the names of the files of r in the place of those before.
func (e *Engine) replace(ctx context.Context, r run.Run, desired project.Project, moved [][]plan.Record) error {
	if err := e.setSchedules(ctx, r, desired); err != nil {
		return err
	}
	if err := e.setLifetime(ctx, r, desired); err != nil {
		return err
	}
	return e.rename(ctx, r, moved)
}

// An approvalRule is what has to be approved before a plan is executed, and by whom.
type approvalRule struct {
	rule    project.Approval
	changed bool // the files change the rule, so the whole plan has to be approved by the one before
	none    bool // nothing has to be approved
}

// approvalOf returns what has to be approved of p, the plan of r. Nothing of a rollback has to be: it restores what was approved. Nor has anything of a plan
// without steps, unless its files change the rule that was deployed last.
func (e *Engine) approvalOf(ctx context.Context, r run.Run, v plan.View, p plan.Plan) (approvalRule, error) {
	o := e.operation(r)
	if !o.Approvable && !o.Preview {
		return approvalRule{none: true}, nil
	}
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return approvalRule{}, err
	}
	rule, changed := l.Rule(v.Desired.Approval, o.Deploys())
	return approvalRule{rule, changed, len(p.Steps) == 0 && !changed}, nil
}

// before returns p with the steps that wait for approval.
func (a approvalRule) before(p plan.Plan, v plan.View, r run.Run) (plan.Plan, error) {
	if a.none {
		return p, nil
	}
	gated := v.Gated(p, a.rule)
	if slices.Contains(r.AllAuthors(), "") && slices.ContainsFunc(gated.Steps, func(s plan.Step) bool { return s.Approval != nil && s.Approval.NotByAuthor }) {
		how := "request it through the HTTP API, as stackwright deploy does on AWS; on a laptop, remove not_by_author"
		if r.Schedule != "" {
			how = "change schedule " + r.Schedule + " and deploy it through the HTTP API, as stackwright deploy does on AWS"
		}
		return p, fault.New(fault.Refused, "nobody could approve this run: not_by_author says that its authors may not, and AWS does not say who they are: %s", how)
	}
	return gated, nil
}

// messages says what has to be approved of p, which changes c. A preview says it of the run that it shows.
func (a approvalRule) messages(p plan.Plan, c plan.Changes, v plan.View, preview bool) []string {
	switch {
	case a.none:
		return nil
	case a.changed:
		return []string{"the files change who has to approve plans: the plan has to be approved before its first step by the rule before"}
	case !a.rule.Plan:
		return v.Demands(p, c)
	case preview:
		return []string{"the run waits before its first step until its plan is approved"}
	}
	return nil
}

// rename renames records to the names that the plan assumes. A plan that is refused
// renames nothing, so that the files before it find their records unchanged.
func (e *Engine) rename(ctx context.Context, r run.Run, moves [][]plan.Record) error {
	for _, records := range moves {
		if len(records) == 0 || e.operation(r).Preview {
			continue
		}
		if err := e.Store.Rename(ctx, r, records); err != nil {
			return fmt.Errorf("rename records: %w", err)
		}
	}
	return nil
}
