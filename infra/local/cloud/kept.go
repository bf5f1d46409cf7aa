package cloud

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"sync"

	"github.com/stackwright/stackwright/infra/local/journal"
)

// A keeper is a service that has no journal of its own.
type keeper interface {
	http.Handler
	Keep() ([]byte, error)     // what requests have changed, as JSON
	Restore(body []byte) error // takes over what Keep returned, in a new process
}

// A keptState is what requests have changed of a service.
type keptState struct {
	Service string
	State   json.RawMessage
}

// keepers keeps the states of services in one journal.
type keepers struct {
	mu      sync.Mutex
	journal *journal.Journal[keptState]
	last    map[string]json.RawMessage // by service
}

// keep restores the services of an earlier process, and returns them by name. Each change is written before the end of the
// request that made it.
func (c *Cloud) keep(services map[string]keeper) (map[string]http.Handler, error) {
	k := &keepers{last: make(map[string]json.RawMessage)}
	replay := func(r keptState) error {
		k.last[r.Service] = r.State
		return nil
	}
	var err error
	if k.journal, err = journal.Restore(c.opts.Data, "services.jsonl", replay, k.all); err != nil {
		return nil, err
	}
	c.onClose(k.journal.Close)
	handlers := make(map[string]http.Handler)
	for name, s := range services {
		if state := k.last[name]; state != nil {
			if err := s.Restore(state); err != nil {
				return nil, fmt.Errorf("restore %s: %w", name, err)
			}
		} else if k.last[name], err = s.Keep(); err != nil {
			return nil, err
		}
		handlers[name] = c.unexpired(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.ServeHTTP(w, r)
			if err := k.save(name, s); err != nil {
				fmt.Fprintf(c.opts.Log, "keep the state of %s: %v\n", name, err)
			}
		}))
	}
	return handlers, nil
}

// all are the fewest records of all states.
func (k *keepers) all() iter.Seq[keptState] {
	return func(yield func(keptState) bool) {
		for name, state := range maps.All(k.last) {
			if !yield(keptState{name, state}) {
				return
			}
		}
	}
}

// save writes the state of a service if it has changed.
func (k *keepers) save(name string, s keeper) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	state, err := s.Keep()
	if err != nil || bytes.Equal(state, k.last[name]) {
		return err
	}
	k.last[name] = state
	return k.journal.Append(keptState{name, state})
}
