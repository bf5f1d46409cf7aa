package resolve

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/lib/function"
	"github.com/stackwright/stackwright/pkg/project"
)

// attributes are the keys of ${attr:stack.key} besides those of parameters and tags.
var attributes = map[string]func(s *Stack) project.Text{
	"name":       func(s *Stack) project.Text { return project.Literal(s.Name) },
	"stack_name": func(s *Stack) project.Text { return project.Literal(s.Node.Stack) },
	"account":    func(s *Stack) project.Text { return project.Literal(s.Node.Target.Account) },
	"region":     func(s *Stack) project.Text { return project.Literal(s.Node.Target.Region) },
	"target":     func(s *Stack) project.Text { return project.Literal(s.Node.Target.Name) },
	"id":         func(s *Stack) project.Text { return project.Text{{Node: s.Node.Name, Output: project.StackID}} },
}

// Attribute returns an attribute of a stack.
func (l lookup) Attribute(name, target, key string) (project.Text, error) {
	other, err := l.find(l.stack, name, target, l.at)
	if err != nil {
		return nil, err
	}
	if parameter, is := strings.CutPrefix(key, "parameters."); is {
		return l.attribute(other, "parameter ", parameter, other.Settings.Parameters)
	}
	if tag, is := strings.CutPrefix(key, "tags."); is {
		return l.attribute(other, "tag ", tag, other.Settings.Tags)
	}
	of, ok := attributes[key]
	switch {
	case !ok:
		keys := append(slices.Sorted(maps.Keys(attributes)), "parameters.NAME", "tags.NAME")
		return nil, fmt.Errorf("a stack has no attribute %q%s", problem.Short(key), l.Hint(key, keys))
	case key == "id" && other == l.stack:
		return nil, errors.New("a stack cannot use its own ID, which exists only after it is created: write ${AWS::StackId} in the template")
	}
	return of(other), nil
}

// given is a parameter or a tag of a stack.
type given struct {
	stack *Stack
	of    string // "parameter VpcId" or "tag team"
}

// attribute returns the value that a stack gives a parameter or a tag, or the default of a parameter.
func (l lookup) attribute(s *Stack, kind, name string, entries map[string]declared.Entry) (project.Text, error) {
	e, ok := entries[name]
	if s.Template != nil && kind == "parameter " {
		p, defined := s.Template.Parameters[name]
		switch {
		case defined && p.NoEcho:
			return nil, errors.New("the template of the stack says NoEcho: its value is secret")
		case !ok && defined && p.Default != nil:
			return project.Literal(*p.Default), nil
		}
	}
	what := given{s, kind + name}
	switch {
	case !ok:
		return nil, function.Missing(fmt.Errorf("stack %s has no %s%s%s", s.Name, kind, problem.Short(name), l.Hint(name, slices.Sorted(maps.Keys(entries)))))
	case !e.Value.Written():
		return nil, reference.ErrReported
	case l.pending[what]:
		return nil, fmt.Errorf("the %s of stack %s refers to itself: write its value", what.of, s.Name)
	}
	if text, known := l.attributes[what]; known {
		if text == nil {
			return nil, reference.ErrReported
		}
		return text, nil
	}
	l.pending[what] = true
	text, ok := l.text("stack "+s.Name+": ", what.of, s, e.Value)
	delete(l.pending, what)
	if !ok {
		text = nil
	}
	if l.attributes[what] = text; !ok {
		return nil, reference.ErrReported
	}
	return text, nil
}
