package engine_test

import (
	"slices"
	"strings"
	"testing"
)

// Whatever happens in these setups, in whatever order, no invariant is broken,
// and without new faults all ends well.
func TestModels(t *testing.T) {
	var states, moves int
	for _, c := range variants() {
		if c.large && small {
			continue
		}
		p := c.prove()
		states, moves = states+p.states, moves+p.moves
		t.Logf("%-52s %7d states %8d moves %3d deep", c.name, p.states, p.moves, p.deep)
		if p.wrong != "" {
			t.Errorf("%s: %s\n  %s", c.name, p.wrong, strings.Join(p.trace, "\n  "))
		}
	}
	t.Logf("%-52s %7d states %8d moves", "together", states, moves)
}

// A setup is one that a model is proved in.
type world struct {
	name  string
	prove func() proof
	large bool // too much for the race detector
}

// setups are those in which the models are to hold.
func variants() []world {
	var all []world
	for _, c := range []struct {
		name  string
		large bool
		w     lockSetup
	}{
		{"lock: three runs", false, lockSetup{queue: 3}},
		{"lock: two runs, an unlock, a mishap", true, lockSetup{queue: 2, limit: 1, faults: 1, unlocks: 1}},
		{"lock: three runs, a mishap", true, lockSetup{queue: 3, limit: 1, faults: 1}},
		{"lock: two runs whose askers live, a mishap", false, lockSetup{queue: 2, limit: 1, faults: 1, askers: true}},
		{"lock: two runs, a person, two mishaps", false, lockSetup{queue: 2, limit: 1, faults: 2, person: true}},
		{"lock: two uploads behind a run, zombies, a mishap", true, lockSetup{queue: 2, limit: 1, faults: 1, busy: true, late: true}},
		{"lock: two uploads, a rollback, a mishap", false, lockSetup{queue: 2, limit: 1, faults: 1, rollback: true}},
		{"lock: a schedule's deploy, an upload and a run, a mishap", true, lockSetup{queue: 3, limit: 1, faults: 1, scheduled: true}},
		{"lock: a run, zombies, two unlocks, two mishaps", true, lockSetup{queue: 1, limit: 1, faults: 2, unlocks: 2, late: true}},
		{"lock: two runs, zombies, two mishaps", true, lockSetup{queue: 2, limit: 1, faults: 2, late: true}},
	} {
		all = append(all, world{c.name, func() proof { return lockModel(c.w).prove(mostStates) }, c.large})
	}
	all = append(all,
		world{name: "claim: two drives, three mishaps, two lost answers", prove: func() proof { return claimModel(claimSetup{faults: 3, refusals: 2}).prove(mostStates) }},
		world{name: "wake: two events, two waits over by time", prove: func() proof { return wakeModel(wakeSetup{faults: 2}).prove(mostStates) }},
		world{name: "command: continue and pause, two faults", prove: func() proof {
			return commandModel(commandSetup{users: [2]uint8{goOn, pause}, faults: 2}).prove(mostStates)
		}},
		world{name: "command: cancel and continue, two faults", prove: func() proof {
			return commandModel(commandSetup{users: [2]uint8{cancel, goOn}, faults: 2}).prove(mostStates)
		}},
		world{name: "answer: yes and no, a late poll, two faults", prove: func() proof {
			return commandModel(commandSetup{users: [2]uint8{approve, decline}, asks: true, late: true, faults: 2}).prove(mostStates)
		}},
		world{name: "answer: yes and cancel, a late poll, two faults", prove: func() proof {
			return commandModel(commandSetup{users: [2]uint8{approve, cancel}, asks: true, late: true, faults: 2}).prove(mostStates)
		}},
		world{name: "answer: no and pause, a late poll, two faults", prove: func() proof {
			return commandModel(commandSetup{users: [2]uint8{decline, pause}, asks: true, late: true, faults: 2}).prove(mostStates)
		}},
	)
	return all
}

// mostStates is more than any of the setups has.
const mostStates = 2_000_000

// Each safeguard is needed: without it something goes wrong, and the search
// finds it.
func TestSafeguards(t *testing.T) {
	for _, c := range unsafe() {
		p := c.prove()
		t.Logf("without %s: %s\n  %s", c.name, p.wrong, strings.Join(p.trace, "\n  "))
		if p.wrong == "" || p.trace == nil {
			t.Errorf("without %s nothing goes wrong", c.name)
		}
	}
}

// unsafe are setups that lack a safeguard.
func unsafe() []world {
	var all []world
	for without, w := range map[string]lockSetup{
		"state at an end":                  {queue: 1, unlocks: 1},
		"version":                          {queue: 2},
		"epoch at an end, state at an end": {queue: 1, late: true, faults: 1},
		"news":                             {queue: 2, limit: 1, person: true},
		"sweep":                            {queue: 2, limit: 1, askers: true, faults: 1},
		"one transaction":                  {queue: 1, limit: 1, faults: 1},
		"look again":                       {queue: 2, limit: 1},
		"asked":                            {queue: 2, busy: true, limit: 1, late: true, faults: 1},
	} {
		w.without = without
		all = append(all, world{name: "lock: " + without, prove: func() proof { return lockModel(w).prove(mostStates) }})
	}
	planners := lockSetup{queue: 2, limit: 9, late: true, faults: 1, without: "state at an end"}
	all = append(all, world{name: "lock: state at an end (two planners)", prove: func() proof { return lockModel(planners).prove(mostStates) }})
	for _, without := range []string{"claim", "fence", "life", "token", "hear again", "events"} {
		w := claimSetup{faults: 3, refusals: 1, without: without}
		all = append(all, world{name: "claim: " + without, prove: func() proof { return claimModel(w).prove(mostStates) }})
	}
	for _, without := range []string{"register first", "mark first", "leave new marks", "newest wait"} {
		w := wakeSetup{faults: 1, without: without}
		all = append(all, world{name: "wake: " + without, prove: func() proof { return wakeModel(w).prove(mostStates) }})
	}
	for without, users := range map[string][2]uint8{
		"generation": {goOn, pause}, "sweep": {goOn, pause}, "once": {pause, goOn}, "cancel stays": {cancel, goOn}, "name": {goOn, pause},
	} {
		w := commandSetup{users: users, faults: 1, without: without}
		all = append(all, world{name: "command: " + without, prove: func() proof { return commandModel(w).prove(mostStates) }})
	}
	for without, users := range map[string][2]uint8{
		"generation": {approve, pause}, "one answer": {approve, decline}, "sweep": {approve, goOn},
	} {
		w := commandSetup{users: users, asks: true, late: true, faults: 2, without: without}
		all = append(all, world{name: "answer: " + without, prove: func() proof { return commandModel(w).prove(mostStates) }})
	}
	slices.SortFunc(all, func(a, b world) int { return strings.Compare(a.name, b.name) })
	return all
}
