package run

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A Revision is what a run has deployed, or has started to deploy: files, with the values from outside the project that it has read.
type Revision struct {
	Run       string    `json:"run"`
	Operation string    `json:"operation"`
	State     State     `json:"state"` // of the run
	Partial   bool      `json:"partial,omitempty"`
	Source    Source    `json:"source"`
	Same      Source    `json:"same,omitzero"`    // as Run.Same
	Values    string    `json:"values,omitempty"` // reference to the values; empty if there were none, or if they were not kept
	Who       string    `json:"who,omitempty"`
	Requested time.Time `json:"requested"`
	Started   time.Time `json:"started"`
	Ended     time.Time `json:"ended,omitzero"`
}

// The words for revisions that are relative to what is deployed.
const (
	CurrentRevision  = "current"
	PreviousRevision = "previous"
)

// MostRevisions is how many revisions a history has: those of the newest successful deploys of all stacks.
const MostRevisions = 20

// MostSearched is how many of the newest runs of a project are searched for a revision.
const MostSearched = 1000

// IsRevision reports whether r, of operation o, has deployed files, or has started to.
func (r Run) IsRevision(o plan.Operation) bool {
	return o.Writes && o.NeedsFiles && r.Source != (Source{}) && !r.Started.IsZero()
}

// AsRevision returns the revision of r, of which IsRevision is true.
func (r Run) AsRevision() Revision {
	return Revision{
		Run: r.ID, Operation: r.Operation, State: r.State, Partial: r.Partial(), Source: r.Source, Same: r.Same, Values: r.Values, Who: r.By(),
		Requested: r.Requested, Started: r.Started, Ended: r.Ended,
	}
}

// good reports whether all stacks were deployed successfully.
func (v Revision) good() bool { return v.State == StateSucceeded && !v.Partial }

// Revisions lists the revisions of runs, which are newest first, and those of the history whose runs are not among them.
func (h History) Revisions(all plan.Operations, runs []Run) []Revision {
	var found []Revision
	for _, r := range runs {
		if r.IsRevision(all.Of(r.Operation)) {
			found = append(found, r.AsRevision())
		}
	}
	for _, v := range h.Kept() {
		if !slices.ContainsFunc(found, func(of Revision) bool { return of.Run == v.Run }) {
			found = append(found, v)
		}
	}
	slices.SortStableFunc(found, func(a, b Revision) int { return b.Requested.Compare(a.Requested) })
	return found
}

// Revision finds the revision that a word names among those of a project, newest first: the ID of its run, the beginning of
// that ID if no other revision's begins so, or current, previous and current~N. These count the revisions that were deployed
// successfully to all stacks, each once: the first before the current one is the one that was deployed last among the others.
// A deploy that changed nothing is not another one. After an attempt that has failed, previous is the current one, which the
// attempt was to replace. The empty word is the previous one.
func (h History) Revision(project, word string, all []Revision) (Revision, error) {
	if word == "" {
		word = PreviousRevision
	}
	if v, relative, err := h.relative(project, word, all); relative {
		return v, err
	}
	var found []Revision
	for _, v := range all {
		if v.Run == word {
			return v, nil
		}
		if strings.HasPrefix(v.Run, strings.ToLower(word)) {
			found = append(found, v)
		}
	}
	switch len(found) {
	case 0:
		return Revision{}, fault.New(fault.Missing, "there is no revision %.200q: %s lists them", word, listing(project))
	case 1:
		return found[0], nil
	}
	return Revision{}, fault.New(fault.Refused, "%d revisions begin with %.200q: give more of the ID: %s", len(found), word, described(found))
}

// relative finds the revision that a word names relative to what is deployed. It reports false if the word is no such word.
func (h History) relative(project, word string, all []Revision) (v Revision, relative bool, err error) {
	back, relative := backOf(word)
	if !relative {
		return Revision{}, false, nil
	}
	if word == PreviousRevision && h.failedSince(all) {
		back = 0
	}
	same := sameness(all)
	current := same.of(h.LastSuccessful)
	var before []Revision
	seen := map[Source]bool{current: true}
	for _, v := range all {
		of := same.of(v.Source)
		switch {
		case !v.good():
		case v.Source == h.LastSuccessful && back == 0:
			return v, true, nil
		case !seen[of]:
			seen[of] = true
			before = append(before, v)
		}
	}
	switch {
	case back == 0 && h.LastSuccessful == (Source{}):
		return Revision{}, true, fault.New(fault.Missing, "%s: no deploy of all stacks has succeeded, or they were destroyed since: name the run of the revision", word)
	case back == 0:
		return Revision{}, true, fault.New(fault.Missing, "%s: the run that has deployed it is not recorded any more: deploy the project again", word)
	case back > len(before):
		return Revision{}, true, fault.New(fault.Missing, "%s: it counts only other revisions that were deployed successfully "+
			"to all stacks, and changed something, and there are %d: name the run of the revision: %s lists them",
			word, len(before), listing(project))
	}
	return before[back-1], true, nil
}

// failedSince reports whether something else was attempted since the last deploy of all stacks that has succeeded: it has
// failed, was about some stacks only, or is still in progress. A deploy that was not approved has attempted nothing.
func (h History) failedSince(all []Revision) bool {
	if h.LastSuccessful == (Source{}) {
		return false
	}
	if h.LastAttempted.Run != "" && h.LastAttempted.Source == (Source{}) { // a destroy, which has no files
		return true
	}
	same := sameness(all)
	for _, v := range all {
		switch {
		case v.good():
			return false
		case v.Run == h.LastAttempted.Run, !v.State.Over() && !plan.AllOperations().Of(v.Operation).Restores:
			return same.of(v.Source) != same.of(h.LastSuccessful)
		}
	}
	return false
}

// A sources says which files have left the stacks as other files had, by those that changed nothing.
type sources map[Source]Source

// sameness returns which files of some revisions are as good as others.
func sameness(all []Revision) sources {
	same := make(sources)
	for _, v := range all {
		if v.Same != (Source{}) {
			same[v.Source] = v.Same
		}
	}
	return same
}

// of returns the files that stand for all that are as good as s.
func (same sources) of(s Source) Source {
	if as, is := same[s]; is {
		return as
	}
	return s
}

// listing is the command that lists the revisions of a project.
func listing(project string) string {
	name, environment, _ := strings.Cut(project, "@")
	return fmt.Sprintf("stackwright revisions --project %s --env %s", name, environment)
}

// IsRelative reports whether a word names a revision by how many it is before the current one, and not by its run.
func IsRelative(word string) bool { _, relative := backOf(word); return relative }

// backOf returns how many revisions a relative word goes back from the current one. It reports false if the word is not relative.
func backOf(word string) (int, bool) {
	switch word {
	case CurrentRevision:
		return 0, true
	case PreviousRevision:
		return 1, true
	}
	number, counts := strings.CutPrefix(word, CurrentRevision+"~")
	back, err := strconv.Atoi(number)
	return back, counts && err == nil && back > 0
}

// described lists at most five revisions in a sentence.
func described(all []Revision) string {
	var texts []string
	for _, v := range all[:min(len(all), 5)] {
		texts = append(texts, fmt.Sprintf("%s (%s, %s, %s)", v.Run, v.Operation, v.State, v.Requested.UTC().Format(time.RFC3339)))
	}
	if more := len(all) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// succeeded is Successful after r has deployed all stacks successfully. Files that were deployed before have one revision, the new one.
func (h History) succeeded(r Run) []Revision {
	others := slices.DeleteFunc(slices.Clone(h.Successful), func(v Revision) bool { return v.Source == r.Source })
	return slices.Concat([]Revision{r.AsRevision()}, others[:min(len(others), MostRevisions-1)])
}

// SameAs returns the files that were deployed before, if r, of operation o, which has ended, was a deploy of all stacks and
// has left everything as they had: no step has changed anything, and its files say the same of all that is not a stack. It is
// zero for other runs.
func (h History) SameAs(r Run, o plan.Operation) Source {
	if !r.IsRevision(o) || !r.AsRevision().good() {
		return Source{}
	}
	other := r.Settings == "" || r.Settings != h.Settings || slices.ContainsFunc(r.Steps, Step.changed)
	if h.LastSuccessful == (Source{}) || other {
		return Source{}
	}
	for _, v := range h.Successful {
		if v.Source == h.LastSuccessful && v.Same != (Source{}) {
			return v.Same
		}
	}
	if r.Source == h.LastSuccessful {
		return Source{}
	}
	return h.LastSuccessful
}

// changed reports whether a step that is over has changed something, or may have. A step about no stack and without arguments
// only orders others, or asks.
func (s Step) changed() bool {
	return s.Attempt > 0 && !s.Receipt.Unchanged && s.Approval == nil && (s.Node != "" || s.Arguments != nil)
}
