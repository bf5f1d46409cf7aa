package run

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
)

// StartsPerSecond is how many steps can start in one account and region in a second,
// about: the budget of requests to CloudFormation.
const StartsPerSecond = 4

// A Forecast says when a run will probably end, and why not earlier.
type Forecast struct {
	End  time.Time
	Path []int // numbers of the steps on the critical path: the first runs or starts next, the last ends last
}

// Forecast simulates the rest of r: each step takes as long as expected, and steps start
// in the order of Ready, within MaxParallel and as fast as the budgets allow. It reports
// false if nobody can know when r will end: it has no plan, it is paused or waits for an
// answer. A run that is being stopped ends when its running steps do.
func (r *Run) Forecast(now time.Time) (Forecast, bool) {
	if r.State != StateRunning || r.Command == Pause || len(r.Steps) == 0 {
		return Forecast{}, false
	}
	s := newSimulation(r, now)
	for s.advance() {
	}
	return Forecast{End: now.Add(s.now), Path: s.path()}, true
}

// Estimate is how long a run of r's plan will probably take.
func (r *Run) Estimate() time.Duration {
	start := time.Unix(0, 0)
	f, _ := (&Run{State: StateRunning, Command: Continue, MaxParallel: r.MaxParallel, Steps: pending(r.Steps)}).Forecast(start)
	return max(f.End.Sub(start), 0)
}

// pending returns the steps as they were planned.
func pending(steps []Step) []Step {
	planned := make([]Step, len(steps))
	for i, s := range steps {
		planned[i] = Step{Step: s.Step, Number: i, Status: Pending}
	}
	return planned
}

// About shows a duration that is an estimate: about 40 s, about 12 min, about 2 h 10 min.
func About(d time.Duration) string {
	switch minutes := int(d.Round(time.Minute).Minutes()); {
	case d < 90*time.Second:
		return fmt.Sprintf("about %d s", int(max(d.Round(10*time.Second), 10*time.Second).Seconds()))
	case minutes < 90:
		return fmt.Sprintf("about %d min", minutes)
	case minutes%60 == 0:
		return fmt.Sprintf("about %d h", minutes/60)
	default:
		return fmt.Sprintf("about %d h %d min", minutes/60, minutes%60)
	}
}

// A pace says by verb how long the steps of a run take, compared with what was expected.
type pace map[plan.Verb]float64

// prior is the number of steps as expected that a pace assumes, besides those of the run.
const prior = 3

// pace compares the steps that are done, and those that already run longer than expected,
// with what was expected. If nothing was known about the stacks of a project before its
// first deploy, this corrects the forecast while the deploy runs.
func (r *Run) pace(now time.Time) pace {
	type sum struct{ took, expected, steps float64 }
	sums := make(map[plan.Verb]sum)
	for i := range r.Steps {
		s := &r.Steps[i]
		took, expected := s.Took(), s.Expected.Duration()
		if s.Status == Running && now.Sub(s.Claimed) > expected {
			took = now.Sub(s.Claimed)
		}
		if took > 0 && expected > 0 && s.Status != Failed && !s.Receipt.Unchanged {
			sum := sums[s.Verb]
			sum.took, sum.expected, sum.steps = sum.took+took.Seconds(), sum.expected+expected.Seconds(), sum.steps+1
			sums[s.Verb] = sum
		}
	}
	p := make(pace)
	for verb, sum := range sums {
		usual := prior * sum.expected / sum.steps
		p[verb] = (sum.took + usual) / (sum.expected + usual)
	}
	return p
}

// of is how long a step will probably take altogether.
func (p pace) of(s *Step) time.Duration {
	expected := s.Expected.Duration()
	if factor, ok := p[s.Verb]; ok {
		expected = time.Duration(factor * float64(expected))
	}
	if s.Receipt.Unchanged || s.Possible && s.Status == Pending {
		expected = 0
	}
	return max(expected, leastDuration)
}

// left is how much longer a running step will probably take. The longer a step has taken
// more than expected, the longer it will probably take.
func (p pace) left(s *Step, now time.Time) time.Duration {
	took := max(now.Sub(s.Claimed), 0)
	return max(p.of(s)-took, took/8)
}

// A simulation is the rest of a run. Its times are durations since the forecast began.
type simulation struct {
	run      *Run
	pace     pace
	now      time.Duration
	chain    []time.Duration
	waits    []int           // how many unfinished steps each step comes after
	next     [][]int         // the steps that come after each step
	ends     []time.Duration // when each step ends; 0 if it has not started
	free     places
	running  moments
	starting bool // steps may still start
	ready    []*queue
	byKind   map[string]*queue
	starts   map[string]time.Duration // when the next step may start in each account and region
}

// A queue holds steps that are ready, in the same account and region and with the same
// limits.
type queue struct {
	like  *Step // one of them
	steps moments
}

// newSimulation begins a simulation with the steps that run.
func newSimulation(r *Run, now time.Time) *simulation {
	n := len(r.Steps)
	s := &simulation{
		run: r, pace: r.pace(now), chain: r.chains(), waits: make([]int, n), next: make([][]int, n), ends: make([]time.Duration, n),
		starting: r.Command == Continue && !r.Overdue(now), free: r.places(), byKind: make(map[string]*queue), starts: make(map[string]time.Duration),
	}
	for i := range r.Steps {
		step := &r.Steps[i]
		for _, after := range step.After {
			if before := r.Steps[after]; before.Status != Done && !(step.Tolerant && before.Over()) {
				s.waits[i]++
				s.next[after] = append(s.next[after], i)
			}
		}
		switch {
		case step.Status == Running:
			s.ends[i] = s.pace.left(step, now)
			heap.Push(&s.running, moment{s.ends[i], i})
		case step.Status == Pending && s.waits[i] == 0:
			s.enqueue(i)
		}
	}
	return s
}

// enqueue puts a step that is ready in its queue.
func (s *simulation) enqueue(i int) {
	step := &s.run.Steps[i]
	var kind strings.Builder
	kind.WriteString(step.Where)
	for _, l := range s.run.MaxParallel {
		if step.within(l) {
			kind.WriteString("\n" + l.Group + "\t" + l.Prefix)
		}
	}
	q := s.byKind[kind.String()]
	if q == nil {
		q = &queue{like: step}
		s.byKind[kind.String()] = q
		s.ready = append(s.ready, q)
	}
	heap.Push(&q.steps, moment{-s.chain[i], i})
}

// advance starts the steps that may start now, and goes on to the next moment. It reports
// false if nothing will happen any more.
func (s *simulation) advance() bool {
	for s.starting && s.startOne() {
	}
	next := time.Duration(-1)
	if len(s.running) > 0 {
		next = s.running[0].at
	}
	for _, q := range s.ready {
		if at := s.starts[q.like.Where]; s.starting && len(q.steps) > 0 && s.free.has(q.like) && (next < 0 || at < next) {
			next = at
		}
	}
	if next < 0 {
		return false
	}
	s.now = next
	for len(s.running) > 0 && s.running[0].at <= s.now {
		s.finish(heap.Pop(&s.running).(moment).step)
	}
	return true
}

// startOne starts the step with the longest chain of those that may start now. It reports
// false if there is none.
func (s *simulation) startOne() bool {
	var first *queue
	for _, q := range s.ready {
		if len(q.steps) > 0 && s.starts[q.like.Where] <= s.now && s.free.has(q.like) && (first == nil || q.steps[0].less(first.steps[0])) {
			first = q
		}
	}
	if first == nil {
		return false
	}
	step := &s.run.Steps[heap.Pop(&first.steps).(moment).step]
	s.free.take(step)
	if step.Where != "" {
		s.starts[step.Where] = max(s.starts[step.Where], s.now) + time.Second/StartsPerSecond
	}
	s.ends[step.Number] = s.now + s.pace.of(step)
	heap.Push(&s.running, moment{s.ends[step.Number], step.Number})
	return true
}

// finish ends a step.
func (s *simulation) finish(i int) {
	s.free.release(&s.run.Steps[i])
	for _, n := range s.next[i] {
		if s.waits[n]--; s.waits[n] == 0 && s.run.Steps[n].Status == Pending {
			s.enqueue(n)
		}
	}
}

// path is the chain of steps that ends last: before each step, the one of those that it
// comes after that ends last.
func (s *simulation) path() []int {
	last := -1
	for i, at := range s.ends {
		if at > 0 && (last < 0 || at > s.ends[last]) {
			last = i
		}
	}
	var path []int
	for last >= 0 {
		path = append(path, last)
		before := -1
		for _, n := range s.run.Steps[last].After {
			if s.ends[n] > 0 && (before < 0 || s.ends[n] > s.ends[before]) {
				before = n
			}
		}
		last = before
	}
	slices.Reverse(path)
	return path
}

// A moment is when something happens to a step.
type moment struct {
	at   time.Duration
	step int
}

func (m moment) less(other moment) bool {
	return cmp.Or(cmp.Compare(m.at, other.at), cmp.Compare(m.step, other.step)) < 0
}

// moments are a heap: the earliest is the first.
type moments []moment

// Len is part of heap.Interface, as are Less, Swap, Push and Pop.
func (m moments) Len() int           { return len(m) }
func (m moments) Less(i, j int) bool { return m[i].less(m[j]) }
func (m moments) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *moments) Push(x any)        { *m = append(*m, x.(moment)) }
func (m *moments) Pop() any {
	last := len(*m) - 1
	x := (*m)[last]
	*m = (*m)[:last]
	return x
}
