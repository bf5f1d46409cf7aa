package engine_test

import (
	"slices"
	"strings"
	"testing"
)

// In every setup, no order of transitions violates an invariant, and every run ends
// once no more faults happen.
func TestModels(t *testing.T) {
	var states, transitions int
	for _, v := range variants() {
		if v.large && smallOnly {
			continue
		}
		r := v.check()
		states, transitions = states+r.states, transitions+r.transitions
		t.Logf("%-60s %7d states %8d transitions %3d deep", v.name, r.states, r.transitions, r.depth)
		if r.violation != "" {
			t.Errorf("%s: %s\n  %s", v.name, r.violation, strings.Join(r.trace, "\n  "))
		}
	}
	t.Logf("%-60s %7d states %8d transitions", "together", states, transitions)
}

// A variant is a model in one setup.
type variant struct {
	name  string
	check func() result
	large bool // too large for the race detector
}

// variants are the models that have to hold.
func variants() []variant {
	var all []variant
	for _, c := range []struct {
		name  string
		large bool
		setup lockSetup
	}{
		{"lock: three runs", false, lockSetup{requests: 3}},
		{"lock: two runs, an unlock, a fault", true, lockSetup{requests: 2, maxRestarts: 1, faults: 1, unlocks: 1}},
		{"lock: three runs, a fault", true, lockSetup{requests: 3, maxRestarts: 1, faults: 1}},
		{"lock: two runs that their requesters start, a fault", false, lockSetup{requests: 2, maxRestarts: 1, faults: 1, requesters: true}},
		{"lock: two runs, a person, two faults", false, lockSetup{requests: 2, maxRestarts: 1, faults: 2, person: true}},
		{"lock: two uploads behind a run, late processes, a fault", true, lockSetup{requests: 2, maxRestarts: 1, faults: 1, busy: true, late: true}},
		{"lock: two uploads, a rollback, a fault", false, lockSetup{requests: 2, maxRestarts: 1, faults: 1, rollback: true}},
		{"lock: a schedule's deploy, an upload and a run, a fault", true, lockSetup{requests: 3, maxRestarts: 1, faults: 1, scheduled: true}},
		{"lock: a run, late processes, two unlocks, two faults", true, lockSetup{requests: 1, maxRestarts: 1, faults: 2, unlocks: 2, late: true}},
		{"lock: two runs, late processes, two faults", true, lockSetup{requests: 2, maxRestarts: 1, faults: 2, late: true}},
	} {
		all = append(all, variant{c.name, func() result { return lockModel(c.setup).check(maxStates) }, c.large})
	}
	all = append(all,
		variant{name: "claim: two epochs, three faults, two lost answers", check: func() result { return claimModel(claimSetup{faults: 3, losses: 2}).check(maxStates) }},
		variant{name: "wake: two events, two waits over by time", check: func() result { return wakeModel(wakeSetup{timeouts: 2}).check(maxStates) }},
		variant{name: "command: continue and pause, two faults", check: func() result {
			return commandModel(commandSetup{users: [2]uint8{giveContinue, givePause}, faults: 2}).check(maxStates)
		}},
		variant{name: "command: cancel and continue, two faults", check: func() result {
			return commandModel(commandSetup{users: [2]uint8{giveCancel, giveContinue}, faults: 2}).check(maxStates)
		}},
		variant{name: "answer: yes and no, a late poll, two faults", check: func() result {
			return commandModel(commandSetup{users: [2]uint8{answerYes, answerNo}, question: true, late: true, faults: 2}).check(maxStates)
		}},
		variant{name: "answer: yes and cancel, a late poll, two faults", check: func() result {
			return commandModel(commandSetup{users: [2]uint8{answerYes, giveCancel}, question: true, late: true, faults: 2}).check(maxStates)
		}},
		variant{name: "answer: no and pause, a late poll, two faults", check: func() result {
			return commandModel(commandSetup{users: [2]uint8{answerNo, givePause}, question: true, late: true, faults: 2}).check(maxStates)
		}},
	)
	return all
}

// maxStates is more than any of the setups has.
const maxStates = 2_000_000

// Every safeguard is needed: the checker finds a violation in a model without it.
func TestSafeguards(t *testing.T) {
	for _, v := range unsafe() {
		r := v.check()
		t.Logf("without %s: %s\n  %s", v.name, r.violation, strings.Join(r.trace, "\n  "))
		if r.violation == "" || r.trace == nil {
			t.Errorf("without %s no invariant is violated", v.name)
		}
	}
}

// unsafe returns models that lack a safeguard, and are named after it.
func unsafe() []variant {
	var all []variant
	for without, setup := range map[string]lockSetup{
		"state at an end":                  {requests: 1, unlocks: 1},
		"version":                          {requests: 2},
		"epoch at an end, state at an end": {requests: 1, late: true, faults: 1},
		"generation":                       {requests: 2, maxRestarts: 1, person: true},
		"sweep":                            {requests: 2, maxRestarts: 1, requesters: true, faults: 1},
		"one transaction":                  {requests: 1, maxRestarts: 1, faults: 1},
		"read again":                       {requests: 2, maxRestarts: 1},
		"pending":                          {requests: 2, busy: true, maxRestarts: 1, late: true, faults: 1},
	} {
		setup.without = without
		all = append(all, variant{name: "lock: " + without, check: func() result { return lockModel(setup).check(maxStates) }})
	}
	planners := lockSetup{requests: 2, maxRestarts: 9, late: true, faults: 1, without: "state at an end"}
	all = append(all, variant{name: "lock: state at an end (two planners)", check: func() result { return lockModel(planners).check(maxStates) }})
	for _, without := range []string{"claim", "fence", "life", "token", "second start", "events"} {
		setup := claimSetup{faults: 3, losses: 1, without: without}
		all = append(all, variant{name: "claim: " + without, check: func() result { return claimModel(setup).check(maxStates) }})
	}
	for _, without := range []string{"register first", "mark first", "leave new marks", "newest wait", "read again", "end of a poll"} {
		setup := wakeSetup{timeouts: 1, without: without}
		all = append(all, variant{name: "wake: " + without, check: func() result { return wakeModel(setup).check(maxStates) }})
	}
	for without, users := range map[string][2]uint8{
		"generation": {giveContinue, givePause}, "sweep": {giveContinue, givePause}, "once": {givePause, giveContinue},
		"cancel stays": {giveCancel, giveContinue}, "name": {giveContinue, givePause},
	} {
		setup := commandSetup{users: users, faults: 1, without: without}
		all = append(all, variant{name: "command: " + without, check: func() result { return commandModel(setup).check(maxStates) }})
	}
	for without, users := range map[string][2]uint8{
		"generation": {answerYes, givePause}, "one answer": {answerYes, answerNo}, "sweep": {answerYes, giveContinue},
	} {
		setup := commandSetup{users: users, question: true, late: true, faults: 2, without: without}
		all = append(all, variant{name: "answer: " + without, check: func() result { return commandModel(setup).check(maxStates) }})
	}
	slices.SortFunc(all, func(a, b variant) int { return strings.Compare(a.name, b.name) })
	return all
}
