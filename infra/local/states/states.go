// Package states stands in for AWS Step Functions: standard workflows, run by pkg/lib/asl on virtual or real time.
package states

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/stackwright/stackwright/infra/local/journal"
	"github.com/stackwright/stackwright/pkg/lib/asl"
)

// Options say where the stand-in stands and whom it talks to. The zero value can keep machines; without Invoke every
// function fails.
type Options struct {
	Account string // "" is 000000000000
	Region  string // "" is us-east-1
	// Invoke calls a function by its name or ARN. Where the function itself failed, the error has an ErrorType method.
	// It returns soon after ctx is done, which is only at Close: as on AWS, an invocation outlives a task that timed out.
	Invoke func(ctx context.Context, function string, payload []byte) ([]byte, error)
	// Emit sends an event to EventBridge. It is called after the change is kept, never with a lock held.
	Emit func(source, detailType string, resources []string, detail any)
	// Hold leaves executions that were running when the folder was last closed as they are, until Resume.
	Hold bool
}

// Service is Step Functions in one account and region: an http.Handler. Make one with Open and end it with Close.
type Service struct {
	options Options
	journal *journal.Journal[record]
	secret  [16]byte // what tokens are made with
	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup // executions and invocations

	mu         sync.Mutex
	closed     bool
	machines   map[string]*machine   // by ARN
	revisions  map[string]*revision  // by ID, also those that were replaced
	executions map[string]*execution // by ARN
	order      []*execution          // as they were started
	tokens     map[string]chan answer
	journalError     error // the first event that could not be kept
}

// A record is one line of the journal. One of its fields is set.
type record struct {
	Secret    []byte     `json:"secret,omitempty"`
	Machine   *machine   `json:"machine,omitempty"` // made or changed
	Execution *execution `json:"execution,omitempty"`
	Of        string     `json:"of,omitempty"` // ARN of the execution of the event
	Top       bool       `json:"top,omitempty"`
	Event     *event     `json:"event,omitempty"`
}

var errClosed = errors.New("states: closed")

// Open makes a service that keeps machines, executions and histories in a folder, or in memory if dir is "". Executions
// that were running when the folder was left go on at the state that they had last entered, unless options.Hold.
// The error tells what in the folder cannot be read.
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

// seed makes the secret that tells tokens of ours, once.
func (s *Service) seed() error {
	if s.secret != [16]byte{} {
		return nil
	}
	if _, err := rand.Read(s.secret[:]); err != nil {
		return err
	}
	return s.journal.Append(record{Secret: s.secret[:]})
}

// replay takes up what one line of the journal tells.
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

// Resume goes on with all executions that are running and that nobody drives.
func (s *Service) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.order {
		s.start(e)
	}
}

// Close stops driving all executions where they stand and waits for whatever runs. What was under way is not recorded as
// failed: it is done again when the folder is opened. The error is the first that kept a history from being written.
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
