package difference

import (
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// A comparison is one comparison in progress.
type comparison struct {
	before, after side
	uncertain     Uncertain
	at            template.Scope  // where the stack is
	secret        map[string]bool // parameters with NoEcho
	changes       map[string]*Resource
	caveats       []string
}

// resources compares the resources. A resource is compared after those that it depends
// on, because a reference to one that is replaced is a change too.
func (c *comparison) resources() {
	if c.after.Template != nil {
		for _, id := range c.after.Order() {
			c.resource(id)
		}
	}
	if c.before.Template != nil {
		for _, id := range c.before.ResourceNames() {
			if _, is := c.after.resource(id); is == absent {
				c.resource(id)
			}
		}
	}
}

// loops compares the loops over resources, as they are written.
func (c *comparison) loops() []Resource {
	written := func(s side, name string) any {
		if s.Template == nil || s.Loops[name] == nil {
			return nil
		}
		arguments, _ := s.Reduce(s.Loops[name]).([]any)
		all := make(map[string]any)
		for i, v := range arguments {
			all[[]string{"Identifier", "Collection", "Body"}[min(i, 2)]] = v
		}
		return all
	}
	both := make(map[string]any)
	for _, s := range []side{c.before, c.after} {
		if s.Template != nil {
			for name := range s.Loops {
				both[name] = nil
			}
		}
	}
	var all []Resource
	for _, name := range names(both, nil) {
		was, is := written(c.before, name), written(c.after, name)
		r := Resource{ID: name, Type: "Fn::ForEach", Action: Modify, Replacement: resource.Never}
		switch p := (properties{comparison: c, attribute: true}); {
		case was == nil:
			r.Action = Add
		case is == nil:
			r.Action = Remove
		default:
			p.diff(nil, was, is)
			p.references(nil, is)
			if r.Properties = p.found; len(p.found) == 0 {
				continue
			}
		}
		all = append(all, r)
	}
	return all
}

// sorted lists the changes in the order of the new template, and then of the old one.
func (c *comparison) sorted() []Resource {
	var names []string
	for _, s := range []side{c.after, c.before} {
		if s.Template != nil {
			names = append(names, s.ResourceNames()...)
		}
	}
	var all []Resource
	seen := make(map[string]bool)
	for _, id := range names {
		if r := c.changes[id]; r != nil && !seen[id] {
			seen[id] = true
			all = append(all, *r)
		}
	}
	return all
}

// resource compares one resource.
func (c *comparison) resource(id string) {
	was, before := c.before.resource(id)
	is, after := c.after.resource(id)
	r := Resource{ID: id, Type: is.Type, Replacement: resource.Never, Possible: before == possible || after == possible}
	switch {
	case before == absent && after == absent:
		return
	case before == absent:
		r.Action = Add
	case after == absent:
		r.Type, r.Action = was.Type, Remove
		r.Loses, r.Kept = c.removed(was)
	case was.Type != is.Type:
		// "Update of resource type is not permitted": https://github.com/aws/aws-sam-cli/issues/6786
		r.FormerType, r.Action, r.Refused = was.Type, Modify, "it does not change the type of a resource: give the new resource another name in the template"
	default:
		r.Possible = before != after || before == possible && c.undecided(is.Condition)
		if !c.inPlace(&r, was, is) {
			return
		}
		r.Possible = r.Possible && (after == possible || r.Action == Dynamic)
		if r.Possible && after == possible && r.Loses == "" { // it may be removed
			r.Loses, r.Kept = c.removed(was)
		}
	}
	c.changes[id] = &r
}

// removed says what is lost when a resource is removed, or which policy keeps it.
func (c *comparison) removed(was template.Resource) (lost, kept string) {
	return loss(was.Type, c.before.Reduce(was.Property("DBClusterIdentifier")) != nil, c.deletionPolicy(was))
}

// undecided reports whether a condition depends on a parameter that may change.
func (c *comparison) undecided(condition string) bool {
	value := c.after.Reduce(c.after.Conditions[condition])
	return slices.ContainsFunc(template.References(value), func(r template.Reference) bool {
		_, uncertain := c.uncertain.Parameters[r.Name]
		return uncertain
	})
}

// inPlace compares a resource that stays, and reports whether it differs.
func (c *comparison) inPlace(r *Resource, was, is template.Resource) bool {
	p := properties{comparison: c}
	p.known, p.named = resource.Named(is.Type)
	p.known = p.known.Under(c.after.Reduce(is.UpdatePolicy))
	p.diff(nil, c.before.Reduce(was.Properties), c.after.Reduce(is.Properties))
	p.references(nil, c.after.Reduce(is.Properties))
	if given := is.Property("Tags"); c.uncertain.Tags && p.named && p.known.Has("Tags") && p.known.Replacement([]string{"Tags"}) == resource.Always {
		f := Property{Path: "Tags", CreateOnly: true, Replacement: resource.Conditional, Because: "CloudFormation adds the tags of the stack, which change"}
		f.Before, f.After, f.Secret = p.both(c.before.Reduce(was.Property("Tags")), c.after.Reduce(given))
		p.found = append(p.found, f)
	}
	r.Properties = append(p.found, c.attributes(was, is)...)
	if r.Possible && len(r.Properties) == 0 {
		r.Action = Dynamic
		r.Properties = []Property{{Path: "Condition", Attribute: true, Replacement: resource.Never, Because: "its condition is not known"}}
		return true
	}
	if len(r.Properties) == 0 {
		return false
	}
	r.Action = Dynamic
	for _, property := range r.Properties {
		if property.Because == "" {
			r.Action = Modify
		}
		r.Replacement = resource.Worse(r.Replacement, property.Replacement)
	}
	if r.Replacement == resource.Always {
		r.Action = Replace
	}
	if r.Replacement != resource.Never {
		inCluster := c.before.Reduce(was.Property("DBClusterIdentifier")) != nil
		r.Loses, r.Kept = loss(is.Type, inCluster, c.replacePolicy(was, is))
		p.refuse(r, c.before.Reduce(was.Properties), c.after.Reduce(is.Properties))
	}
	return true
}

// attributes compares what a resource has beside its properties. DependsOn and Condition
// change nothing in a resource that stays.
func (c *comparison) attributes(was, is template.Resource) []Property {
	p := properties{comparison: c, attribute: true}
	for _, a := range []struct {
		name    string
		was, is *template.Expr
	}{
		{"DeletionPolicy", was.DeletionPolicy, is.DeletionPolicy},
		{"UpdateReplacePolicy", was.UpdateReplacePolicy, is.UpdateReplacePolicy},
		{"CreationPolicy", was.CreationPolicy, is.CreationPolicy},
		{"UpdatePolicy", was.UpdatePolicy, is.UpdatePolicy},
		{"Metadata", was.Metadata, is.Metadata},
	} {
		after := c.after.Reduce(a.is)
		p.diff([]string{a.name}, c.before.Reduce(a.was), after)
		p.references([]string{a.name}, after)
	}
	return p.found
}

// outputs compares the outputs.
func (c *comparison) outputs() []Output {
	var all []Output
	seen := make(map[string]bool)
	for _, s := range []side{c.after, c.before} {
		if s.Template == nil {
			continue
		}
		for _, name := range s.OutputNames() {
			if o, differs := c.output(name); differs && !seen[name] {
				all = append(all, o)
			}
			seen[name] = true
		}
	}
	return all
}

// output compares one output, and reports whether it differs.
func (c *comparison) output(name string) (Output, bool) {
	was, before := c.before.output(name)
	is, after := c.after.output(name)
	o := Output{Name: name}
	p := properties{comparison: c}
	if before != absent {
		o.Export = exportName(c.before, was)
	}
	o.NoLonger = o.Export != "" && (after == absent || exportName(c.after, is) != o.Export)
	switch {
	case before == absent && after == absent:
		return o, false
	case before == absent:
		o.Action = Add
	case after == absent:
		o.Action = Remove
	default:
		former, value := c.before.Reduce(was.Value), c.after.Reduce(is.Value)
		p.diff(nil, former, value)
		o.Certain = otherTexts(former, value) || p.renewed(value)
		o.Action = Modify
		if len(p.found) == 0 {
			o.Action = Dynamic
			p.references(nil, value)
			if len(p.found) > 0 {
				o.Because = p.found[0].Because
			}
		}
		return o, len(p.found) > 0 || o.NoLonger || exportName(c.after, is) != o.Export
	}
	return o, true
}

// otherTexts reports whether two values are known and differ.
func otherTexts(a, b any) bool {
	was, before := template.Text(a)
	is, after := template.Text(b)
	return before && after && was != is
}

// renewed reports whether a value is the ID or the ARN of a resource that is certainly replaced.
func (p *properties) renewed(value any) bool {
	call, is := value.(template.Call)
	if !is {
		return false
	}
	return slices.ContainsFunc(template.References(call), func(r template.Reference) bool {
		identifies := r.Attribute == "" || strings.HasSuffix(r.Attribute, "Arn") || strings.HasSuffix(r.Attribute, "Id")
		changed := p.changes[r.Name]
		return identifies && r.Export == "" && changed != nil && changed.Action == Replace && !changed.Possible
	})
}

// exportName is the name under which an output is exported; empty if it is not exported
// or the name is not known.
func exportName(s side, o template.Output) string {
	if o.Export == nil {
		return ""
	}
	name, _ := s.Reduce(o.Export).(string)
	return name
}

// names lists the keys of both mappings, sorted.
func names(a, b map[string]any) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// Path writes a path for people. Numbers of items are in brackets, as in [0].
func Path(segments []string) string {
	var b strings.Builder
	for i, s := range segments {
		switch {
		case strings.HasPrefix(s, "["):
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(s)
	}
	return b.String()
}
