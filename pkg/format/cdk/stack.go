package cdk

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
)

// acknowledged are the capabilities that every stack gets: those of cdk deploy.
var acknowledged = []string{"CAPABILITY_AUTO_EXPAND", "CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"}

// A stack is an artifact that is a stack.
type stack struct {
	*artifact
	in          *assembly
	name        string
	template    string // its path
	environment environment
	needs       []*stack
	assets      []string // the paths of its asset manifests
}

// An environment is the account and region of a stack; what is unknown is "".
type environment struct {
	written         string // such as aws://111111111111/eu-west-1
	at              problem.Position
	account, region string
}

// stack reads a stack.
func (r *reader) stack(a *assembly, one *artifact) *stack {
	s := &stack{artifact: one, in: a}
	s.template = r.file(a, one, "templateFile")
	s.environment = r.environment(a.file, one)
	display := r.optional(a.file, one.id+": displayName", one.entry, "displayName")
	if display == "" {
		display = one.id
	}
	path, _, _ := strings.Cut(display, " (") // such as "Beta/Network (Beta-Network)"
	s.name = stackName(path)
	other := r.byName[s.name]
	switch {
	case !declared.StackName.MatchString(s.name) || len(s.name) > declared.MaxName:
		r.Add(one.at, "a stack is named after its construct, and %q is not a valid name: use letters, digits and hyphens, at most %d", problem.Short(path), declared.MaxName)
		return nil
	case other != nil:
		r.Add(one.at, "a stack is named after its construct, and %s makes the name %s too: rename one of them", problem.Short(other.id), s.name)
		return nil
	case len(r.stacks) == declared.MaxStacks:
		r.Add(problem.Position{File: manifest}, "more than %d stacks: divide the application into several projects", declared.MaxStacks)
		return nil
	}
	r.byName[s.name] = s
	r.stacks = append(r.stacks, s)
	if s.template != "" {
		r.own[s.template] = true
	}
	return s
}

// stackName is the name of a stack of a construct.
func stackName(construct string) string {
	parts := strings.Split(construct, "/")
	for i, p := range parts {
		parts[i] = strings.Trim(strings.Map(func(c rune) rune {
			if c == '-' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
				return c
			}
			return '-'
		}, p), "-")
	}
	return strings.Join(parts, "/")
}

// environment reads where a stack is.
func (r *reader) environment(file string, one *artifact) environment {
	e := environment{written: r.text(file, one.id+": environment", one.entry, "environment")}
	n, _ := document.Lookup(one.entry, "environment")
	e.at = r.at(file, n)
	rest, isAWS := strings.CutPrefix(e.written, "aws://")
	account, region, both := strings.Cut(rest, "/")
	if !isAWS || !both || account == "" || region == "" || strings.Contains(region, "/") {
		if e.written != "" {
			r.Add(e.at, "%s: environment: expected aws://ACCOUNT/REGION, found %s: run cdk synth again", problem.Short(one.id), problem.Short(e.written))
		}
		return e
	}
	if account != "unknown-account" {
		e.account = account
	}
	if region != "unknown-region" {
		e.region = region
	}
	return e
}

// order finds what the stacks of an assembly, and of those in it, depend on.
func (r *reader) order(a *assembly) {
	for _, one := range a.artifacts {
		if one.unknown {
			r.Warn(one.at, "%s has the type %q, which this Stackwright does not know: it is left out",
				problem.Short(one.id), problem.Short(one.kind))
		}
		for _, id := range one.needs {
			need := a.byID[id]
			switch {
			case need == nil:
				r.Add(one.at, "%s: dependencies: there is no artifact %s: run cdk synth again", problem.Short(one.id), problem.Short(id))
				continue
			case need.unknown && len(one.stacks()) > 0:
				r.Add(need.at,
					"%s has the type %q, which this Stackwright does not know, and %s has to be deployed after it: "+upgrade,
					problem.Short(id), problem.Short(need.kind), problem.Short(one.id))
				continue
			case need.assets != "" && one.stack != nil:
				one.stack.assets = append(one.stack.assets, need.assets)
			}
			for _, s := range one.stacks() {
				s.needs = append(s.needs, need.stacks()...)
			}
		}
		if one.inner != nil {
			r.order(one.inner)
		}
	}
}

// stacks lists the stacks that an artifact is or contains.
func (a *artifact) stacks() []*stack {
	if a.stack != nil {
		return []*stack{a.stack}
	}
	var all []*stack
	if a.inner != nil {
		for _, one := range a.inner.artifacts {
			all = append(all, one.stacks()...)
		}
	}
	return all
}

// declared declares a stack.
func (r *reader) declared(s *stack) (declared.Stack, bool) {
	file := s.in.file
	r.metadata(s)
	if s.template == "" {
		return declared.Stack{}, false
	}
	at := s.at
	template := &declared.Template{At: at, Path: s.template}
	one := declared.Stack{
		Name: s.name, At: at, Template: template, ParametersIn: "in the application, and run cdk synth again",
		StackName: &declared.Value{At: at, Items: literal(r.stackName(s)), Kind: "text"},
		Settings:  declared.Settings{Parameters: map[string]declared.Entry{}, Tags: map[string]declared.Entry{}},
	}
	set := func(to **[]declared.Value, all []string) {
		values := make([]declared.Value, 0, len(all))
		for _, text := range all {
			values = append(values, declared.Value{At: at, Items: literal(text), Kind: "text"})
		}
		*to = &values
	}
	set(&one.Settings.Capabilities, acknowledged)
	r.place(s, &one, set)
	for _, section := range []struct {
		key string
		to  map[string]declared.Entry
	}{{"parameters", one.Settings.Parameters}, {"tags", one.Settings.Tags}} {
		n, _ := document.Lookup(s.properties, section.key)
		for _, t := range r.texts(file, s.id+": "+section.key, n) {
			section.to[t.key] = declared.Entry{At: t.at, Value: declared.Value{At: t.valueAt, Items: literal(t.value), Kind: "text"}}
		}
	}
	if r.optional(file, s.id+": terminationProtection", s.properties, "terminationProtection") == "true" {
		one.Settings.Protect = &declared.Value{At: at, Items: literal("true"), Kind: "true or false"}
	}
	if n, _ := document.Lookup(s.properties, "notificationArns"); n != nil {
		all := []declared.Value{}
		for _, arn := range document.Items(n) {
			if text, ok := r.scalar(file, s.id+": notificationArns", arn); ok {
				all = append(all, declared.Value{At: r.at(file, arn), Items: literal(text), Kind: "text"})
			}
		}
		one.Settings.Notifications = &all
	}
	if needs := r.needs(s); len(needs) > 0 {
		set(&one.Settings.Needs, needs)
	}
	one.Assets = r.assetsOf(s)
	template.Nested = r.nestedOf(s.template, one.Assets, nil)
	return one, true
}

// place says where a stack is deployed.
func (r *reader) place(s *stack, one *declared.Stack, set func(**[]declared.Value, []string)) {
	one.Account, one.Region = s.environment.account, s.environment.region
	written := problem.Short(s.environment.written)
	one.MapIn = "write under targets: in " + sideFile + " the line - {environment: " + written + ", target: NAME}, or use --map " + written + "=NAME"
	if target := r.side.target(s.environment.written); target != "" {
		set(&one.Settings.Targets, []string{target})
	}
}

// stackName is the physical name of a stack.
func (r *reader) stackName(s *stack) string {
	if name := r.optional(s.in.file, s.id+": stackName", s.properties, "stackName"); name != "" {
		return name
	}
	return s.id
}

// needs lists the names of the stacks that a stack depends on, each once.
func (r *reader) needs(s *stack) []string {
	var all []string
	for _, need := range s.needs {
		if need != s {
			all = append(all, need.name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// metadata refuses what cdk deploy refuses: errors that constructs have added.
func (r *reader) metadata(s *stack) {
	file, all := s.in.file, s.entry
	if name := r.optional(file, s.id+": additionalMetadataFile", s.entry, "additionalMetadataFile"); name != "" {
		if more, why := within(s.in.dir, name); why != "" {
			r.Add(s.at, "%s: additionalMetadataFile: %s: %s", problem.Short(s.id), problem.Short(name), why)
		} else if root, ok := r.document(more); ok {
			r.metadataIn(more, s, root)
		}
	}
	n, _ := document.Lookup(all, "metadata")
	r.metadataIn(file, s, n)
}

// metadataIn reads metadata: lists of entries by the paths of constructs.
func (r *reader) metadataIn(file string, s *stack, n *yaml.Node) {
	for _, p := range r.pairs(file, s.id+": metadata", n) {
		for _, entry := range document.Items(p.Value) {
			kind, _ := document.Lookup(entry, "type")
			data, _ := document.Lookup(entry, "data")
			switch {
			case kind == nil:
			case kind.Value == "aws:cdk:error" && data != nil:
				r.Add(r.at(file, entry), "construct %s has an error: %s: correct the application, and run cdk synth again", problem.Short(strings.TrimPrefix(p.Key.Value, "/")), problem.Short(data.Value))
			case kind.Value == "aws:cdk:asset":
				r.Add(r.at(file, entry), "%s: its assets are parameters of the template, as the LegacyStackSynthesizer writes them: use the DefaultStackSynthesizer", problem.Short(s.id))
			}
		}
	}
}

// literal is a text without references.
func literal(text string) [][]declared.Part { return [][]declared.Part{{{Literal: text}}} }
