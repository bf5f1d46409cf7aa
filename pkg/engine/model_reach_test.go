package engine_test

import (
	"strings"
	"testing"
)

// What the models are about does happen in them: a proof of a setup in which
// nothing can go wrong would say nothing.
func TestModelsReach(t *testing.T) {
	for name, reach := range reached() {
		p := reach()
		if p.wrong != found {
			t.Errorf("%s: never (%s)", name, p.wrong)
			continue
		}
		t.Logf("%s, after %d moves:\n  %s", name, len(p.trace), strings.Join(p.trace, "\n  "))
	}
}

// found is what is wrong with a state that is searched for.
const found = "found"

// when makes a model search for a state.
func (m model[S]) when(is func(S) bool) func() proof {
	m.wrong = func(s S) string {
		if is(s) {
			return found
		}
		return ""
	}
	return func() proof { return m.prove(mostStates) }
}

// reached are states that are searched for, by what they are.
func reached() map[string]func() proof {
	three := lockModel(lockSetup{queue: 3, limit: 1, faults: 1})
	person := lockModel(lockSetup{queue: 2, limit: 1, faults: 2, person: true})
	lateOnes := lockModel(lockSetup{queue: 2, limit: 1, faults: 1, busy: true, late: true})
	rollback := lockModel(lockSetup{queue: 2, limit: 1, faults: 1, rollback: true})
	scheduled := lockModel(lockSetup{queue: 3, limit: 1, faults: 1, scheduled: true})
	claims := claimModel(claimSetup{faults: 3, refusals: 2})
	wakes := wakeModel(wakeSetup{faults: 2})
	commands := commandModel(commandSetup{users: [2]uint8{goOn, pause}, faults: 2})
	answers := commandModel(commandSetup{users: [2]uint8{approve, cancel}, asks: true, late: true, faults: 2})
	return map[string]func() proof{
		"two runs wait":                          three.when(func(s lockState) bool { return s.waiting[1] != nobody }),
		"an owner is superseded before it began": three.when(func(s lockState) bool { return s.runs[0].step == skipped && s.runs[1].state == going }),
		"an older upload comes later":            three.when(func(s lockState) bool { return s.runs[1].state == over && s.runs[0].state == superseded }),
		"the execution of a head dies":           three.when(func(s lockState) bool { return s.runs[2].revived == 1 && s.owner == 2 && s.runs[1].state == over }),
		"a parked owner is superseded":           person.when(func(s lockState) bool { return s.runs[0].state == isWaiting && s.runs[0].supersede }),
		"a run is revived too often":             person.when(func(s lockState) bool { return s.runs[0].state == broken && s.owner == 1 }),
		"a queued upload is superseded":          lateOnes.when(func(s lockState) bool { return s.owner == 2 && s.runs[0].state == superseded }),
		"a zombie enters with its successor":     lateOnes.when(func(s lockState) bool { return s.procs[lateProcess].at == enter && s.procs[executor].at == enter }),
		"a rollback goes before a newer upload":  rollback.when(func(s lockState) bool { return s.owner == 2 && s.runs[1].state == queued }),
		"a newer upload goes before a rollback":  rollback.when(func(s lockState) bool { return s.owner == 1 && s.runs[0].state == over && s.runs[2].state == unasked }),
		"a schedule waits behind an upload":      scheduled.when(func(s lockState) bool { return s.owner == 1 && s.runs[0].state == queued }),
		"a schedule's deploy is superseded":      scheduled.when(func(s lockState) bool { return s.runs[0].step == skipped && s.runs[1].state == going }),
		"a schedule deploys after an upload":     scheduled.when(func(s lockState) bool { return s.runs[1].state == over && s.runs[0].state == over }),
		"what was lost is begun again":           claims.when(func(s claimState) bool { return s.begins == 1 && s.hands[3].answer == yes }),
		"the second begin is refused":            claims.when(func(s claimState) bool { return s.hands[4].answer == taken }),
		"nothing of it is ever heard":            claims.when(func(s claimState) bool { return s.old && s.begins == 0 && s.hands[3].answer == throttled }),
		"the starter's note comes too late":      claims.when(func(s claimState) bool { return s.ended == good && s.hands[0].at == recordIt }),
		"a look comes late":                      wakes.when(func(s wakeState) bool { return s.looks[1].at == register && s.token > s.looks[1].wait }),
		"an event outruns what is shown":         wakes.when(func(s wakeState) bool { return s.soon && !s.shown }),
		"an old token is about to be answered":   wakes.when(func(s wakeState) bool { return s.events[0].at == wake && s.events[0].token < s.wait && !s.settled }),
		"a run waits twice":                      commands.when(func(s commandState) bool { return s.state == isWaiting && s.lockRun.epoch > 2 }),
		"a command arrives while a poll decides": commands.when(func(s commandState) bool { return s.poll.at == waitForPerson && !s.poll.current }),
		"an answer arrives while a poll decides": answers.when(func(s commandState) bool { return s.poll.at == waitForPerson && s.answer != none }),
		"a late poll meets the next execution": answers.when(func(s commandState) bool {
			return s.late.at == waitForPerson && s.poll.at == commit && s.late.epoch < s.poll.epoch
		}),
		"an answer ends the wait": answers.when(func(s commandState) bool { return s.state == over && s.step == settled }),
		"a cancel ends the wait":  answers.when(func(s commandState) bool { return s.state == over && s.step == skipped && s.users[0].arrived == 1 }),
		"a run that waits loses its execution": answers.when(func(s commandState) bool {
			return s.state == isWaiting && s.lockRun.generation && s.users[0].at == idle && s.users[0].arrived == 1
		}),
	}
}
