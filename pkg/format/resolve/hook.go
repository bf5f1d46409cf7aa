package resolve

import (
	"errors"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/project"
)

// hookPrefix begins the names of the values of hooks in messages. Such a value may be an output of the stack itself.
const hookPrefix = "hook "

// The moments at which a stack has no outputs, and no record that outlasts them.
var (
	withoutOutputs = []project.Moment{project.BeforeCreate, project.AfterDelete}
	withoutRecord  = []project.Moment{project.BeforeCreate, project.BeforeDelete, project.AfterDelete}
)

// setHooks resolves the hooks of a stack.
func (r *resolver) setHooks(s *Stack) {
	s.Node.Hooks = r.hooks(s, "stack "+s.Name+": ", s.Settings.Hooks, project.StackMoments())
}

// setProjectHooks resolves the hooks of the project, which are called in the target default.
func (r *resolver) setProjectHooks(home project.Target) {
	s := &Stack{Node: project.Node{Target: home}}
	var all declared.Hooks
	for _, l := range r.layers {
		all = all.With(l.Hooks)
	}
	r.Hooks = r.hooks(s, "", all, project.ProjectMoments())
	if len(r.Hooks) > 0 {
		r.Home = home
	}
}

// hooks resolves the hooks of a stack, or of the project, whose conditions hold.
func (r *resolver) hooks(s *Stack, what string, by declared.Hooks, moments map[project.Moment][]project.Moment) []project.Hook {
	var all []project.Hook
	taken := make(map[string]bool)
	for _, m := range slices.SortedFunc(maps.Keys(by), project.Moment.Compare) {
		for _, d := range by[m] {
			of := hookPrefix + d.Name
			if taken[d.Name] {
				r.Add(d.At, "%s%s: another hook has this name: give each its own name", what, of)
				continue
			}
			taken[d.Name] = true
			if !r.holds(s, what+of, d) {
				continue
			}
			h := project.Hook{Name: d.Name, Moments: moments[m], Type: d.Type, Loses: d.Loses, Ignore: d.Ignore}
			h.Values = r.hookTexts(s, what, of+": ", h, d.Values)
			h.Payload = r.hookTexts(s, what, of+": payload ", h, d.Payload)
			h.Files = r.hookFiles(what+of, d, h)
			if d.CacheKey != nil {
				key := map[string]declared.Entry{"cache_key": {At: d.CacheKey.At, Value: *d.CacheKey}}
				h.CacheKey = r.hookTexts(s, what, of+": ", h, key)["cache_key"]
				if s.Name == "" || has(h.Moments, withoutRecord) && m != project.BeforeDeploy {
					r.Add(d.CacheKey.At, "%s%s: cache_key is kept in the record of a stack, and so it is only for after_create, before_update, after_update, before_deploy and after_deploy of a stack: remove it", what, of)
				}
			}
			if v := d.Timeout; v != nil {
				if text, ok := r.option(what+of+": timeout", s, *v); ok {
					t, err := project.ParseTimeout(problem.Short(text))
					if err != nil {
						r.Add(v.At, "%s%s: timeout: %v", what, of, err)
					}
					h.Timeout = t
				}
			}
			if r.HooksAt == nil {
				r.HooksAt = make(map[string]map[string]problem.Position)
			}
			if r.HooksAt[s.Node.Name] == nil {
				r.HooksAt[s.Node.Name] = make(map[string]problem.Position)
			}
			r.HooksAt[s.Node.Name][d.Name] = d.Values[d.Type].At
			all = append(all, h)
		}
	}
	return all
}

// hookFiles keeps the files of the project that a hook uses, and returns their digest; "" if it uses none.
func (r *resolver) hookFiles(what string, d declared.Hook, h project.Hook) string {
	written, ok := h.Values[d.Type]
	if d.MaxFiles == 0 || !ok { // it could not be read, which was reported
		return ""
	}
	at := d.Values[d.Type].At
	name, known := written.Known()
	if !known {
		r.Add(at, "%s: %s: the path has to be known before the deploy: write the path of a file or a folder of the project", what, d.Type)
		return ""
	}
	digest, err := r.templates.packager.Folder(name, d.MaxFiles)
	if err != nil && !errors.Is(err, packages.ErrReported) {
		r.Add(at, "%s: %s: %v", what, d.Type, err)
	}
	return digest
}

// has reports whether some moments are among others.
func has(moments, among []project.Moment) bool {
	return slices.ContainsFunc(moments, func(m project.Moment) bool { return slices.Contains(among, m) })
}

// holds reports whether the condition of a hook holds.
func (r *resolver) holds(s *Stack, what string, d declared.Hook) bool {
	if d.If == "" {
		return true
	}
	if r.options.Holds == nil {
		r.Add(d.IfAt, "%s: if: conditions cannot be evaluated here", what)
		return false
	}
	t := s.Node.Target
	holds, err := r.options.Holds(d.If, project.Situation{
		Project: r.Name, Environment: r.Environment, Stack: project.Stack{Name: s.Node.Name, Target: t.Name, Account: t.Account, Region: t.Region},
	})
	if err != nil {
		r.Add(d.IfAt, "%s: if: %v", what, err)
	}
	return err == nil && holds
}

// hookTexts resolves values of a hook. They hold no secrets, which CloudFormation resolves and nobody else.
func (r *resolver) hookTexts(s *Stack, what, of string, h project.Hook, entries map[string]declared.Entry) map[string]project.Text {
	good := make(map[string]declared.Entry, len(entries))
	for name, e := range entries {
		ok := true
		for _, item := range e.Value.Items {
			for _, p := range item {
				for _, ref := range p.References() {
					ok = r.hookReference(s, what+of+name, h, e.Value.At, ref) && ok
				}
			}
		}
		if ok {
			good[name] = e
		}
	}
	return r.texts(s, what, of, good)
}

// hookReference reports whether a hook may have a reference. It adds a problem if not.
func (r *resolver) hookReference(s *Stack, what string, h project.Hook, at problem.Position, ref declared.Reference) bool {
	kind, _ := reference.Of(ref.Kind)
	shown := problem.Short(ref.Written)
	switch own := ref.Name == s.Name && s.Name != ""; {
	case kind.Early:
		return true
	case !kind.Output || s.Name == "":
		words := reference.Early()
		if s.Name != "" {
			words += ", or an output of a stack"
		}
		r.Add(at, "%s: %s cannot be in a hook: use only %s here", what, shown, words)
		return false
	case own && has(h.Moments, withoutOutputs):
		r.Add(at, "%s: %s: before its creation and after its deletion, a stack has no outputs", what, shown)
		return false
	}
	return true
}
