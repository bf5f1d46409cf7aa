package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
)

// A Cause says why there is an edge.
type Cause string

// The causes of edges. The zero Cause is none.
const (
	Named    Cause = "needs"  // it is listed under needs:
	Output   Cause = "output" // a reference to an output
	Imported Cause = "import" // the template imports what the other template exports
	Read     Cause = "read"   // the template reads an output of the other stack with Fn::GetStackOutput
	Rollout  Cause = "order"  // the order of a rollout; only cycles have such edges
)

// An Edge says that a node is deployed after another, and why. Two nodes may
// have several edges between them.
type Edge struct {
	Node  string `json:"node"`           // the one that is deployed after
	Needs string `json:"needs"`          // the one that is deployed before
	Cause Cause  `json:"cause"`          //
	What  string `json:"what,omitempty"` // the name of the output or the export
	For   string `json:"for,omitempty"`  // "parameter VpcId" or "tag vpc", which uses the output
	Place string `json:"place"`          // file:line:column
}

// String says why, as in "app uses db.Url for parameter Url".
func (e Edge) String() string {
	switch e.Cause {
	case Output:
		return fmt.Sprintf("%s uses %s.%s for %s", e.Node, e.Needs, e.What, e.For)
	case Rollout:
		return fmt.Sprintf("by the rollout, %s comes after %s", e.Node, e.Needs)
	case Imported:
		return fmt.Sprintf("%s imports %s, which %s exports", e.Node, e.What, e.Needs)
	case Read:
		return fmt.Sprintf("%s reads %s.%s in its template", e.Node, e.Needs, e.What)
	}
	return fmt.Sprintf("%s needs %s", e.Node, e.Needs)
}

// Compare orders edges.
func (e Edge) Compare(f Edge) int {
	return cmp.Or(cmp.Compare(e.Node, f.Node), cmp.Compare(e.Needs, f.Needs), cmp.Compare(e.Cause, f.Cause),
		cmp.Compare(e.What, f.What), cmp.Compare(e.For, f.For), cmp.Compare(e.Place, f.Place))
}

// SortedEdges lists the edges with their positions.
func (p *Project) SortedEdges() []Edge {
	var all []Edge
	for e, at := range p.Edges {
		e.Place = at.String()
		all = append(all, e)
	}
	slices.SortFunc(all, Edge.Compare)
	return all
}

// edge adds an edge. If the edge exists, it keeps the position that is first in the
// files.
func (r *resolver) edge(e Edge, at problem.Position) {
	first, ok := r.Edges[e]
	if !ok && !r.limits.text(256) {
		return
	}
	if !ok || at.Compare(first) < 0 {
		r.Edges[e] = at
	}
}

// addNeeds adds the edges that a stack declares itself.
func (r *resolver) addNeeds(s *Stack) {
	if s.Settings.Needs == nil {
		return
	}
	what := "stack " + s.Name + ": needs"
	for _, v := range *s.Settings.Needs {
		if r.Full() {
			return
		}
		written, plain := v.Literal()
		if !plain {
			r.Add(v.At, "%s: references are allowed only in parameters, tags and options: write the stack's name", what)
			continue
		}
		name, target, _ := strings.Cut(written, "@")
		other, err := r.find(s, name, target, v.At)
		switch {
		case err != nil:
			r.refuse(v.At, what+": "+problem.Short(written), err)
		case other == s:
			r.Add(v.At, "%s: %s: a stack cannot need itself: remove it", what, problem.Short(written))
		default:
			r.edge(Edge{Node: s.Node.Name, Needs: other.Node.Name, Cause: Named}, v.At)
		}
	}
}

// A Place is a name in an account and region, where the names of stacks and of
// exports are unique.
type Place struct{ account, region, name string }

// Place returns the place of a name where the stack is deployed.
func (s *Stack) Place(name string) Place {
	return Place{s.Node.Target.Account, s.Node.Target.Region, name}
}

// A maker is a stack that makes an export, or may make it, of one of its outputs.
type maker struct {
	stack  *Stack
	output string // "" for an export of a nested stack
}

func (r *resolver) makers() map[Place][]maker {
	all := map[Place][]maker{}
	for _, s := range r.Stacks {
		for _, x := range s.Exports {
			all[s.Place(x.Name)] = append(all[s.Place(x.Name)], maker{s, x.Output})
		}
		for _, name := range s.nestedExports {
			all[s.Place(name)] = append(all[s.Place(name)], maker{stack: s})
		}
	}
	return all
}

func (r *resolver) findExports(s *Stack) {
	if s.Template == nil {
		return
	}
	s.Node.Links.Hidden = s.Template.Macros()
	if !s.Template.exports {
		return
	}
	s.Exports = r.Evaluation(s).Exports()
	s.Node.Links.Exports = make(map[string]string)
	for _, o := range r.Evaluation(s).Outputs() {
		if o.Export != nil {
			s.Node.Links.Exports[o.Name] = ""
		}
	}
	for _, x := range s.Exports {
		s.Node.Links.Exports[x.Output] = x.Name
		if x.Maybe {
			s.Node.Links.Maybe = append(s.Node.Links.Maybe, x.Output)
		}
	}
}

// findImports finds what a stack imports.
func (r *resolver) findImports(s *Stack) {
	if s.Template == nil || !s.Template.imports {
		return
	}
	if len(r.Evaluation(s).HiddenImports()) > 0 {
		s.Node.Links.Imports = []string{""}
	}
	for _, i := range r.Evaluation(s).Imports() {
		s.Node.Links.Imports = append(s.Node.Links.Imports, i.Name)
	}
}

// addImports adds the edges from stacks that import to those that export. An
// import whose name depends on an output of another stack makes no edge;
// CloudFormation refuses the import if the export does not exist yet.
func (r *resolver) addImports() {
	makers := r.makers()
	if len(makers) == 0 {
		return
	}
	elsewhere := map[string][]maker{} // by the name of the export, in all accounts and regions
	for at, all := range makers {
		elsewhere[at.name] = append(elsewhere[at.name], all...)
	}
	for _, all := range elsewhere {
		slices.SortFunc(all, func(a, b maker) int { return cmp.Compare(a.stack.Node.Name, b.stack.Node.Name) })
	}
	for _, s := range r.Stacks {
		r.useExports(s, makers)
		if r.Full() {
			return
		}
		imported := func(export string, at problem.Position) {
			r.warnElsewhere(s, export, at, elsewhere, makers)
			for _, maker := range makers[s.Place(export)] {
				if maker.stack != s {
					r.edge(Edge{Node: s.Node.Name, Needs: maker.stack.Node.Name, Cause: Imported, What: export}, at)
				}
			}
		}
		for _, i := range s.nestedImports {
			id, _, _ := strings.Cut(i.resource, ".")
			resource := s.Template.Resources[id]
			imported(i.export, s.Template.Where(resource.Line, resource.Column))
		}
		if s.Template == nil || !s.Template.imports {
			continue
		}
		for _, i := range r.Evaluation(s).Imports() {
			imported(i.Name, s.Template.Where(i.Line, i.Column))
		}
	}
}
