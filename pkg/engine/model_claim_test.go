package engine_test

// The model of one step: it is claimed, requested from CloudFormation, recorded and
// finished, exactly once.
//
// Actors: two functions that start the step in epoch 1, of which the second is
// called again while the first still works, and one that starts it in epoch 2; a
// poll of each epoch; CloudFormation, which carries out an operation and shows its
// events; and the time, after which a function that has claimed the step cannot be
// running any more.
//
// Transitions: each reads or writes the store once, or sends CloudFormation one
// request; model_claim_processes_test.go has those of the functions. The environment
// crashes functions, calls a starter again, raises the epoch, and ends the run by an
// unlock. CloudFormation may throttle a request; a request or its answer may be lost,
// and a request may arrive late.
//
// Safety: CloudFormation carries out at most one operation; the result of a finished
// step is that of its operation, which has ended; no step of a run that has ended is
// claimed or finished.
//
// Liveness: the step finishes, or its run was ended by force.

// What a function does next. The first group are actions of a function that starts
// the step, the second those of a poll.
const (
	readStep = uint8(iota + 1)
	claimIt
	sendRequest
	recordAnswer

	loadStep
	readEvents    // of the operation with the step's token
	sendAgain     // a request that may have been lost
	rereadEvents  // after that request was answered
	recordOutcome // of the step
)

// firstOfPoll is the first action of a poll.
const firstOfPoll = loadStep

var stepActions = [...]string{
	"", "reads the step", "claims it", "sends the request", "records the answer",
	"loads the step", "reads the events", "sends the request again, because there are no events", "reads the events again", "records how the step ended",
}

// What CloudFormation answers to a request.
const (
	unanswered = uint8(iota)
	accepted
	knownToken // it has received a request with this token before
	throttled
)

// The states of the operation. The last two are also the results of the step.
const (
	opAbsent = uint8(iota)
	opRunning
	opSucceeded
	opFailed
)

// A stepProcess is a function that starts or polls the step.
type stepProcess struct {
	next, epoch, answer uint8
	expired             bool // the claim that it has loaded is older than a claimer can run
	claimer             bool // it has claimed the step
}

// A claimState is a state of the model.
type claimState struct {
	epoch     uint8
	runEnded  bool // the run was ended by force
	claimed   bool
	expired   bool  // the claim is older than a claimer can run
	receipt   bool  // the answer of CloudFormation is recorded
	result    uint8 // of the step, when it has finished
	operation uint8
	started   uint8 // how many operations CloudFormation has carried out
	shown     bool  // the events show the operation
	inFlight  bool  // a request is on its way, and its sender no longer waits for the answer
	processes [5]stepProcess

	faults, losses uint8 // how many may still happen
}

// The functions, and the epoch of each.
var (
	stepProcesses = []string{"starter of epoch 1", "starter of epoch 1, called again,", "starter of epoch 2", "poll of epoch 1", "poll of epoch 2"}
	stepEpochs    = [...]uint8{1, 1, 2, 1, 2}
)

// The index of the starter that is called again, and of the first poll.
const (
	calledAgain = 1
	firstPoll   = 3
)

// A claimSetup says what may happen in the model.
type claimSetup struct {
	faults  uint8
	losses  uint8  // requests or answers that are throttled, lost or late
	without string // the safeguard that is missing
}

// lacks reports whether a safeguard is missing.
func (w claimSetup) lacks(safeguard string) bool { return w.without == safeguard }

// claimModel returns the model in a setup.
func claimModel(w claimSetup) model[claimState] {
	s := claimState{epoch: 1, faults: w.faults, losses: w.losses}
	for i := range s.processes {
		s.processes[i].epoch = stepEpochs[i]
	}
	return model[claimState]{
		initial:     s,
		actors:      append([]string{"environment:", "CloudFormation", "time"}, stepProcesses...),
		transitions: w.transitions,
		invariant:   claimState.violation,
		final:       func(s claimState) bool { return s.runEnded || s.result != opAbsent },
	}
}

// violation says which invariant s violates, if any.
func (s claimState) violation() string {
	switch {
	case s.started > 1:
		return "CloudFormation carries out the operation twice"
	case s.result != opAbsent && s.operation == opRunning:
		return "the step has finished, but its operation is running"
	case s.result == opSucceeded && s.operation != opSucceeded:
		return "the step has succeeded, but its operation has not"
	case s.result == opFailed && s.operation == opSucceeded:
		return "the step has failed, but its operation has succeeded"
	}
	return ""
}

// transitions yields what can happen in s.
func (w claimSetup) transitions(s claimState, yield func(int, transition[claimState])) {
	for i, p := range s.processes {
		if p.next != 0 {
			w.act(s, i, yield)
		} else if to := s; p.epoch == s.epoch && s.result == opAbsent && i != calledAgain && (i >= firstPoll || !s.claimed) {
			to.processes[i].next = [...]uint8{readStep, 0, readStep, loadStep, loadStep}[i]
			yield(i+3, transition[claimState]{name: "is called", to: to})
		}
	}
	if to := s; s.operation == opRunning {
		to.operation = opSucceeded
		yield(1, transition[claimState]{name: "completes the operation", to: to})
		to.operation = opFailed
		yield(1, transition[claimState]{name: "rolls back the operation", to: to})
	}
	if to := s; s.operation != opAbsent && !s.shown {
		to.shown = true
		yield(1, transition[claimState]{name: "shows the events", to: to})
	}
	if to := s; s.inFlight {
		to.inFlight = false
		to.receive(w)
		yield(1, transition[claimState]{name: "receives a late request", to: to})
	}
	if to := s; s.claimed && !s.expired && (!s.inFlight || w.lacks("life")) {
		to.expired = true
		for i, p := range to.processes {
			if p.claimer && !w.lacks("life") {
				to.processes[i] = stepProcess{epoch: p.epoch}
			}
		}
		yield(2, transition[claimState]{name: "passes, until no claimer can be running", to: to})
	}
	if s.faults > 0 {
		w.fault(s, yield)
	}
}

// fault yields what can go wrong.
func (w claimSetup) fault(s claimState, yield func(int, transition[claimState])) {
	s.faults--
	for i, p := range s.processes {
		if to := s; p.next != 0 {
			to.processes[i] = stepProcess{epoch: p.epoch}
			yield(environment, transition[claimState]{name: "the " + stepProcesses[i] + " crashes", to: to})
		}
	}
	if to := s; s.processes[calledAgain].next == 0 {
		to.processes[calledAgain].next = readStep
		yield(environment, transition[claimState]{name: "a starter is called again, and the first one continues", to: to})
	}
	if to := s; s.epoch == 1 {
		to.epoch = 2
		yield(environment, transition[claimState]{name: "the epoch is raised, and the functions of the old one continue", to: to})
	}
	if to := s; !s.runEnded && s.result == opAbsent {
		to.epoch, to.runEnded = 3, true
		yield(environment, transition[claimState]{name: "a user unlocks", to: to})
	}
}

// receive lets CloudFormation carry out a request, unless it knows its token, and
// returns the answer.
func (s *claimState) receive(w claimSetup) uint8 {
	if s.operation != opAbsent && !w.lacks("token") {
		return knownToken
	}
	s.operation = opRunning
	s.shown = !w.lacks("events")
	s.started++
	return accepted
}
