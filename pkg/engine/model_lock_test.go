package engine_test

import (
	"slices"
	"strings"
)

// The model of the lock and its queue: three requests to write one project,
// each with an execution that may die between any two steps, while a function
// of it works on; functions that ask, sweep and restart; a person who answers and
// one who unlocks. Runs 0 and 1 are uploads, 1 the newer, though either may come
// first; run 2 is another request.

const (
	uploads = 2 // of the runs, which are numbered from 0
	runs    = 3
	nobody  = runs
)

// What a run has come to.
const (
	unasked = uint8(iota)
	asked
	queued
	going
	isWaiting
	over // and all after it
	superseded
	broken
)

// How an execution stands; that of the newest execution is kept.
const (
	unstarted = uint8(iota)
	running
	ended
)

// How far the one step of a run has come.
const (
	pending = uint8(iota)
	begun
	settled
	skipped
)

// The routines: that of an execution first, then that of anyone who polls after a
// run, which all share: who requested, who handed the lock over, who superseded, and
// the sweep.
const (
	idle          = uint8(iota)
	readRun       // plan: read the run and the lock
	readLock      // in a second step, where that may matter
	enter         // own it, or wait
	commit        // write the plan
	look          // read the run and its steps, and the lock if it is over
	claim         // begin the step
	skip          // the step
	waitForPerson // wait for a person
	end           // be over, and hand the lock on
	free          // hand it on later, which is wrong

	tend     // read a run, and whether it owns the lock
	tendExec // and how its execution stands
	raise    // its epoch
	launch   // the execution
	seeAgain // read the run again
	giveUp   // raise the epoch of a run that is to end
	strike   // its steps
	giveEnd  // end it
)

// The routines are reported in these words.
var said = [...]string{
	"is idle", "reads its run and the lock", "reads the lock", "enters", "commits its plan", "looks", "claims its step", "skips its step", "parks", "ends", "frees the lock",
	"reads", "sees how the execution stands", "raises the epoch", "starts the execution", "reads it again", "raises the epoch to end it", "strikes its steps", "ends it",
}

// A lockItem is the item that is lock and queue.
type lockItem struct {
	owner   uint8
	waiting [runs]uint8 // the head first; nobody where there is none
	newest  uint8       // upload seen, counted from 1
}

// A lockRun is a run's item, with its execution and its step.
type lockRun struct {
	state, epoch, exec, step uint8

	supersede  bool  // is its command
	generation bool  // since it waiting
	answered   bool  // by a person
	revived    uint8 // how often
}

// A proc is a function at work. What it read it needs no copy of: it writes on
// condition that it is still so, which is kept here instead.
type proc struct {
	at, run, epoch   uint8 // of the run that it tends, if it does
	lock, generation bool  // are still as it read them
	saw              uint8 // the state that it read; the owner, for anyone who enters without condition
	was              uint8 // the state of the run that it ends
}

// A lockState is a state of this setup.
type lockState struct {
	lockItem
	runs    [runs]lockRun
	planned uint8 // the newest upload that was, counted from 1
	procs   [procs]proc

	faults, unlocks uint8 // that may still happen
}

// Who acts: the executions' functions by run, those that ask, one function that
// works on after its execution died or called it again, the sweep, and one that
// unlocks.
const (
	executor    = 0
	asker       = executor + runs
	lateProcess = asker + runs
	sweep       = lateProcess + 1
	opener      = sweep + 1
	procs       = opener + 1
)

// A lockWorld says what may happen, and which safeguard is missing.
type lockSetup struct {
	faults, unlocks uint8
	limit           uint8  // of recoveries
	person          bool   // must answer before run 0 begins its step
	queue           int    // how many runs are requested
	late            bool   // are functions of executions that failed, and work on
	askers          bool   // live on, and start what they requested; else the sweep does
	busy            bool   // is the project with run 2, from the start
	rollback        bool   // is run 2, for run 0 fails
	scheduled       bool   // is run 0: it makes way for an upload, and nothing makes way for it
	without         string // safeguards, with commas between
}

// uploads reports whether a run is an upload.
func (w lockSetup) uploads(i uint8) bool { return i < uploads && !(w.scheduled && i == 0) }

// lacks reports whether a safeguard is missing.
func (w lockSetup) lacks(safeguard string) bool {
	return w.without != "" && slices.Contains(strings.Split(w.without, ", "), safeguard)
}

// lockModel is the model of this setup.
func lockModel(w lockSetup) model[lockState] {
	s := lockState{faults: w.faults, unlocks: w.unlocks}
	s.lockItem = lockItem{owner: nobody, waiting: [runs]uint8{nobody, nobody, nobody}}
	if w.busy {
		s.owner = 2
		s.runs[2] = lockRun{state: going, epoch: 1, exec: running, step: begun}
		s.procs[executor+2] = proc{at: look, run: 2, epoch: 1}
	}
	return model[lockState]{
		start: s,
		names: []string{
			"mishap:", "run 0", "run 1", "run 2", "asker of 0", "asker of 1", "asker of 2", "zombie", "sweep", "unlocker",
			"sweep of 0", "sweep of 1", "sweep of 2", "upload of 0", "upload of 1", "request of 2", "cloud", "person",
		},
		next: func(s lockState, tell func(int, move[lockState])) {
			w.next(s, func(who int, m move[lockState]) {
				w.normalize(&m.to)
				tell(who, m)
			})
		},
		wrong: lockState.wrong,
		good:  lockState.good,
	}
}

// good says that every run is over and nobody has the lock.
func (s lockState) good() bool {
	for _, r := range s.runs {
		if r.live() {
			return false
		}
	}
	return s.owner == nobody && s.runs[0].state != unasked
}

// wrong says which invariant does not hold.
func (s lockState) wrong() string {
	if s.owner == nobody && s.waiting[0] != nobody {
		return "a run waits for a lock that is free"
	}
	if s.owner != nobody && !s.runs[s.owner].live() {
		return "a run that is over owns the lock"
	}
	places, writers := [runs + 1]int{}, 0
	places[s.owner]++
	for _, i := range s.waiting {
		places[i]++
	}
	for i, r := range s.runs {
		if r.state == going || r.state == isWaiting {
			writers++
		}
		switch {
		case places[i] > 1:
			return "a run is in two places"
		case places[i] > 0 && !r.live():
			return "a run that is over waits"
		case places[i] == 0 && r.state == queued:
			return "a queued run is forgotten"
		}
	}
	switch {
	case writers > 1:
		return "two runs write"
	case s.runs[uploads-1].state == superseded:
		return "the newest upload is superseded"
	}
	return ""
}

// live reports whether the run is requested and not over.
func (r lockRun) live() bool { return r.state != unasked && r.state < over }
