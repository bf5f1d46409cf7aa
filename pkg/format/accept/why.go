package accept

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	values "github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

// Why a value cannot be written.
const (
	missing = "the template does not have the property here: a function or a macro makes it, or the template is not the one that was deployed. Change the template yourself"
	changed = "the template has another value here than the one that was deployed: deploy it, or write the live value yourself"
	dynamic = "it is a dynamic reference: change the value that it refers to, or write another reference"
)

// unwritable says why no value can be written into the template of a stack; "" if values can.
func unwritable(l format.Loaded, node string) string {
	origin, here := l.Origins[node]
	source := l.Sources[node]
	switch {
	case !here:
		return "the stack is not in the files of the project: a deploy deletes it"
	case l.Project.Kind == project.CDK:
		return fmt.Sprintf("the CDK writes the template %s: change the application", source)
	case origin.File != "":
		return ""
	case remote.IsAddress(source):
		return fmt.Sprintf("the template is not in the project: change it at %s, or save it in the project", source)
	}
	return fmt.Sprintf("the template is rendered from %s: change that file", source)
}

// reason is why a finding is not written, if no finding of its stack can be.
func reason(f plan.Finding, why string) string {
	if own := unusable(f); own != "" {
		return own
	}
	return why
}

// unusable says why nobody can write a finding into any template; "" if that is possible.
func unusable(f plan.Finding) string {
	switch {
	case f.Kind == plan.DriftDeleted:
		return "the resource does not exist any more: remove it from the template, or bring it back with drift --revert"
	case strings.Contains(f.Resource, "/"):
		return "the resource is in a nested stack, into whose template nothing is written: change that template yourself"
	case f.Secret:
		return "the value may be secret, so the run does not have it: see it in AWS, and change the template or the parameter yourself"
	case f.Cut:
		return "the value is too long to be kept with the run: read it with aws cloudformation describe-stack-resource-drifts, and write it yourself"
	case f.Kind != plan.DriftModified:
		return fmt.Sprintf("this version does not know what %q means: update it", f.Kind)
	case f.Property == "":
		return "CloudFormation does not say which properties differ: see the resource in AWS"
	}
	return ""
}

// notThere says why a template does not have a resource.
func notThere(root, resources *yaml.Node) string {
	for _, pair := range document.Pairs(resources) {
		if strings.HasPrefix(pair.Key.Value, "Fn::") {
			return fmt.Sprintf("the template does not have the resource: %s may make it. Change that yourself", pair.Key.Value)
		}
	}
	if _, has := document.Lookup(root, "Transform"); has {
		return "the template does not have the resource: its macros may make it. Change the template yourself"
	}
	return "the template does not have the resource: it is not the one that was deployed. Deploy it, or add the resource"
}

// because says what to do about a value that a function makes.
func (t *template) because(s Stack, p place, f plan.Finding) *Left {
	n := document.Resolve(p.node)
	name, argument, is := function(n)
	left := &Left{Position: t.at(n)}
	if list := strings.HasPrefix(p.rest, "["); list && is && uncertain(&yaml.Node{Content: []*yaml.Node{n}}) != nil {
		left.Why = fmt.Sprintf("the list has %s, so which of its items is meant is not known: change the template yourself", name)
		return left
	}
	live := f.Actual
	if p.actual != nil {
		if text, scalar := values.Text(p.actual); scalar {
			live = text
		} else {
			live = jsonText(p.actual)
		}
	}
	to := "so that its value is " + quoted(live)
	if p.rest != "" || live == "" {
		to = "so that it is as the live one"
	}
	parameters, _ := document.Lookup(t.root, "Parameters")
	if p, ok := document.Lookup(parameters, argument.Value); name == "Ref" && ok {
		t.parameter(left, s, argument.Value, p, to)
		return left
	}
	uses := ""
	if of := parametersIn(parameters, n); len(of) > 0 {
		uses = ", which uses the parameters " + strings.Join(of, ", ")
		if len(of) == 1 {
			uses = ", which uses the parameter " + of[0]
		}
	}
	left.Why = fmt.Sprintf("%s makes the value%s: change what it is made of, %s, or bring the resource back with drift --revert", name, uses, to)
	return left
}

// parameter says what to do about a value that is a parameter.
func (t *template) parameter(left *Left, s Stack, name string, p *yaml.Node, to string) {
	left.Parameter = name
	if noEcho, ok := document.Lookup(p, "NoEcho"); ok && noEcho.Value != "false" {
		to = "so that it is the live one"
	}
	entry, given := s.Parameters[name]
	at := entry.Value.At
	if !given {
		at = t.at(p)
		if value, ok := document.Lookup(p, "Default"); ok {
			at = t.at(value)
		}
	} else if at.File == "" {
		at = entry.At
	}
	left.ParameterAt = &at
	_, literal := entry.Value.Literal()
	switch {
	case !given:
		left.Why = fmt.Sprintf("it is the parameter %s, which no file gives a value: set the parameter for the stack in the project file, %s, or change its default at %s", name, to, at)
	case literal:
		left.Why = fmt.Sprintf("it is the parameter %s: change the parameter at %s, %s", name, at, to)
	default:
		left.Why = fmt.Sprintf("it is the parameter %s, which is computed at %s: change what that refers to, %s", name, at, to)
	}
}

// parametersIn lists the parameters that a function uses, sorted.
func parametersIn(parameters, n *yaml.Node) []string {
	var all []string
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		n = document.Resolve(n)
		names := []string{n.Value}
		for _, reference := range strings.Split(n.Value, "${")[1:] { // in a text of Fn::Sub
			name, _, _ := strings.Cut(reference, "}")
			names = append(names, name)
		}
		for _, name := range names {
			if _, is := document.Lookup(parameters, name); is && n.Kind == yaml.ScalarNode {
				all = append(all, name)
			}
		}
		for _, child := range n.Content {
			visit(child)
		}
	}
	visit(n)
	slices.Sort(all)
	return slices.Compact(all)
}

// quoted is a value in a message.
func quoted(text string) string {
	switch {
	case text == "":
		return "none"
	case strings.ContainsAny(text, "\n\r\t\x1b") || strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }):
		return strconv.Quote(problem.Short(text))
	}
	return problem.Short(text)
}

// plural is a number of things.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 further " + one
	}
	return fmt.Sprintf("%d further %s", n, many)
}
