package dynamodb

import (
	"context"
	"slices"
	"sync"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// A selectedItem is an entry of the log of a run: steps that may have changed since.
type selectedItem struct {
	Steps   []int `json:"steps"`
	Expires int64 `json:"expires,omitempty"`
}

// mostSelected is the number of steps in one entry. An item has at most 400 KB.
const mostSelected = 20_000

// Select implements engine.Steps. The entries of the log are numbered, and the run says how
// many there are, so that a function finds those that it does not know.
func (t *Table) Select(ctx context.Context, id string, epoch int, steps []int) error {
	for chunk := range slices.Chunk(steps, mostSelected) {
		if err := t.log(ctx, id, epoch, chunk); err != nil {
			return err
		}
	}
	return nil
}

// log appends an entry to the log of a run.
func (t *Table) log(ctx context.Context, id string, epoch int, steps []int) error {
	n, known := t.views.logged(id)
	for ; ; known = false {
		if !known {
			now, err := t.item(ctx, id)
			if err != nil {
				return err
			}
			if now.Epoch != epoch || now.State.Over() {
				return fault.New(fault.Stale, "run %s has ended, or no longer has epoch %d", id, epoch)
			}
			n = now.Selected
		}
		failed, err := t.write(ctx,
			write{
				key: runKey(id), set: values{"selected": n + 1},
				where: "#epoch = :epoch AND #selected = :selected AND " + live, with: alive(values{"epoch": epoch, "selected": n}),
			},
			write{key: selectedKey(id, n+1), put: selectedItem{Steps: steps}},
		)
		if err != nil {
			return err
		}
		if failed == held {
			t.views.learn(id, n+1, steps)
			return nil
		}
	}
}

// Follow implements engine.Runs. A function keeps the runs that it follows. It reads the
// run first: a step is never older than the generation of the run that is returned.
func (t *Table) Follow(ctx context.Context, id string) (run.Run, error) {
	open, logged, known := t.views.open(id)
	if !known {
		return t.followWhole(ctx, id)
	}
	head, err := t.item(ctx, id)
	again := head.State.Over() && !t.views.finished(id) // its last steps may have ended since
	if err != nil || again {
		t.views.drop(id)
	}
	switch {
	case err != nil:
		return run.Run{}, err
	case again:
		return t.followWhole(ctx, id)
	case head.Selected > logged:
		items, err := t.query(ctx, span{pk: runKey(id).pk, from: selectedKey(id, logged+1).sk, to: selectedKey(id, head.Selected).sk})
		if err != nil {
			return run.Run{}, err
		}
		entries, err := decodeAll[selectedItem](items)
		if err != nil {
			return run.Run{}, err
		}
		for _, entry := range entries {
			open = append(open, entry.Steps...)
		}
	}
	keys := make([]key, len(open))
	for i, n := range open {
		keys[i] = stepKey(id, n)
	}
	items, err := t.all(ctx, keys)
	if err != nil {
		return run.Run{}, err
	}
	steps := make([]run.Step, 0, len(items))
	for _, k := range keys {
		if len(items[k]) == 0 {
			return run.Run{}, fault.New(fault.Broken, "run %s: %s is missing from the table", id, k.sk)
		}
		s, err := decodeStep(items[k])
		if err != nil {
			return run.Run{}, err
		}
		steps = append(steps, s)
	}
	r := head.run()
	r.Steps, known = t.views.update(id, head.Selected, steps)
	if !known { // another call has dropped it meanwhile
		return t.followWhole(ctx, id)
	}
	return r, nil
}

// followWhole loads a run and keeps it, unless it has ended and has steps that have not.
func (t *Table) followWhole(ctx context.Context, id string) (run.Run, error) {
	r, logged, selected, err := t.load(ctx, id)
	if err == nil && len(r.Steps) > 0 && (!r.State.Over() || finished(r.Steps)) {
		t.views.keep(id, r.Steps, logged, selected)
	}
	return r, err
}

// views are the runs that a function follows: their steps as it read them last. A step
// that was never selected is as it was planned, and a step that is over stays as it is.
// So only the others have to be read again, however long ago the function read them.
type views struct {
	mu    sync.Mutex
	runs  map[string]*view
	order []string // the run that was followed last is the last one
}

// A view is a run that a function follows.
type view struct {
	steps    []run.Step
	logged   int          // how many entries of the log are in selected
	selected map[int]bool // the selected steps that are not over
}

// mostFollowed is how many steps a function keeps, of all runs. A step has about 1 KB.
const mostFollowed = 50_000

// keep keeps a run in place of an older view of it.
func (v *views) keep(id string, steps []run.Step, logged int, selected []int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.remove(id)
	kept := &view{steps: slices.Clone(steps), logged: logged, selected: make(map[int]bool)}
	kept.watch(selected)
	v.runs[id], v.order = kept, append(v.order, id)
	total := 0
	for _, id := range slices.Backward(slices.Clone(v.order)) {
		if total += len(v.runs[id].steps); total > mostFollowed {
			v.remove(id)
		}
	}
}

// watch adds those of the given steps that are not over.
func (w *view) watch(steps []int) {
	for _, n := range steps {
		if n >= 0 && n < len(w.steps) && !w.steps[n].Over() {
			w.selected[n] = true
		}
	}
}

// open returns the numbers of the steps that have to be read, and the entries of the
// log that are in them. It reports false if the run is not known.
func (v *views) open(id string) (steps []int, logged int, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.runs[id]
	if w == nil {
		return nil, 0, false
	}
	for n := range w.selected {
		steps = append(steps, n)
	}
	slices.Sort(steps)
	return steps, w.logged, true
}

// logged returns how many entries of the log of a run are known.
func (v *views) logged(id string) (int, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w := v.runs[id]; w != nil {
		return w.logged, true
	}
	return 0, false
}

// learn adds an entry of the log, if it is the next one.
func (v *views) learn(id string, entry int, steps []int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w := v.runs[id]; w != nil && w.logged == entry-1 {
		w.logged = entry
		w.watch(steps)
	}
}

// update replaces steps by what was read, with the log up to an entry, and returns all
// steps. Another call may have read a step later and found it over: it stays over.
func (v *views) update(id string, logged int, read []run.Step) ([]run.Step, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.runs[id]
	if w == nil {
		return nil, false
	}
	for _, s := range read {
		if s.Number >= len(w.steps) || w.steps[s.Number].Over() {
			continue
		}
		w.steps[s.Number] = s
		if delete(w.selected, s.Number); !s.Over() {
			w.selected[s.Number] = true
		}
	}
	w.logged = max(w.logged, logged)
	v.order = append(slices.DeleteFunc(v.order, func(other string) bool { return other == id }), id)
	return slices.Clone(w.steps), true
}

// finished reports whether all steps of a run are known, and over.
func (v *views) finished(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.runs[id]
	return w != nil && finished(w.steps)
}

// finished reports whether all steps are over: they stay as they are.
func finished(steps []run.Step) bool {
	return !slices.ContainsFunc(steps, func(s run.Step) bool { return !s.Over() })
}

// drop forgets a run.
func (v *views) drop(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.remove(id)
}

func (v *views) remove(id string) {
	delete(v.runs, id)
	v.order = slices.DeleteFunc(v.order, func(other string) bool { return other == id })
}
