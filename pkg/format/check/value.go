package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// parameters compares a stack's parameters with those of its template.
func (c *checker) parameters(s *resolve.Stack) {
	if s.Template == nil {
		return
	}
	what := "stack " + s.Name
	for _, name := range slices.Sorted(maps.Keys(s.Settings.Parameters)) {
		e := s.Settings.Parameters[name]
		p, ok := s.Template.Parameters[name]
		if !ok {
			c.Add(e.At, "%s: parameter %s: %s has no such parameter%s", what, problem.Short(name), s.Template, c.Hint(name, s.Template.ParameterNames))
			continue
		}
		text, ok := s.Node.Parameters[name]
		if !ok || !c.dynamic(s, p, e.Value.At, text) {
			continue
		}
		known, _ := text.Known()
		if err := p.Check(known); err != nil {
			hint := ""
			if len(p.AllowedValues) > 0 {
				hint = c.Hint(known, p.AllowedValues)
			}
			c.Add(e.Value.At, "%s: %v%s", what, err, hint)
		}
	}
	for _, name := range s.Template.ParameterNames {
		if _, given := s.Settings.Parameters[name]; !given && !s.Settings.Incomplete && s.Template.Parameters[name].Default == nil {
			c.Add(s.At, "%s: parameter %s is missing: %s has no default for it: write it %s", what, name, s.Template, s.Where)
		}
	}
}

// dynamic refuses a value that would be stored although the template says
// NoEcho, and references that CloudFormation would not resolve. It reports
// whether the template will see the value as it is written.
func (c *checker) dynamic(s *resolve.Stack, p template.Parameter, at problem.Position, text project.Text) bool {
	what := "stack " + s.Name + ": parameter " + p.Name
	written := text.String()
	all := template.Dynamics(written)
	known, ok := text.Known()
	if p.NoEcho && !p.Stored() && len(all) == 0 && text.Written() {
		part := map[bool]string{true: "this value", false: "the text in this value"}[ok]
		c.Add(at, "%s: its template says NoEcho, and %s would be stored and shown: write ${secret:name#key} or ${ssm-secure:path}", what, part)
		return false
	}
	if !strings.Contains(written, "{{resolve:") {
		return ok
	}
	switch p.Type {
	case "String", "CommaDelimitedList", "List<String>":
	default:
		c.Add(at, "%s: the template's type is %s, which CloudFormation checks before it resolves a reference: make it a String in the template, or AWS::SSM::Parameter::Value<…> for ${ssm:path}", what, p.Type)
		return false
	}
	for _, d := range all {
		if d.Service == template.SSM && d.Version == "" {
			c.Add(at, "%s: %s has no version, which CloudFormation requires in a parameter: write ${ssm:%s:1}, with the number of its version, or make the type in the template AWS::SSM::Parameter::Value<String>",
				what, d, d.Name)
		}
	}
	if err := p.Check(known); ok && err != nil {
		c.Add(at, "stack %s: %v: CloudFormation checks the reference itself, not the value behind it: remove this constraint from the template", s.Name, err)
	}
	return false
}

// outputs compares the outputs that a stack uses with the templates of the
// stacks that they are of.
func (c *checker) outputs(s *resolve.Stack) {
	for _, of := range []struct {
		kind string
		from map[string]declared.Entry
		into map[string]project.Text
	}{{"parameter ", s.Settings.Parameters, s.Node.Parameters}, {"tag ", s.Settings.Tags, s.Node.Tags}} {
		for _, name := range slices.Sorted(maps.Keys(of.into)) {
			c.externals("stack "+s.Name+": "+of.kind+name, of.from[name].Value.At, of.into[name])
			c.restored(s, "stack "+s.Name+": "+of.kind+name, of.from[name].Value.At, of.into[name])
			for _, o := range of.into[name].Outputs() {
				if from := c.Node(o.Node); o.Certain && o.Output != project.StackID {
					c.output(fmt.Sprintf("stack %s: %s%s: ${%s.%s}", s.Name, of.kind, name, from.Name, o.Output),
						of.from[name].Value.At, from, o.Output)
				}
			}
		}
	}
	for _, r := range s.Reads {
		if !r.Maybe {
			c.output(fmt.Sprintf("stack %s: Fn::GetStackOutput", s.Name), r.At, r.From, r.Output)
		}
	}
}

// externals refuses outputs of stacks outside the project that it may not read.
func (c *checker) externals(what string, at problem.Position, text project.Text) {
	if c.own.Externals == nil {
		return
	}
	for _, source := range text.Sources() {
		var err error
		switch id := project.ID(c.Name, c.Environment); {
		case source.Parameter != "":
			err = c.own.Externals.PermitParameter(id, source.Parameter)
		case source.Stack != "": // of an export, only the plan finds out which stack makes it
			err = c.own.Externals.Permit(id, source.Stack)
		}
		if err != nil {
			c.Add(at, "%s: ${%s}: %v", what, source, err)
		}
	}
}

// restored refuses a reference to a resource that the stack does not have, and one that is only a part of a value: a deploy keeps the whole value that the
// parameter has.
func (c *checker) restored(s *resolve.Stack, what string, at problem.Position, text project.Text) {
	for _, source := range text.Sources() {
		if source.Restored == "" {
			continue
		}
		if len(text) != 1 || text[0].Source == nil {
			c.Add(at, "%s: ${%s}: it has to be the whole value: write nothing else there, and use a condition in the template", what, source)
		}
		if s.Template == nil || s.Template.Opaque() {
			continue
		}
		if _, has := s.Template.Resources[source.Restored]; !has {
			c.Add(at, "%s: ${%s}: the template has no resource %s%s", what, source, source.Restored, c.Hint(source.Restored, slices.Sorted(maps.Keys(s.Template.Resources))))
		}
	}
}

// output refuses an output that a stack will certainly not have.
func (c *checker) output(what string, at problem.Position, from *resolve.Stack, output string) {
	if from.Template == nil {
		return
	}
	o, ok := from.Template.Outputs[output]
	if !ok {
		if !from.Template.Macros() { // with macros only CloudFormation knows
			c.Add(at, "%s: stack %s has no output %s%s", what, from.Name, output, c.Hint(output, from.Template.OutputNames()))
		}
		return
	}
	if o.Condition == "" {
		return
	}
	if value, known := c.Evaluation(from).Condition(o.Condition); known && !value {
		c.Add(at, "%s: stack %s will not have this output: with its parameters the condition %s is false", what,
			from.Name, o.Condition)
	}
}

// exports refuses an export that two stacks certainly make.
func (c *checker) exports() {
	makers := map[resolve.Place]*resolve.Stack{}
	for _, s := range c.Stacks {
		if c.collides[s] {
			continue // their exports collide as well
		}
		for _, x := range s.Exports {
			on := s.Place(x.Name)
			switch other := makers[on]; {
			case x.Maybe:
			case other != nil:
				c.Add(s.Template.Where(x.Line, x.Column), "stack %s: export %s: stack %s makes the same export, and the name of an export is unique in an account and region: rename one of them",
					s.Node.Name, problem.Short(x.Name), other.Node.Name)
			default:
				makers[on] = s
			}
		}
	}
}
