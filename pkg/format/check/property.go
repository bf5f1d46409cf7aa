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
// types. A template without conditions is the same for all its stacks.
func (c *checker) properties(s *resolve.Stack) {
	if s.Template == nil || c.Accepted || c.compared[s.Template] && len(s.Template.Conditions) == 0 {
		return
	}
	c.compared[s.Template] = true
	for _, r := range s.Template.UnknownTypes() {
		c.misfit(s, r.Type, r.Line, r.Column, fmt.Sprintf("%s: AWS has published no resource type %s%s", r.Name,
			problem.Short(r.Type), c.Hint(r.Type, property.Names())))
	}
	e := c.Certain(s)
	for _, name := range s.Template.ResourceNames() {
		c.fits(s, e, s.Template.Resources[name])
	}
}

func (c *checker) fits(s *resolve.Stack, e *template.Evaluation, r template.Resource) {
	for _, m := range e.Misfits(r) {
		at := strings.Join(append([]string{r.Name}, m.Path...), ".")
		what := fmt.Sprintf("%s (%s): %s", at, r.Type, m.Text)
		c.misfit(s, strings.TrimSuffix(r.Type+"."+m.Name(), "."), m.Line, m.Column, what)
	}
}

// misfit reports what is wrong with a type, or a property of one, unless the project says that it is not checked.
func (c *checker) misfit(s *resolve.Stack, name string, line, column int, what string) {
	if property.Covers(c.Unchecked, name) {
		return
	}
	if !strings.HasSuffix(what, "?") {
		what += "."
	}
	c.Add(s.Template.Where(line, column), "stack %s: %s If CloudFormation accepts it, write unchecked: [%s] in %s",
		s.Name, what, problem.Short(name), c.UncheckedIn)
}
