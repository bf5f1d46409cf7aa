package action

import (
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Durations of steps of which nothing better is known.
const (
	typicalCreation = time.Minute     // of a stack
	typicalRead     = 2 * time.Second // of a step that only reads
)

// Expected estimates how long a step takes on a node, if it changes anything:
// as long as it took before. If it has not been carried out on this stack, the estimate
// follows from the other verbs that have, else from the types of the resources. What the plan expects itself stays.
func (all Verbs) Expected(s plan.Step, n project.Node, r plan.Record) plan.Seconds {
	v, row := s.Verb, all.Of(s.Verb)
	if s.Expected > 0 {
		return s.Expected
	}
	if row.Share == 0 {
		return plan.SecondsOf(time.Duration(row.PollReads) * typicalRead)
	}
	if took, ok := r.Durations[v]; ok {
		return took
	}
	creation := time.Duration(0)
	for other, took := range r.Durations {
		if share := all.Of(other).Share; share > 0 {
			creation = max(creation, time.Duration(float64(took.Duration())/share))
		}
	}
	if creation == 0 {
		creation = n.Template.Creation
	}
	if creation == 0 {
		creation = typicalCreation
	}
	return plan.SecondsOf(time.Duration(row.Share * float64(creation)))
}
