package asl

import (
	"context"
	"sync"
	"sync/atomic"
)

// most is how many items of an inline Map run at once on AWS, even if MaxConcurrency is higher.
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
	m := &iteration{branch: b, state: s, scope: sc, items: items, results: make([]any, len(items)), last: b.last}
	err := m.all(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	b.last = m.last
	if err != nil {
		b.observe(Event{Kind: MapFailed, State: s})
		return nil, err
	}
	b.observe(Event{Kind: MapSucceeded, State: s})
	return m.results, nil
}

// iteration is the execution of one Map.
type iteration struct {
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

func (m *iteration) all(ctx context.Context) error {
	if m.branch.Serial {
		for i := range m.items {
			if err := m.one(ctx, ctx, i); err != nil {
				return err
			}
		}
		return nil
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	for range m.width() {
		running.Go(func() {
			for i := int(m.next.Add(1)) - 1; i < len(m.items) && inner.Err() == nil; i = int(m.next.Add(1)) - 1 {
				if err := m.one(ctx, inner, i); err != nil {
					cancel()
				}
			}
		})
	}
	running.Wait()
	return m.err
}

func (m *iteration) width() int {
	n := m.branch.Parallel
	if n == 0 {
		n = most
	}
	if m.state.MaxConcurrency > 0 {
		n = min(n, m.state.MaxConcurrency)
	}
	return min(n, len(m.items))
}

// one runs one item to its end in the context inner, which a failure of another item ends. If the Map's own ctx is
// done, the item has not ended, and there is no event of it.
func (m *iteration) one(ctx, inner context.Context, i int) error {
	b := &branch{Runner: m.branch.Runner, execution: m.branch.execution, depth: m.branch.depth + 1, last: m.branch.last}
	b.item = &item{index: i, value: m.items[i]}
	b.observe(Event{Kind: IterationStarted, State: m.state, Index: i})
	sc := *m.scope
	sc.item = b.item
	in, err := sc.selected(m.state)
	if err == nil {
		m.results[i], err = b.run(inner, m.state.Each, m.state.Each.StartAt, in)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	kind := IterationSucceeded
	switch {
	case err != nil && m.err != nil:
		kind = IterationAborted
	case err != nil:
		kind, m.err = IterationFailed, err
	}
	b.observe(Event{Kind: kind, State: m.state, Index: i})
	m.last = b.last
	return err
}

// selected returns the input of the machine for an item.
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
