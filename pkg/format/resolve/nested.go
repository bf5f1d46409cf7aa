package resolve

import (
	"path"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

const (
	nestedType = "AWS::CloudFormation::Stack"
	maxDepth   = 5 // of nested stacks whose templates are evaluated
)

// A Nested is a stack nested in a stack of the project whose template is a file of the project, evaluated with the
// values that are known before any stack is deployed. Its name is not known: CloudFormation makes it.
type Nested struct {
	Resource   string // the logical IDs that lead to it, as in "Network.Subnets"
	Template   *template.Template
	Evaluation *template.Evaluation
}

// NestedIn lists the stacks nested in a stack, at any depth. hidden reports whether there may be others, whose
// templates are elsewhere.
func (p *Project) NestedIn(s *Stack) (all []Nested, hidden bool) {
	if s.Template == nil || !s.Template.nests {
		return nil, false
	}
	return p.nestedBelow(s, "", s.Template.At.File, p.Evaluation(s), 0)
}

// nestedBelow lists the stacks nested in one whose template is in a file.
func (p *Project) nestedBelow(s *Stack, prefix, file string, e *template.Evaluation, depth int) (all []Nested, hidden bool) {
	for _, resource := range e.Resources() {
		if resource.Type != nestedType {
			continue
		}
		value, err := e.Value(resource.Properties)
		properties, _ := value.(map[string]any)
		written, known := properties["TemplateURL"].(string)
		name := path.Join(path.Dir(file), written)
		body, here := p.templates.files[name]
		if err != nil || !known || !here || strings.Contains(written, "://") || depth == maxDepth {
			hidden = true
			continue
		}
		t, err := template.Parse(name, body)
		if err != nil { // the packager reports it
			continue
		}
		scope := template.Scope{
			Parameters: t.Defaults(), AccountID: s.Node.Target.Account, Region: s.Node.Target.Region, Room: p.limits.values,
		}
		given, _ := properties["Parameters"].(map[string]any)
		for parameter, value := range given {
			delete(scope.Parameters, parameter)
			if text, ok := template.Text(value); ok {
				scope.Parameters[parameter] = text
			}
		}
		one := Nested{prefix + resource.Name, t, t.In(scope)}
		below, more := p.nestedBelow(s, one.Resource+".", name, one.Evaluation, depth+1)
		all, hidden = append(append(all, one), below...), hidden || more
	}
	return all, hidden
}

// linkNested adds what the stacks nested in a stack export and import to what it does itself.
func (r *resolver) linkNested(s *Stack) {
	all, hidden := r.NestedIn(s)
	links := &s.Node.Links
	links.Hidden = links.Hidden || hidden
	for _, n := range all {
		for _, x := range n.Evaluation.Exports() {
			if links.Exports == nil {
				links.Exports = map[string]string{}
			}
			links.Exports[n.Resource+"."+x.Output] = x.Name
			s.nestedExports = append(s.nestedExports, x.Name)
		}
		for _, i := range n.Evaluation.Imports() {
			links.Imports = append(links.Imports, i.Name)
			s.nestedImports = append(s.nestedImports, nestedImport{n.Resource, i.Name})
		}
		if len(n.Evaluation.HiddenImports()) > 0 {
			links.Imports = append(links.Imports, "")
		}
	}
	slices.Sort(links.Imports)
}

// A nestedImport is an export that a nested stack imports.
type nestedImport struct{ resource, export string }
