package check

import (
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/lib/property"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// properties refuses resources of types that AWS does not have, and properties that do not fit the schemas of their
// types, also in nested templates of the project. A template that has neither conditions nor nested stacks is the same
// for all its stacks.
func (c *checker) properties(s *resolve.Stack) {
	if s.Template == nil || c.Accepted {
		return
	}
	if c.compared[s.Template] && len(s.Template.Conditions) == 0 && !s.Template.Nests() {
		return
	}
	c.compared[s.Template] = true
	c.compare(s, s.Template.Template, c.Certain(s), s.Template.Where)
	nested, _ := c.NestedIn(s)
	for _, n := range nested {
		c.compare(s, n.Template, n.Evaluation, func(line, column int) problem.Position {
			return problem.Position{File: n.Template.File, Line: line, Column: column}
		})
	}
}

// compare compares the resources of a template with the schemas.
func (c *checker) compare(s *resolve.Stack, t *template.Template, e *template.Evaluation,
	where func(line, column int) problem.Position) {
	for _, r := range t.UnknownTypes() {
		c.misfit(s, r.Type, where(r.Line, r.Column), fmt.Sprintf("%s: AWS has published no resource type %s%s", r.Name,
			problem.Short(r.Type), c.Hint(r.Type, property.Names())))
	}
	for _, name := range t.ResourceNames() {
		r := t.Resources[name]
		for _, m := range e.Misfits(r) {
			at := strings.Join(append([]string{r.Name}, m.Path...), ".")
			what := fmt.Sprintf("%s (%s): %s", at, r.Type, m.Text)
			c.misfit(s, strings.TrimSuffix(r.Type+"."+m.Name(), "."), where(m.Line, m.Column), what)
		}
	}
}

// misfit reports what is wrong with a type, or a property of one, unless the project says that it is not checked.
func (c *checker) misfit(s *resolve.Stack, name string, at problem.Position, what string) {
	if property.Covers(c.Unchecked, name) {
		return
	}
	if !strings.HasSuffix(what, "?") {
		what += "."
	}
	c.Add(at, "stack %s: %s If CloudFormation accepts it, write unchecked: [%s] in %s", s.Name, what,
		problem.Short(name), c.UncheckedIn)
}
