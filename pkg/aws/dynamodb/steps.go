package dynamodb

import (
	"context"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// step returns a run without its steps, and one of them.
func (t *Table) step(ctx context.Context, id string, number int) (run.Run, run.Step, error) {
	at := stepKey(id, number)
	items, err := t.all(ctx, []key{runKey(id), at})
	if err != nil {
		return run.Run{}, run.Step{}, err
	}
	head, err := decodeRun(id, items[runKey(id)])
	if err != nil {
		return run.Run{}, run.Step{}, err
	}
	if len(items[at]) == 0 || !head.committed() || number >= head.Steps {
		return run.Run{}, run.Step{}, fault.New(fault.Missing, "run %s has no step %d", id, number)
	}
	s, err := decodeStep(items[at])
	return head.run(), s, err
}

// Move implements engine.Steps. A transaction begins with a check of the run. If another
// function has written a step, and it is as the change would leave it, an earlier attempt
// has made the change: the transaction is sent again without it. If the record has another
// number of parts than expected, the transaction is sent again with the right one.
func (t *Table) Move(ctx context.Context, changes ...engine.Change) error {
	parts := make(map[key]int) // by record
	for len(changes) > 0 {
		var some []engine.Change
		var writes []write
		bytes := 0
		for _, c := range changes {
			w := moving(c, parts)
			bytes += bytesOf(c.Record)
			if len(some) > 0 && (len(writes)+len(w) > mostWrites || bytes > mostBytes) {
				break
			}
			some, writes = append(some, c), append(writes, w...)
		}
		failed, err := t.write(ctx, append([]write{may(some)}, writes...)...)
		switch {
		case err != nil:
			return err
		case failed == 0:
			return fault.New(fault.Stale, "run %s no longer has epoch %d, or is to claim no more steps", some[0].Run, some[0].Epoch)
		case failed == held:
			changes = changes[len(some):]
			continue
		}
		if at := writes[failed-1].key; strings.HasPrefix(at.pk, ownerPrefix) {
			return fault.New(fault.Taken, "another project has adopted stack %s", strings.TrimPrefix(at.pk, ownerPrefix))
		}
		if at := writes[failed-1].key; strings.HasPrefix(at.sk, recordPrefix) {
			if parts[at], err = t.parts(ctx, at); err != nil {
				return err
			}
			continue
		}
		refused := slices.IndexFunc(some, func(c engine.Change) bool { return stepKey(c.Run, c.Step.Number) == writes[failed-1].key })
		if err := t.repeated(ctx, some[refused]); err != nil {
			return err
		}
		changes = slices.Delete(slices.Clone(changes), refused, refused+1)
	}
	return nil
}

// may returns the check of the run whose steps change.
func may(changes []engine.Change) write {
	for _, c := range changes {
		if c.Claims() {
			return mayClaim(c.Run, c.Epoch, c.Token)
		}
	}
	return fence(changes[0].Run, changes[0].Epoch)
}

// moving returns the writes of one change: the step and, if it changes, the record of its
// node, which is expected to have so many parts.
func moving(c engine.Change, parts map[key]int) []write {
	s := c.Step
	set := values{
		"status": s.Status, "attempt": s.Attempt, "nonce": s.Nonce, "receipt": known(s.Receipt), "why": s.Why,
		"due": s.Due, "not_before": s.NotBefore, "claimed": s.Claimed, "tried": s.Tried, "previous": s.Kept, "ended": s.Ended,
		"forced": s.Forced, "result": s.Result, "cause": known(s.Cause),
	}
	if c.From == run.Pending {
		set["event"], set["polls"], set["reported"] = plan.Status(""), 0, false
	}
	step := write{
		key: stepKey(c.Run, s.Number), set: set,
		where: "#status = :from AND #attempt = :attempt", with: values{"from": c.From, "attempt": c.Attempt},
	}
	if c.Nonce != "" {
		step.where += " AND #nonce = :nonce"
		step.with["nonce"] = c.Nonce
	}
	all := append(append([]write{step}, owning(c)...), remembering(c)...)
	switch {
	case c.Forget:
		at := recordKey(c.Project, s.Node)
		return append(all, forgetting(at, parts[at])...)
	case c.Record != nil:
		at := recordKey(c.Project, c.Record.Node)
		return append(all, storing(at, *c.Record, parts[at])...)
	}
	return all
}

// owning returns the writes that adopt or free a stack, on condition that no other project
// owns it.
func owning(c engine.Change) []write {
	const free = "attribute_not_exists(#project) OR #project = :project"
	var all []write
	if c.Adopts != "" {
		all = append(all, write{key: ownerKey(c.Adopts), put: ownerItem{c.Project}, where: free, with: values{"project": c.Project}})
	}
	if c.Frees != "" && c.Frees != c.Adopts {
		all = append(all, write{key: ownerKey(c.Frees), delete: true, where: free, with: values{"project": c.Project}})
	}
	return all
}

// repeated returns nil if a change that did not find the step as expected was made
// before.
func (t *Table) repeated(ctx context.Context, c engine.Change) error {
	_, was, err := t.step(ctx, c.Run, c.Step.Number)
	if err != nil {
		return err
	}
	if was.Nonce == c.Step.Nonce && was.Status == c.Step.Status && was.Attempt == c.Step.Attempt {
		return nil
	}
	return fault.New(fault.Stale, "step %s is %s in attempt %d, not %s in attempt %d", was.ID, was.Status, was.Attempt, c.From, c.Attempt)
}

// Postpone implements engine.Steps. An event that was marked since the steps
// were loaded must stay for the next poll, so it is a condition that there is none. If
// that does not hold, the step is written without its event. A step that no longer runs
// in this attempt is not written.
func (t *Table) Postpone(ctx context.Context, id string, epoch int, steps []run.Step) error {
	whole := make([]write, len(steps))
	plain := make([]write, len(steps))
	for i, s := range steps {
		plain[i] = write{
			key: stepKey(id, s.Number), set: values{"due": s.Due, "why": s.Why, "forced": s.Forced},
			where: "#status = :running AND #attempt = :attempt", with: values{"running": run.Running, "attempt": s.Attempt},
		}
		whole[i] = plain[i]
		whole[i].set = values{"due": s.Due, "why": s.Why, "forced": s.Forced, "event": s.Event.Status, "polls": s.Event.Polls}
		whole[i].with = values{"running": run.Running, "attempt": s.Attempt, "nothing": "", "none": 0}
		seen := "#event = :nothing OR #polls > :none"
		if s.Event.Polls == 1 {
			seen += " OR #event = :event"
			whole[i].with["event"] = s.Event.Status
		}
		whole[i].where += " AND (" + seen + ")"
	}
	for len(whole) > 0 {
		n := min(len(whole), mostWrites)
		if err := t.postponeSome(ctx, fence(id, epoch), whole[:n], plain[:n]); err != nil {
			return err
		}
		whole, plain = whole[n:], plain[n:]
	}
	return nil
}

// postponeSome writes as many steps as one transaction can hold.
func (t *Table) postponeSome(ctx context.Context, check write, whole, plain []write) error {
	fallback := make(map[key]write, len(plain))
	for _, w := range plain {
		fallback[w.key] = w
	}
	for len(whole) > 0 {
		failed, err := t.write(ctx, append([]write{check}, whole...)...)
		switch {
		case err != nil || failed == held:
			return err
		case failed == 0:
			return fault.New(fault.Stale, "%s has another epoch", check.key.pk)
		}
		refused := whole[failed-1]
		if w, ok := fallback[refused.key]; ok {
			whole[failed-1] = w
			delete(fallback, refused.key)
			continue
		}
		whole = append(whole[:failed-1:failed-1], whole[failed:]...)
	}
	return nil
}

// MarkEvent implements engine.Steps.
func (t *Table) MarkEvent(ctx context.Context, id string, number, attempt int, status plan.Status) (bool, error) {
	mark := write{
		key: stepKey(id, number), set: values{"event": status, "polls": 0},
		where: "#status = :running AND #attempt = :attempt", with: values{"running": run.Running, "attempt": attempt},
	}
	if slices.Contains(plan.Starts(), status) {
		mark.set = values{"reported": true}
		failed, err := t.write(ctx, mark)
		return err == nil && failed == held, err
	}
	count := write{key: runKey(id), add: values{"marks": 1}, where: live, with: alive(nil)}
	failed, err := t.write(ctx, mark, count)
	if err == nil && failed != held {
		_, err = t.write(ctx, count)
	}
	return err == nil && failed == held, err
}
