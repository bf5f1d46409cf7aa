package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// needs notes the edges that a stack says itself.
func (r *reader) needs(s *stack) {
	if s.settings.needs == nil {
		return
	}
	what := "stack " + s.name + ": needs"
	for _, v := range *s.settings.needs {
		if r.ends() {
			return
		}
		name, plain := v.literal()
		if !plain {
			r.add(v.at, "%s: references are for parameters, tags and options: write the stack's name", what)
			continue
		}
		p := part{written: short(name)}
		p.name, p.target = atTarget(name)
		other, ok := r.stack(what, s, v.at, p)
		switch {
		case !ok:
		case other == s:
			r.add(v.at, "%s: %s: a stack cannot need itself: remove it", what, short(name))
		default:
			r.edge(Edge{Node: s.node.Name, Needs: other.node.Name, Cause: Named}, v.at)
		}
	}
}

// checkParameters holds a stack's parameters against those of its template.
func (r *reader) checkParameters(s *stack) {
	if s.source == nil {
		return
	}
	what := "stack " + s.name
	s.known = s.source.template.Defaults()
	for _, name := range slices.Sorted(maps.Keys(s.settings.parameters)) {
		delete(s.known, name)
		e := s.settings.parameters[name]
		p, ok := s.source.template.Parameters[name]
		if !ok {
			r.add(e.at, "%s: parameter %s: %s has no such parameter%s", what, short(name), s.source, r.hint(name, s.source.names))
			continue
		}
		text, ok := s.node.Parameters[name]
		if !ok {
			continue
		}
		if !r.checkDynamic(s, p, e.value.at, text) {
			continue
		}
		known, _ := text.Known()
		s.known[name] = known
		if err := p.Check(known); err != nil {
			hint := ""
			if len(p.AllowedValues) > 0 {
				hint = r.hint(known, p.AllowedValues)
			}
			r.add(e.value.at, "%s: %v%s", what, err, hint)
		}
	}
	for _, name := range s.source.names {
		if _, given := s.settings.parameters[name]; !given && !s.settings.damaged && s.source.template.Parameters[name].Default == nil {
			r.add(s.at, "%s: parameter %s is missing: %s has no default for it: write it under parameters:", what, name, s.source)
		}
	}
}

// checkCapabilities refuses what CloudFormation would refuse for lack of an
// acknowledgement.
func (r *reader) checkCapabilities(s *stack) {
	if s.source == nil {
		return
	}
	if s.settings.capabilities != nil && len(s.node.Capabilities) < len(*s.settings.capabilities) {
		return // one of them could not be read, and may be what is missing
	}
	for _, need := range s.source.template.Capabilities() {
		if slices.Contains(s.node.Capabilities, need) || need == "CAPABILITY_IAM" && slices.Contains(s.node.Capabilities, "CAPABILITY_NAMED_IAM") {
			continue
		}
		why := ""
		if reason := s.source.template.CapabilitiesReason(); reason != "" && need != "CAPABILITY_AUTO_EXPAND" {
			why = " (" + reason + ")"
		}
		r.add(s.at, "stack %s: %s requires %s%s: write capabilities: [%s] if you agree to that", s.name, s.source, need, why, need)
	}
}

// checkOutputs holds the outputs that a stack takes against the templates of
// those that it takes them from.
func (r *reader) checkOutputs(s *stack) {
	for _, of := range []struct {
		kind string
		from map[string]entry
		into map[string]project.Text
	}{{"parameter ", s.settings.parameters, s.node.Parameters}, {"tag ", s.settings.tags, s.node.Tags}} {
		for _, name := range slices.Sorted(maps.Keys(of.into)) {
			for _, p := range of.into[name] {
				if p.Node != "" {
					r.checkOutput("stack "+s.name+": "+of.kind+name, of.from[name].value.at, r.byNode[p.Node], p.Output)
				}
			}
		}
	}
}

func (r *reader) checkOutput(what string, at place, from *stack, output string) {
	if from.source == nil {
		return
	}
	t := from.source.template
	o, ok := t.Outputs[output]
	if !ok {
		if !t.Macros() { // else CloudFormation alone knows
			r.add(at, "%s: ${%s.%s}: stack %s has no output %s%s", what, from.name, output, from.name, output, r.hint(output, from.source.outputs))
		}
		return
	}
	if o.Condition == "" {
		return
	}
	if value, known := r.evaluation(from).Condition(o.Condition); known && !value {
		r.add(at, "%s: ${%s.%s}: stack %s will not have this output: with its parameters the condition %s is false", what, from.name, output, from.name, o.Condition)
	}
}

// evaluation is a stack's template with all that is known before any stack is up.
func (r *reader) evaluation(s *stack) *template.Evaluation {
	if s.evaluation == nil {
		s.evaluation = s.source.template.In(template.Scope{
			Parameters:       s.known,
			StackName:        s.node.Stack,
			AccountID:        s.node.Target.Account,
			Region:           s.node.Target.Region,
			NotificationARNs: []string{},
			Room:             r.values,
		})
	}
	return s.evaluation
}

// A market is where an export's name is there once.
type exports struct{ account, region, name string }

func (s *stack) market(name string) exports {
	return exports{s.node.Target.Account, s.node.Target.Region, name}
}

// importsAndExports notes the edges that come of one stack's importing what
// another exports. An import whose name hangs on another stack's output makes
// none; CloudFormation refuses it if it comes too early.
func (r *reader) importsAndExports() {
	makers := r.exports()
	for _, s := range r.stacks {
		if s.source == nil {
			continue
		}
		if r.ends() {
			return
		}
		r.judge(s)
		if !s.source.imports || len(makers) == 0 {
			continue
		}
		for _, i := range r.evaluation(s).Imports() {
			for _, maker := range makers[s.market(i.Name)] {
				if maker != s {
					r.edge(Edge{Node: s.node.Name, Needs: maker.node.Name, Cause: Imported, What: i.Name}, s.source.where(i.Line, i.Column))
				}
			}
		}
	}
}

// exports lists who makes which export, and refuses one that two make for sure.
func (r *reader) exports() map[exports][]*stack {
	makers := map[exports][]*stack{}
	sure := map[exports]*stack{}
	for _, s := range r.stacks {
		if s.source == nil || !s.source.exports || r.ends() {
			continue
		}
		for _, x := range r.evaluation(s).Exports() {
			m := s.market(x.Name)
			at := s.source.where(x.Line, x.Column)
			if !x.Maybe {
				if other := sure[m]; other != nil {
					r.add(at, "stack %s: export %s: stack %s makes the same, and an export's name is there once in an account and region: name one of them otherwise", s.node.Name, short(x.Name), other.node.Name)
					continue
				}
				sure[m] = s
			}
			makers[m] = append(makers[m], s)
		}
	}
	return makers
}

// judge tells what is wrong with the conditions of a template with what is known.
func (r *reader) judge(s *stack) {
	if len(s.source.template.Conditions) == 0 {
		return
	}
	var p problems
	p.join(s.source.at.file, r.evaluation(s).Err())
	for _, e := range p.kept {
		r.add(s.source.where(e.Line, e.Column), "stack %s: %s", s.name, strings.TrimSpace(e.Text))
	}
}
