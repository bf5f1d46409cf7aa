package accept

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A Stack is a stack that has a template.
type Stack struct {
	Name       string
	Compared   bool // a drift detection has compared its resources with the template
	Findings   []plan.Finding
	Parameters map[string]declared.Entry // that the files give
}

// A Done is a template with live values.
type Done struct {
	Body             []byte
	Written, Already []Value
	Left             []Left
}

// Template puts the live values of stacks into a template. They are all the stacks that have it: a value is written
// only if all of them have it.
func Template(file string, body []byte, stacks []Stack) Done {
	t := &template{file: file, stacks: stacks, Done: Done{Body: body}}
	root, _, err := document.ReadRepeating(file, body)
	if err != nil {
		for _, s := range stacks {
			t.leaveAll(s, "the template cannot be read: "+err.Error())
		}
		return t.Done
	}
	t.root = root
	groups := t.groups()
	slices.SortStableFunc(groups, func(a, b *group) int { return a.order(b) })
	for _, g := range groups {
		if next, ok := applied(file, t.Body, g.changes); ok {
			t.Body = next
			t.Written = append(t.Written, g.value)
			continue
		}
		for _, name := range g.value.Stacks {
			t.Left = append(t.Left, Left{Position: g.value.Position, Stack: name, Resource: g.value.Resource, Property: g.value.Property,
				Why: "it is written in a way in which it cannot be replaced: write " + quoted(g.value.Actual) + " yourself"})
		}
	}
	for _, all := range [][]Value{t.Written, t.Already} {
		slices.SortStableFunc(all, func(a, b Value) int { return a.Compare(b.Position) })
	}
	slices.SortStableFunc(t.Left, func(a, b Left) int { return a.Compare(b.Position) })
	return t.Done
}

// A template is one that is being changed.
type template struct {
	Done
	file   string
	root   *yaml.Node // of the template as it was
	stacks []Stack
}

func (t *template) leaveAll(s Stack, why string) {
	for _, f := range s.Findings {
		t.Left = append(t.Left, Left{Position: problem.Position{File: t.file}, Stack: s.Name, Resource: f.Resource, Property: f.Property, Why: reason(f, why)})
	}
}

// A key says what a finding is about: the same place in a list may be removed and added.
type key struct {
	resource, property string
	added, removed     bool
}

func keyOf(f plan.Finding) key {
	return key{f.Resource, f.Property, f.Expected == "", f.Actual == ""}
}

// A group is what the stacks have found at one property, and how to write it.
type group struct {
	key     key
	value   Value
	changes []change
}

// order puts values that are replaced first, then what is removed, the last item of a list first, and then what is inserted, so
// that the places in lists are those of the findings.
func (g *group) order(other *group) int {
	rank := func(g *group) kind {
		if len(g.changes) == 1 {
			return g.changes[0].kind
		}
		return set
	}
	by := g.changes[0].path.compare(other.changes[0].path)
	if rank(g) == remove {
		by = -by
	}
	return cmp.Or(cmp.Compare(rank(g), rank(other)), by)
}

// groups finds out what to change for each property, and leaves what cannot be changed.
func (t *template) groups() []*group {
	byKey := map[key]*group{}
	var all []*group
	for _, s := range t.stacks {
		for _, f := range s.Findings {
			changes, at, left := t.changes(s, f)
			if left != nil {
				left.Stack, left.Resource, left.Property = s.Name, f.Resource, f.Property
				t.Left = append(t.Left, *left)
				continue
			}
			k := keyOf(f)
			g := byKey[k]
			if g == nil {
				g = &group{k, Value{Position: at, Resource: f.Resource, Property: f.Property, Expected: f.Expected, Actual: f.Actual}, changes}
				byKey[k] = g
				all = append(all, g)
			}
			g.value.Stacks = append(g.value.Stacks, s.Name)
		}
	}
	return slices.DeleteFunc(all, func(g *group) bool {
		if len(g.changes) == 0 {
			t.Already = append(t.Already, g.value)
		}
		return len(g.changes) == 0 || t.disputed(g)
	})
}

// disputed leaves a value that not all stacks with the template have.
func (t *template) disputed(g *group) bool {
	why := ""
	for _, s := range t.stacks {
		same := func(f plan.Finding) bool { return keyOf(f) == g.key && unusable(f) == "" }
		i := slices.IndexFunc(s.Findings, same)
		others := slices.ContainsFunc(s.Findings, func(f plan.Finding) bool {
			return f.Resource == g.value.Resource && f.Property == g.value.Property
		})
		switch {
		case !s.Compared:
			why = fmt.Sprintf("stack %s has this template too, and was not compared with it: detect the drift of both", s.Name)
		case i < 0 && !others:
			why = fmt.Sprintf("stack %s has this template too, and not this drift: make the value a parameter, or give the stack a template of its own", s.Name)
		case i < 0 || s.Findings[i].Actual != g.value.Actual:
			why = fmt.Sprintf("stack %s has this template too, and another value: make the value a parameter, or give the stacks templates of their own", s.Name)
		}
		if why != "" {
			break
		}
	}
	if why == "" {
		return false
	}
	for _, name := range g.value.Stacks {
		t.Left = append(t.Left, Left{Position: g.value.Position, Stack: name, Resource: g.value.Resource, Property: g.value.Property, Why: why})
	}
	return true
}

// changes are what writes a finding into the template; none if the template has the value already.
func (t *template) changes(s Stack, f plan.Finding) ([]change, problem.Position, *Left) {
	properties, at, why := t.properties(f)
	if why != "" {
		return nil, at, &Left{Position: at, Why: why}
	}
	found := find(place{node: properties, path: path{"Resources", f.Resource, "Properties"}}, f.Property, f.Expected == "")
	if n := cmp.Or(found.node, found.parent); n != nil {
		at = t.at(n)
	}
	if found.stopped {
		return nil, at, t.because(s, found, f)
	}
	changes, stop := compare(found, f)
	switch {
	case stop == nil:
		return changes, at, nil
	case stop.stopped:
		return nil, at, t.because(s, *stop, f)
	}
	return nil, at, &Left{Position: t.at(cmp.Or(stop.node, found.node, properties)), Why: stop.why}
}

// properties are those of the resource of a finding, and where the finding is as far as that is known. why says why it cannot be written.
func (t *template) properties(f plan.Finding) (properties *yaml.Node, at problem.Position, why string) {
	at = problem.Position{File: t.file}
	resources, _ := document.Lookup(t.root, "Resources")
	resource, known := document.Lookup(resources, f.Resource)
	properties, ok := document.Lookup(resource, "Properties")
	for _, pair := range document.Pairs(resources) {
		if pair.Key.Value == f.Resource {
			at = t.at(pair.Key)
		}
	}
	if why := unusable(f); why != "" {
		if ok && f.Property != "" {
			if found := find(place{node: properties}, f.Property, false); found.node != nil && found.why == "" {
				at = t.at(found.node)
			}
		}
		return nil, at, why
	}
	kind, _ := document.Lookup(resource, "Type")
	switch {
	case !known:
		return nil, at, notThere(t.root, resources)
	case kind == nil || f.Type != "" && kind.Value != f.Type:
		return nil, at, fmt.Sprintf("the template has another type for this resource, and not %s: a macro makes it, or the template is not the one that was deployed", f.Type)
	case !ok:
		return nil, at, missing
	}
	return properties, at, ""
}

func (t *template) at(n *yaml.Node) problem.Position {
	return problem.Position{File: t.file, Line: n.Line, Column: n.Column}
}
