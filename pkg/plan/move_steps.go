package plan

import (
	"errors"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// movements returns the steps of all moves, by the nodes to which they belong: the source's is
// first.
func (v View) movements() (leaving, arriving map[string]Step, moves []Move, err error) {
	leaving, arriving = make(map[string]Step), make(map[string]Step)
	var refusals []error
	for _, m := range v.Moving() {
		all, err := v.Arriving(m)
		if err != nil || len(all) == 0 {
			refusals = append(refusals, err)
			continue
		}
		movement := Movement{Source: v.movedStack(m.From), Target: v.movedStack(m.To), Resources: all}
		arriving[m.To], err = movement.step(MoveIn, v.Desired.Nodes[m.To].Timeout)
		if movement.Leaving = true; err == nil {
			leaving[m.From], err = movement.step(MoveOut, 0)
		}
		if err != nil {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: too many resources move from %s at once: move them in several deploys (%w)", m.To, m.From, err))
			continue
		}
		moves = append(moves, m)
	}
	return leaving, arriving, moves, errors.Join(refusals...)
}

func (m Movement) step(v Verb, timeout project.Timeout) (Step, error) {
	arguments, err := NewArguments(MovementVersion, m)
	return Step{Verb: v, Arguments: arguments, Timeout: timeout}, err
}

func (v View) movedStack(name string) MovedStack {
	live, moved := v.Live[name], v.Found[name].Moved
	return MovedStack{Node: name, Stack: v.Desired.Nodes[name].Stack, StackID: live.StackID, LastUpdated: live.LastUpdated, Template: moved.Digest, Bytes: moved.Bytes}
}

// move adds the steps of the moves: the source records that its template is not known, then CloudFormation moves the
// resources, and then both stacks are deployed. A move depends on nothing else, because it changes nothing else.
func (b *builder) move() {
	for _, m := range b.moves {
		out, in := b.leaving[m.From], b.arriving[m.To]
		out.ID, out.Node, out.Where = StepID(m.From, MoveOut, ""), m.From, b.view.where(m.From)
		in.ID, in.Node, in.Where = StepID(m.To, MoveIn, ""), m.To, b.view.where(m.To)
		b.steps[out.ID], b.steps[in.ID] = out, in
		b.graph.Add(in.ID, out.ID)
		for _, name := range []string{m.From, m.To} {
			b.graph.Add(b.deploys.first(name), in.ID)
		}
	}
}
