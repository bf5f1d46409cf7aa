package term

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// MaxLines is the most lines that a tree has, in a window of any size.
const MaxLines = 24

// A Tree draws the current state of a run: failed steps at the top, with their
// reasons, then what waits for a person, running steps, the next steps, and finished steps.
type Tree struct {
	Run      run.Run
	Now      time.Time
	Colour   bool
	Forecast run.Forecast // the zero Forecast shows none
	Next     Next         // spells the command that answers; nil shows none
	Targets  bool         // many targets of one stack are shown each by itself, and not as one line
}

// Render draws the tree in at most height lines, and never more than MaxLines,
// of at most width cells each.
func (t Tree) Render(width, height int) []string {
	height = max(min(height, MaxLines), 1)
	var lines []string
	for _, l := range t.head(width, height) {
		lines = append(lines, l.fit(width, t.Colour))
	}
	body := t.body(width, height-len(lines))
	for i, b := range body {
		lines = append(lines, append(line{{dim, branch(body, i)}}, b.line...).fit(width, t.Colour))
	}
	return lines
}

// A row is a line of the tree below its head.
type row struct {
	line  line
	under bool // it belongs to the one before
	rest  bool // it is the rest of the text of the one before
}

// branch draws the lines of the tree before row i.
func branch(all []row, i int) string {
	last := true
	for _, later := range all[i+1:] {
		last = last && (later.under || later.rest)
	}
	switch {
	case all[i].rest && last:
		return "     "
	case all[i].rest:
		return "│    "
	case all[i].under && last:
		return "   └─ "
	case all[i].under:
		return "│  └─ "
	case last:
		return "└─ "
	}
	return "├─ "
}

// head has the operation, the progress, the duration and the ID of the run, in one
// line, or in two if one is too short.
func (t Tree) head(width, height int) []line {
	r := t.Run
	end := t.Now
	if r.State.Over() {
		end = latest(r)
	}
	title, id := span{bold, plan.CommandOf(r.Operation) + " " + r.Project}, span{dim, " · run " + r.ID}
	var far line
	if len(r.Steps) > 0 {
		far = append(far, span{normal, " · " + tally(r)})
	}
	if word := t.stateWord(); word != "" {
		far = append(far, span{yellow, " · " + word})
	}
	far = append(far, span{dim, " · " + elapsed(end.Sub(r.Requested))})
	if !r.State.Over() {
		far = append(far, t.left(r.Deadline)...)
		far = append(far, t.toGo()...)
	}
	one := append(append(line{title}, far...), id)
	if one.length() <= width || height < 2 {
		return []line{one}
	}
	far[0].text = strings.TrimPrefix(far[0].text, " · ")
	return []line{{title, id}, append(line{{normal, "  "}}, far...)}
}

// toGo says when the run will probably end, and with which stack.
func (t Tree) toGo() line {
	if len(t.Forecast.Path) == 0 {
		return nil
	}
	last := t.Run.Steps[t.Forecast.Path[len(t.Forecast.Path)-1]]
	return line{{normal, " · " + run.About(t.Forecast.End.Sub(t.Now)) + " to go, last " + name(last)}}
}

// critical marks the steps on the critical path.
func (t Tree) critical() func(run.Step) line {
	on := make(map[int]bool, len(t.Forecast.Path))
	for _, n := range t.Forecast.Path {
		on[n] = true
	}
	return func(s run.Step) line {
		if !on[s.Number] {
			return nil
		}
		return line{{yellow, "  critical path"}}
	}
}

// stateWord is the state of the run as a whole, such as being cancelled.
func (t Tree) stateWord() string {
	switch r := t.Run; {
	case r.Soaks(t.Now):
		return "begins at " + r.NotBefore.Local().Format(time.DateTime)
	case r.State == run.StatePending:
		return "planning"
	case r.State == run.StateWaiting && r.Command == run.Pause:
		return "paused"
	case r.State == run.StateWaiting && len(r.Asks()) > 0:
		return "waits for approval"
	case r.State != run.StateRunning:
		return string(r.State)
	case r.Command == run.Pause:
		return "pausing"
	case r.Command == run.Cancel && r.Forced:
		return "cancelling with force"
	case r.Command == run.Cancel:
		return "cancelling"
	case r.Command == run.CancelAndRollBack && r.Forced:
		return "cancelling with force, then rolling back"
	case r.Command == run.CancelAndRollBack:
		return "cancelling, then rolling back"
	case r.Command == run.Supersede:
		return "superseded by run " + r.SupersededBy
	}
	return ""
}

// body has the rows below the head, in at most room lines.
func (t Tree) body(width, room int) []row {
	failed, waiting, running, next, done := t.failed(width), t.waiting(width), t.running(), t.next(), t.done()
	command := t.answer(width)
	room -= len(done) + len(command)
	if len(failed)+len(waiting)+len(running)+len(next) > room {
		next = cut(next, min(len(next), 3), "to come")
	}
	if len(failed)+len(waiting)+len(running)+len(next) > room {
		waiting = cut(waiting, min(len(waiting), 3), "waiting for approval")
		failed = flat(failed)
		failed = cut(failed, max(room/2, room-len(waiting)-len(running)-len(next)), "failed")
	}
	running = cut(running, room-len(failed)-len(waiting)-len(next), "running")
	waiting = append(waiting, command...)
	room += len(command)
	var all []row
	for _, part := range [][]row{failed, waiting, running, next, done} {
		all = append(all, part...)
	}
	return all[:min(len(all), max(room+len(done), 0))]
}

// cut keeps at most room rows, the last of which then counts the rest.
func cut(all []row, room int, what string) []row {
	if len(all) <= room {
		return all
	}
	if room <= 0 {
		return nil
	}
	rest := fmt.Sprintf("… and %d more %s", len(all)-room+1, what)
	return append(all[:room-1:room-1], row{line: line{{dim, rest}}})
}

// flat leaves out the rows below others.
func flat(all []row) []row {
	var top []row
	for _, b := range all {
		if !b.under && !b.rest {
			top = append(top, b)
		}
	}
	return top
}

// failed shows each failed step with its reason, and below it the steps that were
// skipped because of it; then the steps that were skipped for another reason.
func (t Tree) failed(width int) []row {
	var all []row
	for _, f := range failures(t.Run) {
		skipped := namesOf(f.skipped)
		if f.step.ID == "" {
			all = append(all, row{line: line{{dim, "– skipped, " + f.cause + ": " + skipped}}})
			continue
		}
		all = append(all, wrapped(append(t.step(f.step, red, "✗"), span{red, "  "}), oneLine(f.step.Why), width-margin)...)
		if skipped != "" {
			all = append(all, row{under: true, line: line{{dim, "skipped because of it: " + skipped}}})
		}
	}
	return all
}

// margin is the width of the lines of the tree before a row.
const margin = 6

// wrapped are rows with a text behind a beginning: if it is too long for one,
// all of it follows below.
func wrapped(begin line, text string, width int) []row {
	text = printable(text)
	last := &begin[len(begin)-1]
	if begin.length()+cells(text) <= width || width < 20 {
		last.text += text
		return []row{{line: begin}}
	}
	rows := []row{{line: begin}}
	for _, part := range Wrap(text, width, "") {
		rows = append(rows, row{rest: true, line: line{{last.style, part}}})
	}
	return rows
}

// waiting shows each stack, or the whole plan, that waits for a person, and for how long it still waits.
func (t Tree) waiting(width int) []row {
	var all []row
	for _, q := range questions(t.Run) {
		if q.step.Node == "" { // it is shown by its verb, which says too little
			q.step.Verb = wholePlan
		}
		left, text := t.left(q.step.Deadline(q.step.Claimed)), q.text()
		l := append(t.step(q.step, yellow, "?"), span{yellow, "  " + text})
		long := l.length()+left.length() > width-margin
		if long { // so that the time that is left is not cut off
			l[len(l)-1].text = "  waits for approval"
		}
		all = append(all, row{line: append(l, left...)})
		if long {
			all = append(all, row{under: true, line: line{{yellow, text}}})
		}
	}
	return all
}

// answer shows the command with which a person sees and answers what waits.
func (t Tree) answer(width int) []row {
	waiting := t.Run.Asks()
	if t.Next == nil || len(waiting) == 0 || t.Run.Command != run.Continue {
		return nil
	}
	rows := wrapped(line{{yellow, "to answer: "}}, t.Next("approve", t.Run.ID)+", or reject", width-margin)
	for i := range rows {
		rows[i].under = !rows[i].rest
	}
	return rows
}

// running shows the running steps, each with its duration.
func (t Tree) running() []row {
	all, many := t.many()
	critical := t.critical()
	for _, s := range t.Run.Steps {
		if s.Status != run.Running || many[plan.Several(s.Node)] != nil {
			continue
		}
		l := append(t.step(s, cyan, "●"), span{normal, "  " + elapsed(took(s, t.Now))})
		l = append(l, t.left(s.Deadline(s.Claimed))...)
		l = append(l, critical(s)...)
		if s.Why != "" {
			l = append(l, span{yellow, "  " + oneLine(s.Why)})
		}
		all = append(all, row{line: l})
	}
	return all
}

// many shows each stack with many targets that works or waits, in one line, and returns those stacks.
func (t Tree) many() ([]row, map[string]*standing) {
	if t.Targets {
		return nil, nil
	}
	many := manyIn(t.Run)
	var all []row
	said := make(map[string]bool)
	for _, s := range t.Run.Steps {
		stack := plan.Several(s.Node)
		m := many[stack]
		if m == nil || said[stack] || m.by[run.Running]+m.by[run.Waiting]+m.by[run.Pending] == 0 {
			continue
		}
		said[stack] = true
		sign := span{cyan, "● "}
		if m.by[run.Running] == 0 {
			sign = span{normal, "○ "}
		}
		all = append(all, row{line: line{sign, {bold, stack}, {normal, "  " + m.text()}}})
	}
	return all, many
}

// left is the time until a deadline, if there is one.
func (t Tree) left(deadline time.Time) line {
	switch d := deadline.Sub(t.Now); {
	case deadline.IsZero():
		return nil
	case d <= 0:
		return line{{yellow, ", overdue by " + elapsed(-d)}}
	default:
		return line{{dim, ", " + elapsed(d) + " left"}}
	}
}

// next shows the pending steps that wait only for running steps or for their time,
// and counts the other pending steps.
func (t Tree) next() []row {
	var all []row
	later, critical := 0, t.critical()
	_, many := t.many()
	for _, s := range t.Run.Steps {
		if s.Status != run.Pending || many[plan.Several(s.Node)] != nil {
			continue
		}
		waits, soon := pendingAfter(t.Run, s)
		if !soon {
			later++
			continue
		}
		l := t.step(s, normal, "○")
		switch {
		case s.NotBefore.After(t.Now):
			l = append(l, span{yellow, "  retried in " + elapsed(s.NotBefore.Sub(t.Now)) + ": " + oneLine(s.Why)})
		case len(waits) > 0:
			l = append(l, span{dim, "  after " + strings.Join(waits, ", ")})
		}
		l = append(l, critical(s)...)
		all = append(all, row{line: l})
	}
	if later > 0 {
		all = append(all, row{line: line{{dim, fmt.Sprintf("○ … then %d more", later)}}})
	}
	return all
}

// pendingAfter lists what a step still waits for, and whether all of that runs or waits for a person.
func pendingAfter(r run.Run, s run.Step) (waits []string, soon bool) {
	for _, n := range s.After {
		switch a := &r.Steps[n]; a.Status {
		case run.Done:
		case run.Running, run.Waiting:
			waits = append(waits, a.ID)
		default:
			return nil, false
		}
	}
	return waits, true
}

// done counts the finished steps in one line, and names as many as fit, the latest
// first, each with its duration.
func (t Tree) done() []row {
	var over []run.Step
	for _, s := range t.Run.Steps {
		if s.Status == run.Done {
			over = append(over, s)
		}
	}
	slices.SortStableFunc(over, func(a, b run.Step) int { return b.Ended.Compare(a.Ended) })
	var counts, names []string
	for _, s := range over {
		names = append(names, name(s)+" "+exactly(took(s, s.Ended)))
	}
	if len(over) > 0 {
		counts = append(counts, fmt.Sprintf("%d done", len(over)))
	}
	if n := t.Run.Unchanged; n > 0 {
		counts = append(counts, fmt.Sprintf("%d unchanged", n))
	}
	if len(counts) == 0 {
		return nil
	}
	l := line{{green, "✓ "}, {dim, strings.Join(counts, ", ")}}
	if len(names) > 0 {
		l = append(l, span{dim, " · " + strings.Join(names, ", ")})
	}
	return []row{{line: l}}
}

// step is the beginning of a step's line: mark, name, verb.
func (t Tree) step(s run.Step, paint style, mark string) line {
	width := 0
	for _, other := range t.Run.Steps {
		if other.Status == run.Running || other.Status == run.Waiting || other.Status == run.Failed || other.Status == run.Pending {
			width = max(width, cells(name(other)))
		}
	}
	verb := string(s.Verb)
	if s.Node == "" {
		verb = ""
	}
	if s.Deployment != "" {
		verb += " (" + string(s.Deployment) + ")"
	}
	return line{{paint, mark + " "}, {normal, pad(name(s), min(width, 40)) + "  "}, {dim, pad(verb, 6)}}
}
