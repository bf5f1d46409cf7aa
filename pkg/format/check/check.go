// Package check checks a resolved project. It refuses values that CloudFormation
// would refuse later, settings that no stack uses, and stacks that would change
// Stackwright itself.
package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/project"
)

// A checker checks one project.
type checker struct {
	*resolve.Project
	*problem.List
	own      Installation
	home     project.Target
	collides map[*resolve.Stack]bool    // with another stack's physical name
	doubted  map[*resolve.Template]bool // its texts were checked
	compared map[*resolve.Template]bool // its resources were compared with the schemas of AWS
}

// Project adds the problems of a project to the list.
func Project(p *resolve.Project, own Installation, home project.Target, list *problem.List) {
	c := &checker{
		Project: p, List: list, own: own, home: home, collides: map[*resolve.Stack]bool{},
		doubted: map[*resolve.Template]bool{}, compared: map[*resolve.Template]bool{},
	}
	c.defaults()
	c.limits()
	c.names()
	c.approvals()
	c.assets()
	for _, check := range []func(*resolve.Stack){c.parameters, c.doubtful, c.ownDefaults, c.values, c.nested, c.properties,
		c.capabilities, c.resourceTypes, c.retain, c.outputs, c.conditions, c.regions, c.harm, c.stackHooks, c.lifetime, c.alarms} {
		for _, s := range p.Stacks {
			if c.Full() {
				return
			}
			check(s)
		}
	}
	c.hooks("", c.home, c.Hooks)
	c.exports()
	if !c.Full() {
		c.cycles()
	}
}

// names refuses two stacks of one physical name in one account and region.
func (c *checker) names() {
	by := map[resolve.Place]*resolve.Stack{}
	for _, s := range c.Stacks {
		if s.Node.Stack == "" || c.Name == "" {
			continue
		}
		on := s.Place(s.Node.Stack)
		first, taken := by[on]
		if !taken {
			by[on] = s
			continue
		}
		at := s.At
		if s.StackName != nil {
			at = s.StackName.At
		}
		if first.Name == s.Name {
			c.Add(s.At, "stack %s: its targets %s and %s are the same account and region: name one of them%s", s.Name, first.Node.Target.Name, s.Node.Target.Name, c.inUnits(first, s))
		} else {
			c.Add(at, "stack %s: CloudFormation would know it as %s, and %s too: give one of them another stack_name:%s", s.Node.Name, s.Node.Stack, first.Node.Name, c.inUnits(first, s))
		}
		c.collides[s] = true
	}
}

// inUnits says how two stacks in one account and region can be kept apart if they are there because the account is in a unit.
func (c *checker) inUnits(all ...*resolve.Stack) string {
	for _, s := range slices.Backward(all) {
		if of, account, member := project.UnitOf(s.Node.Target.Name); member && c.Followed[of] != nil {
			return fmt.Sprintf("; or leave account %s out of the unit of target %s: register that again with its options and --except %s", account, of, account)
		}
	}
	return ""
}

// capabilities refuses a stack without a capability that CloudFormation requires.
func (c *checker) capabilities(s *resolve.Stack) {
	if s.Template == nil {
		return
	}
	if d := s.Settings.Capabilities; d != nil && len(s.Node.Capabilities) < len(*d) {
		return // one of them could not be read, and may be the one that is missing
	}
	for _, need := range s.Template.Capabilities() {
		if slices.Contains(s.Node.Capabilities, need) || need == "CAPABILITY_IAM" && slices.Contains(s.Node.Capabilities, "CAPABILITY_NAMED_IAM") {
			continue
		}
		why := ""
		if reason := s.Template.CapabilitiesReason(); reason != "" && need != "CAPABILITY_AUTO_EXPAND" {
			why = " (" + reason + ")"
		}
		c.Add(s.At, "stack %s: %s requires %s%s: write capabilities: [%s] if you agree", s.Name, s.Template, need, why, need)
	}
}

// resourceTypes refuses a template with a resource of a type that the stack may not have.
func (c *checker) resourceTypes(s *resolve.Stack) {
	if d := s.Settings.ResourceTypes; s.Template == nil || s.Template.Template == nil || d == nil || len(s.Node.ResourceTypes) < len(*d) {
		return // one of them could not be read
	}
	for _, name := range s.Template.ResourceNames() {
		if r := s.Template.Resources[name]; !s.Node.MayHave(r.Type) {
			c.Add(s.Template.Where(r.Line, r.Column), "stack %s: %s has the type %s, which is not under resource_types: add it if you agree", s.Name, name, problem.Short(r.Type))
		}
	}
}

// regions refuses files that AWS reads only from a bucket in the region of the stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-lambda-function-code.html
func (c *checker) regions(s *resolve.Stack) {
	if s.Template == nil || s.Node.Target.Region == c.Store.Region {
		return
	}
	for _, at := range s.Template.Regional {
		c.Add(at, "stack %s: the file would be in the bucket of the installation in %s, and AWS reads it only from a bucket in the stack's own region, %s: upload it there and write its place in S3, or install Stackwright there",
			s.Node.Name, c.Store.Region, s.Node.Target.Region)
	}
}

// conditions refuses a template whose conditions cannot be evaluated.
func (c *checker) conditions(s *resolve.Stack) {
	if s.Template == nil || len(s.Template.Conditions) == 0 {
		return
	}
	for _, e := range problem.Errors(s.Template.At.File, c.Evaluation(s).Err()) {
		c.Add(s.Template.Where(e.Line, e.Column), "stack %s: %s", s.Name, strings.TrimSpace(e.Text))
	}
}

// defaults refuses defaults that no stack uses.
func (c *checker) defaults() {
	for _, d := range c.Defaults {
		if len(d.Stacks) == 0 && len(c.Stacks) > 0 && !d.Elsewhere {
			c.Add(d.At, "%s: no stack's name begins with that%s", d.Label, c.Hint(d.Prefix, c.prefixes()))
			continue
		}
		takes := map[string]bool{}
		judged := !d.Elsewhere
		seen := map[*resolve.Template]bool{}
		for _, s := range d.Stacks {
			if s.Template == nil {
				judged = false
				break
			}
			if seen[s.Template] {
				continue
			}
			seen[s.Template] = true
			for _, name := range s.Template.ParameterNames {
				takes[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(d.Settings.Parameters)) {
			if judged && !takes[name] {
				c.Add(d.Settings.Parameters[name].At, "%s: parameter %s: none of its stacks has a template with this parameter%s",
					d.Label, problem.Short(name), c.Hint(name, slices.Sorted(maps.Keys(takes))))
			}
		}
	}
}

// limits refuses limits for stacks of which there are none.
func (c *checker) limits() {
	for _, l := range c.UnusedLimits {
		if len(c.Stacks) > 0 {
			c.Add(l.At, "%s: no stack's name begins with that%s", l.Label, c.Hint(l.Prefix, c.prefixes()))
		}
	}
}

// prefixes lists the folders of the stacks' names, with their slash.
func (c *checker) prefixes() []string {
	all := map[string]bool{}
	for _, name := range c.Names {
		if at := strings.LastIndexByte(name, '/'); at > 0 {
			all[name[:at+1]] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
