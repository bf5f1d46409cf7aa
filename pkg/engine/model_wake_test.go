package engine_test

import "slices"

// The model of waking: an execution that waits with a token, the function that
// searches for it, one that comes late, and events that CloudFormation tells twice.
// That a wait is over by its time is a fault here: no wake-up may need it.

// The routines of a poll and of an event.
const (
	register = uint8(iota + 1) // the token
	load                       // the run: is its step due?
	askCloud                   // whether the work is over
	postpone                   // the step
	finish                     // the step
	answer                     // the own token

	mark    // the step as due
	waiting // read the token that waits
	wake    // answer it
	woken   // done
)

var saidOfWake = [...]string{
	"", "registers its token", "loads the run", "asks CloudFormation", "postpones the step", "settles the step", "answers its token",
	"marks the step", "reads the token", "answers that token", "",
}

// A looker is a function that polls, and a notifier one that an event calls.
type (
	looker struct {
		at, wait uint8
		due, saw bool // its wait was over by time; it saw the mark
	}
	notifier struct{ at, token uint8 }
)

// A wakeState is a state of this setup.
type wakeState struct {
	over, shown     bool // the work, and CloudFormation says so
	marked, settled bool // the step
	soon            bool // the wait is a short one, for the event outran what is shown
	token           uint8
	wait            uint8 // of the execution, counted; 0 after its end
	looks           [2]looker
	events          [2]notifier
	faults          uint8
}

// A wakeWorld says what may happen, and which safeguard is missing.
type wakeSetup struct {
	faults  uint8
	without string
}

// lacks reports whether a safeguard is missing.
func (w wakeSetup) lacks(safeguard string) bool { return w.without == safeguard }

// wakeModel is the model of this setup.
func wakeModel(w wakeSetup) model[wakeState] {
	return model[wakeState]{
		start: wakeState{wait: 1, looks: [2]looker{{at: w.begin(), wait: 1}}, faults: w.faults},
		names: []string{"mishap:", "look", "late look", "event", "its duplicate", "CloudFormation", "clock"},
		next: func(s wakeState, tell func(int, move[wakeState])) {
			w.next(s, func(who int, m move[wakeState]) {
				m.to.renumber()
				tell(who, m)
			})
		},
		good: func(s wakeState) bool { return s.wait == 0 },
		wrong: func(s wakeState) string {
			if s.settled && !s.over {
				return "the step is settled before the work is over"
			}
			return ""
		},
	}
}

// begin is what a poll does first.
func (w wakeSetup) begin() uint8 {
	if w.lacks("register first") {
		return load
	}
	return register
}

// next tells what may happen.
func (w wakeSetup) next(s wakeState, tell func(int, move[wakeState])) {
	for i, l := range s.looks {
		if l.at != 0 {
			to := s
			w.look(&to, i)
			who := 1
			if i == 1 {
				who = fate
			}
			tell(who, move[wakeState]{what: [...]string{"", "a late look "}[i] + saidOfWake[l.at], to: to})
		}
	}
	for i, e := range s.events {
		to := s
		if e.at == 0 && s.over {
			to.events[i].at = w.tells(0)
			tell(3+i, move[wakeState]{what: "comes", to: to})
		} else if e.at != 0 && e.at != woken {
			w.event(&to, i)
			tell(3+i, move[wakeState]{what: saidOfWake[e.at], to: to})
		}
	}
	if to := s; !s.over {
		to.over = true
		tell(5, move[wakeState]{what: "ends the work", to: to})
	} else if !s.shown {
		to.shown = true
		tell(5, move[wakeState]{what: "shows it", to: to})
	}
	if to := s; s.soon && s.wait != 0 && s.looks[0].at == 0 {
		w.waits(&to, true)
		tell(6, move[wakeState]{what: "ends a short wait", to: to})
	}
	if to := s; s.faults > 0 && s.wait != 0 {
		to.faults--
		w.waits(&to, true)
		tell(fate, move[wakeState]{what: "the wait is over by its time", to: to})
	}
}

// waits begins the next wait. A poll that is still at work is late.
func (w wakeSetup) waits(s *wakeState, due bool) {
	if s.looks[0].at != 0 {
		s.looks[1] = s.looks[0]
	}
	s.wait++
	s.soon = false
	s.looks[0] = looker{at: w.begin(), wait: s.wait, due: due}
}

// answered lets the execution go on, if it waits with that token.
func (w wakeSetup) answered(s *wakeState, token uint8, due bool) {
	switch {
	case token != s.wait || token == 0: // the law: nothing happens
	case s.settled:
		s.wait, s.looks = 0, [2]looker{}
	default:
		w.waits(s, due)
	}
}

// poll is a step of a function that polls.
func (w wakeSetup) look(s *wakeState, i int) {
	l := &s.looks[i]
	switch l.at {
	case register:
		l.at = load
		if l.wait < s.token && !w.lacks("newest wait") {
			*l = looker{} // somebody polls who came later
			return
		}
		s.token = l.wait
		if w.lacks("register first") {
			*l = looker{}
		}
	case load:
		l.saw = s.marked
		switch {
		case s.settled:
			l.at = answer
		case s.marked || l.due:
			l.at = askCloud
		default:
			w.rest(l)
		}
	case askCloud:
		l.at = postpone
		if s.shown {
			l.at = finish
		}
	case postpone:
		if !l.saw && s.marked && w.lacks("leave new marks") {
			s.marked = false
		}
		if s.soon = s.soon || l.saw && l.wait == s.wait; l.saw {
			s.marked = true
		}
		w.rest(l)
	case finish:
		s.settled, l.at = true, answer
	case answer:
		token := l.wait
		*l = looker{}
		w.answered(s, token, false)
	}
}

// rest lets a poll's token wait.
func (w wakeSetup) rest(l *looker) {
	if w.lacks("register first") {
		l.at = register
		return
	}
	*l = looker{}
}

// tells says what follows a step of an event's routine.
func (w wakeSetup) tells(at uint8) uint8 {
	order := []uint8{0, mark, waiting, wake, woken}
	if w.lacks("mark first") {
		order = []uint8{0, waiting, mark, wake, woken}
	}
	for i := range order {
		if order[i] == at {
			return order[i+1]
		}
	}
	return woken
}

// event is a step of a function that an event calls.
func (w wakeSetup) event(s *wakeState, i int) {
	e := &s.events[i]
	switch e.at {
	case mark:
		s.marked = s.marked || !s.settled
	case waiting:
		e.token = s.token
	case wake:
		token := e.token
		*e = notifier{at: woken}
		w.answered(s, token, false)
		return
	}
	e.at = w.tells(e.at)
}

// renumber counts only the waits that somebody still knows of, so that there are
// not endlessly many.
func (s *wakeState) renumber() {
	known := []*uint8{&s.wait, &s.token, &s.looks[0].wait, &s.looks[1].wait, &s.events[0].token, &s.events[1].token}
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
