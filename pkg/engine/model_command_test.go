package engine_test

// The model of commands and answers: one run of one step, users who give it
// commands and answer its step, and the sweep. A command or an answer may arrive
// twice, its function may crash, the execution may fail, and a poll of it may go
// on late.

// What users may do.
const (
	goOn = uint8(iota)
	pause
	cancel
	approve
	decline
)

// none is no answer.
const none = uint8(0)

// A user is the function that carries out what a user does: it writes it, and sees
// to it that an execution has the run.
type user struct {
	at, epoch, saw uint8
	does           uint8
	arrived        uint8 // how often
}

// answers reports whether the user answers the step, instead of giving a command.
func (u user) answers() bool { return u.does >= approve }

// A poller is a poll, with the function of a step that it starts.
type poller struct {
	at, epoch uint8
	current   bool // the generation is the one that it read
}

// A commandState is a state of this setup.
type commandState struct {
	lockRun
	command, last uint8 // as written, and as the users mean it
	answer, first uint8 // as written, and as the first user gave it
	poll, late    poller
	users         [2]user
	sweep         user
	faults        uint8
}

// A commandWorld says what may happen, and which safeguard is missing.
type commandSetup struct {
	users   [2]uint8 // what they do
	asks    bool     // the step waits for an answer before it ends, and the run is not paused
	late    bool     // a poll of a failed execution may go on
	faults  uint8
	without string
}

// lacks reports whether a safeguard is missing.
func (w commandSetup) lacks(safeguard string) bool { return w.without == safeguard }

// commandModel is the model of this setup.
func commandModel(w commandSetup) model[commandState] {
	s := commandState{lockRun: lockRun{state: going, epoch: 1}, command: pause, last: pause, faults: w.faults}
	if w.asks {
		s.command, s.last = goOn, goOn
	}
	for i, does := range w.users {
		s.users[i].does = does
	}
	return model[commandState]{
		start: s,
		names: []string{"fault:", "the execution", "a user", "another user", "the sweep"},
		next:  func(s commandState, tell func(int, move[commandState])) { w.next(s, tell) },
		good:  commandState.good,
		wrong: w.wrong,
	}
}

// wrong says which invariant does not hold.
func (w commandSetup) wrong(s commandState) string {
	switch {
	case s.last == cancel && s.state == over && s.step == settled && s.command != cancel:
		return "a cancelled run goes on"
	case s.answer != s.first:
		return "an answer is replaced by another"
	case s.answer != none && s.step == skipped:
		return "a step is skipped that a user has answered"
	case w.asks && s.answer == none && s.step == settled:
		return "a step ends that no user has answered"
	}
	return ""
}

// good says that all commands and answers were carried out, and the last command
// is obeyed.
func (s commandState) good() bool {
	for _, u := range s.users {
		if u.at != idle || u.arrived == 0 && !s.early(u) {
			return false
		}
	}
	return s.state == over || s.last == pause && s.step == pending && s.state == isWaiting && !s.lockRun.generation
}

// early reports whether a user cannot answer yet, because the step does not ask.
func (s commandState) early(u user) bool {
	return u.answers() && s.live() && s.step == pending && s.command != cancel
}

// next tells what may happen.
func (w commandSetup) next(s commandState, tell func(int, move[commandState])) {
	if to := s; s.poll.at != idle {
		w.polls(&to, &to.poll)
		tell(1, move[commandState]{what: said[s.poll.at], to: to})
	}
	if to := s; s.late.at != idle {
		w.polls(&to, &to.late)
		tell(fate, move[commandState]{what: "a late poll " + said[s.late.at], to: to})
	}
	for i, u := range s.users {
		if to := s; u.arrived == 0 && !s.early(u) {
			w.write(&to, i)
			tell(2+i, move[commandState]{what: "writes a command or an answer", to: to})
		} else if u.at != idle {
			why := w.tend(&to, &to.users[i], false)
			tell(2+i, move[commandState]{what: said[u.at], to: to, wrong: why})
		}
	}
	if to := s; s.sweep.at != idle {
		why := w.tend(&to, &to.sweep, true)
		tell(4, move[commandState]{what: said[s.sweep.at], to: to, wrong: why})
	} else if s.live() && !w.lacks("sweep") {
		to.sweep.at = tend
		if w.tend(&to, &to.sweep, true); to != s {
			tell(4, move[commandState]{what: "reads the run", to: to})
		}
	}
	if s.faults > 0 {
		w.fault(s, tell)
	}
}

// fault tells what may go wrong.
func (w commandSetup) fault(s commandState, tell func(int, move[commandState])) {
	s.faults--
	if to := s; s.poll.at != idle {
		to.poll, to.exec = poller{}, ended
		tell(fate, move[commandState]{what: "the execution fails", to: to})
		if w.late && s.late.at == idle {
			to.late = s.poll
			tell(fate, move[commandState]{what: "the execution fails, and its poll goes on", to: to})
		}
	}
	for i, u := range s.users {
		if to := s; u.at != idle {
			to.users[i] = user{does: u.does, arrived: u.arrived}
			tell(fate, move[commandState]{what: "the function of a user crashes", to: to})
		} else if u.arrived == 1 {
			w.write(&to, i)
			tell(fate, move[commandState]{what: "what a user does arrives again", to: to})
		}
	}
	if s.sweep.at != idle {
		s.sweep = user{}
		tell(fate, move[commandState]{what: "the sweep crashes", to: s})
	}
}

// write writes what a user does, and raises the generation, in one transaction.
// What was written before is only passed on.
func (w commandSetup) write(s *commandState, i int) {
	u := &s.users[i]
	u.arrived++
	again := u.arrived > 1
	if !s.live() {
		return
	}
	if u.answers() {
		if !w.record(s, u, again) {
			return // the user is informed that it is refused
		}
	} else {
		w.give(s, u, again)
	}
	u.at = tend
}

// record writes an answer. It reports false if it is refused.
func (w commandSetup) record(s *commandState, u *user, again bool) bool {
	switch {
	case again:
		return s.answer == u.does
	case s.step != begun, s.command == cancel, s.answer != none && !w.lacks("one answer"):
		return false
	case s.first == none:
		s.first = u.does
	}
	s.answer = u.does
	s.raised()
	return true
}

// give writes a command.
func (w commandSetup) give(s *commandState, u *user, again bool) {
	if !again && s.last != cancel {
		s.last = u.does
	}
	if again && !w.lacks("once") {
		return
	}
	if s.command != cancel || w.lacks("cancel stays") {
		s.command = u.does
	}
	s.raised()
}

// raised raises the generation.
func (s *commandState) raised() {
	s.poll.current, s.late.current = false, false
	s.lockRun.generation = s.state == isWaiting
}

// polls is a step of a poll, or of a step's function.
func (w commandSetup) polls(s *commandState, p *poller) {
	mine := p.epoch == s.lockRun.epoch || w.lacks("fence")
	at := p.at
	p.at = look
	switch {
	case at == look && (p.epoch != s.lockRun.epoch || s.state != going):
		w.leave(s, p)
	case at == look:
		p.current = true
		p.at = w.decide(*s)
	case at == claim && mine && s.step == pending && s.command == goOn:
		if s.step = settled; w.asks {
			s.step = begun
		}
	case at == commit && mine && s.step == begun:
		s.step = settled
	case at == skip && mine && s.step <= begun:
		s.step = skipped
	case (at == waitForPerson || at == end) && mine && s.live() && (p.current || w.lacks("generation")):
		s.state, s.lockRun.generation = isWaiting, false
		if at == end {
			s.state = over
		}
		w.leave(s, p)
	}
}

// decide is what a poll finds to do.
func (w commandSetup) decide(s commandState) uint8 {
	switch {
	case s.step >= settled:
		return end
	case s.step == begun && s.answer != none:
		return commit
	case s.command == cancel:
		return skip
	case s.step == pending && s.command == goOn:
		return claim
	}
	return waitForPerson
}

// leave ends a poll, and the execution that it is of.
func (w commandSetup) leave(s *commandState, p *poller) {
	if p.epoch == s.lockRun.epoch {
		s.exec = ended
	}
	*p = poller{}
}

// tend is a step of a function that sees to it that an execution has the run.
func (w commandSetup) tend(s *commandState, u *user, sweeps bool) string {
	at, r := u.at, &s.lockRun
	u.at = idle
	switch at {
	case tend:
		if u.at = tends(r, false); u.at != idle {
			u.epoch, u.saw = r.epoch, r.state
		}
	case tendExec:
		switch {
		case r.epoch != u.epoch || r.exec == running:
		case r.exec == unstarted:
			u.at = launch
		case sweeps:
			u.at = raise
		}
	case raise:
		if r.epoch == u.epoch && r.live() && r.state == u.saw {
			r.epoch++
			r.state, r.exec, r.generation = going, unstarted, false
			u.at, u.epoch = launch, r.epoch
		}
	case launch:
		return w.launch(s, u)
	}
	if u.at == idle {
		u.epoch, u.saw = 0, 0
	}
	return ""
}

// launch starts an execution, if none of its name was ever started.
func (w commandSetup) launch(s *commandState, u *user) string {
	epoch := u.epoch
	u.epoch, u.saw = 0, 0
	switch {
	case s.lockRun.epoch != epoch || !s.live():
	case s.exec == unstarted:
		s.exec = running
		s.poll = poller{at: look, epoch: epoch}
	case w.lacks("name"):
		return "two executions have one epoch"
	}
	return ""
}
