package engine_test

import "slices"

// The model of waking: an execution waits with a token for the end of one operation,
// and CloudFormation's events wake it.
//
// Actors: the poll of the current wait; the late poll of an earlier wait; the event
// that CloudFormation sends when the operation ends, and its duplicate;
// CloudFormation, which ends the operation and shows that it has ended only later;
// and the clock, which ends short waits.
//
// Transitions: each reads or writes the store once, reads CloudFormation once, or
// answers one token. While a poll works, the function of an event only marks; the poll
// ends in a write on condition that no step was marked since it read the run. The
// environment ends waits by their timeout, lets polls crash, and lets the late poll
// continue.
//
// Safety: the step does not finish before its operation.
//
// Liveness: the execution ends without a timeout. Timeouts are faults here, so no
// wake-up depends on one.

// What a poll or the function of an event does next.
const (
	registerToken = uint8(iota + 1)
	loadRun       // is its step due?
	readStack     // has the operation ended?
	postponeStep
	recordEnd
	answerOwnToken
	endPoll // unless a step was marked since the run was loaded

	markStep      // as due
	readToken     // the token that is registered, and whether a poll works for it
	answerToken   // the token that was read
	eventFinished // nothing more
)

var wakeActions = [...]string{
	"", "registers its token", "loads the run", "reads the stack", "postpones the step", "records the end of the step", "answers its token", "ends",
	"marks the step", "reads the token", "answers that token", "",
}

// A wakePoll is a poll, and an eventProcess the function that an event calls. Waits
// are numbered, and the number of a wait is also its token.
type (
	wakePoll struct {
		next, wait uint8
		due        bool // the step is due, because the wait before has timed out
		sawMark    bool // the step was marked when the poll loaded it
		unread     bool // the step was marked since then
	}
	eventProcess struct{ next, token uint8 }
)

// A wakeState is a state of the model.
type wakeState struct {
	operationEnded bool
	shown          bool // CloudFormation shows that the operation has ended
	marked         bool // the step, by an event
	finished       bool // the step
	short          bool // the wait is short, because an event arrived before CloudFormation has shown the end
	token          uint8
	working        bool  // a poll works for that token
	wait           uint8 // of the execution; 0 after its end
	polls          [2]wakePoll
	events         [2]eventProcess
	timeouts       uint8 // how many may still happen
}

// A wakeSetup says what may happen in the model.
type wakeSetup struct {
	timeouts uint8
	without  string // the safeguard that is missing
}

// lacks reports whether a safeguard is missing.
func (w wakeSetup) lacks(safeguard string) bool { return w.without == safeguard }

// wakeModel returns the model in a setup.
func wakeModel(w wakeSetup) model[wakeState] {
	return model[wakeState]{
		initial: wakeState{wait: 1, polls: [2]wakePoll{{next: w.firstOfPoll(), wait: 1}}, timeouts: w.timeouts},
		actors:  []string{"environment:", "poll", "late poll", "event", "duplicate event", "CloudFormation", "clock"},
		transitions: func(s wakeState, yield func(int, transition[wakeState])) {
			w.transitions(s, func(actor int, t transition[wakeState]) {
				t.to.renumber()
				yield(actor, t)
			})
		},
		final: func(s wakeState) bool { return s.wait == 0 },
		invariant: func(s wakeState) string {
			if s.finished && !s.operationEnded {
				return "the step has finished before its operation"
			}
			return ""
		},
	}
}

// firstOfPoll returns the first action of a poll.
func (w wakeSetup) firstOfPoll() uint8 {
	if w.lacks("register first") {
		return loadRun
	}
	return registerToken
}

// transitions yields what can happen in s.
func (w wakeSetup) transitions(s wakeState, yield func(int, transition[wakeState])) {
	for i, p := range s.polls {
		if p.next != 0 {
			to := s
			w.poll(&to, i)
			actor := 1
			if i == 1 {
				actor = environment
			}
			yield(actor, transition[wakeState]{name: [...]string{"", "a late poll "}[i] + wakeActions[p.next], to: to})
		}
	}
	for i, e := range s.events {
		to := s
		if e.next == 0 && s.operationEnded {
			to.events[i].next = w.nextOfEvent(0)
			yield(3+i, transition[wakeState]{name: "arrives", to: to})
		} else if e.next != 0 && e.next != eventFinished {
			w.event(&to, i)
			yield(3+i, transition[wakeState]{name: wakeActions[e.next], to: to})
		}
	}
	if to := s; !s.operationEnded {
		to.operationEnded = true
		yield(5, transition[wakeState]{name: "ends the operation", to: to})
	} else if !s.shown {
		to.shown = true
		yield(5, transition[wakeState]{name: "shows that the operation has ended", to: to})
	}
	if to := s; s.short && s.wait != 0 && s.polls[0].next == 0 {
		w.waitAgain(&to, true)
		yield(6, transition[wakeState]{name: "ends a short wait", to: to})
	}
	if to := s; s.timeouts > 0 && s.wait != 0 {
		to.timeouts--
		w.waitAgain(&to, true)
		yield(environment, transition[wakeState]{name: "the wait times out", to: to})
	}
	if to := s; s.timeouts > 0 && s.polls[0].next != 0 { // Step Functions calls the function again
		to.timeouts--
		to.polls[0] = wakePoll{next: w.firstOfPoll(), wait: s.wait, due: s.polls[0].due}
		yield(environment, transition[wakeState]{name: "the poll crashes", to: to})
	}
}

// waitAgain starts the next wait, with its own poll. A poll that has not finished
// becomes the late poll.
func (w wakeSetup) waitAgain(s *wakeState, due bool) {
	if s.polls[0].next != 0 {
		s.polls[1] = s.polls[0]
	}
	s.wait++
	s.short = false
	s.polls[0] = wakePoll{next: w.firstOfPoll(), wait: s.wait, due: due}
}

// answer answers a token: the execution that waits with it continues, and ends if its
// step has finished.
func (w wakeSetup) answer(s *wakeState, token uint8) {
	switch {
	case token != s.wait || token == 0: // Step Functions ignores the answer to another token
	case s.finished:
		s.wait, s.polls = 0, [2]wakePoll{}
	default:
		w.waitAgain(s, false)
	}
}

// poll carries out the next action of poll i.
func (w wakeSetup) poll(s *wakeState, i int) {
	p := &s.polls[i]
	switch p.next {
	case registerToken:
		p.next = loadRun
		if p.wait < s.token && !w.lacks("newest wait") {
			*p = wakePoll{} // the token of a later wait is registered
			return
		}
		s.token, s.working = p.wait, !w.lacks("register first")
		if w.lacks("register first") {
			*p = wakePoll{}
		}
	case loadRun:
		p.sawMark, p.unread = s.marked, false
		switch {
		case p.wait < s.token && !w.lacks("newest wait"): // the next wait has its own poll
			*p = wakePoll{}
		case s.finished:
			p.next = answerOwnToken
		case s.marked || p.due:
			p.next = readStack
		default:
			w.keepWaiting(p)
		}
	case readStack:
		p.next = postponeStep
		if s.shown {
			p.next = recordEnd
		}
	case postponeStep:
		if !p.sawMark && s.marked && w.lacks("leave new marks") {
			s.marked = false
		}
		if s.short = s.short || p.sawMark && p.wait == s.wait; p.sawMark {
			s.marked = true
		}
		w.keepWaiting(p)
	case recordEnd:
		s.finished, p.next = true, answerOwnToken
	case endPoll:
		switch {
		case p.wait < s.token && !w.lacks("newest wait"):
			*p = wakePoll{}
		case p.unread && !w.lacks("read again"):
			p.next = loadRun
		default:
			s.working = s.working && w.lacks("end of a poll")
			*p = wakePoll{}
		}
	case answerOwnToken:
		token := p.wait
		*p = wakePoll{}
		w.answer(s, token)
	}
}

// keepWaiting ends a poll without an answer to its token.
func (w wakeSetup) keepWaiting(p *wakePoll) {
	if w.lacks("register first") {
		p.next = registerToken
		return
	}
	p.next = endPoll
}

// nextOfEvent returns what the function of an event does after an action.
func (w wakeSetup) nextOfEvent(action uint8) uint8 {
	order := []uint8{0, markStep, readToken, answerToken, eventFinished}
	if w.lacks("mark first") {
		order = []uint8{0, readToken, markStep, answerToken, eventFinished}
	}
	for i := range order {
		if order[i] == action {
			return order[i+1]
		}
	}
	return eventFinished
}

// event carries out the next action of the function that event i calls.
func (w wakeSetup) event(s *wakeState, i int) {
	e := &s.events[i]
	switch e.next {
	case markStep:
		s.marked = s.marked || !s.finished
		s.polls[0].unread, s.polls[1].unread = true, true
	case readToken:
		if e.token = s.token; s.working {
			e.token = 0
		}
	case answerToken:
		token := e.token
		*e = eventProcess{next: eventFinished}
		w.answer(s, token)
		return
	}
	e.next = w.nextOfEvent(e.next)
}

// renumber numbers anew the waits that s still refers to, in their order, so that the
// number of states is finite.
func (s *wakeState) renumber() {
	known := []*uint8{&s.wait, &s.token, &s.polls[0].wait, &s.polls[1].wait, &s.events[0].token, &s.events[1].token}
	var numbers []uint8
	for _, n := range known {
		numbers = append(numbers, *n)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(append([]uint8{0}, numbers...))
	for _, n := range known {
		*n = uint8(slices.Index(numbers, *n))
	}
}
