package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/project"
)

// An Outcome is what the next deploy does with a stack: a StackAction, or one of the following.
type Outcome string

// The outcomes that are no actions.
const (
	OutcomeUnchanged Outcome = "unchanged"    // nothing differs
	OutcomeLeftAlone Outcome = "left alone"   // the project's files say so
	OutcomeOmitted   Outcome = "not selected" // the deploy is about other stacks
	OutcomeRefused   Outcome = "refused"      // no stack is deployed
)

// An Explanation says what decides whether the next deploy changes a stack. It has no values: they may be secret.
type Explanation struct {
	Outcome   Outcome   `json:"outcome"`
	Certainty Certainty `json:"certainty,omitempty"` // of an action
	Reasons   []string  `json:"reasons"`
	Inputs    []Input   `json:"inputs"`             // what differs from what is deployed
	Compared  []string  `json:"compared"`           // what was compared; empty for a stack that is not
	Caveats   []string  `json:"caveats,omitempty"`  // what is not known
	Refusals  []string  `json:"refusals,omitempty"` // why the deploy is refused
}

// An Input is something that a stack is deployed from, and that differs.
type Input struct {
	Kind       string   `json:"kind"`                 // template, parameter, tag, option or dependency
	Name       string   `json:"name"`                 // of the parameter, the tag, the option or the dependency; the file of the template
	References []string `json:"references,omitempty"` // what its value refers to, as the user writes it
	Why        string   `json:"why"`                  // how it differs
}

// Why says what decides whether a deploy of v changes the stack of a name: the stack of a desired or recorded node. The error is of kind
// Missing if there is no such stack.
//
// A deploy that is refused changes nothing. Why then compares the stack alone.
func (v View) Why(name string, templates Templates) (Explanation, error) {
	n, desired := v.Desired.Nodes[name]
	if known := v.named(name); !desired && !known {
		return Explanation{}, fault.New(fault.Missing, "there is no stack %s, neither in the project's files nor recorded%s", name, suggest.Hint(name, v.names()))
	}
	v, caveats := v.withoutSources(name)
	e := Explanation{Reasons: []string{}, Inputs: []Input{}, Compared: []string{}}
	p, err := Deploy(v)
	c, _ := v.choose()
	switch {
	case err != nil && !fault.Is(err, fault.Refused, fault.Invalid, fault.Missing):
		return e, err
	case v.Desired.Ignores(name):
		e.Outcome, e.Reasons = OutcomeLeftAlone, []string{"the project's files say " + v.whyIgnored(name)}
		return e, nil
	case c.about != nil && !c.about[name]:
		e.Outcome, e.Reasons = OutcomeOmitted, []string{cmp.Or(c.leftOut[name], "the deploy is only about other stacks, and none of them depends on it")}
		return e, nil
	case err != nil:
		e.Refusals, p = fault.Messages(err), v.alone(name)
	}
	changed, found := v.Describe(p, templates).Named(name)
	switch {
	case !found && slices.Contains(p.Unchanged, name):
		e.Outcome, e.Compared = OutcomeUnchanged, compared(n)
	case !found:
		e.Reasons = append(e.Reasons, "the deploy has no step for it")
		e.Outcome = OutcomeUnchanged
	default:
		e.Outcome, e.Certainty, e.Reasons, e.Caveats = Outcome(changed.Action), changed.Certainty, append(e.Reasons, changed.Reasons...), changed.Caveats
		if desired && changed.Action.Existing() {
			e.Inputs, e.Compared = v.differing(n, changed, p), compared(n)
		}
	}
	if err != nil {
		e.Outcome = OutcomeRefused
	}
	e.Caveats = append(e.Caveats, caveats...)
	return e, nil
}

// named reports whether a name is that of a recorded node, or was it before the stack got another physical name.
func (v View) named(name string) bool {
	for node, r := range v.Recorded {
		if node == name || r.formerNode() == name {
			return true
		}
	}
	return false
}

// Named returns what a plan does with the stack of a name. If a new stack takes the place of a former one, it is what it does with the new one.
func (c Changes) Named(name string) (StackChange, bool) {
	var got StackChange
	found := false
	for _, s := range c.Stacks {
		if s.Stack == name && (!found || got.Action == ActionDelete) {
			got, found = s, true
		}
	}
	return got, found
}

// alone is the plan that would deploy a stack if nothing refused it, or that would delete it.
func (v View) alone(name string) Plan {
	verb := Delete
	if _, desired := v.Desired.Nodes[name]; desired {
		verb = Create
		if v.exists(name) {
			verb = Update
		}
	}
	return Plan{Steps: []Step{{ID: name + "/" + string(verb), Node: name, Verb: verb}}}
}

// withoutSources puts in the place of values outside the project those that a stack was deployed with, because nobody has read them. It
// says for the stack of the name which they are.
func (v View) withoutSources(name string) (View, []string) {
	nodes := maps.Clone(v.Desired.Nodes)
	var caveats []string
	for node, n := range nodes {
		live := v.Live[node]
		for what, side := range map[string]struct {
			texts *map[string]project.Text
			live  map[string]string
		}{"parameter": {&n.Parameters, live.Parameters}, "tag": {&n.Tags, live.Tags}} {
			*side.texts = maps.Clone(*side.texts)
			for key, t := range *side.texts {
				if len(t.Sources()) == 0 {
					continue
				}
				(*side.texts)[key] = project.Literal(side.live[key])
				if node == name {
					caveats = append(caveats, fmt.Sprintf("%s %s is not compared: it uses %s, which only a plan reads", what, key, strings.Join(referencesOf(t), ", ")))
				}
			}
		}
		nodes[node] = n
	}
	slices.Sort(caveats)
	v.Desired.Nodes = nodes
	return v, caveats
}

// referencesOf lists what a text refers to, as the user writes it.
func referencesOf(t project.Text) []string {
	var all []string
	for _, o := range t.Outputs() {
		all = append(all, fmt.Sprintf("${%s.%s}", o.Node, o.Output))
	}
	for _, s := range t.Sources() {
		all = append(all, "${"+s.String()+"}")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// compared says what of a desired node is compared with what is deployed.
func compared(n project.Node) []string {
	all := []string{"the status of the stack, and when it was last updated", "the template"}
	for _, side := range []struct {
		what  string
		texts map[string]project.Text
	}{{"parameters", n.Parameters}, {"tags", n.Tags}} {
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(side.texts)), func(name string) bool { return side.what == "parameters" && slices.Contains(n.IgnoreChanges, name) })
		if len(names) > 0 {
			all = append(all, side.what+": "+strings.Join(names, ", "))
		}
	}
	all = append(all, "options: protect, notifications, stack_policy")
	if len(n.Needs) > 0 {
		all = append(all, "dependencies: "+strings.Join(n.Needs, ", "))
	}
	return append(all, "the outputs with those that are recorded")
}

// differing lists what differs for a stack that exists and stays.
func (v View) differing(n project.Node, c StackChange, p Plan) []Input {
	all := []Input{}
	if deployed := v.lastKnown(n.Name); deployed != "" && deployed != n.Template.Digest {
		var resources []string
		for _, x := range c.Resources {
			resources = append(resources, fmt.Sprintf("%s %s", x.Action, x.ID))
		}
		why := "it is another one than was last deployed"
		if len(resources) > 0 {
			why += ": " + listed(resources)
		}
		all = append(all, Input{Kind: "template", Name: n.Template.Path, Why: why})
	}
	for _, side := range []struct {
		kind   string
		values []ValueChange
		texts  map[string]project.Text
	}{{"parameter", c.Parameters, n.Parameters}, {"tag", c.Tags, n.Tags}, {"option", c.Options, nil}} {
		for _, x := range side.values {
			all = append(all, Input{Kind: side.kind, Name: x.Name, References: referencesOf(side.texts[x.Name]), Why: x.difference()})
		}
	}
	changing := make(map[string][]string)
	for _, s := range p.Steps {
		changing[s.Node] = append(changing[s.Node], s.ID)
	}
	was := v.Recorded[n.Name].Needs
	for _, need := range n.Needs {
		if steps := changing[need]; steps != nil {
			all = append(all, Input{Kind: "dependency", Name: need, References: usesOf(n, need), Why: "it changes: " + listed(steps)})
		} else if _, recorded := v.Recorded[n.Name]; recorded && !slices.Contains(was, need) {
			all = append(all, Input{Kind: "dependency", Name: need, References: usesOf(n, need), Why: "the stack did not depend on it when it was last deployed"})
		}
	}
	for _, need := range was {
		if !slices.Contains(n.Needs, need) {
			all = append(all, Input{Kind: "dependency", Name: need, Why: "the stack depended on it when it was last deployed, and no longer does"})
		}
	}
	return all
}

// difference says how a value differs, without the value.
func (x ValueChange) difference() string {
	switch {
	case x.Why != "":
		return x.Why
	case x.Secret:
		return "its value is secret"
	case x.Before == nil:
		return "it is added"
	case x.After == nil:
		return "it is removed"
	}
	return "it has another value"
}

// usesOf lists the outputs of another node that the template, the parameters and the tags of a node use, as the user
// writes them.
func usesOf(n project.Node, need string) []string {
	var all []string
	for _, r := range n.Reads {
		if r.Node == need {
			all = append(all, "Fn::GetStackOutput "+r.String())
		}
	}
	for _, texts := range []map[string]project.Text{n.Parameters, n.Tags} {
		for _, t := range texts {
			for _, o := range t.Outputs() {
				if o.Node == need {
					all = append(all, fmt.Sprintf("${%s.%s}", o.Node, o.Output))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
