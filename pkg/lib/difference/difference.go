// Package difference compares two templates of a stack: resource by resource and property
// by property, and says what CloudFormation has to do to each resource.
package difference

import (
	"fmt"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// A Side is a template with what is known where it is, or will be, deployed. A stack that
// does not exist has no template.
type Side struct {
	Template *template.Template
	Scope    template.Scope
}

// An Action is what happens to a resource or an output.
type Action string

// The actions.
const (
	Add     Action = "add"
	Modify  Action = "modify"
	Remove  Action = "remove"
	Replace Action = "replace"
	Import  Action = "import"  // a plan says so of an added resource that exists already
	Move    Action = "move"    // a plan says so of a resource that goes from one stack into another
	Dynamic Action = "dynamic" // it may change: that depends on a value that is known when it is deployed
)

// Actions lists the actions.
func Actions() []Action { return []Action{Add, Modify, Remove, Replace, Import, Move, Dynamic} }

// A Difference is what differs between two templates of a stack.
type Difference struct {
	Resources []Resource // those that differ or may differ: in the order of the new template, and then those that are deleted
	Outputs   []Output
	Hidden    bool     // resources that the templates do not show may change or be deleted: those of macros and nested stacks
	Caveats   []string // what the comparison does not know
}

// A Resource is a resource that differs.
type Resource struct {
	ID, Type    string
	FormerType  string // if the type differs
	Action      Action
	Possible    bool                 // it depends on a condition whose value is not known
	Replacement resource.Replacement // of a resource that stays: whether CloudFormation has to replace it
	Loses       string               // the data that is lost if the resource is removed or replaced; empty if none is
	Refused     string               // why CloudFormation will refuse the change; empty if it is not known to
	Kept        string               // the policy that keeps the data, such as Retain; empty if none is needed
	Properties  []Property
}

// LosesData reports whether the change certainly loses data.
func (r Resource) LosesData() bool {
	return r.Loses != "" && !r.Possible && (r.Action == Remove || r.Action == Replace)
}

// MayLoseData reports whether the change loses data if CloudFormation decides so: if it
// replaces the resource, or if a condition that is not known removes it.
func (r Resource) MayLoseData() bool { return r.Loses != "" && !r.LosesData() }

// A Property is a property, or another attribute, of a resource that differs.
type Property struct {
	Path          string  // such as Environment.Variables.LEVEL or Tags[0].Value
	Before, After *string // in one line; nil if there is no value, and if it is secret
	Attribute     bool    // it is an attribute of the resource beside its properties, such as DeletionPolicy
	Secret        bool
	CreateOnly    bool                 // it cannot be changed in place
	Replacement   resource.Replacement // whether CloudFormation has to replace the resource because of it
	Because       string               // why a value that is written as before may change
}

// An Output is an output that differs.
type Output struct {
	Name     string
	Action   Action
	Export   string // its name before; empty if it is not exported or the name is not known
	NoLonger bool   // nothing is exported under that name any more
	Because  string
	Certain  bool // of an output that stays: its value certainly is another one
}

// Uncertain is what may change and is not in the templates.
type Uncertain struct {
	Parameters map[string]string // those whose values are not known, each with the reason
	Exports    map[string]string // names of exports of other stacks that may change, each with the reason
	// outputs of other stacks that may change, by account and region too, each with the reason
	Reads map[template.StackOutput]string
	Tags  bool // the tags of the stack
}

// Of compares the templates before and after a change. Values of parameters with NoEcho
// are not used: a property that depends on one is compared as it is written.
func Of(before, after Side, uncertain Uncertain) Difference {
	c := comparison{uncertain: uncertain, at: after.Scope, secret: make(map[string]bool),
		changes: make(map[string]*Resource)}
	for _, s := range []Side{before, after} {
		if s.Template == nil {
			continue
		}
		for name, p := range s.Template.Parameters {
			c.secret[name] = c.secret[name] || p.NoEcho
		}
		if s.Template.Macros() {
			c.caveats = append(c.caveats, "the template has macros: only CloudFormation knows what they make of it")
		}
	}
	c.before, c.after = c.side(before), c.side(after)
	if before.Template != nil { // whether a resource is deployed follows from the live values
		c.before.deployed = before.Template.In(c.scope(before.Scope, nil))
	}
	c.resources()
	c.taken()
	d := Difference{Resources: append(c.sorted(), c.loops()...), Outputs: c.outputs(), Hidden: before.Template != nil && len(c.caveats) > 0}
	for _, r := range d.Resources {
		if nested(r) {
			d.Hidden = true
			c.caveats = append(c.caveats, fmt.Sprintf("%s has resources of its own, which the templates do not show", r.ID))
		}
	}
	d.Caveats = slices.Compact(c.caveats)
	return d
}

// A side is an evaluated template.
type side struct {
	*template.Template
	*template.Evaluation
	deployed *template.Evaluation // decides which resources and outputs there are
}

// side evaluates a template without the values that are secret or not known.
func (c *comparison) side(s Side) side {
	if s.Template == nil {
		return side{}
	}
	e := s.Template.In(c.scope(s.Scope, c.uncertain.Parameters))
	return side{s.Template, e, e}
}

// scope is a scope without the parameters that are secret or uncertain.
func (c *comparison) scope(s template.Scope, uncertain map[string]string) template.Scope {
	known := make(map[string]string, len(s.Parameters))
	for name, value := range s.Parameters {
		if _, unknown := uncertain[name]; !unknown && !c.secret[name] {
			known[name] = value
		}
	}
	s.Parameters = known
	return s
}

// A presence says whether a stack has a resource or an output.
type presence int

const (
	absent presence = iota
	possible
	present
)

// has says whether the condition of a resource or an output that the template has holds.
func (s side) has(condition string) presence {
	if condition == "" {
		return present
	}
	switch value, known := s.deployed.Condition(condition); {
	case !known:
		return possible
	case value:
		return present
	}
	return absent
}

func (s side) resource(id string) (template.Resource, presence) {
	if s.Template == nil {
		return template.Resource{}, absent
	}
	r, ok := s.Template.Resources[id]
	if !ok {
		return r, absent
	}
	return r, s.has(r.Condition)
}

func (s side) output(name string) (template.Output, presence) {
	if s.Template == nil {
		return template.Output{}, absent
	}
	o, ok := s.Template.Outputs[name]
	if !ok {
		return o, absent
	}
	return o, s.has(o.Condition)
}
