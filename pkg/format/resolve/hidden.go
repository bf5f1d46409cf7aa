package resolve

import (
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// symbol is around an expression that stands for its value in the names of exports. No name has it.
const symbol = "\x00"

// symbolic evaluates a stack's template with expressions in the place of values that only a deploy can say. Two
// names of exports that are the same then are the same when the stacks are deployed.
func (r *resolver) symbolic(s *Stack) *template.Evaluation {
	known := maps.Clone(s.Known)
	for name, text := range s.Node.Parameters {
		if _, ok := text.Known(); !ok && text != nil {
			known[name] = symbol + text.String() + symbol
		}
	}
	scope := r.scope(s)
	scope.Parameters = known
	scope.Stored = func(name string) (string, bool) { return symbol + "${ssm:" + name + "}" + symbol, true }
	return s.Template.In(scope)
}

// addHiddenImports adds the edges of imports whose names only a deploy can say, as far as an export has the same
// expression as its name, and warns of the others.
func (r *resolver) addHiddenImports() {
	importing := slices.DeleteFunc(slices.Clone(r.Stacks), func(s *Stack) bool {
		return !slices.Contains(s.Node.Links.Imports, "")
	})
	if len(importing) == 0 {
		return
	}
	makers := map[Place]*Stack{}
	for _, s := range r.Stacks {
		if s.Template == nil || !s.Template.exports {
			continue
		}
		for _, x := range r.symbolic(s).Exports() {
			if strings.Contains(x.Name, symbol) {
				makers[s.Place(x.Name)] = s
			}
		}
	}
	for _, s := range importing {
		if r.Full() {
			return
		}
		if s.Template == nil || !s.Template.imports {
			continue
		}
		e := r.symbolic(s)
		for _, i := range e.Imports() {
			if !strings.Contains(i.Name, symbol) {
				continue
			}
			at, name := s.Template.Where(i.Line, i.Column), strings.ReplaceAll(i.Name, symbol, "")
			if maker := makers[s.Place(i.Name)]; maker != nil && maker != s {
				r.edge(Edge{Node: s.Node.Name, Needs: maker.Node.Name, Cause: Imported, What: name}, at)
			} else {
				r.warnHidden(s, at, "the export "+problem.Short(name))
			}
		}
		for _, i := range e.HiddenImports() {
			r.warnHidden(s, s.Template.Where(i.Line, i.Column), "an export")
		}
	}
}

// warnHidden warns that an import makes no edge, unless the files say what the stack is deployed after.
func (r *resolver) warnHidden(s *Stack, at problem.Position, what string) {
	if s.Settings.Needs != nil && len(*s.Settings.Needs) > 0 {
		return
	}
	r.Warn(at, "stack %s imports %s, whose name is known only when it is deployed, so that Stackwright cannot find the stack that makes it: "+
		"if it is a stack of this project, %s", s.Node.Name, what, needsIn(r.declared.Kind, s.Node.Name))
}

// needsIn says how the files of a kind order a stack after another.
func needsIn(k project.Kind, stack string) string {
	switch k {
	case project.Sceptre:
		return "list that under dependencies: of " + stack
	case project.CDK:
		return "add a dependency on that to " + stack + " (addDependency)"
	case project.Templates:
		return "write a project file in which " + stack + " needs that"
	}
	return "write needs: [NAME] under " + stack
}

// warnElsewhere warns of an import whose only makers in the project are in other accounts or regions.
func (r *resolver) warnElsewhere(s *Stack, export string, at problem.Position, elsewhere map[string][]maker, makers map[Place][]maker) {
	if len(makers[s.Place(export)]) > 0 || len(elsewhere[export]) == 0 {
		return
	}
	of := elsewhere[export][0]
	do := "pass its output as a parameter"
	if r.declared.Kind == project.WithFile && of.output != "" {
		do = "write ${" + of.stack.Node.Name + "." + of.output + "} as a parameter"
	}
	r.Warn(at, "stack %s imports the export %s, which only %s makes, in another account or region (%s): an import finds exports of its own "+
		"account and region only: %s", s.Node.Name, problem.Short(export), of.stack.Node.Name, of.stack.Node.Target.Where(), do)
}
