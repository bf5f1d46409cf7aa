package engine_test

import "slices"

// step tells what the function n does next.
func (w lockSetup) step(s lockState, n int, tell func(int, move[lockState])) {
	p := s.procs[n]
	who := n + 1
	if n == lateProcess {
		who = fate // it may work on, and need not
	}
	to, why := s, ""
	if p.at < tend {
		why = w.epoch(&to, n)
	} else {
		why = w.tend(&to, n)
	}
	if to == s && why == "" && n < asker && p.at == look {
		return // it waits
	}
	what := said[p.at]
	if p.at >= tend {
		what += " (of run " + names[p.run] + ")"
	}
	if n == lateProcess {
		what = "zombie of run " + names[p.run] + " " + what
	}
	tell(who, move[lockState]{what: what, to: to, wrong: why})
}

// execution is a step of the routine of an execution. It says what it breaks.
func (w lockSetup) epoch(s *lockState, n int) string {
	p := &s.procs[n]
	i, r := p.run, &s.runs[p.run]
	mine := r.epoch == p.epoch
	switch p.at {
	case readRun:
		switch {
		case r.epoch != p.epoch:
			w.done(s, n)
		case r.state == asked && r.supersede:
			w.leaves(s, p, asked)
		case r.state == asked:
			p.generation = true
			if p.at = readLock; !w.lacks("asked") && !w.lacks("state at an end") {
				w.read(s, p)
				p.at = enter
			}
		case r.state == going:
			p.at = look
		default:
			w.done(s, n)
		}
	case readLock:
		w.read(s, p)
		p.at = enter
	case enter:
		return w.enter(s, n, mine)
	case commit:
		if !mine || r.state != asked {
			p.at = readRun
			return ""
		}
		return w.commit(s, n)
	case look:
		w.look(s, n)
	case claim:
		p.at = look
		if !mine || r.step != pending {
			return ""
		}
		if s.owner != i {
			return "a run begins something and does not own the lock"
		}
		r.step = begun
	case skip:
		p.at = look
		if mine && r.step == pending {
			r.step = skipped
		}
	case waitForPerson:
		p.at = look
		if mine && r.live() && (p.generation || w.lacks("news")) {
			r.state, r.generation = isWaiting, false
			w.done(s, n)
		}
	case end:
		return w.finish(s, n, mine)
	case free:
		s.handOver()
		w.done(s, n)
	}
	return ""
}

// commit writes the plan.
func (w lockSetup) commit(s *lockState, n int) string {
	p := &s.procs[n]
	s.runs[p.run].state, p.at = going, look
	if w.uploads(p.run) {
		if s.planned > p.run+1 {
			return "an older upload is planned after a newer one"
		}
		s.planned = p.run + 1
	}
	return ""
}

// enter makes a run the owner, or lets it wait, or ends it because a newer
// upload was seen.
func (w lockSetup) enter(s *lockState, n int, mine bool) string {
	p := &s.procs[n]
	i, r := p.run, &s.runs[p.run]
	upload := w.uploads(i)
	switch {
	case upload && p.lock && s.newest > i+1: // which needs no more than the lock as it was read
		p.at, p.was = end, asked
		return ""
	case !mine || r.state != asked && !w.lacks("asked"):
		p.at = readRun
		return ""
	case !p.lock && !w.lacks("version"):
		p.at = readRun
		return ""
	case !r.live():
		return "a run enters that is over"
	}
	if w.lacks("version") {
		s.owner = p.saw
	}
	defer s.changed()
	if upload {
		s.newest = max(s.newest, i+1)
	}
	if s.owner == nobody || s.owner == i {
		s.owner, p.at = i, commit
		return ""
	}
	if upload {
		s.supersede(i)
	}
	r.state = queued
	if !slices.Contains(s.waiting[:], i) {
		s.wait(i)
	}
	if o := s.owner; upload && o < i {
		s.runs[o].supersede = true
		s.tell(o)
		w.done(s, n)
		s.runs[i].exec = running
		*p = proc{at: tend, run: o}
		return ""
	}
	w.done(s, n)
	return ""
}

// supersede ends those that wait and make way for an upload.
func (s *lockState) supersede(by uint8) {
	for _, j := range s.waiting {
		if j < by {
			s.end(j, superseded)
		}
	}
}

// poll says what an execution does next.
func (w lockSetup) look(s *lockState, n int) {
	p := &s.procs[n]
	r := s.runs[p.run]
	switch {
	case r.epoch != p.epoch || r.state != going:
		w.done(s, n)
	case r.step == begun:
	case r.step >= settled:
		w.leaves(s, p, going)
	case r.supersede:
		p.at = skip
	case w.person && p.run == 0 && !r.answered:
		p.generation, p.at = true, waitForPerson
	default:
		p.at = claim
	}
}

// leaves reads the lock to end a run, which is in the given state.
func (w lockSetup) leaves(s *lockState, p *proc, was uint8) {
	w.read(s, p)
	p.generation, p.at, p.was = true, end, was
}

// finish ends a run by its own executor, and hands the lock on.
func (w lockSetup) finish(s *lockState, n int, mine bool) string {
	p := &s.procs[n]
	r := &s.runs[p.run]
	switch {
	case mine && r.live() && !p.generation && p.was == asked && w.lacks("state at an end"):
		w.leaves(s, p, asked) // whatever has become of it meanwhile
		return ""
	case !mine || !r.live() || !p.generation && !w.lacks("news"), !p.lock && !w.lacks("version"),
		r.state != p.was && !w.lacks("state at an end"):
		p.at = readRun
		return ""
	case r.step == begun:
		return "a run ends before its step"
	}
	how := over
	switch {
	case r.step == skipped && r.supersede, p.was == asked:
		how = superseded
	case r.step == skipped: // anyone who gave it up died there
		how = broken
	}
	if w.lacks("one transaction") {
		r.state, p.at = how, free
		return ""
	}
	if w.rollback && p.run == 0 && how == over && s.waiting[0] == nobody {
		s.runs[2].state, s.waiting[0] = queued, 2
	}
	s.end(p.run, how)
	w.done(s, n)
	if s.owner != nobody {
		*p = proc{at: tend, run: s.owner}
	}
	return ""
}

// end makes a run be over. Its place goes to the next, or its place is empty.
func (s *lockState) end(i, how uint8) {
	s.runs[i].state = how
	s.leave(i)
	if s.owner == i {
		s.handOver()
	}
	s.changed()
}

// done ends the execution's function, and the execution.
func (w lockSetup) done(s *lockState, n int) {
	if p := s.procs[n]; n < asker && s.runs[p.run].epoch == p.epoch {
		s.runs[p.run].exec = ended
	}
	s.procs[n] = proc{}
}

// read reads the lock.
func (w lockSetup) read(s *lockState, p *proc) {
	if w.lacks("version") {
		p.saw = s.owner
	}
	p.lock = true
}

// handOver gives the lock to the head of the queue.
func (s *lockState) handOver() {
	s.owner = s.waiting[0]
	if s.owner != nobody {
		s.leave(s.owner)
	}
	s.changed()
}

// leave takes a run out of the queue.
func (s *lockState) leave(i uint8) {
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

// wait puts a run at the end of the queue.
func (s *lockState) wait(i uint8) {
	for at, j := range s.waiting {
		if j == nobody {
			s.waiting[at] = i
			return
		}
	}
}

// changed makes what anybody read of the lock old.
func (s *lockState) changed() {
	for n := range s.procs {
		s.procs[n].lock = false
	}
}

// tell raises a run's generation.
func (s *lockState) tell(i uint8) {
	for n := range s.procs {
		if s.procs[n].run == i && s.procs[n].at != tend {
			s.procs[n].generation = false
		}
	}
	s.runs[i].generation = s.runs[i].state == isWaiting
}
