package plain

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/stackpolicy"
)

// parameterFile reads the parameters of a stack from the file that is named after it.
func (r *reader) parameterFile(file string) {
	written := strings.TrimSuffix(file, path.Ext(file))
	name := stackName(strings.TrimPrefix(strings.TrimSuffix(written, beside)+".x", parameters))
	i, ok := r.byName[name]
	if !ok {
		var names []string
		for _, s := range r.project.Stacks {
			names = append(names, s.Name)
		}
		r.Add(problem.Position{File: file}, "there is no template for these parameters: a parameter file is named after its stack%s", r.Hint(name, names))
		return
	}
	s := &r.project.Stacks[i]
	if other, twice := r.given[name]; twice {
		r.Add(problem.Position{File: file}, "stack %s has the parameter file %s too: remove one of them", name, other)
		return
	}
	r.given[name] = file
	s.ParametersIn = "in " + file
	root, err := document.Read(file, r.files[file])
	if err != nil {
		r.Join(file, err)
		s.Settings.Incomplete = true
		return
	}
	p := parameterReader{List: r.List, file: file, what: "stack " + name + ": ", settings: &s.Settings}
	p.read(root)
}

// A parameterReader reads one parameter file. It accepts what the AWS CLI accepts:
// the list of create-stack and update-stack, and the list of texts and the template
// configuration file of CodePipeline that deploy accepts.
// https://docs.aws.amazon.com/cli/latest/reference/cloudformation/deploy/
// https://docs.aws.amazon.com/codepipeline/latest/userguide/tutorials-cloudformation.html
type parameterReader struct {
	*problem.List
	file, what string
	settings   *declared.Settings
}

// refuse adds a problem at a node. The stack's parameters are then not complete.
func (p *parameterReader) refuse(n *yaml.Node, format string, args ...any) {
	p.settings.Incomplete = true
	p.Add(p.at(n), p.what+format, args...)
}

func (p *parameterReader) at(n *yaml.Node) problem.Position {
	return problem.Position{File: p.file, Line: n.Line, Column: n.Column}
}

const shapes = `write [{"ParameterKey": "NAME", "ParameterValue": "VALUE"}], ["NAME=VALUE"] or {"Parameters": {"NAME": "VALUE"}}`

func (p *parameterReader) read(root *yaml.Node) {
	switch root.Kind {
	case yaml.SequenceNode:
		for _, item := range document.Items(root) {
			p.item(document.Resolve(item))
		}
	case yaml.MappingNode:
		p.configuration(root)
	default:
		p.refuse(root, "%s is not a list of parameters: %s", document.Kind(root), shapes)
	}
	if n := len(p.settings.Parameters); n > declared.MaxParameters {
		p.refuse(root, "%d parameters: CloudFormation accepts at most %d", n, declared.MaxParameters)
		p.settings.Parameters = map[string]declared.Entry{}
	}
}

// item reads one parameter of a list: NAME=VALUE, or a mapping.
func (p *parameterReader) item(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && !document.Null(n) {
		key, value, ok := strings.Cut(n.Value, "=")
		if !ok {
			p.refuse(n, "%q has no =: %s", problem.Short(n.Value), shapes)
			return
		}
		p.add(n, key, literal(p.at(n), value))
		return
	}
	key, has := document.Lookup(n, "ParameterKey")
	if !has || key.Kind != yaml.ScalarNode {
		p.refuse(n, "a parameter without ParameterKey: %s", shapes)
		return
	}
	given := false
	for _, pair := range document.Pairs(n) {
		value := document.Resolve(pair.Value)
		switch pair.Key.Value {
		case "ParameterKey":
		case "ParameterValue":
			given = true
			if v, ok := p.value("parameter "+problem.Short(key.Value), value); ok {
				p.add(key, key.Value, v)
			}
		case "UsePreviousValue":
			if value.Value == "true" {
				given = true
				p.refuse(value, "parameter %s: UsePreviousValue is not supported, because a file must say what is deployed: write ParameterValue", problem.Short(key.Value))
			}
		default:
			given = true
			p.refuse(pair.Key, "parameter %s: unknown key %q%s", problem.Short(key.Value), problem.Short(pair.Key.Value),
				p.Hint(pair.Key.Value, []string{"ParameterKey", "ParameterValue"}))
		}
	}
	if !given {
		p.refuse(key, "parameter %s: ParameterValue is missing", problem.Short(key.Value))
	}
}

// add adds a parameter.
func (p *parameterReader) add(n *yaml.Node, name string, v declared.Value) {
	if _, twice := p.settings.Parameters[name]; twice {
		p.refuse(n, "parameter %s is in the file twice: remove one of them", problem.Short(name))
		return
	}
	p.settings.Parameters[name] = declared.Entry{At: p.at(n), Value: v}
}

// configuration reads a template configuration file.
func (p *parameterReader) configuration(root *yaml.Node) {
	known := []string{"Parameters", "Tags", "StackPolicy"}
	for _, pair := range document.Pairs(root) {
		name, value := pair.Key.Value, document.Resolve(pair.Value)
		switch {
		case name == "StackPolicy":
			p.settings.StackPolicy = &declared.StackPolicy{At: p.at(pair.Key), Body: stackpolicy.Read(value, func(at *yaml.Node, format string, args ...any) {
				p.refuse(at, "StackPolicy: "+format, args...)
			})}
			continue
		case !slices.Contains(known, name):
			p.refuse(pair.Key, "unknown key %q%s: %s", problem.Short(name), p.Hint(name, known), shapes)
			continue
		case value.Kind != yaml.MappingNode || document.Tagged(value) != "":
			p.refuse(value, "%s is %s: write names and values", name, document.Kind(value))
			continue
		}
		for _, one := range document.Pairs(value) {
			what := strings.ToLower(strings.TrimSuffix(name, "s")) + " " + problem.Short(one.Key.Value)
			v, ok := p.value(what, document.Resolve(one.Value))
			switch {
			case !ok:
			case name == "Tags":
				p.settings.Tags[one.Key.Value] = declared.Entry{At: p.at(one.Key), Value: v}
			default:
				p.add(one.Key, one.Key.Value, v)
			}
		}
	}
}

// value reads a value, or a list of values, which CloudFormation gets joined with commas.
// It holds no references: a value means what it would mean to the AWS CLI.
func (p *parameterReader) value(what string, n *yaml.Node) (declared.Value, bool) {
	v := declared.Value{At: p.at(n), Kind: document.Kind(n), List: n.Kind == yaml.SequenceNode}
	items := []*yaml.Node{n}
	if v.List {
		items = document.Items(n)
	}
	for _, item := range items {
		item = document.Resolve(item)
		if item.Kind != yaml.ScalarNode || document.Null(item) || document.Tagged(item) != "" {
			p.refuse(item, "%s: expected a text, found %s", what, document.Kind(item))
			return v, false
		}
		v.Items = append(v.Items, []declared.Part{{Literal: item.Value}})
	}
	return v, true
}
