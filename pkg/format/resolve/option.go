package resolve

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
var physicalName = pattern.New(`^[A-Za-z][-A-Za-z0-9]{0,127}$`)

var allCapabilities = []string{"CAPABILITY_AUTO_EXPAND", "CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"}

var allDeployments = []string{"standard", string(project.Express)}

// setOptions resolves the options of a stack: all keys except parameters, tags and
// needs.
func (r *resolver) setOptions(s *Stack) {
	what := "stack " + s.Name
	if s.Template != nil {
		s.Node.Template = s.Template.about
	}
	r.setCapabilities(what, s)
	s.Node.Protect, s.Node.Adopt = r.truth(what+": protect", s, s.Settings.Protect), r.truth(what+": adopt", s, s.Settings.Adopt)
	s.ignored = s.Settings.Enabled != nil && !r.truth(what+": enabled", s, s.Settings.Enabled)
	s.obsolete = r.truth(what+": obsolete", s, s.Settings.Obsolete)
	if v := s.Settings.Timeout; v != nil {
		if text, ok := r.option(what+": timeout", s, *v); ok {
			t, err := project.ParseTimeout(problem.Short(text))
			if err != nil {
				r.Add(v.At, "%s: timeout: %v", what, err)
			}
			s.Node.Timeout = t
		}
	}
	r.setDeployment(what, s)
	r.setNotifications(what+": notifications", s)
	r.setFailure(what, s)
	r.setTriggers(what+": rollback_triggers", s)
	r.setApproval(what, s)
	r.setStackPolicy(what, s)
	r.setResourceTypes(what+": resource_types", s)
	r.setIgnoreChanges(what+": ignore_changes", s)
	r.setRetain(what+": retain", s)
	r.setGroup(what+": group", s)
	r.setRollout(what+": rollout", s)
	r.setImport(what, s)
	r.setMoveFrom(what+": move_from", s)
	r.setPhysicalName(what, s)
}

// truth resolves an option that is true or false; false if it is absent.
func (r *resolver) truth(what string, s *Stack, v *declared.Value) bool {
	if v == nil {
		return false
	}
	text, ok := r.option(what, s, *v)
	if ok && text != "true" && text != "false" {
		r.Add(v.At, "%s: expected true or false, found %q", what, problem.Short(text))
	}
	return text == "true"
}

// setDeployment sets the mode in which the stack is created and updated.
func (r *resolver) setDeployment(what string, s *Stack) {
	if s.Settings.Deployment == nil {
		return
	}
	switch text, ok := r.option(what+": deployment", s, *s.Settings.Deployment); {
	case !ok, text == allDeployments[0]:
	case text == string(project.Express):
		s.Node.Deployment = project.Express
	default:
		r.Add(s.Settings.Deployment.At, "%s: deployment: unknown mode %q%s", what, problem.Short(text), r.Hint(text, allDeployments))
	}
}

// setApproval sets which steps of the stack have to be approved.
func (r *resolver) setApproval(what string, s *Stack) {
	if s.Settings.Approve == nil {
		return
	}
	text, ok := r.option(what+": approve", s, *s.Settings.Approve)
	if !ok {
		return
	}
	var known []string
	for _, l := range project.ApprovalLevels() {
		if known = append(known, l.String()); l.String() == text {
			s.Node.Approve = l
			return
		}
	}
	r.Add(s.Settings.Approve.At, "%s: approve: unknown level %q%s", what, problem.Short(text), r.Hint(text, known))
}

// setImport sets which resources the stack imports.
func (r *resolver) setImport(what string, s *Stack) {
	for _, id := range slices.Sorted(maps.Keys(s.Settings.Import)) {
		if t := s.Template; t != nil && t.Template != nil && !t.Macros() {
			if _, ok := t.Resources[id]; !ok {
				r.Add(s.Settings.Import[id].At, "%s: import: %s: %s has no such resource%s", what, problem.Short(id), t, r.Hint(id, t.ResourceNames()))
				continue
			}
		}
		var properties project.Identifier
		for _, name := range slices.Sorted(maps.Keys(s.Settings.Import[id].Properties)) {
			e := s.Settings.Import[id].Properties[name]
			of := what + ": import: " + problem.Short(id) + ": " + problem.Short(name)
			value, ok := r.option(of, s, e.Value)
			switch {
			case !e.Value.Written() || !ok: // it was reported
				continue
			case value == "":
				r.Add(e.At, "%s: the value is empty: write what identifies the resource", of)
				continue
			}
			if properties == nil {
				properties = project.Identifier{}
			}
			properties[name] = value
		}
		if s.Node.Import == nil {
			s.Node.Import = map[string]project.Identifier{}
		}
		s.Node.Import[id] = properties
	}
}

// setMoveFrom sets which resources of other stacks go into the stack.
func (r *resolver) setMoveFrom(what string, s *Stack) {
	for _, written := range slices.Sorted(maps.Keys(s.Settings.MoveFrom)) {
		leaving := s.Settings.MoveFrom[written]
		name, target, _ := strings.Cut(written, "@")
		other, err := r.find(s, name, target, leaving.At)
		switch {
		case err != nil:
			r.refuse(leaving.At, what+": "+problem.Short(written), err)
			continue
		case other == s:
			r.Add(leaving.At, "%s: %s: CloudFormation moves no resource within one stack: remove it", what, problem.Short(written))
			continue
		}
		if s.Node.MoveFrom == nil {
			s.Node.MoveFrom = map[string]map[string]string{}
		}
		s.Node.MoveFrom[other.Node.Name] = leaving.Resources
	}
}

// setPhysicalName sets the name of the stack in CloudFormation.
func (r *resolver) setPhysicalName(what string, s *Stack) {
	name, at := project.StackName(r.Name, r.Environment, cmp.Or(r.moved[s.Name], s.Name)), s.At
	if s.StackName != nil {
		text, ok := r.option(what+": stack_name", s, *s.StackName)
		if !ok {
			return
		}
		name, at = text, s.StackName.At
	}
	if r.Name != "" && !physicalName.MatchString(name) {
		why := "use letters, digits and hyphens, at most 128, beginning with a letter"
		if s.StackName == nil {
			why += ", under stack_name:"
		}
		r.Add(at, "%s: CloudFormation does not accept %q as the name of a stack: %s", what, problem.Short(name), why)
		return
	}
	s.Node.Stack = name
}

func (r *resolver) setCapabilities(what string, s *Stack) {
	if s.Settings.Capabilities == nil {
		return
	}
	for _, v := range *s.Settings.Capabilities {
		name, ok := r.option(what+": capabilities", s, v)
		if ok && !slices.Contains(allCapabilities, name) {
			r.Add(v.At, "%s: capabilities: unknown capability %q%s", what, problem.Short(name), r.Hint(name, allCapabilities))
			continue
		}
		s.Node.Capabilities = append(s.Node.Capabilities, name)
	}
	slices.Sort(s.Node.Capabilities)
	s.Node.Capabilities = slices.Compact(s.Node.Capabilities)
}
