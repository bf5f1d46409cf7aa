package config

import (
	"maps"
	"slices"
	"strings"
)

// settle takes what is said of a stack besides parameters, tags and needs.
func (r *reader) settle(s *stack) {
	what := "stack " + s.name
	if s.source != nil {
		s.node.Template = s.source.about
	}
	r.capabilities(what, s)
	if s.settings.protect != nil {
		text, ok := r.option(what+": protect", s, *s.settings.protect)
		if ok && text != "true" && text != "false" {
			r.add(s.settings.protect.at, "%s: protect: this is %q here, true or false is wanted", what, short(text))
		}
		s.node.Protect = text == "true"
	}
	if v := s.settings.timeout; v != nil {
		if text, ok := r.option(what+": timeout", s, *v); ok {
			s.node.Timeout = r.timeoutOf(what+": timeout", v.at, text)
		}
	}
	s.node.Stack = physical(r.project, r.environment, s.name)
	at := s.at
	if s.stackName != nil {
		text, ok := r.option(what+": stack_name", s, *s.stackName)
		if !ok {
			s.node.Stack = ""
			return
		}
		s.node.Stack, at = text, s.stackName.at
	}
	if r.project != "" && !physicalName.MatchString(s.node.Stack) {
		why := "a letter, then letters, digits and hyphens, 128 at most"
		if s.stackName == nil {
			why += ": write another under stack_name:"
		}
		r.add(at, "%s: CloudFormation takes no stack called %q: %s", what, short(s.node.Stack), why)
		s.node.Stack = ""
	}
}

var allCapabilities = []string{"CAPABILITY_AUTO_EXPAND", "CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"}

func (r *reader) capabilities(what string, s *stack) {
	if s.settings.capabilities == nil {
		return
	}
	for _, v := range *s.settings.capabilities {
		name, ok := r.option(what+": capabilities", s, v)
		if ok && !slices.Contains(allCapabilities, name) {
			r.add(v.at, "%s: capabilities: unknown capability %q%s", what, short(name), r.hint(name, allCapabilities))
			continue
		}
		s.node.Capabilities = append(s.node.Capabilities, name)
	}
	slices.Sort(s.node.Capabilities)
	s.node.Capabilities = slices.Compact(s.node.Capabilities)
}

// prefixes lists the folders of stacks' names, with their slash.
func (r *reader) prefixes() []string {
	all := map[string]bool{}
	for _, name := range r.stackNames {
		if at := strings.LastIndexByte(name, '/'); at > 0 {
			all[name[:at+1]] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// checkDefaults refuses defaults that would never be used.
func (r *reader) checkDefaults() {
	for _, prefix := range slices.Sorted(maps.Keys(r.layers)) {
		l := r.layers[prefix]
		if len(l.matches) == 0 && len(r.stacks) > 0 {
			r.add(l.at, "defaults %s: no stack's name begins so%s", quoted(prefix), r.hint(prefix, r.prefixes()))
			continue
		}
		takes := map[string]bool{}
		judged := true
		seen := map[*source]bool{}
		for _, s := range l.matches {
			if s.source == nil {
				judged = false
				break
			}
			if seen[s.source] {
				continue
			}
			seen[s.source] = true
			for _, name := range s.source.names {
				takes[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(l.settings.parameters)) {
			if judged && !takes[name] {
				r.add(l.settings.parameters[name].at, "defaults %s: parameter %s: no stack it is for has a template with this parameter%s",
					quoted(prefix), short(name), r.hint(name, slices.Sorted(maps.Keys(takes))))
			}
		}
	}
}
