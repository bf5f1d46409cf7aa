package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"go.yaml.in/yaml/v4"
)

// parser reads one template and gathers all that is wrong with it.
type parser struct {
	t        *Template
	errors   document.Errors
	extended bool // it has the transform AWS::LanguageExtensions

	used map[string]bool // the names that conditions, resources and outputs refer to
}

// maxErrors is how many errors of one template are reported.
const maxErrors = 100

var alphanumeric = pattern.New(`^[A-Za-z0-9]+$`)

// Parse reads a template in YAML (with short forms such as !Ref) or JSON.
// The error is document.Errors, all at once with their places, and where
// CloudFormation has words for it, in CloudFormation's words: syntax, unknown
// sections and attributes, wrong shapes, functions with wrong arguments,
// unresolved Ref, GetAtt, DependsOn, Condition and FindInMap, circles of conditions
// and of resources, and more than the limits.
//
// What is no error, and what a user should know, is in Warnings: of a key that stands twice in a mapping the last one
// counts.
//
// A template with macros (anything in Transform but AWS::LanguageExtensions, or
// Fn::Transform, or Fn::ForEach) is read as it stands, and what it refers to may come out of the
// macro: then unresolved names are no errors, and evaluate to Unknown. See Macros.
func Parse(file string, body []byte) (*Template, error) {
	if len(body) > MaxBytes {
		return nil, document.Errors{document.At(file, nil, "the template has %d bytes: CloudFormation reads at most %d", len(body), MaxBytes)}
	}
	if err := malformedJSON(file, body); err != nil {
		return nil, document.Errors{err}
	}
	root, repeated, err := document.ReadRepeating(file, body)
	if err != nil {
		return nil, err
	}
	p := &parser{used: map[string]bool{}, t: &Template{
		File:       file,
		Parameters: map[string]Parameter{},
		Mappings:   map[string]*Expr{},
		Conditions: map[string]*Expr{},
		Resources:  map[string]Resource{},
		Outputs:    map[string]Output{},
		Loops:      map[string]*Expr{},
		needs:      map[string][]string{},
		warnings:   repeated[:min(len(repeated), maxErrors)],
	}}
	if root.Kind != yaml.MappingNode || document.Tagged(root) != "" {
		p.fail(root, "Template format error: unsupported structure.")
		return nil, p.errors.Err()
	}
	p.refuseAliases(root)
	if len(p.errors) > 0 {
		return nil, p.errors.Err()
	}
	p.sections(root)
	p.check()
	if err := p.errors.Err(); err != nil {
		return nil, err
	}
	return p.t, nil
}

// malformedJSON says what CloudFormation says of a template that begins with a brace and is no JSON.
func malformedJSON(file string, body []byte) *document.Error {
	if trimmed := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\ufeff")), " \t\r\n"); len(trimmed) == 0 ||
		trimmed[0] != '{' {
		return nil
	}
	var v json.RawMessage
	wrong, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &v))
	if !ok {
		return nil
	}
	before := bytes.TrimPrefix(body, []byte("\ufeff"))[:max(0, int(wrong.Offset)-1)]
	line, column := 1+bytes.Count(before, []byte("\n")), 1+utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return &document.Error{File: file, Line: line, Column: column,
		Text: "Template format error: JSON not well-formed: a template that begins with a brace is JSON"}
}

// refuseAliases says of each alias what CloudFormation says.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-formats.html
func (p *parser) refuseAliases(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		p.fail(n, "Template error: YAML aliases are not allowed in CloudFormation templates")
		return
	}
	for _, child := range n.Content {
		p.refuseAliases(child)
	}
}

// sections reads the template's sections, Transform first, for it decides what
// the others may hold.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-anatomy.html
func (p *parser) sections(root *yaml.Node) {
	if n, ok := document.Lookup(root, "Transform"); ok {
		p.transforms(n)
	}
	for _, pair := range document.Pairs(root) {
		n := document.Resolve(pair.Value)
		switch section := pair.Key.Value; section {
		case "Transform":
		case "AWSTemplateFormatVersion":
			if n.Value != "2010-09-09" {
				p.fail(n, "Template format error: unsupported value for AWSTemplateFormatVersion.")
			}
		case "Description":
			if n.Kind != yaml.ScalarNode || len(n.Value) > 1024 {
				p.fail(n, "Template format error: 'Description' must be a string of at most 1024 bytes.")
			}
			p.t.Description = n.Value
		case "Parameters":
			p.each(n, section, p.parameter)
		case "Mappings":
			p.each(n, section, p.mappingEntry)
		case "Conditions":
			p.each(n, section, p.condition)
		case "Resources":
			p.each(n, section, p.resource)
		case "Outputs":
			p.each(n, section, p.output)
		case "Rules":
			p.each(n, section, p.rule)
		case "Metadata", "Hooks":
			p.isMapping(n, section)
		default:
			if section == "Globals" && p.t.macros {
				p.globals(n)
				continue
			}
			p.fail(pair.Key, "Template format error: Invalid template property or properties [%s]", section)
		}
	}
	p.limits(root)
}

func (p *parser) limits(root *yaml.Node) {
	resources, ok := document.Lookup(root, "Resources")
	if !ok || len(document.Pairs(resources)) == 0 {
		p.fail(root, "Template format error: At least one Resources member must be defined.")
	}
	for _, section := range []struct {
		name       string
		count, max int
	}{
		{"resources", len(p.t.resources), MaxResources}, {"parameters", len(p.t.parameters), MaxParameters},
		{"outputs", len(p.t.outputs), MaxOutputs}, {"mappings", len(p.t.Mappings), MaxMappings},
	} {
		if section.count > section.max {
			p.fail(root, "Template format error: Number of %s, %d, is greater than maximum allowed, %d", section.name, section.count, section.max)
		}
	}
}

// each reads a section's entries. A macro in their place is recorded.
func (p *parser) each(section *yaml.Node, title string, entry func(key, value *yaml.Node)) {
	if !p.isMapping(section, title) {
		return
	}
	for _, pair := range document.Pairs(section) {
		name, value := pair.Key.Value, document.Resolve(pair.Value)
		switch {
		case name == "Fn::Transform" || strings.HasPrefix(name, "Fn::ForEach::"):
			p.loop(pair.Key)
			p.macro(pair.Key, name)
			if title == "Resources" {
				p.maker(name)
			}
			if title == "Resources" && name != "Fn::Transform" {
				p.t.Loops[name] = p.express(value, title)
			}
		case document.Null(value):
			p.fail(pair.Key, "Template format error: [/%s/%s] 'null' values are not allowed in templates", title, name)
		case title != "Conditions" && title != "Mappings" && !alphanumeric.MatchString(name):
			p.fail(pair.Key, "Template format error: %s name %s is non alphanumeric.", strings.TrimSuffix(title, "s"), name)
		default:
			entry(pair.Key, value)
		}
	}
}

// loop refuses a loop that nothing expands.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-foreach.html
func (p *parser) loop(key *yaml.Node) {
	mine := slices.ContainsFunc(p.t.Transforms, func(name string) bool { return name != serverless })
	if strings.HasPrefix(key.Value, "Fn::ForEach::") && !mine {
		p.fail(key,
			"Template error: %s requires the transform AWS::LanguageExtensions: write Transform: AWS::LanguageExtensions",
			key.Value)
	}
}

func (p *parser) isMapping(n *yaml.Node, what string) bool {
	switch {
	case document.Null(n):
		p.fail(n, "Template format error: [/%s] 'null' values are not allowed in templates", what)
	case n.Kind != yaml.MappingNode || document.Tagged(n) != "":
		p.fail(n, "Template format error: [/%s] must be a mapping, not %s", what, document.Kind(n))
	default:
		return true
	}
	return false
}

// text reads a literal string.
func (p *parser) text(n *yaml.Node, what string) string {
	n = document.Resolve(n)
	if n.Kind != yaml.ScalarNode || document.Tagged(n) != "" || document.Null(n) {
		p.fail(n, "Template format error: %s must be a string.", what)
		return ""
	}
	return n.Value
}

func (p *parser) fail(n *yaml.Node, format string, args ...any) {
	p.failAt(&Expr{Line: n.Line, Column: n.Column}, format, args...)
}

func (p *parser) failAt(x *Expr, format string, args ...any) {
	if len(p.errors) == maxErrors {
		return
	}
	p.errors = append(p.errors, &document.Error{File: p.t.File, Line: x.Line, Column: x.Column, Text: fmt.Sprintf(format, args...)})
}
