package scheduler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A call is one invocation of a target, with its context attributes replaced.
type call struct {
	ID       string    `json:"id"` // Scheduler's execution ID
	Of       key       `json:"of"`
	Function string    `json:"function"`
	Input    string    `json:"input"`
	Started  time.Time `json:"started"`
	Age      int       `json:"age"`      // for how many seconds it may be retried
	Retries  int       `json:"retries"`  // attempts after the first
	Deletes  bool      `json:"deletes"`  // the schedule is deleted afterwards
	Queue    string    `json:"queue"`    // the ARN of the dead-letter queue
	Schedule string    `json:"schedule"` // its ARN
}

// A DeadLetter is a call that failed, and why: what Scheduler sends to the dead-letter queue.
type DeadLetter struct {
	Schedule, Input, Queue, Reason string
}

// longestPause is the longest pause between two attempts.
const longestPause = time.Minute

// setTimer sets the timer of a schedule. The caller holds s.mu.
func (s *Service) setTimer(one *schedule) {
	if one.Due.IsZero() || one.State != "ENABLED" || !s.started || s.closed {
		return
	}
	one.timer = time.AfterFunc(time.Until(one.Due), func() { s.timerFired(one) })
}

// stopTimer stops the timer of a schedule, if it has one. A timer that has already fired finds the schedule replaced.
func (s *schedule) stopTimer() {
	if s != nil && s.timer != nil {
		s.timer.Stop()
	}
}

// timerFired calls the target of a schedule.
func (s *Service) timerFired(one *schedule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.all[one.key()] != one || one.State != "ENABLED" {
		return
	}
	at := one.Due
	k := one.key()
	if one.Due = one.after(time.Now()); one.Due.IsZero() {
		one.timer = nil
	}
	if err := s.log.Append(record{Of: &k, Due: &one.Due}); err != nil {
		s.logf("schedule %s: %v", one.Name, err)
		return
	}
	s.setTimer(one)
	s.begin(one, at)
}

// Fire calls the target of a schedule now. It reports false if there is no such enabled schedule.
func (s *Service) Fire(group, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[key{group, name}]
	if !ok || one.State != "ENABLED" || s.closed {
		return false
	}
	s.begin(one, time.Now())
	return true
}

// begin creates the call of a schedule. The caller holds s.mu.
func (s *Service) begin(one *schedule, at time.Time) {
	s.next++
	p := one.Target.RetryPolicy
	c := call{
		ID: fmt.Sprintf("%016x", s.next), Of: one.key(), Function: one.Target.Arn, Started: time.Now().UTC(), Schedule: s.arn(one),
		Age: *p.MaximumEventAgeInSeconds, Retries: *p.MaximumRetryAttempts,
		Deletes: one.ActionAfterCompletion == "DELETE" && one.Due.IsZero(),
	}
	if one.Target.DeadLetterConfig != nil {
		c.Queue = one.Target.DeadLetterConfig.Arn
	}
	c.Input = strings.NewReplacer(
		"<aws.scheduler.schedule-arn>", c.Schedule,
		"<aws.scheduler.scheduled-time>", at.UTC().Format("2006-01-02T15:04:05Z"),
		"<aws.scheduler.execution-id>", c.ID,
	).Replace(one.Target.Input)
	if one.Target.Input == "" {
		c.Input = "{}"
	}
	if err := s.log.Append(record{Call: &c}); err != nil {
		s.logf("schedule %s: %v", one.Name, err)
		return
	}
	s.pending[c.ID] = c
	if s.started {
		s.startCall(c)
	}
}

// startCall makes a call in the background. The caller holds s.mu.
func (s *Service) startCall(c call) {
	if s.closed {
		return
	}
	s.tasks.Go(func() {
		if why := s.call(c); s.ctx.Err() == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.done(c, why)
		}
	})
}

// call tries until the function succeeds, or the call is given up.
func (s *Service) call(c call) error {
	until := c.Started.Add(time.Duration(c.Age) * time.Second)
	for attempt := 0; ; attempt++ {
		input := strings.ReplaceAll(c.Input, "<aws.scheduler.attempt-number>", fmt.Sprint(attempt+1))
		_, err := s.opts.Invoke(s.ctx, c.Function, []byte(input))
		if err == nil {
			return nil
		}
		delay := min(time.Second<<min(attempt, 10), longestPause)
		if attempt == c.Retries || time.Now().Add(delay).After(until) {
			return fmt.Errorf("after %d attempts: %w", attempt+1, err)
		}
		if !pause(s.ctx, delay) {
			return err
		}
	}
}

// pause reports false if the service was closed meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// done records that a call has ended, and why it failed. The caller holds s.mu.
func (s *Service) done(c call, why error) {
	delete(s.pending, c.ID)
	if err := s.log.Append(record{Over: c.ID}); err != nil {
		s.logf("schedule %s: %v; it will be called once more", c.Of.Name, err)
	}
	if why != nil {
		s.logf("schedule %s was not taken by %s: %v", c.Of.Name, c.Function, why)
		s.deadLetters = append(s.deadLetters, DeadLetter{Schedule: c.Schedule, Input: c.Input, Queue: c.Queue, Reason: why.Error()})
	}
	if one, ok := s.all[c.Of]; ok && c.Deletes && one.Due.IsZero() {
		delete(s.all, c.Of)
		if err := s.log.Append(record{Gone: &c.Of}); err != nil {
			s.logf("schedule %s: %v", c.Of.Name, err)
		}
	}
}

// logf writes a line of the log. An error of the log cannot be logged.
func (s *Service) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.opts.Log, format+"\n", args...)
}

// DeadLetters lists the calls that were given up since Open.
func (s *Service) DeadLetters() []DeadLetter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deadLetters)
}

// Pending counts the unfinished calls.
func (s *Service) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending)
}

// decode reads a request. Unknown fields are refused, not ignored.
func decode(body []byte, v any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return invalid("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
