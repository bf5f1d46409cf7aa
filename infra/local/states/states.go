// Package states emulates AWS Step Functions on this machine: standard workflows, executed by pkg/enginetest/asl in virtual or
// real time.
package states

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/journal"
	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

// Options configure the emulator. The zero value stores machines; without Invoke every function fails.
type Options struct {
	Account string // "" is 000000000000
	Region  string // "" is us-east-1
	// Invoke calls a function by its name or ARN. An error of the function itself has an ErrorType method. Invoke
	// returns soon after ctx is done, which happens only at Close: as on AWS, an invocation continues after its task
	// has timed out.
	Invoke func(ctx context.Context, function string, payload []byte) ([]byte, error)
	// Emit sends an event to EventBridge. It is called after the change is stored, never with the lock held; so a
	// change can be read before its event arrives.
	Emit func(source, detailType string, resources []string, detail any)
	// Transition is how long an execution takes to enter a state.
	Transition time.Duration
	// Hold leaves executions that were running at the last Close as they are, until Resume.
	Hold bool
}

// Service is Step Functions in one account and region: an http.Handler. Use Open, and Close at the end.
type Service struct {
	options Options
	journal *journal.Journal[record]
	secret  [16]byte // signs task tokens
	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup // executions and invocations

	mu           sync.Mutex
	closed       bool
	machines     map[string]*machine   // by ARN
	revisions    map[string]*revision  // by ID, also those that were replaced
	executions   map[string]*execution // by ARN
	order        []*execution          // in the order of their starts
	tokens       map[string]chan answer
	journalError error // the first error of writing the journal
}

// A record is one line of the journal. One of its fields is set.
type record struct {
	Secret    []byte     `json:"secret,omitempty"`
	Machine   *machine   `json:"machine,omitempty"` // created or changed
	Execution *execution `json:"execution,omitempty"`
	Of        string     `json:"of,omitempty"` // ARN of the execution of the event
	Top       bool       `json:"top,omitempty"`
	Event     *event     `json:"event,omitempty"`
}

var errClosed = errors.New("states: closed")

// Open makes a service that stores machines, executions and histories in a folder, or in memory if dir is "".
// Executions that were running continue at the state that they had last entered, unless options.Hold. The error names
// what cannot be read.
func Open(dir string, options Options) (*Service, error) {
	if options.Account == "" {
		options.Account = "000000000000"
	}
	if options.Region == "" {
		options.Region = "us-east-1"
	}
	s := &Service{
		options: options, machines: make(map[string]*machine), revisions: make(map[string]*revision),
		executions: make(map[string]*execution), tokens: make(map[string]chan answer),
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	if dir != "" {
		j, err := journal.Open(filepath.Join(dir, "states.jsonl"), s.replay)
		if err != nil {
			return nil, fmt.Errorf("open step functions: %w", err)
		}
		s.journal = j
	}
	if err := s.seed(); err != nil {
		return nil, errors.Join(fmt.Errorf("open step functions: %w", err), s.journal.Close())
	}
	if !options.Hold {
		s.Resume()
	}
	return s, nil
}

// seed creates the secret that signs task tokens, once.
func (s *Service) seed() error {
	if s.secret != [16]byte{} {
		return nil
	}
	if _, err := rand.Read(s.secret[:]); err != nil {
		return err
	}
	return s.journal.Append(record{Secret: s.secret[:]})
}

// replay applies one line of the journal.
func (s *Service) replay(r record) error {
	switch {
	case r.Secret != nil:
		copy(s.secret[:], r.Secret)
	case r.Machine != nil:
		m, err := asl.Parse([]byte(r.Machine.Definition))
		if err != nil {
			return fmt.Errorf("state machine %s: %w", r.Machine.Name, err)
		}
		s.keep(r.Machine, m)
	case r.Execution != nil:
		s.executions[r.Execution.ARN] = r.Execution
		s.order = append(s.order, r.Execution)
	case r.Event != nil:
		e := s.executions[r.Of]
		if e == nil {
			return fmt.Errorf("event of %s, which was never started", r.Of)
		}
		e.add(r.Event, r.Top)
	}
	return nil
}

// Resume continues all running executions that are not being executed.
func (s *Service) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.order {
		s.start(e)
	}
}

// Close stops all executions where they are and waits for invocations. Work in progress is not recorded as failed: it
// is repeated when the folder is opened again. The error is the first one in writing the journal.
func (s *Service) Close() error {
	s.mu.Lock()
	already := s.closed
	s.closed = true
	s.mu.Unlock()
	s.cancel(errClosed)
	s.running.Wait()
	if already {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.journalError, s.journal.Close())
}

func (s *Service) arn(kind, name string) string {
	return fmt.Sprintf("arn:aws:states:%s:%s:%s:%s", s.options.Region, s.options.Account, kind, name)
}
