package term

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/run"
)

// MaxLines is the most that a tree takes, however large the window.
const MaxLines = 24

// A Tree is a run at a moment, drawn as a tree: what failed stays at the top
// with its reason, then what runs, what comes next, and what is done.
type Tree struct {
	Run    run.Run
	Now    time.Time
	Colour bool
}

// Render draws the tree in at most height lines, and never more than MaxLines,
// of at most width cells each.
func (t Tree) Render(width, height int) []string {
	height = max(min(height, MaxLines), 1)
	body := t.body(height - 1)
	lines := []string{t.head().fit(width, t.Colour)}
	for i, b := range body {
		lines = append(lines, append(line{{dim, branch(body, i)}}, b.line...).fit(width, t.Colour))
	}
	return lines
}

// A twig is a line of the tree below its head.
type twig struct {
	line  line
	under bool // it belongs to the one before
}

// branch draws the tree's wood before twig i.
func branch(all []twig, i int) string {
	last := true
	for _, later := range all[i+1:] {
		last = last && later.under
	}
	switch {
	case all[i].under && last:
		return "   └─ "
	case all[i].under:
		return "│  └─ "
	case last:
		return "└─ "
	}
	return "├─ "
}

// head is the first line: what, how far, how long.
func (t Tree) head() line {
	r := t.Run
	end := t.Now
	if r.State.Over() {
		end = latest(r)
	}
	l := line{{bold, r.Operation + " " + r.Project}}
	if len(r.Steps) > 0 {
		l = append(l, span{normal, " · " + tally(r)})
	}
	if word := t.mood(); word != "" {
		l = append(l, span{yellow, " · " + word})
	}
	l = append(l, span{dim, " · " + elapsed(end.Sub(r.Requested))})
	if !r.State.Over() {
		l = append(l, t.left(r.Deadline)...)
	}
	return append(l, span{dim, " · run " + r.ID})
}

// mood says what else is to be known of the run as a whole.
func (t Tree) mood() string {
	switch r := t.Run; {
	case r.State == run.StatePending:
		return "planning"
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
		return "ending for run " + r.SupersededBy
	}
	return ""
}

// body is all below the head, in at most room lines.
func (t Tree) body(room int) []twig {
	failed, running, next, done := t.failed(), t.running(), t.next(), t.done()
	room -= len(done)
	if len(failed)+len(running)+len(next) > room {
		next = cut(next, min(len(next), 3), "to come")
	}
	if len(failed)+len(running)+len(next) > room {
		failed = flat(failed)
		failed = cut(failed, max(room/2, room-len(running)-len(next)), "failed")
	}
	running = cut(running, room-len(failed)-len(next), "running")
	var all []twig
	for _, part := range [][]twig{failed, running, next, done} {
		all = append(all, part...)
	}
	return all[:min(len(all), max(room+len(done), 0))]
}

// cut keeps at most room twigs, the last of which then counts the rest.
func cut(all []twig, room int, what string) []twig {
	if len(all) <= room {
		return all
	}
	if room <= 0 {
		return nil
	}
	rest := fmt.Sprintf("… and %d more %s", len(all)-room+1, what)
	return append(all[:room-1:room-1], twig{line: line{{dim, rest}}})
}

// flat leaves out the twigs below others.
func flat(all []twig) []twig {
	var top []twig
	for _, b := range all {
		if !b.under {
			top = append(top, b)
		}
	}
	return top
}

// failed shows each failed step with its reason, and below it what was skipped
// for it; then what was skipped for no step.
func (t Tree) failed() []twig {
	var all []twig
	causes, by := skips(t.Run)
	for _, s := range t.Run.Steps {
		if s.Status != run.Failed {
			continue
		}
		all = append(all, twig{line: append(t.step(s, red, "✗"), span{red, "  " + oneLine(s.Why)})})
		if names := by[s.ID]; len(names) > 0 {
			all = append(all, twig{under: true, line: line{{dim, "skipped with it: " + strings.Join(names, ", ")}}})
		}
		delete(by, s.ID)
	}
	for _, cause := range causes {
		if names := by[cause]; len(names) > 0 {
			all = append(all, twig{line: line{{dim, "– skipped, " + cause + ": " + strings.Join(names, ", ")}}})
		}
	}
	return all
}

// running shows what runs, and for how long it has.
func (t Tree) running() []twig {
	var all []twig
	for _, s := range t.Run.Steps {
		if s.Status != run.Running {
			continue
		}
		l := append(t.step(s, cyan, "●"), span{normal, "  " + elapsed(took(s, t.Now))})
		l = append(l, t.left(s.Deadline(s.Claimed))...)
		if s.Why != "" {
			l = append(l, span{yellow, "  " + oneLine(s.Why)})
		}
		all = append(all, twig{line: l})
	}
	return all
}

// left says how much time there is to a deadline, if there is one.
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

// next shows the pending steps that wait only for what runs, or for their time,
// and counts those behind them.
func (t Tree) next() []twig {
	status := make(map[string]run.Status)
	for _, s := range t.Run.Steps {
		status[s.ID] = s.Status
	}
	var all []twig
	later := 0
	for _, s := range t.Run.Steps {
		if s.Status != run.Pending {
			continue
		}
		waits, soon := awaited(s, status)
		if !soon {
			later++
			continue
		}
		l := t.step(s, normal, "○")
		switch {
		case s.NotBefore.After(t.Now):
			l = append(l, span{yellow, "  again in " + elapsed(s.NotBefore.Sub(t.Now)) + ": " + oneLine(s.Why)})
		case len(waits) > 0:
			l = append(l, span{dim, "  after " + strings.Join(waits, ", ")})
		}
		all = append(all, twig{line: l})
	}
	if later > 0 {
		all = append(all, twig{line: line{{dim, fmt.Sprintf("○ … then %d more", later)}}})
	}
	return all
}

// awaited lists what a step still waits for, and whether all of that runs.
func awaited(s run.Step, status map[string]run.Status) (waits []string, soon bool) {
	for _, a := range s.After {
		switch status[a] {
		case run.Done:
		case run.Running:
			waits = append(waits, a)
		default:
			return nil, false
		}
	}
	return waits, true
}

// done shows what is done in one line, the latest first, for that is news.
func (t Tree) done() []twig {
	var over []run.Step
	for _, s := range t.Run.Steps {
		if s.Status == run.Done {
			over = append(over, s)
		}
	}
	slices.SortStableFunc(over, func(a, b run.Step) int { return b.Ended.Compare(a.Ended) })
	names := make([]string, len(over))
	for i, s := range over {
		names[i] = name(s)
	}
	var l line
	if len(names) > 0 {
		l = line{{green, "✓ "}, {dim, strings.Join(names, ", ")}}
	}
	if n := t.Run.Unchanged; n > 0 {
		text := fmt.Sprintf("✓ %d unchanged", n)
		if len(l) > 0 {
			l = append(line{{green, "✓ "}, {dim, fmt.Sprintf("%d unchanged · ", n)}}, l[1:]...)
		} else {
			l = line{{dim, text}}
		}
	}
	if len(l) == 0 {
		return nil
	}
	return []twig{{line: l}}
}

// step is the beginning of a step's line: mark, name, verb.
func (t Tree) step(s run.Step, paint style, mark string) line {
	width := 0
	for _, other := range t.Run.Steps {
		if other.Status == run.Running || other.Status == run.Failed || other.Status == run.Pending {
			width = max(width, utf8.RuneCountInString(name(other)))
		}
	}
	verb := string(s.Verb)
	if s.Node == "" {
		verb = ""
	}
	return line{{paint, mark + " "}, {normal, pad(name(s), min(width, 40)) + "  "}, {dim, pad(verb, 6)}}
}
