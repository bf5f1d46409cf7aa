package resolve

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/lib/function"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// A lookup finds the values of references of a stack at a position. It implements
// reference.Lookup.
type lookup struct {
	*resolver
	stack *Stack
	at    problem.Position
}

// reference resolves a reference in a value of a stack. of names the value, such
// as "parameter VpcId".
func (r *resolver) reference(s *Stack, of string, at problem.Position, ref declared.Reference) (reference.Result, error) {
	parameter, isParameter := strings.CutPrefix(of, "parameter ")
	scope := reference.Scope{
		Project: r.Name, Environment: r.Environment, Node: s.Node.Name, Target: s.Node.Target,
		Tag: !isParameter, Own: strings.HasPrefix(of, hookPrefix), Lookup: lookup{r, s, at},
	}
	if isParameter && s.Template != nil {
		scope.Parameter = s.Template.Parameters[parameter]
	}
	return reference.Resolve(scope, ref)
}

// Variable returns the value of a variable in the last layer that has it.
func (l lookup) Variable(name string) (text string, value any, err error) {
	var names []string
	for _, layer := range slices.Backward(l.layers) {
		if e, ok := layer.Variables[name]; ok {
			text, _ := e.Value.Literal()
			return text, e.Value.Data, nil
		}
		names = slices.AppendSeq(names, maps.Keys(layer.Variables))
	}
	var others []string
	for _, env := range l.resolver.declared.Environments {
		if _, has := env.Variables[name]; has {
			others = append(others, env.Name)
		}
	}
	if len(others) > 0 {
		return "", nil, function.Missing(fmt.Errorf("the variable has no value in environment %s, only in %s: set it there, or under variables: at the top level for all environments",
			l.Environment, strings.Join(others, ", ")))
	}
	slices.Sort(names)
	return "", nil, function.Missing(fmt.Errorf("there is no variable %s%s", name, l.Hint(name, slices.Compact(names))))
}

// File returns a file's text without the end of its last line.
func (l lookup) File(written string) (string, error) {
	name, err := l.templates.path(written)
	if err != nil {
		return "", err
	}
	body := l.templates.files[name]
	switch {
	case len(body) > declared.MaxValue+len("\r\n"):
		return "", fmt.Errorf("the file has %d bytes: CloudFormation accepts at most %d in a value", len(body), declared.MaxValue)
	case !utf8.Valid(body):
		return "", errors.New("the file is not UTF-8 text")
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(body), "\n"), "\r"), nil
}

// Stack returns the node and the physical name of a stack.
func (l lookup) Stack(name, target string) (node, physicalName string, err error) {
	other, err := l.find(l.stack, name, target, l.at)
	if err != nil {
		return "", "", err
	}
	return other.Node.Name, other.Node.Stack, nil
}

// Target returns a registered target.
func (l lookup) Target(name string) (project.Target, error) {
	t, ok := l.options.Targets[name]
	if !ok {
		l.addUnregistered(project.Target{Name: name}, l.at)
		return t, reference.ErrReported
	}
	return t, nil
}

// setKnown finds the parameters whose values are known before any stack is
// deployed, as the template will see them.
func (r *resolver) setKnown(s *Stack) {
	if s.Template == nil {
		return
	}
	s.Known = s.Template.Defaults()
	for name := range s.Settings.Parameters {
		delete(s.Known, name)
		p, defined := s.Template.Parameters[name]
		text := s.Node.Parameters[name]
		if !defined || text == nil {
			continue
		}
		if written := text.String(); strings.Contains(written, "{{resolve:") {
			s.Node.Template.Pinned = s.Node.Template.Pinned && len(template.Unversioned(written)) == 0
			continue
		}
		if value, ok := text.Known(); ok && (value == "" || !p.NoEcho || p.Stored()) {
			s.Known[name] = value
		}
	}
}
