package engine_test

// restart carries out the next action of a process that restarts a run, or ends it
// by force. It says which invariant that violates, if any.
func (w lockSetup) restart(s *lockState, n int) string {
	p := &s.processes[n]
	r := &s.runs[p.run]
	switch p.next {
	case readForRestart:
		p.epoch, p.saw = r.epoch, class(r.state)
		p.next = firstToRestart(r, s.owner == p.run)
	case readExecution:
		w.readExecution(s, n)
	case readAgain:
		p.next = raiseEpoch
		if r.epoch != p.epoch || class(r.state) != p.saw {
			p.next = idle
		}
	case raiseEpoch:
		p.next = idle
		if r.epoch == p.epoch && r.active() {
			if class(r.state) != p.saw && !w.late {
				return "an execution is started for a run that needs none"
			}
			w.raise(s, n)
		}
	case startExecution:
		p.next = idle
		if r.epoch == p.epoch && r.exec == execAbsent && s.processes[executor+p.run].next == idle {
			r.exec = execRunning
			s.processes[executor+p.run] = process{next: readRun, run: p.run, epoch: r.epoch}
		}
	case fenceExecution, failRemaining, endRunByForce:
		return w.endByForce(s, n)
	}
	if p.next == idle {
		w.stopRestart(s, n)
	}
	return ""
}

// class is what matters of a run's state to a process that raises the epoch: pending
// and running runs need an execution alike.
func class(state uint8) uint8 {
	if state == runPending {
		return runRunning
	}
	return state
}

// firstToRestart returns what a process does for a run that it has read: raise the
// epoch if the run needs an execution, or read the state of the execution that it
// should have, or nothing.
func firstToRestart(r *runItem, owns bool) uint8 {
	switch {
	case !r.active():
		return idle
	case r.state == runWaiting && r.generation, r.state == runQueued && owns, r.epoch == 0:
		return raiseEpoch
	case r.state == runWaiting, r.state == runQueued:
		return idle
	}
	return readExecution
}

// readExecution reads the state of the execution with the epoch that was read. It
// starts one that was not started. Only the sweep replaces one that has ended.
func (w lockSetup) readExecution(s *lockState, n int) {
	p := &s.processes[n]
	r := &s.runs[p.run]
	p.next = idle
	switch {
	case r.epoch == p.epoch && r.exec == execAbsent:
		p.next = startExecution
	case r.epoch == p.epoch && r.exec == execRunning || n != sweeper:
	case r.restarts >= w.maxRestarts:
		p.next = w.firstToEndByForce()
	case w.lacks("read again"):
		p.next = raiseEpoch
	default:
		p.next = readAgain
	}
}

// raise raises the epoch of a run, for a new execution. A process of the execution
// before becomes the late process.
func (w lockSetup) raise(s *lockState, n int) {
	p := &s.processes[n]
	r := &s.runs[p.run]
	if r.exec == execEnded && class(r.state) == runRunning {
		r.restarts++
	}
	r.epoch++
	r.exec, r.generation = execAbsent, false
	if r.state == runQueued {
		r.state = runPending
	} else if r.state == runWaiting {
		r.state = runRunning
	}
	if e := &s.processes[executor+p.run]; e.next != idle && executor+int(p.run) != n {
		s.processes[lateProcess], *e = *e, process{}
	}
	p.next, p.epoch = startExecution, r.epoch
}

// firstToEndByForce returns the first action to end a run by force: to fence off its
// execution.
func (w lockSetup) firstToEndByForce() uint8 {
	if w.lacks("epoch at an end") {
		return failRemaining
	}
	return fenceExecution
}

// endByForce ends a run from outside its execution, in three actions: it raises the
// epoch, ends the step, and ends the run. Then it restarts the run that gets the
// lock. Meanwhile a process that reads the raised epoch may start its execution.
func (w lockSetup) endByForce(s *lockState, n int) string {
	p := &s.processes[n]
	r := &s.runs[p.run]
	switch {
	case r.epoch != p.epoch || !r.active():
		w.stopRestart(s, n)
	case p.next == fenceExecution:
		w.raise(s, n)
		p.next = failRemaining
	case p.next == failRemaining:
		if r.state == runRunning && r.step < stepFinished {
			r.step = stepSkipped
		}
		w.readToEnd(s, p, r.state)
		p.next = endRunByForce
	case !p.lock && !w.lacks("version"), !p.generation, r.state != p.from && !w.lacks("state at an end"):
		p.next = failRemaining
	case r.step == stepStarted:
		return "a run is ended by force before its step"
	default:
		s.endAs(p.run, runFailed)
		owner := s.owner
		w.stopRestart(s, n)
		if owner != nobody {
			s.processes[n] = process{next: readForRestart, run: owner}
		}
	}
	return ""
}

// stopRestart ends a process that restarted a run. If it is of an execution, the
// execution ends with it.
func (w lockSetup) stopRestart(s *lockState, n int) {
	s.processes[n] = process{}
	if n < requester && s.runs[n].exec == execRunning {
		s.runs[n].exec = execEnded
	}
}
