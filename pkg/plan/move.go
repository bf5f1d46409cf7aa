package plan

import (
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Move is resources that go from the stack of one node into that of another, by
// CloudFormation's stack refactoring.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-refactoring.html
type Move struct {
	From, To  string            // nodes
	Resources map[string]string // their IDs in the template of To, by those in the template of From
}

// Back is the move that undoes m.
func (m Move) Back() Move {
	back := Move{From: m.To, To: m.From, Resources: make(map[string]string)}
	for from, to := range m.Resources {
		back.Resources[to] = from
	}
	return back
}

// Moves reports whether s moves resources into its stack.
func (s Step) Moves() bool {
	m, moves := movementOf(s)
	return moves && !m.Leaving
}

// Changes lists the nodes whose stacks s changes: its own, and the one from which it moves resources.
func (s Step) Changes() []string {
	if m, _ := movementOf(s); s.Moves() {
		return []string{s.Node, m.Source.Node}
	}
	return []string{s.Node}
}

// MovesBack lists the moves that undo those of the steps of a run, which may have been carried
// out or not.
func MovesBack(steps []Step) []Move {
	var all []Move
	for _, s := range steps {
		if m, _ := movementOf(s); s.Moves() {
			all = append(all, m.Move().Back())
		}
	}
	return all
}

// Moves lists the moves that a project's files demand, sorted.
func Moves(desired project.Project) []Move {
	var all []Move
	for _, to := range slices.Sorted(maps.Keys(desired.Nodes)) {
		for _, from := range slices.Sorted(maps.Keys(desired.Nodes[to].MoveFrom)) {
			all = append(all, Move{From: from, To: to, Resources: desired.Nodes[to].MoveFrom[from]})
		}
	}
	return all
}

// A Movement is the arguments of the verbs MoveOut and MoveIn.
type Movement struct {
	Leaving   bool            `json:"leaving,omitempty"` // the step is that of the source
	Source    MovedStack      `json:"source"`
	Target    MovedStack      `json:"target"`
	Resources []MovedResource `json:"resources"` // sorted by their IDs in the source
}

// MovementVersion is the version of Movement.
const MovementVersion = 1

// movementOf returns what a step moves. It reports false if it moves nothing.
func movementOf(s Step) (Movement, bool) {
	var m Movement
	err := s.Arguments.Read(MovementVersion, &m)
	return m, err == nil && m.Source.Node != ""
}

// Move returns what the movement does.
func (m Movement) Move() Move {
	move := Move{From: m.Source.Node, To: m.Target.Node, Resources: make(map[string]string)}
	for _, r := range m.Resources {
		move.Resources[r.From] = r.To
	}
	return move
}

// A MovedStack is one of the two stacks of a movement.
type MovedStack struct {
	Node        string    `json:"node"`
	Stack       string    `json:"stack"`
	StackID     string    `json:"stack_id"`
	LastUpdated time.Time `json:"last_updated"` // as the plan has seen it
	Template    string    `json:"template"`     // the digest of its template after the move
	Bytes       int       `json:"bytes"`        // the size of that template
}

// A MovedResource is a resource that moves.
type MovedResource struct {
	From string `json:"from"` // its ID in the template of the source
	To   string `json:"to"`   // its ID in the template of the target
	Type string `json:"type"`
}

// A Moved is what a plan knows of a stack from or into which resources move.
type Moved struct {
	Template *template.Template // after the move; nil if there is none
	Digest   string             // of that template
	Bytes    int                // its size
	Invalid  string             // why CloudFormation would refuse that template; empty if it would not
}

// Moving lists the moves of which the stacks may not have the outcome yet. A stack that was
// deployed from the desired template has it.
func (v View) Moving() []Move {
	about, _ := v.selected()
	var all []Move
	for _, m := range v.Moves {
		n, r, live := v.Desired.Nodes[m.To], v.Recorded[m.To], v.Live[m.To]
		done := v.managed(m.To) && r.Current(live) && r.Template == n.Template.Digest
		if !done && (about == nil || about[m.From] || about[m.To]) {
			all = append(all, m)
		}
	}
	return all
}
