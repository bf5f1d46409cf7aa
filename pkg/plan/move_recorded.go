package plan

import (
	"fmt"
	"maps"
	"slices"
)

// A RecordedMove is a movement that the record of one of its stacks keeps until the stack is updated: the run may have
// ended between the two.
type RecordedMove struct {
	Run string `json:"run"`
	Movement
}

// stack is the one of the two stacks that has the record.
func (m RecordedMove) stack() MovedStack {
	if m.Leaving {
		return m.Source
	}
	return m.Target
}

// String says what was moved, for people.
func (m RecordedMove) String() string {
	var were, are []string
	for _, r := range m.Resources {
		were, are = append(were, r.From), append(are, r.To)
	}
	if m.Leaving {
		return fmt.Sprintf("run %s has moved %s to %s, and the update that follows has not succeeded yet", m.Run, listed(were), m.Target.Node)
	}
	return fmt.Sprintf("run %s has moved %s here from %s, and the update that follows has not succeeded yet", m.Run, listed(are), m.Source.Node)
}

// MovedBefore lists the nodes whose stacks may be as a move has left them, because their records do not have a
// later update, sorted.
func (v View) MovedBefore() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		if v.recordedMove(name) != nil && v.managed(name) && !v.inaccessible(name) {
			all = append(all, name)
		}
	}
	return all
}

// MovedTemplate is the digest of the template with which a move has left, or was to leave, the stack of a node; empty if
// its record has no move.
func (v View) MovedTemplate(name string) string {
	if m := v.recordedMove(name); m != nil {
		return m.stack().Template
	}
	return ""
}

// recordedMove returns the movement in the record of a node; nil if there is none. If the run has ended before it could
// record that resources had come into the stack, the record of the stack that they left has it.
func (v View) recordedMove(name string) *RecordedMove {
	r := v.Recorded[name]
	if r.Moved != nil || !r.Intent {
		return r.Moved
	}
	for _, source := range v.Recorded {
		if m := source.Moved; m != nil && m.Leaving && m.Run == r.Run && m.Target.StackID == r.StackID {
			arrived := *m
			arrived.Leaving = false
			return &arrived
		}
	}
	return nil
}

// asMoved returns the movement that has left the stack of a node as it is, by its template: nobody has deployed another
// one since. It is nil if there is none.
func (v View) asMoved(name string) *RecordedMove {
	m, f := v.recordedMove(name), v.Found[name]
	if m == nil || f.Template == nil || f.Deployed != m.stack().Template {
		return nil
	}
	return m
}

// changedSince reports whether somebody else has changed the stack of a node since a move that has left its template. If
// the run has ended before it could record when the move was over, nobody knows.
func (v View) changedSince(m RecordedMove, name string) bool {
	at, r := v.Live[name].LastUpdated, v.Recorded[name]
	if r.LastUpdated.Equal(at) || r.Intent {
		return false
	}
	if !m.Leaving {
		return true
	}
	arrived := v.Recorded[m.Target.Node].Moved
	return arrived != nil && arrived.Run == m.Run && !arrived.Leaving && !arrived.Source.LastUpdated.Equal(at)
}
