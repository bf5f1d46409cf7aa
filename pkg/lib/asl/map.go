package asl

import (
	"context"
	"sync"
	"sync/atomic"
)

// most is how many items of an inline Map run at once on AWS, whatever is asked for.
// https://docs.aws.amazon.com/step-functions/latest/dg/state-map-inline.html
const most = 40

// mapItems runs the state's machine once for each item and returns the results in the items' order.
func (b *branch) mapItems(ctx context.Context, s *State, sc *scope) (any, error) {
	found, ok := sc.find(s.itemsPath)
	items, isList := found.([]any)
	if !ok || !isList {
		return nil, runtimef(s.Name, "Reference path \"%s\" must point to array.", s.itemsPath.text)
	}
	b.observe(Event{Kind: MapStarted, State: s, Length: len(items)})
	w := &work{branch: b, state: s, scope: sc, items: items, results: make([]any, len(items)), last: b.last}
	err := w.all(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	b.last = w.last
	if err != nil {
		b.observe(Event{Kind: MapFailed, State: s})
		return nil, err
	}
	b.observe(Event{Kind: MapSucceeded, State: s})
	return w.results, nil
}

// work is one Map under way.
type work struct {
	branch  *branch
	state   *State
	scope   *scope
	items   []any
	results []any
	next    atomic.Int64

	mu   sync.Mutex
	err  error // the first failure
	last int64 // number of the last iteration's last event
}

func (w *work) all(ctx context.Context) error {
	if w.branch.Serial {
		for i := range w.items {
			if err := w.one(ctx, ctx, i); err != nil {
				return err
			}
		}
		return nil
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	for range w.width() {
		running.Go(func() {
			for i := int(w.next.Add(1)) - 1; i < len(w.items) && inner.Err() == nil; i = int(w.next.Add(1)) - 1 {
				if err := w.one(ctx, inner, i); err != nil {
					cancel()
				}
			}
		})
	}
	running.Wait()
	return w.err
}

func (w *work) width() int {
	n := w.branch.Parallel
	if n == 0 {
		n = most
	}
	if w.state.MaxConcurrency > 0 {
		n = min(n, w.state.MaxConcurrency)
	}
	return min(n, len(w.items))
}

// one runs one item to its end in the context inner, which a failure of another item ends. If the Map's own ctx is
// done the item has not ended, and nothing is told of it.
func (w *work) one(ctx, inner context.Context, i int) error {
	b := &branch{Runner: w.branch.Runner, execution: w.branch.execution, depth: w.branch.depth + 1, last: w.branch.last}
	b.item = &item{index: i, value: w.items[i]}
	b.observe(Event{Kind: IterationStarted, State: w.state, Index: i})
	sc := *w.scope
	sc.item = b.item
	in, err := sc.selected(w.state)
	if err == nil {
		w.results[i], err = b.run(inner, w.state.Each, w.state.Each.StartAt, in)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	kind := IterationSucceeded
	switch {
	case err != nil && w.err != nil:
		kind = IterationAborted
	case err != nil:
		kind, w.err = IterationFailed, err
	}
	b.observe(Event{Kind: kind, State: w.state, Index: i})
	w.last = b.last
	return err
}

// selected is what the machine is given for an item.
func (sc *scope) selected(s *State) (any, error) {
	if s.parameters == nil {
		return sc.item.value, nil
	}
	in, err := s.parameters.make(sc)
	if err != nil {
		return nil, err
	}
	if n := size(in); n > MaxPayload {
		return nil, tooLarge(s.Name, n)
	}
	return in, nil
}
