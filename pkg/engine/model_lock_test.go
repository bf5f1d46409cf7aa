package engine_test

import (
	"slices"
	"strings"
)

// The model of a project's lock and queue, used by up to three runs of one step each.
// Runs 0 and 1 are uploads; run 1 is the newer one, but their events may arrive in
// either order. Run 2 is another request, or the rollback of run 0.
//
// Actors: an execution for each run, as a process that plans the run, enters the
// queue, executes the step and ends the run; the requesters; the sweep, which
// restarts runs whose execution has failed, and ends those that fail too often; a
// person who answers run 0; a user who unlocks; CloudFormation, which finishes steps;
// and one late process, which continues after its execution has failed or has called
// its function again.
//
// Transitions: each reads or writes the store once, or calls Step Functions once. A
// fault is the crash of a process between two of them. The files
// model_lock_transitions_test.go, model_lock_execution_test.go and
// model_lock_restart_test.go have them.
//
// Safety: the lock has at most one owner, which has not ended, and only the owner
// starts steps; no run waits for a free lock, is in the queue twice, or is queued and
// not in the queue; no run ends before its step; nothing changes a run that has
// ended; no older upload is planned after a newer one; the newest upload is never
// superseded.
//
// Liveness: all runs end, and then the lock is free.

const (
	uploads = 2 // the runs from 0 that are uploads
	runs    = 3
	nobody  = runs // no run
)

// The states of a run.
const (
	runAbsent = uint8(iota) // it was not requested yet
	runPending
	runQueued
	runRunning
	runWaiting
	runEnded // this state and those after it are ends
	runSuperseded
	runFailed
)

// The states of the newest execution of a run.
const (
	execAbsent = uint8(iota) // its epoch was raised, and it was not started yet
	execRunning
	execEnded
)

// The states of the step of a run.
const (
	stepPending = uint8(iota)
	stepStarted
	stepFinished
	stepSkipped
)

// What a process does next, in one action: first the actions of an execution, then
// those that restart a run. Requesters, the sweep, and executions that have passed on
// the lock or superseded the owner restart runs.
const (
	idle         = uint8(iota)
	readRun      // to plan it; and read the lock, if no other action can matter between the two
	readLock     // to plan the run
	enterQueue   // become the owner of the lock, or be queued
	commitPlan   // write the plan
	pollRun      // read the run and its step; and the lock, if the step has finished
	claimStep    // start the step
	skipStep     // skip the step of a run that is to end
	waitForHuman // mark the run as waiting for a person
	endRun       // end the run and pass on the lock
	passOnLock   // in a transaction of its own: only without the safeguard "one transaction"
	finishStep   // that was answered: only in the model of commands

	readForRestart // read a run, and whether it owns the lock
	readExecution  // read the state of the run's execution
	raiseEpoch     // to start a new execution
	startExecution // of the epoch that was raised
	readAgain      // read the run again, after its execution was found ended
	fenceExecution // raise the epoch of a run that is to be ended by force
	failRemaining  // end its step
	endRunByForce  // end the run and pass on the lock
)

// firstOfRestarts is the first of the actions that restart a run.
const firstOfRestarts = readForRestart

// actionNames are the actions as traces show them.
var actionNames = [...]string{
	"is idle", "reads its run and the lock", "reads the lock", "enters the queue", "commits its plan", "polls its run", "claims its step",
	"skips its step", "marks its run as waiting", "ends its run", "passes on the lock", "finishes the answered step",
	"reads the run", "reads the state of the execution", "raises the epoch", "starts the execution", "reads the run again",
	"raises the epoch to end the run", "ends the step", "ends the run",
}

// A lockItem is the item of the store with the lock and its queue.
type lockItem struct {
	owner   uint8
	waiting [runs]uint8 // the queue, its head first, filled up with nobody
	newest  uint8       // one more than the newest upload that entered
}

// A runItem is a run, with its newest execution and its step.
type runItem struct {
	state, epoch, exec, step uint8

	supersede  bool  // a newer upload has cancelled it
	generation bool  // it is waiting, and its generation was raised since
	answered   bool  // by the person
	restarts   uint8 // how often
}

// A process is a running function. It writes on condition that what it read has not
// changed. The model keeps whether that is so, instead of a copy of what it read.
type process struct {
	next, run, epoch uint8
	lock             bool  // the lock is as the process read it
	generation       bool  // the generation is as the process read it
	saw              uint8 // the class of the state that it read; without the safeguard "version" the owner of the lock
	from             uint8 // the state that the run must be in for the process to end it
}

// A lockState is a state of the model.
type lockState struct {
	lockItem
	runs      [runs]runItem
	planned   uint8 // one more than the newest upload that was planned
	processes [processes]process

	faults, unlocks uint8 // how many may still happen
}

// The processes: of executions and of requesters, each by run, and others.
const (
	executor    = 0
	requester   = executor + runs
	lateProcess = requester + runs
	sweeper     = lateProcess + 1
	unlocker    = sweeper + 1
	processes   = unlocker + 1
)

// A lockSetup says what may happen in the model.
type lockSetup struct {
	faults, unlocks uint8
	maxRestarts     uint8  // of each run
	person          bool   // run 0 starts its step after a person has answered
	requests        int    // how many runs are requested
	late            bool   // there may be a late process
	requesters      bool   // a requester starts the execution of its run; else the sweep does
	busy            bool   // run 2 owns the lock at first, and its step has started
	rollback        bool   // run 2 is the rollback that follows run 0
	scheduled       bool   // run 0 is a schedule's deploy: an upload supersedes it, and it supersedes none
	without         string // the safeguards that are missing, separated by ", "
}

// isUpload reports whether a run is an upload.
func (w lockSetup) isUpload(i uint8) bool { return i < uploads && !(w.scheduled && i == 0) }

// lacks reports whether a safeguard is missing.
func (w lockSetup) lacks(safeguard string) bool {
	return w.without != "" && slices.Contains(strings.Split(w.without, ", "), safeguard)
}

// lockModel returns the model in a setup.
func lockModel(w lockSetup) model[lockState] {
	s := lockState{faults: w.faults, unlocks: w.unlocks}
	s.lockItem = lockItem{owner: nobody, waiting: [runs]uint8{nobody, nobody, nobody}}
	if w.busy {
		s.owner = 2
		s.runs[2] = runItem{state: runRunning, epoch: 1, exec: execRunning, step: stepStarted}
		s.processes[executor+2] = process{next: pollRun, run: 2, epoch: 1}
	}
	return model[lockState]{
		initial: s,
		actors: []string{
			"environment:", "run 0", "run 1", "run 2", "requester of 0", "requester of 1", "requester of 2", "late process", "sweep", "unlocker",
			"sweep of 0", "sweep of 1", "sweep of 2", "request 0", "request 1", "request 2", "CloudFormation", "person",
		},
		transitions: func(s lockState, yield func(int, transition[lockState])) {
			w.transitions(s, func(actor int, t transition[lockState]) {
				w.normalize(&t.to)
				yield(actor, t)
			})
		},
		invariant: lockState.violation,
		final:     lockState.final,
	}
}

// final reports whether all requested runs have ended and the lock is free.
func (s lockState) final() bool {
	for _, r := range s.runs {
		if r.active() {
			return false
		}
	}
	return s.owner == nobody && s.runs[0].state != runAbsent
}

// violation says which invariant s violates, if any.
func (s lockState) violation() string {
	if s.owner == nobody && s.waiting[0] != nobody {
		return "a run waits for a lock that is free"
	}
	if s.owner != nobody && !s.runs[s.owner].active() {
		return "a run that has ended owns the lock"
	}
	places, writers := [runs + 1]int{}, 0
	places[s.owner]++
	for _, i := range s.waiting {
		places[i]++
	}
	for i, r := range s.runs {
		if r.state == runRunning || r.state == runWaiting {
			writers++
		}
		switch {
		case places[i] > 1:
			return "a run is in the queue twice"
		case places[i] > 0 && !r.active():
			return "a run that has ended is queued"
		case places[i] == 0 && r.state == runQueued:
			return "a queued run is not in the queue"
		}
	}
	switch {
	case writers > 1:
		return "two runs write to the project"
	case s.runs[uploads-1].state == runSuperseded:
		return "the newest upload is superseded"
	}
	return ""
}

// active reports whether the run was requested and has not ended.
func (r runItem) active() bool { return r.state != runAbsent && r.state < runEnded }
