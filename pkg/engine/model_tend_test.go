package engine_test

// tend is a step of whoever looks after a run.
func (w lockWorld) tend(s *lockState, n int) string {
	p := &s.procs[n]
	r := &s.runs[p.run]
	switch p.at {
	case tend:
		p.drive, p.saw = r.drive, class(r.state)
		p.at = tends(r, s.owner == p.run)
	case tendExec:
		w.execution(s, n)
	case raise:
		p.at = idle
		switch same := class(r.state) == p.saw; {
		case r.drive != p.drive || !r.live():
		case same:
			w.raise(s, n)
		case w.lacks("state at a raise"):
			return "a run is started that nothing calls for"
		}
	case launch:
		p.at = idle
		if r.drive == p.drive && r.exec == unstarted && s.procs[driver+p.run].at == idle {
			r.exec = running
			s.procs[driver+p.run] = proc{at: readRun, run: p.run, drive: r.drive}
		}
	case giveUp:
		return w.giveUp(s, n)
	}
	if p.at == idle {
		w.doneTending(s, n)
	}
	return ""
}

// class is what raising a drive depends on of a run's state.
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
	case r.state == parked && r.news, r.state == queued && owns, r.drive == 0:
		return raise
	case r.state == parked, r.state == queued:
		return idle
	}
	return tendExec
}

// execution sees whether the execution of the drive that was read goes on.
// Only the sweep makes good for one that is over.
func (w lockWorld) execution(s *lockState, n int) {
	p := &s.procs[n]
	r := &s.runs[p.run]
	p.at = idle
	switch {
	case r.drive == p.drive && r.exec == unstarted:
		p.at = launch
	case r.drive == p.drive && r.exec == running || n != sweep:
	case r.revived >= w.limit:
		w.read(s, p)
		p.at = giveUp
	default:
		p.at = raise
	}
}

// raise makes the next drive.
func (w lockWorld) raise(s *lockState, n int) {
	p := &s.procs[n]
	r := &s.runs[p.run]
	if r.exec == ended && class(r.state) == going {
		r.revived++
	}
	r.drive++
	r.exec, r.news = unstarted, false
	if r.state == queued {
		r.state = asked
	} else if r.state == parked {
		r.state = going
	}
	if d := &s.procs[driver+p.run]; d.at != idle && driver+int(p.run) != n {
		s.procs[zombie], *d = *d, proc{}
	}
	p.at, p.drive = launch, r.drive
}

// giveUp ends a run that was revived too often, and looks after the next.
func (w lockWorld) giveUp(s *lockState, n int) string {
	p := &s.procs[n]
	r := s.runs[p.run]
	switch {
	case r.drive != p.drive || class(r.state) != going:
		w.doneTending(s, n)
		return ""
	case !p.lock && !w.lacks("version"):
		w.read(s, p)
		return ""
	}
	w.end(s, p.run, broken, true)
	if s.owner == nobody {
		w.doneTending(s, n)
		return ""
	}
	*p = proc{at: tend, run: s.owner}
	return ""
}

// doneTending ends a function that looked after a run. A driver that did so has
// nothing left to do.
func (w lockWorld) doneTending(s *lockState, n int) {
	s.procs[n] = proc{}
	if n < asker && s.runs[n].exec == running {
		s.runs[n].exec = ended
	}
}
