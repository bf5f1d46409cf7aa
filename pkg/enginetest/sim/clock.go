// Package sim simulates in memory everything that the engine works with: a clock
// that is moved by hand, a store, a CloudFormation that enforces its rules,
// executions of the state machine, and the faults that all of them may have.
// Everything happens in one order that follows from a seed.
package sim

import "time"

// A Clock is a queue of events. The time moves from one event to the next.
type Clock struct {
	now   time.Time
	queue queue
	seq   int
	alive map[*Routine]bool
	idle  []*worker

	running *Routine // the routine that runs now
}

// NewClock returns a clock that shows 1 January 2030.
func NewClock() *Clock {
	return &Clock{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), alive: make(map[*Routine]bool)}
}

// Now returns the simulated time.
func (c *Clock) Now() time.Time { return c.now }

// After calls do when d has passed, after everything that is already due by then.
func (c *Clock) After(d time.Duration, do func()) {
	c.seq++
	c.queue.push(happening{c.now.Add(max(d, 0)), c.seq, do})
}

// Run handles queued events until the queue is empty or until returns true. It
// reports whether until returned true.
func (c *Clock) Run(until func() bool) bool {
	for !until() {
		if len(c.queue) == 0 {
			return false
		}
		h := c.queue.pop()
		c.now = h.at
		h.do()
	}
	return true
}

// Stop ends every routine at its current wait.
func (c *Clock) Stop() {
	for len(c.alive) > 0 {
		for r := range c.alive {
			r.stop()
			delete(c.alive, r)
		}
	}
	for _, w := range c.idle {
		w.turns <- false
	}
	c.idle = nil
}

// Go starts a routine: code that may wait for time to pass. No two routines run at
// the same time.
func (c *Clock) Go(do func(*Routine)) {
	r := &Routine{clock: c, do: do}
	c.alive[r] = true
	c.After(0, func() {
		r.worker = c.hire()
		r.worker.routine = r
		r.resume(0)
	})
}

// A worker is a goroutine that runs one routine after another, so that its stack
// does not grow again for each. (Coroutines would be cheaper, but the race detector
// never frees the memory of one.)
type worker struct {
	turns   chan bool // true: run until the next wait; false: end
	waits   chan bool // true: the routine waits; false: it has ended
	routine *Routine
}

// hire returns an idle worker.
func (c *Clock) hire() *worker {
	if n := len(c.idle); n > 0 {
		w := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return w
	}
	w := &worker{turns: make(chan bool), waits: make(chan bool)}
	go func() {
		for <-w.turns {
			w.routine.do(w.routine)
			w.waits <- false
		}
	}()
	return w
}

// A Routine is simulated concurrent code. It runs until it waits; the clock stands
// still meanwhile.
type Routine struct {
	clock  *Clock
	do     func(*Routine)
	worker *worker
	skew   time.Duration // how far the clock of its function is ahead
	turn   int           // how many of its waits have ended
	ended  bool
}

// stop ends a routine at its current wait: that wait and all later ones fail.
func (r *Routine) stop() {
	if r.worker != nil && !r.ended {
		r.ended = true
		r.worker.turns <- false
		<-r.worker.waits
		r.retire()
	}
	r.ended = true
}

// retire makes the worker of a routine that has ended idle.
func (r *Routine) retire() {
	r.clock.idle = append(r.clock.idle, r.worker)
	r.worker = nil
}

// Sleep waits until d has passed. It reports false if the clock was stopped.
func (r *Routine) Sleep(d time.Duration) bool {
	r.wakeIn(d)
	return r.Wait()
}

// Wait waits until a function of Waker is called. It reports false if the clock was stopped.
func (r *Routine) Wait() bool {
	if r.ended {
		return false
	}
	r.worker.waits <- true
	r.ended = !<-r.worker.turns
	return !r.ended
}

// Waker returns a function that ends the next wait, and no other.
func (r *Routine) Waker() func() {
	turn := r.turn
	return func() { r.clock.After(0, func() { r.resume(turn) }) }
}

// wakeIn ends the next wait after d.
func (r *Routine) wakeIn(d time.Duration) {
	turn := r.turn
	r.clock.After(d, func() { r.resume(turn) })
}

func (r *Routine) resume(turn int) {
	if turn != r.turn || r.ended {
		return
	}
	r.turn++
	r.clock.running = r
	r.worker.turns <- true
	continues := <-r.worker.waits
	r.clock.running = nil
	if !continues {
		r.ended = true
		delete(r.clock.alive, r)
		r.retire()
	}
}
