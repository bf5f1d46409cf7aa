package engine_test

// transitions yields what can happen in s.
func (w lockSetup) transitions(s lockState, yield func(int, transition[lockState])) {
	for n := range s.processes {
		if s.processes[n].next != idle {
			w.act(s, n, yield)
		}
	}
	for i := range runs {
		w.around(s, uint8(i), yield)
	}
	if s.faults > 0 {
		w.fault(s, yield)
	}
	if o := s.owner; s.unlocks > 0 && o != nobody {
		s.unlocks--
		s.processes[unlocker] = process{next: w.firstToEndByForce(), run: o, epoch: s.runs[o].epoch}
		yield(environment, transition[lockState]{name: "a user unlocks", to: s})
	}
}

// The actors that are not processes.
const (
	sweepOf        = processes + 1
	requestOf      = sweepOf + runs
	cloudFormation = requestOf + runs
	person         = cloudFormation + 1
)

// around yields what the actors that are not processes do to run i: it is requested,
// the sweep reads it, CloudFormation finishes its step, a person answers it.
func (w lockSetup) around(s lockState, i uint8, yield func(int, transition[lockState])) {
	r := s.runs[i]
	if r.state == runAbsent && int(i) < w.requests {
		to := s
		to.runs[i].state = runPending
		if w.requesters {
			to.processes[requester+i] = process{next: raiseEpoch, run: i, saw: runRunning}
		}
		yield(int(requestOf+i), transition[lockState]{name: "arrives", to: to})
	}
	if r.active() && s.processes[sweeper].next == idle && !w.lacks("sweep") {
		to := s
		to.processes[sweeper] = process{next: readForRestart, run: i}
		if w.restart(&to, sweeper); to != s {
			yield(int(sweepOf+i), transition[lockState]{name: "reads the run", to: to})
		}
	}
	if r.step == stepStarted {
		to := s
		to.runs[i].step = stepFinished
		yield(cloudFormation, transition[lockState]{name: "finishes the step", to: to})
	}
	if w.person && i == 0 && !r.answered && (r.state == runRunning || r.state == runWaiting) {
		to := s
		to.runs[i].answered = true
		to.raiseGeneration(i)
		yield(person, transition[lockState]{name: "answers", to: to})
	}
}

// fault yields what can go wrong: an execution fails, or calls its function again,
// and the function that it called before ends or becomes the late process; a
// requester, the sweep or the function that unlocks crashes.
func (w lockSetup) fault(s lockState, yield func(int, transition[lockState])) {
	s.faults--
	for i := range uint8(runs) {
		if p := s.processes[executor+i]; p.next != idle {
			to := s
			to.processes[executor+i] = process{}
			if w.late {
				to.processes[lateProcess] = p
			}
			to.runs[i].exec = execEnded
			yield(environment, transition[lockState]{name: "the execution of run " + runNames[i] + " fails", to: to})
			if s.runs[i].exec == execRunning && w.late {
				to.runs[i].exec = execRunning
				to.processes[executor+i] = process{next: readRun, run: i, epoch: s.runs[i].epoch}
				yield(environment, transition[lockState]{name: "the execution of run " + runNames[i] + " calls its function again, and the first one continues", to: to})
			}
		}
		if s.processes[requester+i].next != idle {
			to := s
			to.processes[requester+i] = process{}
			yield(environment, transition[lockState]{name: "the requester of run " + runNames[i] + " crashes", to: to})
		}
	}
	for _, n := range []int{sweeper, unlocker} {
		if to := s; s.processes[n].next != idle {
			to.processes[n] = process{}
			yield(environment, transition[lockState]{name: []string{"the sweep crashes", "the function that unlocks crashes"}[n-sweeper], to: to})
		}
	}
}

// runNames are the runs as traces show them.
var runNames = [...]string{"0", "1", "2", "nobody"}

// normalize makes states equal that differ only in what no later action depends on:
// what is stored of a run that has ended, what a process read and does not need any
// more, and a late process whose every write would be refused.
func (w lockSetup) normalize(s *lockState) {
	for i := range s.runs {
		if r := &s.runs[i]; r.state >= runEnded {
			*r = runItem{state: r.state, epoch: r.epoch, exec: execEnded, step: r.step}
		}
	}
	for n := range s.processes {
		switch p := &s.processes[n]; p.next {
		case readRun, commitPlan, pollRun, claimStep, skipStep: // these actions do not depend on what was read before
			p.lock, p.generation, p.from = false, false, 0
		}
	}
	p := s.processes[lateProcess]
	r := s.runs[p.run]
	refused := r.epoch != p.epoch || r.state >= runEnded && r.step != stepPending && !w.lacks("pending")
	if p.next < firstOfRestarts && p.next != passOnLock && refused {
		s.processes[lateProcess] = process{}
	}
}
