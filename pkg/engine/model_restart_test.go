package engine_test

// tend is a step of a function that restarts a run.
func (w lockSetup) tend(s *lockState, n int) string {
	p := &s.procs[n]
	r := &s.runs[p.run]
	switch p.at {
	case tend:
		p.epoch, p.saw = r.epoch, class(r.state)
		p.at = tends(r, s.owner == p.run)
	case tendExec:
		w.execution(s, n)
	case seeAgain:
		p.at = raise
		if r.epoch != p.epoch || class(r.state) != p.saw {
			p.at = idle
		}
	case raise:
		p.at = idle
		if r.epoch == p.epoch && r.live() {
			if class(r.state) != p.saw && !w.late {
				return "a run is started that nothing calls for"
			}
			w.raise(s, n)
		}
	case launch:
		p.at = idle
		if r.epoch == p.epoch && r.exec == unstarted && s.procs[executor+p.run].at == idle {
			r.exec = running
			s.procs[executor+p.run] = proc{at: readRun, run: p.run, epoch: r.epoch}
		}
	case giveUp, strike, giveEnd:
		return w.giveUp(s, n)
	}
	if p.at == idle {
		w.doneTending(s, n)
	}
	return ""
}

// class is what raising an epoch depends on of a run's state.
func class(state uint8) uint8 {
	if state == asked {
		return going
	}
	return state
}

// tends says what is to be done for a run, as it is read.
func tends(r *lockRun, owns bool) uint8 {
	switch {
	case !r.live():
		return idle
	case r.state == isWaiting && r.generation, r.state == queued && owns, r.epoch == 0:
		return raise
	case r.state == isWaiting, r.state == queued:
		return idle
	}
	return tendExec
}

// execution sees whether the execution of the epoch that was read goes on.
// Only the sweep replaces one that is over.
func (w lockSetup) execution(s *lockState, n int) {
	p := &s.procs[n]
	r := &s.runs[p.run]
	p.at = idle
	switch {
	case r.epoch == p.epoch && r.exec == unstarted:
		p.at = launch
	case r.epoch == p.epoch && r.exec == running || n != sweep:
	case r.revived >= w.limit:
		p.at = w.gives()
	case w.lacks("look again"):
		p.at = raise
	default:
		p.at = seeAgain
	}
}

// raise makes the next execution.
func (w lockSetup) raise(s *lockState, n int) {
	p := &s.procs[n]
	r := &s.runs[p.run]
	if r.exec == ended && class(r.state) == going {
		r.revived++
	}
	r.epoch++
	r.exec, r.generation = unstarted, false
	if r.state == queued {
		r.state = asked
	} else if r.state == isWaiting {
		r.state = going
	}
	if d := &s.procs[executor+p.run]; d.at != idle && executor+int(p.run) != n {
		s.procs[lateProcess], *d = *d, proc{}
	}
	p.at, p.epoch = launch, r.epoch
}

// gives is how to begin to give up a run: its executor is fenced off first.
func (w lockSetup) gives() uint8 {
	if w.lacks("epoch at an end") {
		return strike
	}
	return giveUp
}

// giveUp ends a run out of the hands of its executor, in three steps, and polls
// after the next. An execution of the epoch that it raises may be started
// meanwhile, by anyone who believes that it was forgotten.
func (w lockSetup) giveUp(s *lockState, n int) string {
	p := &s.procs[n]
	r := &s.runs[p.run]
	switch {
	case r.epoch != p.epoch || !r.live():
		w.doneTending(s, n)
	case p.at == giveUp:
		w.raise(s, n)
		p.at = strike
	case p.at == strike:
		if r.state == going && r.step < settled {
			r.step = skipped
		}
		w.leaves(s, p, r.state)
		p.at = giveEnd
	case !p.lock && !w.lacks("version"), !p.generation, r.state != p.was && !w.lacks("state at an end"):
		p.at = strike
	case r.step == begun:
		return "a run is given up, and not its step"
	default:
		s.end(p.run, broken)
		next := s.owner
		w.doneTending(s, n)
		if next != nobody {
			s.procs[n] = proc{at: tend, run: next}
		}
	}
	return ""
}

// doneTending ends a function that restarted a run. An executor that did so has
// nothing left to do.
func (w lockSetup) doneTending(s *lockState, n int) {
	s.procs[n] = proc{}
	if n < asker && s.runs[n].exec == running {
		s.runs[n].exec = ended
	}
}
