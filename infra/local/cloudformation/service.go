// Package cloudformation emulates AWS CloudFormation on this machine: stacks, events, exports and change sets, without
// real resources.
package cloudformation

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Options configure the emulator. The zero value is usable; without Fetch no template can be read from S3.
type Options struct {
	Account string  // "" is 000000000000
	Region  string  // "" is us-east-1
	Seconds float64 // duration of a create, update, delete or rollback; 0 is 1.5, negative is no time at all
	// Seed, unless zero, makes all IDs reproducible: they follow from it and from the names of the stacks.
	Seed uint64
	// Emit sends an event to EventBridge. It is called after the change is stored, never with the lock held.
	Emit func(source, detailType string, resources []string, detail any)
	// Fetch reads a template from S3; version "" is the newest.
	Fetch func(ctx context.Context, bucket, key, version string) ([]byte, error)
	// Stored reads a parameter of the Systems Manager parameter store.
	Stored func(name string) (string, bool)
	// StackOutput reads an output of a stack in another account or region; the error says what there is not.
	StackOutput func(of template.StackOutput) (string, error)
	// ResolveDynamic reads what a dynamic reference names: a parameter of the parameter store, or a whole secret,
	// whatever key the reference has. Parameters and secrets that stacks have created need not be listed.
	ResolveDynamic func(ref template.Dynamic) (string, bool)
	StackLimit     int // how many stacks there may be; 0 is 2,000
}

// Service is CloudFormation in one account and region. It is an http.Handler for the AWS Query protocol, and at the
// path /_faults for faults (see Fault): POST adds one, GET lists them, DELETE deletes all. Use Open, and Close at the
// end.
type Service struct {
	options Options
	store   store

	mu                sync.Mutex
	closed            bool
	stacks            []*stack // in the order of their creation
	byID              map[string]*stack
	named             map[string][]*stack // all stacks that had the name, in the order of their creation
	exporting         exportIndex
	importing         exportIndex
	owners            map[string]map[*stack]bool // by the names of their resources; nil until it is needed
	dirty             map[*stack]bool
	timers            map[*stack]*time.Timer
	outbox            []queuedEvent
	calls             map[string]int
	reads             map[string]int
	throttledRequests map[string]int         // as throttled
	recent            map[string]leakyBucket // of each operation
	published         published
	served            uint64
	faults            faults
	saveError         error // the first error of a timer in storing its change
	running           sync.WaitGroup
}

// Open makes a service that stores its state in a folder, or in memory if dir is "". Operations that were in progress
// continue; those that are overdue end at once. The error names the file that cannot be read.
func Open(dir string, options Options) (*Service, error) {
	if options.Account == "" {
		options.Account = "000000000000"
	}
	if options.Region == "" {
		options.Region = "us-east-1"
	}
	if options.StackLimit == 0 {
		options.StackLimit = stackLimit
	}
	if options.Seconds == 0 {
		options.Seconds = 1.5
	}
	s := &Service{
		options: options, store: store{dir: dir},
		byID: map[string]*stack{}, named: map[string][]*stack{}, exporting: exportIndex{}, importing: exportIndex{},
		dirty: map[*stack]bool{}, timers: map[*stack]*time.Timer{},
		calls: map[string]int{}, reads: map[string]int{}, throttledRequests: map[string]int{}, recent: map[string]leakyBucket{},
	}
	stacks, kept, err := s.store.load()
	if err != nil {
		return nil, fmt.Errorf("open the stacks in %s: %w", dir, err)
	}
	s.faults = kept
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range stacks {
		s.add(st)
		s.published.set(st)
		s.setTimer(st)
	}
	return s, nil
}

// Close stops all operations where they are and waits for running timers. It returns the first error in storing state
// that no request has reported.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	for st, timer := range s.timers {
		if timer.Stop() {
			s.running.Done()
		}
		delete(s.timers, st)
	}
	s.mu.Unlock()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saveError
}

// Calls counts the requests since Open that change something, by operation, including those that were refused but not
// those that were throttled.
func (s *Service) Calls() map[string]int { return s.counted(s.calls) }

// Reads counts the requests since Open that change nothing, by operation.
func (s *Service) Reads() map[string]int { return s.counted(s.reads) }

// Throttled counts the requests since Open that were throttled, by operation.
func (s *Service) Throttled() map[string]int { return s.counted(s.throttledRequests) }

func (s *Service) counted(from map[string]int) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]int, len(from))
	for action, n := range from {
		all[action] = n
	}
	return all
}

// locked runs f with the lock held, stores what f changed, and then sends the events. So the disk holds whatever a
// request has reported.
func (s *Service) locked(f func() error) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return &problem{status: 503, code: "ServiceUnavailable", message: "the local emulator is closed"}
	}
	err := f()
	if kept := s.saveChanged(); err == nil {
		err = kept
	}
	out := s.outbox
	s.outbox = nil
	s.mu.Unlock()
	s.sendEvents(out)
	return err
}

// saveChanged stores the stacks that were changed.
func (s *Service) saveChanged() error {
	for st := range s.dirty {
		if err := s.store.save(st); err != nil {
			return fmt.Errorf("keep stack %s: %w", st.Name, err)
		}
		s.published.set(st)
		delete(s.dirty, st)
	}
	return nil
}

func (s *Service) add(st *stack) {
	s.stacks = append(s.stacks, st)
	s.byID[st.ID] = st
	s.named[st.Name] = append(s.named[st.Name], st)
	s.indexExports(st)
}

// find is the existing stack of a name, or the stack of an ID; nil if there is none.
func (s *Service) find(nameOrID string) *stack {
	if st, ok := s.byID[nameOrID]; ok {
		return st
	}
	for _, st := range s.named[nameOrID] {
		if st.exists() {
			return st
		}
	}
	return nil
}

// setTimer sets the one timer of the current operation.
func (s *Service) setTimer(st *stack) {
	if old, ok := s.timers[st]; ok {
		if old.Stop() {
			s.running.Done()
		}
		delete(s.timers, st)
	}
	if st.Operation == nil || s.closed {
		return
	}
	s.running.Add(1)
	var timer *time.Timer
	timer = time.AfterFunc(time.Until(st.Operation.deadline()), func() {
		defer s.running.Done()
		s.timerFired(st, &timer)
	})
	s.timers[st] = timer
}

// timerFired advances the operation. A timer that was replaced while it waited for the lock does nothing.
func (s *Service) timerFired(st *stack, timer **time.Timer) {
	err := s.locked(func() error {
		if s.timers[st] != *timer {
			return nil
		}
		delete(s.timers, st)
		s.advance(st)
		s.setTimer(st)
		return nil
	})
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saveError == nil && !s.closed {
		s.saveError = err
	}
}
