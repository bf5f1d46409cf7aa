package stepfn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Each testdata/*.txt is a story: what is asked, what the world does, and how
// things then stand. It runs on the state machine that is deployed.
func TestScenarios(t *testing.T) {
	tellAll(t, func(t *testing.T, tell func(backend)) {
		p := newMemory(t, 1)
		defer p.Stop()
		tell(p)
	})
}

// tellAll tells every story, each on a stage of its own.
func tellAll(t *testing.T, on func(*testing.T, func(backend))) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories: ", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			on(t, func(s backend) { (&scenario{T: t, backend: s}).tell(string(text)) })
		})
	}
}

// A story is told line by line.
type scenario struct {
	*testing.T
	backend
	world stacks
	there map[string]string // where nodes are that are not in the default target, as stages call them
	id    string            // of the run that was asked for last
	named map[string]string
	line  string
	miss  string // what is not as the line says
	live  bool   // in real time: what begins at once begins in any order, and nobody knows when it is over
}

func (s *scenario) tell(text string) {
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		s.line = fmt.Sprintf("line %d: %s", n+1, strings.Join(words, " "))
		if !s.ask(words) && !s.turn(words) && !s.look(words) {
			s.Fatalf("%s: what?", s.line)
		}
		if s.Failed() {
			for _, st := range s.ExecutionStatus(s.id).Steps {
				s.Logf("%-20s %-8s %s", st.ID, st.Status, st.Why)
			}
			return
		}
	}
}

// ask carries out lines that ask for something: "deploy succeeded" waits for
// the end and expects it, "deploy begins" does not.
func (s *scenario) ask(words []string) bool {
	switch words[0] {
	case "project":
		s.world = parseStacks(words[1:])
		s.place()
		return true
	case "call": // gives the last run a name
		if s.named == nil {
			s.named = make(map[string]string)
		}
		s.named[words[1]] = s.id
		return true
	case "deploy", "destroy", "refresh", "plan", "retry":
		s.id = s.Submit(words[0], s.world, s.about(words), s.options(words)...)
	case "pause", "continue", "cancel", "unlock":
		s.Submit(words[0], s.world, s.about(words), s.options(words)...)
	case "fires": // a schedule
		s.id = s.Fire(words[1])
	case "ends":
		s.id = s.about(words)
	default:
		return false
	}
	want := words[len(words)-1]
	if s.live && want == "begins" {
		s.wait(func() bool { return underway(s.ExecutionStatus(s.id)) })
	}
	if slices.Contains(ends, want) {
		if !s.WaitIdle() {
			s.Errorf("%s: it never ends", s.line)
		}
		if got := s.ExecutionStatus(s.id); string(got.State) != want {
			s.Errorf("%s: got %s %v", s.line, got.State, got.Messages)
		}
	}
	return true
}

// underway reports whether a run has come as far as it can, for now, or has begun
// its first step.
func underway(r run.Run) bool {
	if r.State == run.StateRunning {
		return len(r.Steps) == 0 || slices.ContainsFunc(r.Steps, func(s run.Step) bool { return s.Status != run.Pending })
	}
	return r.State != "" && r.State != run.StatePending
}

// place notes where the world's nodes are.
func (s *scenario) place() {
	if s.there == nil {
		s.there = make(map[string]string)
	}
	for _, st := range s.world {
		for _, target := range st.in() {
			s.there[st.node(target)] = at(st.name, target)
		}
	}
}

// at is what stages call a node, or what is done with it.
func (s *scenario) at(node string) string {
	name, rest, _ := strings.Cut(node, "/")
	if there, ok := s.there[name]; ok {
		name = there
	}
	return strings.TrimSuffix(name+"/"+rest, "/")
}

// ends are what a run may be waited for to come to.
var ends = []string{"succeeded", "failed", "cancelled", "superseded", "refused", "waiting", "queued"}

// about is the run that a line names, or else the last one.
func (s *scenario) about(words []string) string {
	for _, word := range words[1:] {
		if id, ok := s.named[word]; ok {
			return id
		}
	}
	return s.id
}

// options reads what a request is to say besides: "allowing 3" deletions,
// "rolling-back" if it fails, "refusing" to wait, "only db,web", "forcing" what is updated to be
// cancelled.
func (s *scenario) options(words []string) []options {
	var o options
	for i, word := range words {
		switch word {
		case "allowing":
			n := number(words[i+1])
			o.deletions = &n
		case "rolling-back":
			o.rollback = true
		case "refusing":
			o.refuse = true
		case "only":
			o.only = strings.Split(words[i+1], ",")
		case "forcing":
			o.force = true
		}
	}
	if reflect.ValueOf(o).IsZero() {
		return nil
	}
	return []options{o}
}

// turn carries out lines that turn the world.
func (s *scenario) turn(words []string) bool {
	mishaps := map[string]sim.Fault{
		"dies-before": sim.KillBefore, "dies-after": sim.KillAfter, "answer-lost": sim.Lose, "throttled": sim.Throttle,
	}
	verb, m := words[0], mishaps[words[0]]
	switch {
	case m != sim.None:
		name, v, _ := strings.Cut(words[1], "/")
		s.Fault(s.at(name), plan.Verb(v), m)
	case verb == "abort":
		s.Abort(s.about(words))
	case verb == "outage":
		s.Outage(seconds(words[1]))
	case verb == "deny", verb == "admit": // whoever assumes the role of a target
		s.Deny(words[1], verb == "deny")
	case verb == "live":
		s.Live(s.at(words[1]), plan.Status(words[2]))
	case verb == "underway":
		s.Foreign(s.at(words[1]), plan.Status(words[2]), plan.Status(words[3]))
	case verb == "uses":
		s.Import(words[1], s.at(words[2]))
	case verb == "fail":
		name, v, _ := strings.Cut(words[1], "/")
		s.Fail(s.at(name), plan.Verb(v))
	case verb == "slow":
		s.Slow(s.at(words[1]), seconds(words[2]))
	case verb == "allow": // so many deletions: it stands in every project file from now on
		s.MaxDeletions(number(words[1]))
	case verb == "on-failure": // rollback or keep: likewise
		s.OnFailure(words[1])
	case verb == "schedules": // nightly=deploy: likewise
		operations := make(map[string]string)
		for _, word := range words[1:] {
			name, operation, _ := strings.Cut(word, "=")
			operations[name] = operation
		}
		s.Schedules(operations)
	case verb == "limit" && len(words) == 2: // what runs may take: it stands in every project file from now on
		s.Timeout("", seconds(words[1]))
	case verb == "limit":
		s.Timeout(words[1], seconds(words[2]))
	case verb == "pass":
		s.Pass(seconds(words[1]))
	case verb == "events":
		var late []time.Duration
		for _, w := range words[1:] {
			late = append(late, seconds(w))
		}
		s.Events(late...)
	default:
		return false
	}
	return true
}

// look carries out lines that say how things stand. In real time it may take
// them a while to.
func (s *scenario) look(words []string) bool {
	known := true
	try := func() bool { s.miss = ""; known = s.see(words); return s.miss == "" }
	if !try() && s.live && words[0] != "asked" {
		s.wait(try)
	}
	if s.miss != "" {
		s.Errorf("%s: %s", s.line, s.miss)
	}
	return known
}

// wait waits in real time until something holds, or has not for long.
func (s *scenario) wait(holds func() bool) {
	for begun := time.Now(); !holds() && time.Since(begun) < 20*time.Second; {
		time.Sleep(100 * time.Millisecond)
	}
}

func (s *scenario) missf(format string, args ...any) { s.miss += fmt.Sprintf(format, args...) }

// see carries out lines that say how things stand.
func (s *scenario) see(words []string) bool {
	rest := strings.Join(words[1:], " ")
	expect := func(got any) {
		if fmt.Sprint(got) != rest {
			s.missf("got %v", got)
		}
	}
	switch words[0] {
	case "line": // who owns the lock, and who waits for it
		l := s.Lock()
		line := s.name(l.Owner.Run)
		for _, w := range l.Waiting {
			line += " " + s.name(w.Run)
		}
		expect(line)
	case "run": // run NAME succeeded
		expect(words[1] + " " + string(s.ExecutionStatus(s.named[words[1]]).State))
	case "scheduled": // the names of the schedules that are there
		expect(strings.Join(s.Scheduled(), " "))
	case "drives":
		expect(s.ExecutionStatus(s.id).Epoch)
	case "then": // the rollback that followed the last run is the last one from here on
		s.id = engine.RunID(s.id, "rollback")
	case "asked":
		asked := s.Requests()
		if s.live {
			asked, rest = sorted(asked), strings.Join(sorted(slices.Clone(words[1:])), " ")
		}
		expect(strings.Join(asked, " "))
	case "steps":
		var ids []string
		for _, st := range s.ExecutionStatus(s.id).Steps {
			ids = append(ids, st.ID)
		}
		expect(strings.Join(ids, " "))
	case "unchanged":
		expect(s.ExecutionStatus(s.id).Unchanged)
	case "step":
		st := s.step(words[1])
		got := strings.TrimSpace(fmt.Sprintf("%s %s %s", st.ID, st.Status, st.Why))
		if !strings.HasPrefix(got, rest) {
			s.missf("got %s", got)
		}
	case "attempts":
		expect(fmt.Sprintf("%s %d", words[1], s.step(words[1]).Attempt))
	case "says":
		got := strings.Join(s.ExecutionStatus(s.id).Messages, "\n")
		for name, id := range s.named {
			got = strings.ReplaceAll(got, id, name)
		}
		if !strings.Contains(got, rest) {
			s.missf("got %s", got)
		}
	case "stack":
		expect(words[1] + " " + s.Status(s.at(words[1])).String())
	case "made":
		version, _ := s.Deployed(s.at(words[1]))
		expect(words[1] + " " + version)
	case "passed":
		_, params := s.Deployed(s.at(words[1]))
		as := words[2] // passed db vpc@us as vpc
		if len(words) > 3 {
			as = words[4]
		}
		if got, is := params[need{name: as}.param()], s.Output(s.at(words[2]), "Value"); got == "" || got != is {
			s.missf("got %q, the output is %q", got, is)
		}
	case "recorded":
		var names []string
		for name := range s.Recorded() {
			names = append(names, name)
		}
		expect(strings.Join(sorted(names), " "))
	case "gap": // gap a b 2: from a's end to b's begin pass at most 2 seconds
		a, b := s.step(words[1]), s.step(words[2])
		if got := b.Claimed.Sub(a.Ended); b.Claimed.IsZero() || got < 0 || got > seconds(words[3]) && !s.live {
			s.missf("got %s", got)
		}
	default:
		return false
	}
	return true
}

// name is what a story calls a run.
func (s *scenario) name(id string) string {
	for name, named := range s.named {
		if named == id {
			return name
		}
	}
	return id
}

func (s *scenario) step(id string) run.Step {
	r := s.ExecutionStatus(s.id)
	st := r.Step(id)
	if st == nil {
		s.missf("there is no such step; ")
		return run.Step{}
	}
	return *st
}

func seconds(word string) time.Duration {
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		panic("a story says " + word + " for seconds")
	}
	return time.Duration(f * float64(time.Second))
}

func number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		panic("a story says " + word + " for a number")
	}
	return n
}

func sorted(words []string) []string {
	slices.Sort(words)
	return words
}
