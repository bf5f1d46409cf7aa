package term

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Next spells the command of the given words: a verb ("retry", "continue"), a
// run, and flags.
type Next func(words ...string) string

// Summary describes the result of a run: which steps are done, which failed and
// why, which were skipped because of a failure, and what to do next. Its lines,
// except for commands, are broken to fit a width; 0 is any width.
func Summary(r run.Run, next Next, width int) []string {
	var lines []string
	switch {
	case r.State == run.StateRefused:
		lines = refused(r)
	default:
		lines = []string{fmt.Sprintf("%s of %s %s %s: %s", plan.CommandOf(r.Operation), r.Project, stateText(r), exactly(latest(r).Sub(r.Requested)), stepCounts(r)), "  " + requested(r)}
		if waiting := r.Asks(); len(waiting) > 0 && !r.State.Over() && subject(r) != wholePlan {
			lines = append(lines, "  waiting: "+strings.Join(waiting, ", "))
		}
		lines = append(lines, failureLines(r)...)
		lines = append(lines, findingLines(r)...)
		if n := expressSteps(r); n > 0 {
			lines = append(lines, "  in express mode: "+Plural(n, "stack")+", whose resources may not be ready, or not be deleted, yet")
		}
		for _, m := range r.Messages {
			lines = append(lines, "  "+oneLine(m))
		}
	}
	lines = fold(lines, width)
	for _, n := range nextSteps(r, next) {
		if line := n.what + ": " + n.command; width == 0 || cells(line) <= width {
			lines = append(lines, line)
		} else {
			lines = append(lines, n.what+":", "  "+n.command)
		}
	}
	return lines
}

// fold breaks lines that are longer than a width. The rest of a broken line keeps
// its indent, and two columns more. Control characters are replaced: the messages of
// a run quote its request, which anybody with access to the bucket can write.
func fold(lines []string, width int) []string {
	var all []string
	for _, l := range lines {
		l = printable(l)
		if width == 0 || cells(l) <= width {
			all = append(all, l)
			continue
		}
		indent := l[:len(l)-len(strings.TrimLeft(l, " "))]
		for _, part := range Wrap(l, width-len(indent), "  ") {
			all = append(all, indent+part)
		}
	}
	return all
}

// requested says which run it is, who requested it and why, and who gave it the
// command that it obeys.
func requested(r run.Run) string {
	text := "run " + r.ID
	if who := r.By(); who != "" {
		text += ", requested by " + who
	}
	if r.Reason != "" {
		text += " (" + oneLine(r.Reason) + ")"
	}
	if word := byWhom(r); word != "" {
		text += "; " + word
	}
	return text
}

// byWhom says who gave a run the command that it obeys, and why: "cancelled by
// ann@laptop: wrong branch". It is empty if nobody did.
func byWhom(r run.Run) string {
	words := map[run.Command]string{
		run.Pause: "paused", run.Cancel: "cancelled", run.CancelAndRollBack: "cancelled", run.Supersede: "superseded", run.Continue: "",
	}
	c := r.Given()
	word := words[r.Command]
	if word == "" || c.Who == "" {
		return ""
	}
	text := word + " by " + c.Who
	if c.Why != "" {
		text += ": " + oneLine(c.Why)
	}
	return text
}

// isPreview reports whether r's plan is shown and not executed.
func isPreview(r run.Run) bool { return plan.IsPreview(r.Operation) }

// stateText is the state of a run in a sentence that ends with a duration: "failed in".
func stateText(r run.Run) string {
	switch r.State {
	case run.StateFailed, run.StateSucceeded:
		return string(r.State) + " in"
	case run.StateWaiting:
		if all := questions(r); len(all) > 0 && r.Command == run.Continue && all[0].step.Approval != nil {
			return "waits for approval until " + firstDeadline(all).UTC().Format(time.DateTime) + " UTC, after"
		}
	case run.StateSuperseded:
		if r.SupersededBy != "" {
			return "was superseded by run " + r.SupersededBy + " after"
		}
	}
	return "is " + string(r.State) + " after"
}

// stepCounts counts the finished steps by verb.
func stepCounts(r run.Run) string {
	verbs := action.Named(action.All(nil, nil, nil, nil, nil)...)
	same, by := r.Unchanged, make(map[string]int) // by what they did
	for _, s := range r.Steps {
		switch {
		case s.Status != run.Done, s.Approval != nil && !s.Answer.Known(): // nobody had to approve a change set
		case s.Receipt.Unchanged:
			same++
		default:
			by[verbs.Of(s.Verb).Past]++
		}
	}
	var words []string
	for _, v := range action.All(nil, nil, nil, nil, nil) {
		if by[v.Past] > 0 && v.Past != "" {
			words = append(words, fmt.Sprintf("%d %s", by[v.Past], v.Past))
			delete(by, v.Past)
		}
	}
	if same > 0 {
		words = append(words, fmt.Sprintf("%d unchanged", same))
	}
	n := count(r.Steps)
	for _, s := range []run.Status{run.Failed, run.Skipped, run.Waiting, run.Running, run.Pending} {
		if n[s] > 0 {
			words = append(words, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	switch {
	case len(words) > 0:
	case r.State != run.StateSucceeded:
		return "nothing was done"
	case plan.AllOperations().Of(r.Operation).WithoutSteps():
		return "no stack was changed"
	default:
		return "there was nothing to do"
	}
	return strings.Join(words, ", ")
}

// failureLines lists the failed steps, each with its reason and the steps that were
// skipped because of it.
func failureLines(r run.Run) []string {
	var lines []string
	for _, f := range failures(r) {
		skipped := namesOf(f.skipped)
		if f.step.ID == "" {
			lines = append(lines, fmt.Sprintf("  skipped, %s: %s", f.cause, skipped))
			continue
		}
		lines = append(lines, fmt.Sprintf("  %s failed: %s", f.step.ID, oneLine(f.step.Why)))
		if skipped != "" {
			lines = append(lines, "    skipped because of it: "+skipped)
		}
	}
	if barrier := r.Step(string(plan.Barrier)); barrier != nil && barrier.Status == run.Skipped {
		lines = append(lines, "  no stack was deleted permanently: such deletions wait until all other steps have succeeded")
	}
	return lines
}

// expressSteps counts the finished steps in CloudFormation's express mode.
func expressSteps(r run.Run) (n int) {
	for _, s := range r.Steps {
		if s.Status == run.Done && s.Deployment != "" && !s.Receipt.Unchanged {
			n++
		}
	}
	return n
}

// A nextStep is what a person can do next, and the command for it.
type nextStep struct{ what, command string }

// nextSteps lists what a person can do next about a run.
func nextSteps(r run.Run, next Next) []nextStep {
	if next == nil {
		return nil
	}
	switch {
	case r.State == run.StateFailed, r.State == run.StateCancelled:
		return again(r, next)
	case r.State == run.StateSuperseded && r.SupersededBy != "":
		return []nextStep{{"to follow the newer run", next("status", r.SupersededBy, "--follow")}}
	case r.State == run.StateWaiting && r.Command == run.Continue && len(r.Asks()) > 0:
		return []nextStep{{"to see and approve " + subject(r), next("approve", r.ID)}, {"to reject", next("reject", r.ID, "--reason", "WHY")}}
	case r.State == run.StateWaiting:
		return []nextStep{{"to continue", next("continue", r.ID)}}
	}
	return nil
}

// again lists the ways to do a run again that has failed or was cancelled: with the same files, unless somebody has rejected what they do,
// and with others, if the project's files say what it deploys.
func again(r run.Run, next Next) []nextStep {
	var all []nextStep
	if !slices.ContainsFunc(r.Steps, func(s run.Step) bool { return s.Answer.Known() && !s.Answer.Yes }) {
		all = append(all, nextStep{"to retry with the same files", next("retry", r.ID)})
	}
	if o := plan.AllOperations().Of(r.Operation); o.Writes && o.NeedsSource() && !o.Restores {
		deploy := next("deploy")
		if _, environment, _ := strings.Cut(r.Project, "@"); environment != project.DefaultEnvironment {
			deploy = next("deploy", "--env", environment)
		}
		return append(all, nextStep{"after a change of the files", deploy})
	}
	if len(all) > 0 {
		all[0].what = "to retry"
	}
	return all
}

// refused says why a run never started.
func refused(r run.Run) []string {
	lines := []string{fmt.Sprintf("%s of %s was refused (run %s)", plan.CommandOf(r.Operation), r.Project, r.ID)}
	for _, m := range r.Messages {
		lines = append(lines, "  "+strings.ReplaceAll(m, "\n", "\n  "))
	}
	return lines
}
