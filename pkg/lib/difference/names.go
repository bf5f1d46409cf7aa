package difference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// keepsName returns the name of a resource that its template gives it before and after the change, and reports whether it
// has one. CloudFormation does not replace such a resource, because it creates the new one before it deletes the old one.
// The name is "" if it is not known.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html
func (p *properties) keepsName(before, after any) (name string, keeps bool) {
	naming := p.known.Naming()
	a, b := mapping(before), mapping(after)
	for i, path := range naming {
		segments := strings.Split(path, "/")
		x, y := at(a, segments), at(b, segments)
		changed := slices.ContainsFunc(p.found, func(f Property) bool { return beside(f.Path, Path(segments)) })
		if i == 0 && x == nil || changed || !p.same(segments, x, y) {
			return "", false
		}
	}
	name, _, _ = p.known.Called(b)
	return name, len(naming) > 0
}

// beside reports whether one of two paths is the other, or within the other.
func beside(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".") || strings.HasPrefix(a, b+"[") || strings.HasPrefix(b, a+"[")
}

func mapping(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// at is the value at a path; nil if there is none.
func at(v any, path []string) any {
	for _, key := range path {
		v = mapping(v)[key]
	}
	return v
}

// refuse is what the change of a resource means if the resource keeps its name: CloudFormation refuses to replace it, so
// that no data is lost.
func (p *properties) refuse(r *Resource, before, after any) {
	name, keeps := p.keepsName(before, after)
	if !keeps {
		return
	}
	r.Loses, r.Kept = "", ""
	if r.Replacement == resource.Always && !r.Possible {
		r.Refused = "it replaces no resource with a name of its own: give " + called(name) + " another name"
	}
}

func called(name string) string {
	if name == "" {
		return "the resource"
	}
	return name
}

// taken finds the resources that would get the name of another one that is deployed in the stack. CloudFormation creates
// resources before it deletes others, so it refuses that, and nothing is lost.
func (c *comparison) taken() {
	if c.before.Template == nil || c.after.Template == nil {
		return
	}
	owners := make(map[string]string) // by key
	for _, id := range c.before.ResourceNames() {
		if r, is := c.before.resource(id); is == present {
			if _, key, ok := name(c.before, r); ok {
				owners[key] = id
			}
		}
	}
	for _, id := range c.after.ResourceNames() {
		declared, is := c.after.resource(id)
		change := c.changes[id]
		if is != present || change == nil || change.Refused != "" {
			continue
		}
		name, key, ok := name(c.after, declared)
		owner := owners[key]
		if !ok || owner == "" || owner == id || change.Action != Add && change.Action != Replace {
			continue
		}
		change.Refused = fmt.Sprintf("it creates resources before it deletes others, and %s has the name %s: keep that logical ID, "+
			"or give %s another name", owner, name, id)
		if other := c.changes[owner]; other != nil {
			other.Loses, other.Kept = "", ""
		}
	}
}

// name is what a resource of a side is called.
func name(s side, r template.Resource) (name, key string, ok bool) {
	typ, known := resource.Named(r.Type)
	if !known {
		return "", "", false
	}
	return typ.Called(mapping(s.Reduce(r.Properties)))
}
