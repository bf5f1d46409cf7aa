// Package scheduler emulates EventBridge Scheduler on this machine: it calls functions at the times of schedules.
package scheduler

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/journal"
)

// Options configure the emulator.
type Options struct {
	// Folder stores the schedules and the unfinished calls; "" keeps them in memory only.
	Folder          string
	Account, Region string
	// Invoke calls a function by its ARN. After an error the call is repeated by the schedule's retry policy.
	Invoke func(ctx context.Context, function string, payload []byte) ([]byte, error)
	// Log gets the calls that were given up; nil drops them.
	Log io.Writer
}

// Service holds the schedules of one account and region. Use Open.
type Service struct {
	opts   Options
	log    *journal.Journal[record]
	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu          sync.Mutex
	groups      map[string]group
	all         map[key]*schedule
	pending     map[string]call
	next        uint64
	started     bool
	closed      bool
	deadLetters []DeadLetter
}

// A key names a schedule.
type key struct{ Group, Name string }

// A group holds schedules.
type group struct {
	Name    string
	Created time.Time
}

// record is one line of the journal: a group, a new or changed schedule, a deleted one, the next time of one, a call to
// make, or the ID of one that has ended.
type record struct {
	Group    *group     `json:"group,omitempty"`
	Schedule *schedule  `json:"schedule,omitempty"`
	Gone     *key       `json:"gone,omitempty"`
	Due      *time.Time `json:"due,omitempty"` // of Of
	Of       *key       `json:"of,omitempty"`
	Call     *call      `json:"call,omitempty"`
	Over     string     `json:"over,omitempty"`
}

// defaultGroup always exists.
const defaultGroup = "default"

// Open makes the service, with the schedules in the folder if one is given. No schedule fires before Start.
func Open(opts Options) (*Service, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Service{
		opts: opts, ctx: ctx, cancel: cancel, next: uint64(time.Now().UnixNano()), pending: map[string]call{}, all: map[key]*schedule{},
		groups: map[string]group{defaultGroup: {Name: defaultGroup, Created: time.Now().UTC()}},
	}
	log, err := journal.Restore(opts.Folder, "scheduler.jsonl", s.replay, s.records)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("open scheduler: %w", err)
	}
	s.log = log
	return s, nil
}

func (s *Service) replay(r record) error {
	switch {
	case r.Group != nil:
		s.groups[r.Group.Name] = *r.Group
	case r.Schedule != nil:
		if err := r.Schedule.read(); err != nil {
			return err
		}
		s.all[r.Schedule.key()] = r.Schedule
	case r.Gone != nil:
		delete(s.all, *r.Gone)
	case r.Of != nil && r.Due != nil:
		if known, ok := s.all[*r.Of]; ok {
			known.Due = *r.Due
		}
	case r.Call != nil:
		s.pending[r.Call.ID] = *r.Call
	case r.Over != "":
		delete(s.pending, r.Over)
	}
	return nil
}

// records is the shortest journal that restores the service.
func (s *Service) records() iter.Seq[record] {
	return func(yield func(record) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.groups)) {
			g := s.groups[name]
			if !yield(record{Group: &g}) {
				return
			}
		}
		for _, k := range s.keys() {
			if !yield(record{Schedule: s.all[k]}) {
				return
			}
		}
		for _, id := range slices.Sorted(maps.Keys(s.pending)) {
			c := s.pending[id]
			if !yield(record{Call: &c}) {
				return
			}
		}
	}
}

// keys are those of all schedules, sorted.
func (s *Service) keys() []key {
	return slices.SortedFunc(maps.Keys(s.all), func(a, b key) int {
		if a.Group != b.Group {
			return strings.Compare(a.Group, b.Group)
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// Start starts calls, including those that were left at the last Close, and timers. Times that passed while the service
// was closed are made up for once, at once.
func (s *Service) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
	for _, id := range slices.Sorted(maps.Keys(s.pending)) {
		s.startCall(s.pending[id])
	}
	for _, k := range s.keys() {
		s.setTimer(s.all[k])
	}
}

// Close stops timers and calls; unfinished calls are made after the next Open.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, one := range s.all {
		one.stopTimer()
	}
	s.mu.Unlock()
	s.cancel()
	s.tasks.Wait()
	return s.log.Close()
}
