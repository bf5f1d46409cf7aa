package template

import (
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

// Transforms of AWS whose result follows from the template and its parameters.
const (
	languageExtensions = "AWS::LanguageExtensions"
	serverless         = "AWS::Serverless-2016-10-31"
)

// transforms reads the Transform section: a name, a mapping with a Name, or a list of them.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/transform-section-structure.html
func (p *parser) transforms(n *yaml.Node) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		item = document.Resolve(item)
		if name, ok := document.Lookup(item, "Name"); ok {
			item = name
		}
		name := p.text(item, "Every Transform")
		if name == "" {
			continue
		}
		p.t.Transforms = append(p.t.Transforms, name)
		switch name {
		case languageExtensions:
			p.extended = true
		case serverless: // AWS changes what it makes of a template from time to time; a stack gets that with its next change
			p.t.macros = true
		default:
			p.macro(item, "transform "+name)
			p.maker("transform " + name)
		}
	}
}

func (p *parser) macro(n *yaml.Node, what string) {
	p.t.macros = true
	p.loose(n.Line, n.Column, what)
}

func (p *parser) maker(name string) {
	if !slices.Contains(p.t.makers, name) {
		p.t.makers = append(p.t.makers, name)
	}
}

// globals reads which properties the Globals section of AWS::Serverless sets. Their values are CloudFormation's matter.
// https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification-template-anatomy-globals.html
func (p *parser) globals(n *yaml.Node) {
	p.t.Globals = make(map[string][]string)
	for _, kind := range document.Pairs(n) {
		for _, property := range document.Pairs(document.Resolve(kind.Value)) {
			p.t.Globals[kind.Key.Value] = append(p.t.Globals[kind.Key.Value], property.Key.Value)
		}
	}
}

func (p *parser) loose(line, column int, what string) {
	p.t.loose = append(p.t.loose, Loose{What: what, Line: line, Column: column})
}

func (p *parser) mappingEntry(key, n *yaml.Node) {
	x := p.express(n, "Mappings")
	p.t.Mappings[key.Value] = x
	if x.form == call {
		return // a macro
	}
	if x.form != mapping {
		p.fail(n, "Template format error: [/Mappings/%s] must be a mapping, not %s", key.Value, document.Kind(n))
		return
	}
	for _, second := range x.items {
		if second.form != mapping && second.form != call {
			p.failAt(second, "Template format error: Every Mappings member %s must be a map", key.Value)
			continue
		}
		for _, value := range second.items {
			if second.form == mapping && !value.plain() {
				p.failAt(value, "Template format error: Every Mappings attribute must be a String or a List.")
			}
		}
	}
}

func (p *parser) condition(key, n *yaml.Node) {
	p.t.conditions = append(p.t.conditions, key.Value)
	x := p.express(n, "Conditions")
	p.t.Conditions[key.Value] = x
	if x.form != call {
		p.fail(n, "Template format error: Every Conditions member must be a condition function (Fn::And, Fn::Equals, Fn::Not, Fn::Or, Condition).")
	}
}

// resource reads one resource.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resources-section-structure.html
func (p *parser) resource(key, n *yaml.Node) {
	r := Resource{Name: key.Value, Line: key.Line, Column: key.Column}
	if !p.isMapping(n, "Resources/"+r.Name) {
		return
	}
	for _, pair := range document.Pairs(n) {
		value := document.Resolve(pair.Value)
		switch attribute := pair.Key.Value; attribute {
		case "Type":
			r.Type = p.text(value, "Every Resources member's Type")
		case "Condition":
			r.Condition = p.text(value, "Every Resources member's Condition")
		case "DependsOn":
			r.DependsOn = p.dependsOn(value)
		case "DeletionPolicy":
			r.DeletionPolicy = p.policy(value, attribute, "Delete", "Retain", "RetainExceptOnCreate", "Snapshot")
		case "UpdateReplacePolicy":
			r.UpdateReplacePolicy = p.policy(value, attribute, "Delete", "Retain", "Snapshot")
		case "Properties":
			r.Properties = p.object(value, r.Name, attribute, "Resources")
		case "Metadata":
			r.Metadata = p.object(value, r.Name, attribute, "Metadata")
		case "CreationPolicy":
			r.CreationPolicy = p.object(value, r.Name, attribute, "Resources")
		case "UpdatePolicy":
			r.UpdatePolicy = p.object(value, r.Name, attribute, "Resources")
		case "Version": // of a custom resource
		case "Description": // is not documented, and accepted: the templates of AWS CodeStar have it
			p.text(value, "Every Resources member's Description")
		default:
			r.included = r.included || strings.HasPrefix(attribute, "Fn::")
			if !p.t.macros {
				p.fail(pair.Key, "Invalid template resource property '%s'", attribute)
			}
		}
	}
	if _, ok := document.Lookup(n, "Type"); !ok && !p.t.macros {
		p.fail(key, "Template format error: [/Resources/%s] Every Resources object must contain a Type member.", r.Name)
	}
	if r.Type != "" && !p.t.macros && (!strings.Contains(r.Type, "::") || strings.HasPrefix(r.Type, "AWS::Serverless::")) {
		p.fail(n, "Template format error: Unrecognized resource types: [%s]", r.Type)
	}
	p.t.resources = append(p.t.resources, r.Name)
	p.t.Resources[r.Name] = r
}

func (p *parser) object(n *yaml.Node, resource, attribute, block string) *Expr {
	if n.Kind != yaml.MappingNode && document.Tagged(n) == "" {
		p.fail(n, "Template format error: [/Resources/%s/%s] must be an object, not %s", resource, attribute, document.Kind(n))
		return nil
	}
	return p.express(n, block)
}

func (p *parser) dependsOn(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		return []string{p.text(n, "DependsOn")}
	}
	var names []string
	for _, item := range n.Content {
		names = append(names, p.text(item, "Every DependsOn value"))
	}
	return names
}

// policy reads a DeletionPolicy or an UpdateReplacePolicy, which may be a
// function where the language extensions are used.
func (p *parser) policy(n *yaml.Node, attribute string, allowed ...string) *Expr {
	if (p.extended || p.t.macros) && (n.Kind == yaml.MappingNode || document.Tagged(n) != "") {
		return p.express(n, "Resources")
	}
	value := p.text(n, attribute)
	if value == "" {
		return nil
	}
	if !slices.Contains(allowed, value) {
		p.fail(n, "Template format error: Unrecognized %s %s", attribute, value)
	}
	return p.express(n, "Resources")
}

// output reads one output.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/outputs-section-structure.html
func (p *parser) output(key, n *yaml.Node) {
	o := Output{Name: key.Value, Line: key.Line, Column: key.Column}
	if !p.isMapping(n, "Outputs/"+o.Name) {
		return
	}
	for _, pair := range document.Pairs(n) {
		value := document.Resolve(pair.Value)
		switch pair.Key.Value {
		case "Description":
			o.Description = p.text(value, "Every Outputs member's Description")
		case "Condition":
			o.Condition = p.text(value, "Every Outputs member's Condition")
		case "Value":
			o.Value = p.express(value, "Outputs")
		case "Export":
			name, ok := document.Lookup(value, "Name")
			if !ok || len(document.Pairs(value)) != 1 {
				p.fail(value, "Template format error: Output %s is malformed. The Export member must have a Name and nothing else", o.Name)
				continue
			}
			o.Export = p.express(name, "Outputs")
		default:
			p.fail(pair.Key, "Template format error: Invalid output property '%s' of %s", pair.Key.Value, o.Name)
		}
	}
	if o.Value == nil {
		p.fail(key, "Template format error: Every Outputs member must contain a Value object")
	}
	p.t.outputs = append(p.t.outputs, o.Name)
	p.t.Outputs[o.Name] = o
}
