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

// A call is one to be made, with the attributes of its time put in.
type call struct {
	ID       string    `json:"id"` // Scheduler's execution ID
	Of       key       `json:"of"`
	Function string    `json:"function"`
	Input    string    `json:"input"`
	Started    time.Time `json:"begun"`
	Age      int       `json:"age"`      // seconds that it may be tried
	Retries  int       `json:"retries"`  // attempts after the first
	Deletes  bool      `json:"deletes"`  // the schedule goes with it
	Queue     string    `json:"dead"`     // the queue that it goes to if nobody takes it
	Schedule string    `json:"schedule"` // its ARN
}

// A Letter is a call that nobody took, and why: what is sent to the dead-letter queue.
type DeadLetter struct {
	Schedule, Input, Queue, Reason string
}

// longest is the longest pause between two attempts.
const longestPause = time.Minute

// wind sets the clock of a schedule. The caller holds s.mu.
func (s *Service) setTimer(one *schedule) {
	if one.Due.IsZero() || one.State != "ENABLED" || !s.started || s.closed {
		return
	}
	one.timer = time.AfterFunc(time.Until(one.Due), func() { s.timerFired(one) })
}

// halt stops the clock of a schedule, if it has one. A tick that is under way finds it replaced.
func (s *schedule) stopTimer() {
	if s != nil && s.timer != nil {
		s.timer.Stop()
	}
}

// tick has a schedule come up.
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

// Fire has a schedule come up now, whatever the clock says. It reports false if there is no such schedule that is
// enabled.
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

// begin makes a call of a schedule that has come up. The caller holds s.mu.
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

// launch makes a call in its own time. The caller holds s.mu.
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

// make tries until the call is taken, or given up.
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

// wait reports false if the service was closed meanwhile.
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

// over notes that a call was taken, or why not. The caller holds s.mu.
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

// tell writes a line of the log; one that cannot be written cannot be told either.
func (s *Service) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.opts.Log, format+"\n", args...)
}

// Dead lists the calls that were given up since Open.
func (s *Service) DeadLetters() []DeadLetter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deadLetters)
}

// Pending counts the calls that are still to be made.
func (s *Service) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending)
}

// decode reads a request. What is not stood in for is refused, never ignored.
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
