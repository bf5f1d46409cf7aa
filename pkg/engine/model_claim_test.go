package engine_test

// The model of one step: claimed, requested, recorded and finished, while the
// execution that executes its run is replaced, its function is called twice, a
// person unlocks, and answers of CloudFormation are lost. CloudFormation learns a
// token once, whatever becomes of the answer.

// The routines of anyone who starts the step and of anyone who reads it.
const (
	readStep = uint8(iota + 1)
	claimIt
	beginIt
	recordIt

	loadStep
	hear      // the events under the token
	beginLate // what was lost on its way
	hearAgain
	finishIt
)

var saidOfStep = [...]string{
	"", "reads the step", "claims it", "asks CloudFormation", "writes what it answered",
	"loads the step", "reads the events", "asks CloudFormation, for nothing was heard", "reads the events once more", "settles the step",
}

// What CloudFormation answers.
const (
	unanswered = uint8(iota)
	yes
	taken
	throttled
)

// How the work stands, and how the step does if it is over.
const (
	nothing = uint8(iota)
	live
	good
	bad
)

// A hand is a function that starts or polls.
type hand struct {
	at, epoch, answer uint8
	old               bool // the claim was older than its claimer can live
	works             bool // it is the claimer
}

// A claimState is a state of this setup.
type claimState struct {
	epoch        uint8
	closed       bool // the run is over, by another hand
	claimed      bool
	old, noted   bool
	ended        uint8 // good or bad, once the step is finished
	work, begins uint8
	shown        bool // is the work, by its events
	wire         bool // a request is on its way whose sender waits no more
	hands        [5]hand

	faults, refusals uint8
}

// Who acts: the first execution's starter, the same called again, the second
// execution's; and both executes' polls.
var hands = []string{"starter of epoch 1", "the same, called again", "starter of epoch 2", "look of epoch 1", "look of epoch 2"}

// These of them are called again, and poll.
const (
	again = 1
	looks = 3
)

// A claimWorld says what may happen, and which safeguard is missing.
type claimSetup struct {
	faults, refusals uint8
	without          string
}

// lacks reports whether a safeguard is missing.
func (w claimSetup) lacks(safeguard string) bool { return w.without == safeguard }

// claimModel is the model of this setup.
func claimModel(w claimSetup) model[claimState] {
	s := claimState{epoch: 1, faults: w.faults, refusals: w.refusals}
	for i := range s.hands {
		s.hands[i].epoch = [...]uint8{1, 1, 2, 1, 2}[i]
	}
	return model[claimState]{
		start: s,
		names: append([]string{"mishap:", "CloudFormation", "time"}, hands...),
		next:  func(s claimState, tell func(int, move[claimState])) { w.next(s, tell) },
		good:  func(s claimState) bool { return s.closed || s.ended != nothing },
		wrong: claimState.wrong,
	}
}

// wrong says which invariant does not hold.
func (s claimState) wrong() string {
	switch {
	case s.begins > 1:
		return "CloudFormation was asked twice, and did it twice"
	case s.ended != nothing && s.work == live:
		return "the step is over, and its work is not"
	case s.ended == good && s.work != good:
		return "the step is done, and its work is not"
	case s.ended == bad && s.work == good:
		return "the step has failed, and its work has not"
	}
	return ""
}

// next tells what may happen.
func (w claimSetup) next(s claimState, tell func(int, move[claimState])) {
	for i, h := range s.hands {
		if h.at != 0 {
			w.step(s, i, tell)
		} else if to := s; h.epoch == s.epoch && s.ended == nothing && i != again && (i >= looks || !s.claimed) {
			to.hands[i].at = [...]uint8{readStep, 0, readStep, loadStep, loadStep}[i]
			tell(i+3, move[claimState]{what: "is called", to: to})
		}
	}
	if to := s; s.work == live {
		to.work = good
		tell(1, move[claimState]{what: "does the work", to: to})
		to.work = bad
		tell(1, move[claimState]{what: "undoes the work", to: to})
	}
	if to := s; s.work != nothing && !s.shown {
		to.shown = true
		tell(1, move[claimState]{what: "tells of the work", to: to})
	}
	if to := s; s.wire {
		to.wire = false
		to.receives(w)
		tell(1, move[claimState]{what: "hears what was on its way", to: to})
	}
	if to := s; s.claimed && !s.old && (!s.wire || w.lacks("life")) {
		to.old = true
		for i, h := range to.hands {
			if h.works && !w.lacks("life") {
				to.hands[i] = hand{epoch: h.epoch}
			}
		}
		tell(2, move[claimState]{what: "passes, as long as a claimer lives", to: to})
	}
	if s.faults > 0 {
		w.mishap(s, tell)
	}
}

// fault tells what may go wrong.
func (w claimSetup) mishap(s claimState, tell func(int, move[claimState])) {
	s.faults--
	for i, h := range s.hands {
		if to := s; h.at != 0 {
			to.hands[i] = hand{epoch: h.epoch}
			tell(fate, move[claimState]{what: hands[i] + " dies", to: to})
		}
	}
	if to := s; s.hands[again].at == 0 {
		to.hands[again].at = readStep
		tell(fate, move[claimState]{what: "a starter is called again while the first works on", to: to})
	}
	if to := s; s.epoch == 1 {
		to.epoch = 2
		tell(fate, move[claimState]{what: "the epoch is raised while the old functions work on", to: to})
	}
	if to := s; !s.closed && s.ended == nothing {
		to.epoch, to.closed = 3, true
		tell(fate, move[claimState]{what: "a person unlocks", to: to})
	}
}

// learns lets CloudFormation carry a request out, if it has not found its token.
func (s *claimState) receives(w claimSetup) uint8 {
	if s.work != nothing && !w.lacks("token") {
		return taken
	}
	s.work = live
	s.shown = !w.lacks("events")
	s.begins++
	return yes
}

// step tells what a function does next. Those of an old execution may act, and need
// not.
func (w claimSetup) step(s claimState, i int, tell func(int, move[claimState])) {
	h := s.hands[i]
	who, what := i+3, saidOfStep[h.at]
	if h.epoch != s.epoch {
		who, what = fate, hands[i]+" "+what
	}
	to := s
	if h.at == beginIt || h.at == beginLate {
		w.begin(s, i, func(what2 string, to claimState) {
			tell(who, move[claimState]{what: what + ": " + what2, to: to})
		})
		return
	}
	why := ""
	if h.at < loadStep {
		why = w.start(&to, &to.hands[i])
	} else {
		why = w.look(&to, &to.hands[i])
	}
	if to != s || why != "" {
		tell(who, move[claimState]{what: what, to: to, wrong: why})
	}
}
