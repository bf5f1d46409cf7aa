package engine_test

import "slices"

// act yields the next action of process n.
func (w lockSetup) act(s lockState, n int, yield func(int, transition[lockState])) {
	p := s.processes[n]
	actor := n + 1
	if n == lateProcess {
		actor = environment // it may continue, but need not
	}
	to, violates := s, ""
	if p.next < firstOfRestarts {
		violates = w.execute(&to, n)
	} else {
		violates = w.restart(&to, n)
	}
	if to == s && violates == "" && n < requester && p.next == pollRun {
		return // the execution waits until the step has finished
	}
	name := actionNames[p.next]
	if p.next >= firstOfRestarts {
		name += " (run " + runNames[p.run] + ")"
	}
	if n == lateProcess {
		name = "late process of run " + runNames[p.run] + " " + name
	}
	yield(actor, transition[lockState]{name: name, to: to, violates: violates})
}

// execute carries out the next action of an execution. It says which invariant that
// violates, if any.
func (w lockSetup) execute(s *lockState, n int) string {
	p := &s.processes[n]
	i, r := p.run, &s.runs[p.run]
	current := r.epoch == p.epoch
	switch p.next {
	case readRun:
		switch {
		case !current:
			w.stop(s, n)
		case r.state == runPending && r.supersede:
			w.readToEnd(s, p, runPending)
		case r.state == runPending:
			p.generation = true
			if p.next = readLock; !w.lacks("pending") && !w.lacks("state at an end") {
				w.readLock(s, p)
				p.next = enterQueue
			}
		case r.state == runRunning:
			p.next = pollRun
		default:
			w.stop(s, n)
		}
	case readLock:
		w.readLock(s, p)
		p.next = enterQueue
	case enterQueue:
		return w.enter(s, n, current)
	case commitPlan:
		if !current || r.state != runPending {
			p.next = readRun
			return ""
		}
		return w.commit(s, n)
	case pollRun:
		w.poll(s, n)
	case claimStep:
		p.next = pollRun
		if !current || r.step != stepPending {
			return ""
		}
		if s.owner != i {
			return "a run starts a step and does not own the lock"
		}
		r.step = stepStarted
	case skipStep:
		p.next = pollRun
		if current && r.step == stepPending {
			r.step = stepSkipped
		}
	case waitForHuman:
		p.next = pollRun
		if current && r.active() && (p.generation || w.lacks("generation")) {
			r.state, r.generation = runWaiting, false
			w.stop(s, n)
		}
	case endRun:
		return w.end(s, n, current)
	case passOnLock:
		s.passOn()
		w.stop(s, n)
	}
	return ""
}

// commit writes the plan of a run.
func (w lockSetup) commit(s *lockState, n int) string {
	p := &s.processes[n]
	s.runs[p.run].state, p.next = runRunning, pollRun
	if w.isUpload(p.run) {
		if s.planned > p.run+1 {
			return "an older upload is planned after a newer one"
		}
		s.planned = p.run + 1
	}
	return ""
}

// enter makes a run the owner of the lock, or queues it. An upload that is older than
// one that entered before is to end as superseded.
func (w lockSetup) enter(s *lockState, n int, current bool) string {
	p := &s.processes[n]
	i, r := p.run, &s.runs[p.run]
	upload := w.isUpload(i)
	switch {
	case upload && p.lock && s.newest > i+1: // the process decides this from the lock that it has read
		p.next, p.from = endRun, runPending
		return ""
	case !current || r.state != runPending && !w.lacks("pending"):
		p.next = readRun
		return ""
	case !p.lock && !w.lacks("version"):
		p.next = readRun
		return ""
	case !r.active():
		return "a run that has ended enters the queue"
	}
	if w.lacks("version") {
		s.owner = p.saw
	}
	defer s.lockChanged()
	if upload {
		s.newest = max(s.newest, i+1)
	}
	if s.owner == nobody || s.owner == i {
		s.owner, p.next = i, commitPlan
		return ""
	}
	if upload {
		s.supersedeQueued(i)
	}
	r.state = runQueued
	if !slices.Contains(s.waiting[:], i) {
		s.enqueue(i)
	}
	if o := s.owner; upload && o < i {
		s.runs[o].supersede = true
		s.raiseGeneration(o)
		w.stop(s, n)
		s.runs[i].exec = execRunning
		*p = process{next: readForRestart, run: o}
		return ""
	}
	w.stop(s, n)
	return ""
}

// supersedeQueued ends the queued runs that a newer upload replaces.
func (s *lockState) supersedeQueued(by uint8) {
	for _, j := range s.waiting {
		if j < by {
			s.endAs(j, runSuperseded)
		}
	}
}

// poll reads a run, and decides what its execution does next.
func (w lockSetup) poll(s *lockState, n int) {
	p := &s.processes[n]
	r := s.runs[p.run]
	switch {
	case r.epoch != p.epoch || r.state != runRunning:
		w.stop(s, n)
	case r.step == stepStarted:
	case r.step >= stepFinished:
		w.readToEnd(s, p, runRunning)
	case r.supersede:
		p.next = skipStep
	case w.person && p.run == 0 && !r.answered:
		p.generation, p.next = true, waitForHuman
	default:
		p.next = claimStep
	}
}

// readToEnd reads the lock and the run, which is in the given state, to end the run.
func (w lockSetup) readToEnd(s *lockState, p *process, from uint8) {
	w.readLock(s, p)
	p.generation, p.next, p.from = true, endRun, from
}

// end ends a run by its own execution, and passes on the lock.
func (w lockSetup) end(s *lockState, n int, current bool) string {
	p := &s.processes[n]
	r := &s.runs[p.run]
	switch {
	case current && r.active() && !p.generation && p.from == runPending && w.lacks("state at an end"):
		w.readToEnd(s, p, runPending) // without the safeguard it ends the run in any state
		return ""
	case !current || !r.active() || !p.generation && !w.lacks("generation"), !p.lock && !w.lacks("version"),
		r.state != p.from && !w.lacks("state at an end"):
		p.next = readRun
		return ""
	case r.step == stepStarted:
		return "a run ends before its step"
	}
	state := runEnded
	switch {
	case r.step == stepSkipped && r.supersede, p.from == runPending:
		state = runSuperseded
	case r.step == stepSkipped: // a process that ended the run by force crashed after it had ended the step
		state = runFailed
	}
	if w.lacks("one transaction") {
		r.state, p.next = state, passOnLock
		return ""
	}
	if w.rollback && p.run == 0 && state == runEnded && s.waiting[0] == nobody {
		s.runs[2].state, s.waiting[0] = runQueued, 2
	}
	s.endAs(p.run, state)
	w.stop(s, n)
	if s.owner != nobody {
		*p = process{next: readForRestart, run: s.owner}
	}
	return ""
}

// endAs ends a run in one transaction: the lock goes to the next run in the queue, or
// the run leaves the queue.
func (s *lockState) endAs(i, state uint8) {
	s.runs[i].state = state
	s.dequeue(i)
	if s.owner == i {
		s.passOn()
	}
	s.lockChanged()
}

// stop ends process n, and the execution that it is of.
func (w lockSetup) stop(s *lockState, n int) {
	if p := s.processes[n]; n < requester && s.runs[p.run].epoch == p.epoch {
		s.runs[p.run].exec = execEnded
	}
	s.processes[n] = process{}
}

// readLock reads the lock.
func (w lockSetup) readLock(s *lockState, p *process) {
	if w.lacks("version") {
		p.saw = s.owner
	}
	p.lock = true
}

// passOn gives the lock to the head of the queue.
func (s *lockState) passOn() {
	s.owner = s.waiting[0]
	if s.owner != nobody {
		s.dequeue(s.owner)
	}
	s.lockChanged()
}

// dequeue removes a run from the queue.
func (s *lockState) dequeue(i uint8) {
	at := 0
	for _, j := range s.waiting {
		if j != i {
			s.waiting[at] = j
			at++
		}
	}
	for ; at < runs; at++ {
		s.waiting[at] = nobody
	}
}

// enqueue adds a run at the end of the queue.
func (s *lockState) enqueue(i uint8) {
	for at, j := range s.waiting {
		if j == nobody {
			s.waiting[at] = i
			return
		}
	}
}

// lockChanged records that the lock is no longer as any process read it.
func (s *lockState) lockChanged() {
	for n := range s.processes {
		s.processes[n].lock = false
	}
}

// raiseGeneration raises the generation of a run: a process that has read the run
// can no longer end it or mark it as waiting.
func (s *lockState) raiseGeneration(i uint8) {
	for n := range s.processes {
		if s.processes[n].run == i && s.processes[n].next != readForRestart {
			s.processes[n].generation = false
		}
	}
	s.runs[i].generation = s.runs[i].state == runWaiting
}
