package engine_test

import (
	"strings"
	"testing"
)

// The models reach the situations that they are about. A model that never reaches
// one would prove nothing about it.
func TestModelsReach(t *testing.T) {
	for name, search := range situations() {
		r := search()
		if r.violation != reached {
			t.Errorf("%s: never (%s)", name, r.violation)
			continue
		}
		t.Logf("%s, after %d transitions:\n  %s", name, len(r.trace), strings.Join(r.trace, "\n  "))
	}
}

// reached is the violation of a model that searches for a state.
const reached = "reached"

// reaches returns a check that stops at the first state for which is holds.
func (m model[S]) reaches(is func(S) bool) func() result {
	m.invariant = func(s S) string {
		if is(s) {
			return reached
		}
		return ""
	}
	return func() result { return m.check(maxStates) }
}

// situations are states that the models have to reach.
func situations() map[string]func() result {
	three := lockModel(lockSetup{requests: 3, maxRestarts: 1, faults: 1})
	answered := lockModel(lockSetup{requests: 2, maxRestarts: 1, faults: 2, person: true})
	late := lockModel(lockSetup{requests: 2, maxRestarts: 1, faults: 1, busy: true, late: true})
	rollback := lockModel(lockSetup{requests: 2, maxRestarts: 1, faults: 1, rollback: true})
	scheduled := lockModel(lockSetup{requests: 3, maxRestarts: 1, faults: 1, scheduled: true})
	claims := claimModel(claimSetup{faults: 3, losses: 2})
	wakes := wakeModel(wakeSetup{timeouts: 2})
	commands := commandModel(commandSetup{users: [2]uint8{giveContinue, givePause}, faults: 2})
	answers := commandModel(commandSetup{users: [2]uint8{answerYes, giveCancel}, question: true, late: true, faults: 2})
	return map[string]func() result{
		"two runs are queued":                   three.reaches(func(s lockState) bool { return s.waiting[1] != nobody }),
		"the owner is superseded before a step": three.reaches(func(s lockState) bool { return s.runs[0].step == stepSkipped && s.runs[1].state == runRunning }),
		"an older upload arrives later":         three.reaches(func(s lockState) bool { return s.runs[1].state == runEnded && s.runs[0].state == runSuperseded }),
		"the execution of the next owner fails": three.reaches(func(s lockState) bool { return s.runs[2].restarts == 1 && s.owner == 2 && s.runs[1].state == runEnded }),
		"a waiting owner is superseded":         answered.reaches(func(s lockState) bool { return s.runs[0].state == runWaiting && s.runs[0].supersede }),
		"a run is restarted too often":          answered.reaches(func(s lockState) bool { return s.runs[0].state == runFailed && s.owner == 1 }),
		"a queued upload is superseded":         late.reaches(func(s lockState) bool { return s.owner == 2 && s.runs[0].state == runSuperseded }),
		"a late process enters with its successor": late.reaches(func(s lockState) bool {
			return s.processes[lateProcess].next == enterQueue && s.processes[executor].next == enterQueue
		}),
		"a rollback is before a newer upload": rollback.reaches(func(s lockState) bool { return s.owner == 2 && s.runs[1].state == runQueued }),
		"a newer upload replaces a rollback": rollback.reaches(func(s lockState) bool {
			return s.owner == 1 && s.runs[0].state == runEnded && s.runs[2].state == runAbsent
		}),
		"a schedule's deploy is queued behind an upload": scheduled.reaches(func(s lockState) bool { return s.owner == 1 && s.runs[0].state == runQueued }),
		"a schedule's deploy is superseded":              scheduled.reaches(func(s lockState) bool { return s.runs[0].step == stepSkipped && s.runs[1].state == runRunning }),
		"a schedule deploys after an upload":             scheduled.reaches(func(s lockState) bool { return s.runs[1].state == runEnded && s.runs[0].state == runEnded }),
		"a lost request is sent again":                   claims.reaches(func(s claimState) bool { return s.started == 1 && s.processes[3].answer == accepted }),
		"a repeated request is refused":                  claims.reaches(func(s claimState) bool { return s.processes[4].answer == knownToken }),
		"a repeated request is throttled": claims.reaches(func(s claimState) bool {
			return s.expired && s.started == 0 && s.processes[3].answer == throttled
		}),
		"the receipt of the starter is late":       claims.reaches(func(s claimState) bool { return s.result == opSucceeded && s.processes[0].next == recordAnswer }),
		"a poll is late":                           wakes.reaches(func(s wakeState) bool { return s.polls[1].next == registerToken && s.token > s.polls[1].wait }),
		"an event arrives before its end is shown": wakes.reaches(func(s wakeState) bool { return s.short && !s.shown }),
		"an old token is about to be answered": wakes.reaches(func(s wakeState) bool {
			return s.events[0].next == answerToken && s.events[0].token < s.wait && !s.finished
		}),
		"a run waits twice":                      commands.reaches(func(s commandState) bool { return s.state == runWaiting && s.runItem.epoch > 2 }),
		"a command arrives while a poll decides": commands.reaches(func(s commandState) bool { return s.poll.next == waitForHuman && !s.poll.generation }),
		"an answer arrives while a poll decides": answers.reaches(func(s commandState) bool { return s.poll.next == waitForHuman && s.answer != unansweredStep }),
		"a late poll meets the next execution": answers.reaches(func(s commandState) bool {
			return s.late.next == waitForHuman && s.poll.next == finishStep && s.late.epoch < s.poll.epoch
		}),
		"an answer ends the wait": answers.reaches(func(s commandState) bool { return s.state == runEnded && s.step == stepFinished }),
		"a cancel ends the wait": answers.reaches(func(s commandState) bool {
			return s.state == runEnded && s.step == stepSkipped && s.users[0].deliveries == 1
		}),
		"the function of an answer crashes while the run waits": answers.reaches(func(s commandState) bool {
			return s.state == runWaiting && s.runItem.generation && s.users[0].next == idle && s.users[0].deliveries == 1
		}),
	}
}
