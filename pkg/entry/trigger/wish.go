package trigger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/run"
)

// wish is how a request steers the run that it names elsewhere.
type commandBody struct {
	Command  string `json:"wish"`     // pause, continue, cancel or unlock
	Rollback bool   `json:"rollback"` // cancel, then go back to what was last deployed well
	Force    bool   `json:"force"`    // cancel what is being updated, too
	Reason   string `json:"reason"`   // for the record
}

// Wished returns what a text wishes of a run of a project. It has no ID and
// nobody who asks. What is wrong with it is in its Problems.
func ParseCommand(project, id string, text []byte) run.Request {
	q := run.Request{Project: project, Operation: unknown, Of: id}
	w, err := decode[commandBody](text)
	if w.Command != "" {
		q.Operation = short(w.Command)
	}
	if err != nil {
		q.Problems = []string{"the wish is not understood: " + short(err.Error())}
		return q
	}
	q.Force, q.Rollback, q.Reason = w.Force, w.Rollback, w.Reason
	q.Problems = w.problems()
	return q
}

// problems tells all that is wrong with a wish, as of a request that says the
// same.
func (w commandBody) problems() []string {
	known := strings.Join(steering, ", ")
	switch {
	case w.Command == "":
		return []string{"wish: missing: say one of " + known}
	case !slices.Contains(steering, w.Command):
		return []string{fmt.Sprintf("wish: there is no %q: say one of %s", short(w.Command), known)}
	}
	b := body{Operation: w.Command}
	b.Options.Force, b.Options.Rollback, b.Options.Reason = w.Force, w.Rollback, w.Reason
	all := append(tooLong(b), misplaced(b)...)
	for i, p := range all {
		all[i] = strings.TrimPrefix(p, "options.")
	}
	return all
}
