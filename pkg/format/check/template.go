package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// ownDefaults refuses defaults that violate the constraints of their own parameters, where the project gives no value.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html
func (c *checker) ownDefaults(s *resolve.Stack) {
	if s.Template == nil || s.Settings.Incomplete {
		return
	}
	for _, name := range s.Template.ParameterNames {
		p := s.Template.Parameters[name]
		if _, given := s.Settings.Parameters[name]; given || p.Default == nil || strings.Contains(*p.Default, "{{resolve:") {
			continue
		}
		if err := p.Check(*p.Default); err != nil {
			c.Add(s.Template.Where(p.Line, p.Column), "stack %s: %v: this is about the default of the template, %q, "+
				"because the project gives no value: write one under parameters:, or correct the default", s.Name, err,
				problem.Short(*p.Default))
		}
	}
}

// values refuses what CloudFormation would refuse in the template with the values that are known: see
// template.Evaluation.Verify. Where other transforms than AWS's make resources, only CloudFormation knows.
func (c *checker) values(s *resolve.Stack) {
	if s.Template == nil || len(s.Template.Makers()) > 0 {
		return
	}
	reported := map[string]bool{}
	for _, e := range problem.Errors(s.Template.At.File, c.Evaluation(s).Err()) {
		reported[e.Text] = true // by conditions
	}
	for _, e := range problem.Errors(s.Template.At.File, c.Certain(s).Verify()) {
		if !reported[e.Text] {
			c.Add(s.Template.Where(e.Line, e.Column), "stack %s: %s%s", s.Node.Name, strings.TrimSpace(e.Text), c.where(s))
		}
	}
}

// where says where a stack is, if that may be the reason.
func (c *checker) where(s *resolve.Stack) string {
	if s.Template.Uses("AWS::Region", "AWS::AccountId", "AWS::Partition", "AWS::URLSuffix") {
		return fmt.Sprintf(" (it is deployed to %s %s)", s.Node.Target.Account, s.Node.Target.Region)
	}
	return ""
}

// nested refuses references to outputs that a nested template of the project lacks, parameters that it does not have,
// and parameters of it that have no value.
func (c *checker) nested(s *resolve.Stack) {
	if s.Template == nil {
		return
	}
	for _, name := range s.Template.ResourceNames() {
		inner, file := c.NestedTemplate(s, name)
		if inner == nil || inner.Macros() {
			continue
		}
		what := fmt.Sprintf("stack %s: nested stack %s", s.Name, name)
		for _, a := range s.Template.Attributes(name) {
			output, is := strings.CutPrefix(a.Name, "Outputs.")
			if _, has := inner.Outputs[output]; is && !has {
				c.Add(s.Template.Where(a.Line, a.Column), "%s: %s has no output %s%s", what, file, output, c.Hint(output,
					inner.OutputNames()))
			}
		}
		c.nestedParameters(s, what, file, s.Template.Resources[name], inner)
	}
}

func (c *checker) nestedParameters(s *resolve.Stack, what, file string, r template.Resource, inner *template.Template) {
	given, known := r.Property("Parameters").Keys()
	if !known {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, has := inner.Parameters[name]; !has {
			at := given[name]
			c.Add(s.Template.Where(at.Line, at.Column), "%s: %s has no parameter %s%s", what, file, problem.Short(name),
				c.Hint(name, inner.ParameterNames()))
		}
	}
	for _, name := range inner.ParameterNames() {
		if given[name] == nil && inner.Parameters[name].Default == nil {
			c.Add(s.Template.Where(r.Line, r.Column), "%s: parameter %s is missing: %s has no default for it: "+
				"write it under Parameters of the resource", what, name, file)
		}
	}
}
