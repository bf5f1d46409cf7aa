package stepfn_test

import (
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/plan"
)

func (s *scenario) project(st statement) {
	s.ProjectFile(true)
	s.declare(st)
}

func (s *scenario) templates(st statement) {
	s.ProjectFile(false)
	s.declare(st)
}

func (s *scenario) declare(st statement) {
	s.stacks = parseStacks(st.args)
	for _, stack := range s.stacks {
		for _, target := range stack.in() {
			s.placed[stack.node(target)] = at(stack.name, target)
		}
	}
}

func (s *scenario) as(st statement) { s.As(st.args[0]) }

func (s *scenario) maxDeletions(st statement) { s.MaxDeletions(number(st.args[0])) }

func (s *scenario) onFailure(st statement) { s.OnFailure(st.args[0]) }

func (s *scenario) rule(st statement) {
	s.Rule(st.word.name == "installed", st.args[0], strings.Join(st.args[1:], " "))
}

// timeout sets the timeout of runs, or that of the operations on a stack.
func (s *scenario) timeout(st statement) {
	if len(st.args) == 1 {
		s.Timeout("", seconds(st.args[0]))
		return
	}
	s.Timeout(st.args[0], seconds(st.args[1]))
}

func (s *scenario) schedules(st statement) {
	operations := make(map[string]string)
	for _, arg := range st.args {
		name, operation, _ := strings.Cut(arg, "=")
		operations[name] = operation
	}
	s.Schedules(operations)
}

// request sends a request that makes a run. That is the current run from here on.
func (s *scenario) request(st statement) {
	s.id = s.submit(st)
	s.outcome(st)
	if r := s.ExecutionStatus(s.id); r.Changes != "" {
		s.planned = r
	}
}

// command sends a command to a run.
func (s *scenario) command(st statement) { s.submit(st) }

func (s *scenario) submit(st statement) string {
	var with []options
	if st.with.given {
		with = []options{st.with}
		if st.with.saved || st.with.savedFor {
			with[0].plan = s.planned.Changes
		}
		if st.with.since != "" {
			with[0].since = s.named[st.with.since]
		}
		if st.with.saved {
			with[0].source = s.planned.Source
		}
	}
	if id, named := s.named[st.with.to]; named {
		with[0].to = id
	}
	if id, named := s.named[st.with.revision]; named {
		with[0].revision = id
	}
	of, what := s.about(st), st.word.name
	if what == "approve-other" {
		return s.Submit("approve", s.stacks, of, options{digest: "other"})
	}
	if what == "approve" || what == "reject" {
		args := st.args
		if st.run != "" {
			args = args[1:]
		}
		r, step := s.ExecutionStatus(of), strings.Join(args, "")
		about := step
		if waiting := r.Asks(); step == "" && len(waiting) == 1 {
			about = waiting[0]
		}
		with = []options{{digest: r.DigestFor(about), step: step}}
	}
	return s.Submit(what, s.stacks, of, with...)
}

func (s *scenario) fires(st statement) {
	s.id = s.Fire(st.args[0])
	s.outcome(st)
}

func (s *scenario) rollback(st statement) {
	s.id = engine.RunID(s.id, "rollback")
	s.outcome(st)
}

func (s *scenario) promotion(st statement) {
	s.id = engine.PromotionOf(s.id)
	s.outcome(st)
}

func (s *scenario) order(st statement) { s.pipeline.order = st.args; s.Pipeline(s.pipeline) }

func (s *scenario) soaks(st statement) { s.pipeline.soak = seconds(st.args[0]); s.Pipeline(s.pipeline) }

func (s *scenario) watches(st statement) { s.pipeline.alarms = st.args; s.Pipeline(s.pipeline) }

func (s *scenario) ends(st statement) {
	s.id = s.about(st)
	s.outcome(st)
}

func (s *scenario) nameRun(st statement) { s.named[st.args[0]] = s.id }

// outcome waits for the end of the current run, and compares it with the outcome that
// the line says.
func (s *scenario) outcome(st statement) {
	if !ends[st.outcome] {
		if s.realTime && st.outcome == "begins" {
			s.waitFor(func() bool { return started(s.ExecutionStatus(s.id)) })
		}
		return
	}
	idle := s.WaitIdle()
	if s.unchecked {
		return
	}
	if !idle {
		s.Errorf("%s: %s: some run never ends", st.at, st.text)
	}
	if got := s.ExecutionStatus(s.id); string(got.State) != st.outcome {
		s.Errorf("%s: %s: got %s %v", st.at, st.text, got.State, got.Messages)
	}
}

func (s *scenario) pass(st statement) { s.Pass(seconds(st.args[0])) }

func (s *scenario) slow(st statement) { s.Slow(s.at(st.args[0]), seconds(st.args[1])) }

func (s *scenario) fail(st statement) {
	name, verb, _ := strings.Cut(st.args[0], "/")
	s.FailNext(s.at(name), plan.Verb(verb))
}

// scenarioFaults are the faults of requests, by the words for them in scenarios.
var scenarioFaults = map[string]sim.Fault{
	"crash-before": sim.KillBefore, "crash-after": sim.KillAfter, "answer-lost": sim.Lose, "throttled": sim.Throttle,
}

func (s *scenario) fault(st statement) {
	name, verb, _ := strings.Cut(st.args[0], "/")
	s.Fault(s.at(name), plan.Verb(verb), scenarioFaults[st.word.name])
}

func (s *scenario) events(st statement) {
	var late []time.Duration
	for _, arg := range st.args {
		late = append(late, seconds(arg))
	}
	s.Events(late...)
}

func (s *scenario) lag(st statement) { s.Lag(seconds(st.args[0])) }

func (s *scenario) misrecord(st statement) { s.Misrecord(s.at(st.args[0])) }

func (s *scenario) outage(st statement) { s.Outage(seconds(st.args[0])) }

func (s *scenario) abort(st statement) { s.Abort(s.about(st)) }

func (s *scenario) access(st statement) { s.Deny(st.args[0], st.word.name == "deny") }

func (s *scenario) permission(st statement) { s.Withhold(st.args[0], st.word.name == "withhold") }

func (s *scenario) live(st statement) { s.Live(s.at(st.args[0]), plan.Status(st.args[1])) }

func (s *scenario) setOutside(st statement) { s.SetOutside(s.at(st.args[0]), st.args[1]) }

func (s *scenario) stackLimit(st statement) { s.StackLimit(number(st.args[0])) }

func (s *scenario) foreign(st statement) {
	s.Foreign(s.at(st.args[0]), plan.Status(st.args[1]), plan.Status(st.args[2]))
}

func (s *scenario) byHand(st statement) {
	for _, name := range st.args {
		s.ByHand(s.stacks.named(name), s.stacks)
	}
}

func (s *scenario) setParameter(st statement) {
	s.SetIgnored(s.at(st.args[0]), need{name: st.args[1]}.param(), st.args[2])
}

func (s *scenario) updateOutside(st statement) {
	one := parseStacks(st.args)[0]
	others := slices.DeleteFunc(slices.Clone(s.stacks), func(other stack) bool { return other.name == one.name })
	s.Update(one, append(others, one))
}

func (s *scenario) drifts(st statement) { s.Drift(s.at(st.args[0]), len(st.args) > 1) }

func (s *scenario) deleteChangeSets(st statement) { s.DeleteChangeSets(s.at(st.args[0])) }

func (s *scenario) unreadable(st statement) { s.Unreadable(s.at(st.args[0])) }

func (s *scenario) uses(st statement) { s.Import(st.args[0], s.at(st.args[1])) }

func (s *scenario) approvePlans(st statement) {
	expires := 24 * time.Hour
	if len(st.args) > 0 {
		expires = seconds(st.args[0])
	}
	s.ApprovePlans(expires)
}
