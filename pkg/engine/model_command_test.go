package engine_test

// The model of commands and answers: one run of one step, which users pause,
// continue or cancel, or whose question they answer.
//
// Actors: the execution of the run, as a poll that also starts the step; two users,
// each as the function that writes a command or an answer and then ensures that an
// execution obeys it; and the sweep.
//
// Transitions: each reads or writes the store once, or calls Step Functions once. The
// environment lets the execution fail, crashes the function of a user or the sweep,
// delivers a command or an answer twice, and lets the poll of an execution that has
// failed continue late.
//
// Safety: a cancelled run does not continue; the first answer stays; an answered step
// is not skipped, and a step with a question does not finish without an answer; no
// epoch has two executions.
//
// Liveness: all commands and answers are carried out: the run ends, or it waits
// because the last command is to pause.

// What a user does.
const (
	giveContinue = uint8(iota)
	givePause
	giveCancel
	answerYes
	answerNo
)

// unansweredStep is the answer of a step that was not answered.
const unansweredStep = uint8(0)

// A user is the function that carries out what a user does; the sweep is one too,
// that gives and answers nothing.
type user struct {
	next, epoch, saw uint8 // what it does next, and the epoch and state that it read
	does             uint8
	deliveries       uint8 // how often what the user does was delivered
}

// answers reports whether the user answers the step, instead of giving a command.
func (u user) answers() bool { return u.does >= answerYes }

// A commandPoll is a poll, and the function of the step that it starts.
type commandPoll struct {
	next, epoch uint8
	generation  bool // the generation is as the poll read it
}

// A commandState is a state of the model.
type commandState struct {
	runItem
	command, lastCommand uint8 // the command that is stored, and the last one that was given
	answer, firstAnswer  uint8 // the answer that is stored, and the first one that was accepted
	poll, late           commandPoll
	users                [2]user
	sweep                user
	faults               uint8 // how many may still happen
}

// A commandSetup says what may happen in the model.
type commandSetup struct {
	users    [2]uint8 // what they do
	question bool     // the step has a question, and the run is not paused at first
	late     bool     // a poll of an execution that has failed may continue
	faults   uint8
	without  string // the safeguard that is missing
}

// lacks reports whether a safeguard is missing.
func (w commandSetup) lacks(safeguard string) bool { return w.without == safeguard }

// commandModel returns the model in a setup.
func commandModel(w commandSetup) model[commandState] {
	s := commandState{runItem: runItem{state: runRunning, epoch: 1}, command: givePause, lastCommand: givePause, faults: w.faults}
	if w.question {
		s.command, s.lastCommand = giveContinue, giveContinue
	}
	for i, does := range w.users {
		s.users[i].does = does
	}
	return model[commandState]{
		initial:     s,
		actors:      []string{"environment:", "the execution", "a user", "another user", "the sweep"},
		transitions: w.transitions,
		invariant:   w.violation,
		final:       commandState.final,
	}
}

// violation says which invariant s violates, if any.
func (w commandSetup) violation(s commandState) string {
	switch {
	case s.lastCommand == giveCancel && s.state == runEnded && s.step == stepFinished && s.command != giveCancel:
		return "a cancelled run continues"
	case s.answer != s.firstAnswer:
		return "an answer is replaced by another"
	case s.answer != unansweredStep && s.step == stepSkipped:
		return "a step is skipped that a user has answered"
	case w.question && s.answer == unansweredStep && s.step == stepFinished:
		return "a step finishes that no user has answered"
	}
	return ""
}

// final reports whether all commands and answers were carried out, and the last
// command is obeyed.
func (s commandState) final() bool {
	for _, u := range s.users {
		if u.next != idle || u.deliveries == 0 && !s.early(u) {
			return false
		}
	}
	return s.state == runEnded || s.lastCommand == givePause && s.step == stepPending && s.state == runWaiting && !s.runItem.generation
}

// early reports whether a user cannot answer yet, because the step has no question
// before it has started.
func (s commandState) early(u user) bool {
	return u.answers() && s.active() && s.step == stepPending && s.command != giveCancel
}

// transitions yields what can happen in s.
func (w commandSetup) transitions(s commandState, yield func(int, transition[commandState])) {
	if to := s; s.poll.next != idle {
		w.pollOnce(&to, &to.poll)
		yield(1, transition[commandState]{name: actionNames[s.poll.next], to: to})
	}
	if to := s; s.late.next != idle {
		w.pollOnce(&to, &to.late)
		yield(environment, transition[commandState]{name: "a late poll " + actionNames[s.late.next], to: to})
	}
	for i, u := range s.users {
		if to := s; u.deliveries == 0 && !s.early(u) {
			w.deliver(&to, i)
			yield(2+i, transition[commandState]{name: "writes a command or an answer", to: to})
		} else if u.next != idle {
			violates := w.ensureRunning(&to, &to.users[i], false)
			yield(2+i, transition[commandState]{name: actionNames[u.next], to: to, violates: violates})
		}
	}
	if to := s; s.sweep.next != idle {
		violates := w.ensureRunning(&to, &to.sweep, true)
		yield(4, transition[commandState]{name: actionNames[s.sweep.next], to: to, violates: violates})
	} else if s.active() && !w.lacks("sweep") {
		to.sweep.next = readForRestart
		if w.ensureRunning(&to, &to.sweep, true); to != s {
			yield(4, transition[commandState]{name: "reads the run", to: to})
		}
	}
	if s.faults > 0 {
		w.fault(s, yield)
	}
}

// fault yields what can go wrong.
func (w commandSetup) fault(s commandState, yield func(int, transition[commandState])) {
	s.faults--
	if to := s; s.poll.next != idle {
		to.poll, to.exec = commandPoll{}, execEnded
		yield(environment, transition[commandState]{name: "the execution fails", to: to})
		if w.late && s.late.next == idle {
			to.late = s.poll
			yield(environment, transition[commandState]{name: "the execution fails, and its poll continues", to: to})
		}
	}
	for i, u := range s.users {
		if to := s; u.next != idle {
			to.users[i] = user{does: u.does, deliveries: u.deliveries}
			yield(environment, transition[commandState]{name: "the function of a user crashes", to: to})
		} else if u.deliveries == 1 {
			w.deliver(&to, i)
			yield(environment, transition[commandState]{name: "a command or an answer is delivered again", to: to})
		}
	}
	if s.sweep.next != idle {
		s.sweep = user{}
		yield(environment, transition[commandState]{name: "the sweep crashes", to: s})
	}
}

// deliver writes what user i does and raises the generation, in one transaction. If
// it was written before, the function only ensures that an execution obeys it.
func (w commandSetup) deliver(s *commandState, i int) {
	u := &s.users[i]
	u.deliveries++
	again := u.deliveries > 1
	if !s.active() {
		return
	}
	if u.answers() {
		if !w.recordAnswer(s, u, again) {
			return // the user gets the refusal
		}
	} else {
		w.recordCommand(s, u, again)
	}
	u.next = readForRestart
}

// recordAnswer writes an answer. It reports false if the answer is refused.
func (w commandSetup) recordAnswer(s *commandState, u *user, again bool) bool {
	switch {
	case again:
		return s.answer == u.does
	case s.step != stepStarted, s.command == giveCancel, s.answer != unansweredStep && !w.lacks("one answer"):
		return false
	case s.firstAnswer == unansweredStep:
		s.firstAnswer = u.does
	}
	s.answer = u.does
	s.raiseGeneration()
	return true
}

// recordCommand writes a command. No command replaces a cancel.
func (w commandSetup) recordCommand(s *commandState, u *user, again bool) {
	if !again && s.lastCommand != giveCancel {
		s.lastCommand = u.does
	}
	if again && !w.lacks("once") {
		return
	}
	if s.command != giveCancel || w.lacks("cancel stays") {
		s.command = u.does
	}
	s.raiseGeneration()
}

// raiseGeneration raises the generation of the run: a poll that has read the run can
// no longer end it or mark it as waiting.
func (s *commandState) raiseGeneration() {
	s.poll.generation, s.late.generation = false, false
	s.runItem.generation = s.state == runWaiting
}

// pollOnce carries out the next action of a poll, or of the function of the step.
func (w commandSetup) pollOnce(s *commandState, p *commandPoll) {
	current := p.epoch == s.runItem.epoch
	action := p.next
	p.next = pollRun
	switch {
	case action == pollRun && (p.epoch != s.runItem.epoch || s.state != runRunning):
		w.stop(s, p)
	case action == pollRun:
		p.generation = true
		p.next = w.decide(*s)
	case action == claimStep && current && s.step == stepPending && s.command == giveContinue:
		if s.step = stepFinished; w.question {
			s.step = stepStarted
		}
	case action == finishStep && current && s.step == stepStarted:
		s.step = stepFinished
	case action == skipStep && current && s.step <= stepStarted:
		s.step = stepSkipped
	case (action == waitForHuman || action == endRun) && current && s.active() && (p.generation || w.lacks("generation")):
		s.state, s.runItem.generation = runWaiting, false
		if action == endRun {
			s.state = runEnded
		}
		w.stop(s, p)
	}
}

// decide returns what a poll does after it has read the run.
func (w commandSetup) decide(s commandState) uint8 {
	switch {
	case s.step >= stepFinished:
		return endRun
	case s.step == stepStarted && s.answer != unansweredStep:
		return finishStep
	case s.command == giveCancel:
		return skipStep
	case s.step == stepPending && s.command == giveContinue:
		return claimStep
	}
	return waitForHuman
}

// stop ends a poll, and its execution.
func (w commandSetup) stop(s *commandState, p *commandPoll) {
	if p.epoch == s.runItem.epoch {
		s.exec = execEnded
	}
	*p = commandPoll{}
}

// ensureRunning carries out the next action of a function that gives a run an
// execution if it needs one. Only the sweep replaces an execution that has ended. It
// says which invariant the action violates, if any.
func (w commandSetup) ensureRunning(s *commandState, u *user, sweep bool) string {
	action, r := u.next, &s.runItem
	u.next = idle
	switch action {
	case readForRestart:
		if u.next = firstToRestart(r, false); u.next != idle {
			u.epoch, u.saw = r.epoch, r.state
		}
	case readExecution:
		switch {
		case r.epoch != u.epoch || r.exec == execRunning:
		case r.exec == execAbsent:
			u.next = startExecution
		case sweep:
			u.next = raiseEpoch
		}
	case raiseEpoch:
		if r.epoch == u.epoch && r.active() && r.state == u.saw {
			r.epoch++
			r.state, r.exec, r.generation = runRunning, execAbsent, false
			u.next, u.epoch = startExecution, r.epoch
		}
	case startExecution:
		return w.start(s, u)
	}
	if u.next == idle {
		u.epoch, u.saw = 0, 0
	}
	return ""
}

// start starts the execution of an epoch, unless one with its name was started
// before. It says which invariant that violates, if any.
func (w commandSetup) start(s *commandState, u *user) string {
	epoch := u.epoch
	u.epoch, u.saw = 0, 0
	switch {
	case s.runItem.epoch != epoch || !s.active():
	case s.exec == execAbsent:
		s.exec = execRunning
		s.poll = commandPoll{next: pollRun, epoch: epoch}
	case w.lacks("name"):
		return "two executions have one epoch"
	}
	return ""
}
