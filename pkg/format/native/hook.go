package native

import (
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// allHookKeys are the keys that hooks of all types may have, sorted.
func allHookKeys() []string {
	all := slices.Concat(hookKeys, hook.Names())
	for _, t := range hook.All() {
		all = append(all, t.OtherKeys()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hooks reads hooks by their moment; nil if there are none.
func (p *parser) hooks(what string, n *yaml.Node, moments map[project.Moment][]project.Moment) declared.Hooks {
	if n == nil {
		return nil
	}
	all, count := make(declared.Hooks), 0
	var known []string
	for _, m := range slices.Sorted(maps.Keys(moments)) {
		known = append(known, string(m))
	}
	for _, pair := range p.mapping(what, n) {
		key := pair.Key.Value
		if _, ok := moments[project.Moment(key)]; !ok {
			p.Add(p.at(pair.Key), "%s: unknown moment %q%s", what, problem.Short(key), p.Hint(key, known))
			continue
		}
		hooks := []declared.Hook{}
		for _, item := range p.items(what+": "+key, pair.Value) {
			if count++; count > project.MaxHooks {
				p.Add(p.at(item), "%s: more than %d hooks", what, project.MaxHooks)
				return nil
			}
			if h, ok := p.hook(what+": "+key, item); ok {
				hooks = append(hooks, h)
			}
		}
		all[project.Moment(key)] = hooks
	}
	return all
}

// hook reads one hook.
func (p *parser) hook(what string, n *yaml.Node) (h declared.Hook, ok bool) {
	keys := p.keys(what, n, allHookKeys(), hookLater)
	if !isMapping(n) {
		return h, false
	}
	h.At, ok = p.at(n), true
	refuse := func(at problem.Position, format string, args ...any) {
		p.Add(at, what+": "+format, args...)
		ok = false
	}
	if keys["name"] == nil {
		refuse(h.At, "name is missing: write name: and how the plan calls the hook")
	} else {
		h.At = p.at(keys["name"])
		if h.Name, ok = p.literal(what+": name", keys["name"]); ok && !project.Name.MatchString(h.Name) {
			refuse(h.At, "name: %q is not a valid name: use letters, digits and hyphens, at most 64, beginning with a letter", problem.Short(h.Name))
		}
	}
	if ok {
		what += ": " + h.Name
	}
	t, found := p.hookType(what, h.At, keys)
	if !found {
		return h, false
	}
	h.Type, h.Loses, h.Values = t.Name, t.Loses, map[string]declared.Entry{}
	if t.Files {
		h.MaxFiles = hook.MaxUploaded
	}
	for _, k := range append([]hook.Key{{Name: t.Name}}, t.Keys...) {
		key := k.Name
		if keys[key] == nil && k.Optional {
			continue
		}
		if keys[key] == nil {
			refuse(h.At, "%s is missing: a hook of the type %s needs it", key, t.Name)
			continue
		}
		if k.Loses != "" {
			switch p.choice(what+": "+key, keys[key], []string{"true", "false"}) {
			case "true":
				h.Loses = k.Loses
			case "":
				ok = false
				continue
			}
		}
		v, read := p.scalar(what+": "+key, keys[key])
		h.Values[key], ok = declared.Entry{At: p.at(keys[key]), Value: v}, ok && read
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(hookKeys, key) && key != t.Name && !slices.Contains(t.OtherKeys(), key) {
			refuse(p.at(keys[key]), "%s is no key of hooks of the type %s: remove it", key, t.Name)
		}
	}
	if n := keys["payload"]; n != nil && !t.Payload {
		refuse(p.at(n), "payload: hooks of the type %s pass no payload on: remove it", t.Name)
	} else if h.Payload = p.entries(what+": payload", "value", n, p.scalar); len(h.Payload) > project.MaxPayload {
		refuse(p.at(n), "payload: %d values: at most %d are allowed", len(h.Payload), project.MaxPayload)
	}
	h.Timeout, h.CacheKey = p.optional(what, "timeout", keys), p.optional(what, "cache_key", keys)
	h.Ignore = p.choice(what+": on_error", keys["on_error"], []string{"fail", "ignore"}) == "ignore"
	if n := keys["if"]; n != nil {
		text, read := p.text(what+": if", n)
		h.If, h.IfAt, ok = text, p.at(n), ok && read
	}
	return h, ok
}

// hookType finds the one type of which a hook has the key.
func (p *parser) hookType(what string, at problem.Position, keys map[string]*yaml.Node) (hook.Type, bool) {
	var types []hook.Type
	for _, t := range hook.All() {
		if keys[t.Name] != nil {
			types = append(types, t)
		}
	}
	switch len(types) {
	case 0:
		p.Add(at, "%s: it says nothing that is called: write one of %s", what, strings.Join(hook.Names(), ", "))
		return hook.Type{}, false
	case 1:
		return types[0], true
	}
	p.Add(p.at(keys[types[1].Name]), "%s: %s and %s exclude each other: write two hooks", what, types[0].Name, types[1].Name)
	return hook.Type{}, false
}

// hookLater are what users of other tools may write.
var hookLater = map[string]string{
	"cmd": "Stackwright has no machine that runs commands: put the command into a Lambda function, and write invoke: and its ARN",
}
