package engine_test

// next tells what may happen.
func (w lockSetup) next(s lockState, tell func(int, move[lockState])) {
	for i := range s.procs {
		if s.procs[i].at != idle {
			w.step(s, i, tell)
		}
	}
	for i := range runs {
		w.world(s, uint8(i), tell)
	}
	if s.faults > 0 {
		w.mishap(s, tell)
	}
	if o := s.owner; s.unlocks > 0 && o != nobody {
		s.unlocks--
		s.procs[opener] = proc{at: w.gives(), run: o, epoch: s.runs[o].epoch}
		tell(fate, move[lockState]{what: "a person unlocks", to: s})
	}
}

// The actors that are no functions.
const (
	sweepOf  = procs + 1
	uploadOf = sweepOf + runs
	cloudy   = uploadOf + runs
	person   = cloudy + 1
)

// setup tells what happens around run i: it is requested, swept, worked at,
// answered.
func (w lockSetup) world(s lockState, i uint8, tell func(int, move[lockState])) {
	r := s.runs[i]
	if r.state == unasked && int(i) < w.queue {
		to := s
		to.runs[i].state = asked
		if w.askers {
			to.procs[asker+i] = proc{at: raise, run: i, saw: going}
		}
		tell(int(uploadOf+i), move[lockState]{what: "is asked for", to: to})
	}
	if r.live() && s.procs[sweep].at == idle && !w.lacks("sweep") {
		to := s
		to.procs[sweep] = proc{at: tend, run: i}
		if w.tend(&to, sweep); to != s {
			tell(int(sweepOf+i), move[lockState]{what: "reads it", to: to})
		}
	}
	if r.step == begun {
		to := s
		to.runs[i].step = settled
		tell(cloudy, move[lockState]{what: "finishes the step", to: to})
	}
	if w.person && i == 0 && !r.answered && (r.state == going || r.state == isWaiting) {
		to := s
		to.runs[i].answered = true
		to.tell(i)
		tell(person, move[lockState]{what: "answers", to: to})
	}
}

// fault tells what may go wrong: an execution fails, or calls its function
// again, while the function works on, or does not; a function that asks or
// sweeps dies.
func (w lockSetup) mishap(s lockState, tell func(int, move[lockState])) {
	s.faults--
	for i := range uint8(runs) {
		if p := s.procs[executor+i]; p.at != idle {
			to := s
			to.procs[executor+i] = proc{}
			if w.late {
				to.procs[lateProcess] = p
			}
			to.runs[i].exec = ended
			tell(fate, move[lockState]{what: "the execution fails: run " + names[i], to: to})
			if s.runs[i].exec == running && w.late {
				to.runs[i].exec = running
				to.procs[executor+i] = proc{at: readRun, run: i, epoch: s.runs[i].epoch}
				tell(fate, move[lockState]{what: "a function is called again while the first works on: run " + names[i], to: to})
			}
		}
		if s.procs[asker+i].at != idle {
			to := s
			to.procs[asker+i] = proc{}
			tell(fate, move[lockState]{what: "whoever asked dies: run " + names[i], to: to})
		}
	}
	for _, n := range []int{sweep, opener} {
		if to := s; s.procs[n].at != idle {
			to.procs[n] = proc{}
			tell(fate, move[lockState]{what: []string{"the sweep dies", "the unlocker dies"}[n-sweep], to: to})
		}
	}
}

// names are the runs'.
var names = [...]string{"0", "1", "2", "nobody"}

// normalize removes state that makes no difference any more: what was known of a run
// that is over, what was read and is not needed, and a late process whose every write is
// refused.
func (w lockSetup) normalize(s *lockState) {
	for i := range s.runs {
		if r := &s.runs[i]; r.state >= over {
			*r = lockRun{state: r.state, epoch: r.epoch, exec: ended, step: r.step}
		}
	}
	for n := range s.procs {
		switch p := &s.procs[n]; p.at {
		case readRun, commit, look, claim, skip: // none of which writes what depends on what was read before
			p.lock, p.generation, p.was = false, false, 0
		}
	}
	z := s.procs[lateProcess]
	r := s.runs[z.run]
	refused := r.epoch != z.epoch || r.state >= over && r.step != pending && !w.lacks("asked")
	if z.at < tend && z.at != free && refused {
		s.procs[lateProcess] = proc{}
	}
}
