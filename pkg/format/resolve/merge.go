package resolve

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
)

// A layer is a declared layer, with its stacks and defaults by name and prefix.
type layer struct {
	stacks   map[string]*declared.Stack
	defaults map[string][]*Defaults
}

// merge makes the stacks of the environment, with their templates and settings.
func (r *resolver) merge() {
	layers := make([]layer, len(r.layers))
	for i, l := range r.layers {
		layers[i] = layer{map[string]*declared.Stack{}, r.defaults(l.Defaults)}
		for j := range l.Stacks {
			layers[i].stacks[l.Stacks[j].Name] = &l.Stacks[j]
		}
	}
	seen := map[string]bool{}
	for i, l := range r.layers {
		for _, s := range l.Stacks {
			switch {
			case seen[s.Name]:
			case i == 0 && !s.In(r.environment):
				r.leaveOut(s.Name, "its only: or except: leaves it out", layers)
			default:
				r.stack(s.Name, layers)
			}
			seen[s.Name] = true
		}
	}
	here := map[string]bool{}
	for _, name := range r.Names {
		here[name] = true
	}
	for name := range r.declared.Everywhere() {
		if !here[name] && r.elsewhere[name] == "" {
			r.leaveOut(name, "it is declared only in other environments", layers)
		}
	}
	for _, l := range r.maxParallel() {
		if l.Group != "" { // the groups of the stacks are not resolved yet
			continue
		}
		begins := func(name string) bool { return strings.HasPrefix(name, l.Prefix) }
		if !slices.ContainsFunc(r.Names, begins) && !slices.ContainsFunc(slices.Collect(maps.Keys(r.elsewhere)), begins) {
			r.UnusedLimits = append(r.UnusedLimits, l)
		}
	}
	switch {
	case len(r.Names) > 0 || len(r.elsewhere) == 0:
	case len(r.declared.Stacks) == 0:
		r.Add(r.declared.ListAt, "environments: all stacks are in other environments than %s: choose one with --env: %s", r.Environment, strings.Join(r.declared.EnvironmentNames(), ", "))
	default:
		r.Add(cmp.Or(r.environment.At, problem.Position{File: r.declared.File}), "environment %s has no stacks: only: and except: leave out all that are declared; to delete all its stacks, use destroy", r.Environment)
	}
}

// leaveOut records a stack that is not in this environment.
func (r *resolver) leaveOut(name, why string, layers []layer) {
	if r.elsewhere == nil {
		r.elsewhere = map[string]string{}
	}
	r.elsewhere[name] = why
	for _, l := range layers {
		for _, d := range matching(l.defaults, name) {
			d.Elsewhere = true
		}
	}
}

// move finds the former names of moved stacks, from which their physical names are
// derived.
func (r *resolver) move() {
	by := map[string]string{}
	for _, m := range r.declared.Moved {
		by[m.To] = m.From
	}
	for _, m := range r.declared.Moved {
		i := slices.IndexFunc(r.Stacks, func(s *Stack) bool { return s.Name == m.To })
		if i >= 0 && r.Stacks[i].StackName != nil {
			r.Add(m.At, "moved: %s has a stack_name:, which decides its physical name: remove this entry", m.To)
		}
	}
	r.moved = map[string]string{}
	for to := range by {
		first := to
		for range by {
			if from, ok := by[first]; ok {
				first = from
			}
		}
		r.moved[to] = first
	}
}

// defaults lists those of a layer by prefix.
func (r *resolver) defaults(all []declared.Defaults) map[string][]*Defaults {
	by := map[string][]*Defaults{}
	for _, d := range all {
		one := &Defaults{Defaults: d}
		by[d.Prefix] = append(by[d.Prefix], one)
		r.Defaults = append(r.Defaults, one)
	}
	return by
}

// stack adds the stack of a name, which some of the layers declare.
func (r *resolver) stack(name string, layers []layer) {
	if r.Full() {
		return
	}
	var all []*declared.Stack // the last of them counts most
	for _, l := range layers {
		if d := l.stacks[name]; d != nil {
			all = append(all, d)
		}
	}
	first := all[0]
	s := &Stack{Name: name, At: first.At, Settings: declared.Settings{Parameters: map[string]declared.Entry{}, Tags: map[string]declared.Entry{}}}
	s.Where = cmp.Or(first.ParametersIn, "under parameters:")
	for _, d := range slices.Backward(all) {
		s.StackName = cmp.Or(s.StackName, d.StackName)
		s.region, s.account, s.mapIn = cmp.Or(s.region, d.Region), cmp.Or(s.account, d.Account), cmp.Or(s.mapIn, d.MapIn)
		s.assets = append(s.assets, d.Assets...)
		if s.Template == nil && d.Template != nil {
			s.Template = r.templates.load("stack "+name, d.Template)
		}
	}
	for _, l := range layers {
		for _, d := range matching(l.defaults, name) {
			d.Stacks = append(d.Stacks, s)
			overlay(&s.Settings, d.Settings, func(parameter string) bool {
				return s.Template != nil && slices.Contains(s.Template.ParameterNames, parameter)
			})
		}
		if d := l.stacks[name]; d != nil {
			overlay(&s.Settings, d.Settings, func(string) bool { return true })
		}
	}
	r.limits.text(100 * (len(s.Settings.Parameters) + len(s.Settings.Tags)))
	r.Stacks = append(r.Stacks, s)
	r.Names = append(r.Names, s.Name)
}

// maxParallel lists the limits of all layers, in their order.
func (r *resolver) maxParallel() []declared.Limit {
	var all []declared.Limit
	for _, l := range r.layers {
		all = append(all, l.MaxParallel...)
	}
	return all
}

// matching lists the defaults of a layer for a stack, the shortest prefix first.
func matching(layer map[string][]*Defaults, name string) []*Defaults {
	var all []*Defaults
	for i := range len(name) + 1 {
		all = append(all, layer[name[:i]]...)
	}
	return all
}

// overlay merges settings: parameters and tags by name; all other settings
// replace the earlier ones.
func overlay(on *declared.Settings, s declared.Settings, takes func(parameter string) bool) {
	for name, e := range s.Parameters {
		if takes(name) {
			on.Parameters[name] = e
		}
	}
	maps.Copy(on.Tags, s.Tags)
	on.Incomplete = on.Incomplete || s.Incomplete
	on.Needs = cmp.Or(s.Needs, on.Needs)
	on.Capabilities = cmp.Or(s.Capabilities, on.Capabilities)
	on.Targets = cmp.Or(s.Targets, on.Targets)
	on.Protect = cmp.Or(s.Protect, on.Protect)
	on.Timeout = cmp.Or(s.Timeout, on.Timeout)
	on.Adopt = cmp.Or(s.Adopt, on.Adopt)
	on.Enabled, on.Obsolete = cmp.Or(s.Enabled, on.Enabled), cmp.Or(s.Obsolete, on.Obsolete)
	on.Approve = cmp.Or(s.Approve, on.Approve)
	on.Deployment = cmp.Or(s.Deployment, on.Deployment)
	on.Notifications = cmp.Or(s.Notifications, on.Notifications)
	on.StackPolicy, on.DuringUpdate = cmp.Or(s.StackPolicy, on.StackPolicy), cmp.Or(s.DuringUpdate, on.DuringUpdate)
	on.ResourceTypes, on.IgnoreChanges = cmp.Or(s.ResourceTypes, on.ResourceTypes), cmp.Or(s.IgnoreChanges, on.IgnoreChanges)
	on.Retain, on.Group, on.Rollout = cmp.Or(s.Retain, on.Retain), cmp.Or(s.Group, on.Group), cmp.Or(s.Rollout, on.Rollout)
	on.RollbackTriggers = cmp.Or(s.RollbackTriggers, on.RollbackTriggers)
	on.OnFailure, on.DisableRollback = cmp.Or(s.OnFailure, on.OnFailure), cmp.Or(s.DisableRollback, on.DisableRollback)
	if s.Hooks != nil {
		on.Hooks = on.Hooks.With(s.Hooks)
	}
	if s.Import != nil {
		on.Import = s.Import
	}
	if s.MoveFrom != nil {
		on.MoveFrom = s.MoveFrom
	}
}
