package term

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// count is the number of steps of each status.
func count(steps []run.Step) map[run.Status]int {
	n := make(map[run.Status]int)
	for _, s := range steps {
		n[s.Status]++
	}
	return n
}

// tally counts the steps by status, as in "3 of 9 done, 2 running".
func tally(r run.Run) string {
	n := count(r.Steps)
	words := []string{fmt.Sprintf("%d of %d done", n[run.Done], len(r.Steps))}
	for _, s := range []run.Status{run.Running, run.Failed, run.Skipped} {
		if n[s] > 0 {
			words = append(words, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	return strings.Join(words, ", ")
}

// root names the failed step because of which a step was skipped, or returns the
// reason if there is no such step.
func root(s run.Step) string { return cmp.Or(s.Cause.Step, s.Why) }

// skips groups the names of skipped steps by the cause of the skip, in the order of
// the plan.
func skips(r run.Run) (causes []string, by map[string][]string) {
	by = make(map[string][]string)
	for _, s := range r.Steps {
		if s.Status != run.Skipped {
			continue
		}
		cause := root(s)
		if by[cause] == nil {
			causes = append(causes, cause)
		}
		by[cause] = append(by[cause], name(s))
	}
	return causes, by
}

// name is the name of a step without its verb.
func name(s run.Step) string {
	if s.Node == "" {
		return string(s.Verb)
	}
	return s.Node
}

// elapsed shows a duration to the second: 8s, 1m02s, 1h02m.
func elapsed(d time.Duration) string {
	d = d.Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0:
		return fmt.Sprintf("%dh%02dm", h, m)
	case m > 0:
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%ds", s)
}

// exactly shows a duration that is over: below ten seconds, to a tenth.
func exactly(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%gs", d.Round(100*time.Millisecond).Seconds())
	}
	return elapsed(d)
}

// plural counts things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// oneLine puts a reason of several lines on one.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
