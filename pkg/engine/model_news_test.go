package engine_test

// The model of wishes: one run that pauses unless it is told to go on, an
// execution that may die, people who wish, each perhaps heard twice, and the
// sweep.

// What may be wished.
const (
	goOn = uint8(iota)
	pause
	cancel
)

// A wisher carries a wish out: it writes it, and sees to it that somebody looks.
type wisher struct {
	at, epoch, saw uint8
	wish           uint8
	heard          uint8 // how often
}

// A newsState is a state of this world.
type newsState struct {
	lockRun
	wish, last uint8 // as written; and as it ought to be
	driver     struct {
		at, epoch uint8
		news      bool // it knows of all of it
	}
	wishers [2]wisher
	sweep   wisher
	mishaps uint8
}

// A newsWorld says what may happen, and which safeguard is missing.
type newsWorld struct {
	wishes  [2]uint8
	mishaps uint8
	without string
}

// lacks reports whether a safeguard is missing.
func (w newsWorld) lacks(safeguard string) bool { return w.without == safeguard }

// newsModel is the model of this world.
func newsModel(w newsWorld) model[newsState] {
	s := newsState{lockRun: lockRun{state: going, epoch: 1}, wish: pause, last: pause, mishaps: w.mishaps}
	for i, wish := range w.wishes {
		s.wishers[i].wish = wish
	}
	return model[newsState]{
		start: s,
		names: []string{"mishap:", "the execution", "one who wishes", "another who wishes", "sweep"},
		next:  func(s newsState, tell func(int, move[newsState])) { w.next(s, tell) },
		good:  newsState.good,
		wrong: func(s newsState) string {
			if s.last == cancel && s.state == over && s.step == settled && s.wish != cancel {
				return "a cancelled run goes on"
			}
			return ""
		},
	}
}

// good says that all wishes were made, and the last is obeyed.
func (s newsState) good() bool {
	for _, w := range s.wishers {
		if w.heard == 0 || w.at != idle {
			return false
		}
	}
	return s.state == over || s.last == pause && s.state == parked && !s.lockRun.news
}

// next tells what may happen.
func (w newsWorld) next(s newsState, tell func(int, move[newsState])) {
	if to := s; s.driver.at != idle {
		w.epoch(&to)
		tell(1, move[newsState]{what: said[s.driver.at], to: to})
	}
	for i, p := range s.wishers {
		if to := s; p.heard == 0 {
			w.write(&to, i)
			tell(2+i, move[newsState]{what: "writes a wish", to: to})
		} else if p.at != idle {
			why := w.tend(&to, &to.wishers[i], false)
			tell(2+i, move[newsState]{what: said[p.at], to: to, wrong: why})
		}
	}
	if to := s; s.sweep.at != idle {
		why := w.tend(&to, &to.sweep, true)
		tell(4, move[newsState]{what: said[s.sweep.at], to: to, wrong: why})
	} else if s.live() && !w.lacks("sweep") {
		to.sweep.at = tend
		if w.tend(&to, &to.sweep, true); to != s {
			tell(4, move[newsState]{what: "reads the run", to: to})
		}
	}
	if s.mishaps > 0 {
		w.mishap(s, tell)
	}
}

// mishap tells what may go wrong.
func (w newsWorld) mishap(s newsState, tell func(int, move[newsState])) {
	s.mishaps--
	if to := s; s.driver.at != idle {
		to.driver.at, to.driver.epoch, to.driver.news, to.exec = idle, 0, false, ended
		tell(fate, move[newsState]{what: "the execution fails", to: to})
	}
	for i, p := range s.wishers {
		if to := s; p.at != idle {
			to.wishers[i] = wisher{wish: p.wish, heard: p.heard}
			tell(fate, move[newsState]{what: "whoever wishes dies", to: to})
		} else if p.heard == 1 {
			w.write(&to, i)
			tell(fate, move[newsState]{what: "a wish is heard again", to: to})
		}
	}
	if s.sweep.at != idle {
		s.sweep = wisher{}
		tell(fate, move[newsState]{what: "the sweep dies", to: s})
	}
}

// write writes a wish, with its news, in one transaction. One that was written
// before is only passed on.
func (w newsWorld) write(s *newsState, i int) {
	p := &s.wishers[i]
	p.heard++
	if !s.live() {
		return
	}
	if p.heard == 1 && s.last != cancel {
		s.last = p.wish
	}
	if p.heard == 1 || w.lacks("once") {
		if s.wish != cancel || w.lacks("lasting wish") {
			s.wish = p.wish
		}
		s.driver.news = false
		s.lockRun.news = s.state == parked
	}
	p.at = tend
}

// drive is a step of the execution's routine.
func (w newsWorld) epoch(s *newsState) {
	d := &s.driver
	mine := d.epoch == s.lockRun.epoch
	at := d.at
	d.at = look
	switch {
	case at == look && (!mine || s.state != going):
		w.leave(s)
	case at == look:
		d.news = true
		d.at = w.decide(*s)
	case at == claim && mine && s.step == pending:
		s.step = settled
	case at == skip && mine && s.step == pending:
		s.step = skipped
	case (at == park || at == end) && mine && (d.news || w.lacks("news")):
		s.state, s.lockRun.news = parked, false
		if at == end {
			s.state = over
		}
		w.leave(s)
	}
}

// decide is what a look finds to do.
func (w newsWorld) decide(s newsState) uint8 {
	switch {
	case s.step != pending:
		return end
	case s.wish == goOn:
		return claim
	case s.wish == cancel:
		return skip
	}
	return park
}

// leave ends the execution.
func (w newsWorld) leave(s *newsState) {
	if s.driver.epoch == s.lockRun.epoch {
		s.exec = ended
	}
	s.driver.at, s.driver.epoch, s.driver.news = idle, 0, false
}

// tend is a step of whoever sees to it that the run is driven.
func (w newsWorld) tend(s *newsState, p *wisher, sweeps bool) string {
	at, r := p.at, &s.lockRun
	p.at = idle
	switch at {
	case tend:
		if p.at = tends(r, false); p.at != idle {
			p.epoch, p.saw = r.epoch, r.state
		}
	case tendExec:
		switch {
		case r.epoch != p.epoch || r.exec == running:
		case r.exec == unstarted:
			p.at = launch
		case sweeps:
			p.at = raise
		}
	case raise:
		if r.epoch == p.epoch && r.live() && r.state == p.saw {
			r.epoch++
			r.state, r.exec, r.news = going, unstarted, false
			p.at, p.epoch = launch, r.epoch
		} else if w.lacks("epoch at raise") && r.live() {
			p.at = launch
		}
	case launch:
		return w.launch(s, p)
	}
	if p.at == idle {
		p.epoch, p.saw = 0, 0
	}
	return ""
}

// launch starts an execution, if none of its name was ever started.
func (w newsWorld) launch(s *newsState, p *wisher) string {
	epoch := p.epoch
	p.epoch, p.saw = 0, 0
	switch {
	case s.lockRun.epoch != epoch || !s.live():
	case s.exec == unstarted:
		s.exec = running
		s.driver.at, s.driver.epoch, s.driver.news = look, epoch, false
	case w.lacks("name"):
		return "two executions epoch under one number"
	}
	return ""
}
