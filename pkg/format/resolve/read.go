package resolve

import (
	"cmp"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Reading is what a template reads with Fn::GetStackOutput of another stack of the project.
type Reading struct {
	From   *Stack
	Output string
	Maybe  bool // a condition that is not known decides whether it is read
	At     problem.Position
}

// addReads adds the edges from stacks whose templates read outputs with Fn::GetStackOutput to the stacks that have
// them. A read of a stack outside the project makes no edge, nor does one whose stack is known only when the reader is
// deployed: what that gives is not known before.
func (r *resolver) addReads() {
	by := map[Place]*Stack{}
	for _, s := range r.Stacks {
		if _, taken := by[s.Place(s.Node.Stack)]; !taken {
			by[s.Place(s.Node.Stack)] = s
		}
	}
	for _, s := range r.Stacks {
		if s.Template == nil || !s.Template.reads {
			continue
		}
		e := r.Evaluation(s)
		outside := len(e.HiddenReads()) > 0
		for _, read := range e.Reads() {
			from := by[Place{read.Account, read.Region, read.Stack}]
			if from == nil || from == s {
				outside = true
				continue
			}
			at := s.Template.Where(read.Line, read.Column)
			r.edge(Edge{Node: s.Node.Name, Needs: from.Node.Name, Cause: Read, What: read.Output}, at)
			s.Reads = append(s.Reads, Reading{from, read.Output, read.Maybe, at})
			s.Node.Reads = append(s.Node.Reads, project.Read{Node: from.Node.Name, Output: read.Output})
		}
		s.Node.Template.Pinned = s.Node.Template.Pinned && !outside
		slices.SortFunc(s.Node.Reads, func(a, b project.Read) int {
			return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Output, b.Output))
		})
		s.Node.Reads = slices.Compact(s.Node.Reads)
	}
}
