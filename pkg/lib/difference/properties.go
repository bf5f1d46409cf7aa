package difference

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/shorten"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// properties compares the reduced values of one resource or output.
type properties struct {
	*comparison
	known     resource.Type
	named     bool // the type is in the table
	attribute bool // the values are attributes beside the properties
	found     []Property
}

// diff adds what differs between two values at a path. nil is no value.
func (p *properties) diff(at []string, a, b any) {
	if p.same(at, a, b) {
		return
	}
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			for _, key := range names(x, y) {
				p.diff(append(slices.Clone(at), key), value(x, key), value(y, key))
			}
			return
		}
		if b == nil && len(at) == 0 { // all properties are deleted
			p.diff(at, a, map[string]any{})
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			p.lists(at, x, y)
			return
		}
	case nil:
		if _, ok := b.(map[string]any); ok && len(at) == 0 {
			p.diff(at, map[string]any{}, b)
			return
		}
	}
	p.add(at, a, b)
}

// value is a value of a mapping; nil if it has no such key.
func value(m map[string]any, key string) any { return m[key] }

// lists compares two lists. Items of a list without order are compared with the item of
// the same name; items of another list with the item at the same place, counted from the
// end after the first difference.
func (p *properties) lists(at []string, a, b []any) {
	if p.unordered(at) {
		p.sets(at, a, b)
		return
	}
	first, item := 0, append(slices.Clone(at), "[]")
	for first < min(len(a), len(b)) && p.same(item, a[first], b[first]) {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && p.same(item, a[len(a)-1-last], b[len(b)-1-last]) {
		last++
	}
	a, b = a[:len(a)-last], b[:len(b)-last]
	for i := first; i < max(len(a), len(b)); i++ {
		var x, y any
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		p.diff(append(slices.Clone(at), "["+strconv.Itoa(i)+"]"), x, y)
	}
}

// sets compares two lists without order.
func (p *properties) sets(at []string, a, b []any) {
	item := append(slices.Clone(at), "[]")
	count := make(map[string]int)
	for _, v := range b {
		count[p.canonical(item, v)]++
	}
	var gone []any
	for _, v := range a {
		if key := p.canonical(item, v); count[key] > 0 {
			count[key]--
		} else {
			gone = append(gone, v)
		}
	}
	named, paired := make(map[string][]int), make([]bool, len(gone)) // items of gone by name
	for i, v := range gone {
		if name := identity(v); name != "" {
			named[name] = append(named[name], i)
		}
	}
	for _, v := range b {
		key := p.canonical(item, v)
		if count[key] == 0 {
			continue
		}
		count[key]--
		name := identity(v)
		var old any
		if same := named[name]; len(same) > 0 {
			old, paired[same[0]], named[name] = gone[same[0]], true, same[1:]
		}
		p.diff(append(slices.Clone(at), "["+name+"]"), old, v)
	}
	for i, v := range gone {
		if !paired[i] {
			p.diff(append(slices.Clone(at), "["+identity(v)+"]"), v, nil)
		}
	}
}

// identity is the name that an item of a list has, or "".
func identity(v any) string {
	m, _ := v.(map[string]any)
	for _, key := range []string{"Key", "Name", "Id", "Sid", "AttributeName"} {
		if name, ok := template.Text(m[key]); ok {
			return name
		}
	}
	return ""
}

// add adds a property that differs.
func (p *properties) add(at []string, a, b any) {
	f := Property{Path: Path(at), Attribute: p.attribute, Replacement: p.replacement(at, a, b)}
	f.CreateOnly = f.Replacement == resource.Always
	f.Before, f.After, f.Secret = p.both(a, b)
	p.found = append(p.found, f)
}

// both shows both values of a property. If one is secret, neither is shown.
func (p *properties) both(a, b any) (before, after *string, secret bool) {
	if a != nil {
		s, hidden := p.shown(a)
		before, secret = &s, hidden
	}
	if b != nil {
		s, hidden := p.shown(b)
		after, secret = &s, secret || hidden
	}
	if secret {
		return nil, nil, true
	}
	return before, after, false
}

// maxShown is how many bytes of a value are shown.
const maxShown = 2000

// shown writes a value, unless it is secret: it names a secret that CloudFormation reads,
// or refers to a parameter with NoEcho.
func (p *properties) shown(v any) (text string, secret bool) {
	text = template.Compact(v)
	if Secret(text) || slices.ContainsFunc(template.References(v), func(r template.Reference) bool { return r.Attribute == "" && p.secret[r.Name] }) {
		return "", true
	}
	return shorten.To(maxShown, text), false
}

// Secret reports whether a text contains a reference to a secret.
func Secret(text string) bool {
	return strings.Contains(text, "{{resolve:"+template.Secrets) || strings.Contains(text, "{{resolve:"+template.SSMSecure)
}

// replacement says what the change of a value means for its resource.
func (p *properties) replacement(at []string, a, b any) resource.Replacement {
	switch {
	case p.attribute, len(at) == 0:
		return resource.Never
	case !p.named:
		return resource.Conditional // the handler of the type decides
	}
	return p.known.Change(at, a, b)
}

// references adds the properties whose value is written as before but refers to something
// that changes.
func (p *properties) references(at []string, v any) {
	differs := make(map[string]bool, len(p.found))
	for _, f := range p.found {
		differs[f.Path] = true
	}
	p.refer(at, v, differs)
}

// refer is references without the paths that differ, and what is below them.
func (p *properties) refer(at []string, v any, differs map[string]bool) {
	if differs[Path(at)] {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range names(v, nil) {
			p.refer(append(slices.Clone(at), key), v[key], differs)
		}
	case []any:
		for i, item := range v {
			p.refer(append(slices.Clone(at), "["+strconv.Itoa(i)+"]"), item, differs)
		}
	case template.Call:
		because, certain := p.because(v)
		if because == "" {
			return
		}
		f := Property{Path: Path(at), Replacement: p.replacement(at, v, v), Because: because}
		if f.CreateOnly = f.Replacement == resource.Always; f.CreateOnly && !certain {
			f.Replacement = resource.Conditional
		}
		f.Before, f.After, f.Secret = p.both(v, v)
		p.found = append(p.found, f)
	}
}

// because says why the value of a call may change, and whether it certainly does: a
// resource that it refers to is replaced. It is "" if the call's value stays.
func (p *properties) because(v template.Call) (why string, certain bool) {
	for _, r := range template.References(v) {
		text, sure := p.referred(r)
		if sure {
			return text, true
		}
		why = cmp.Or(why, text)
	}
	return why, false
}

func (p *properties) referred(r template.Reference) (why string, certain bool) {
	switch of := r.Read; {
	case r.Export != "":
		return p.uncertain.Exports[r.Export], false
	case of.Stack != "":
		of.Account, of.Region = cmp.Or(of.Account, p.at.AccountID), cmp.Or(of.Region, p.at.Region)
		return p.uncertain.Reads[of], false
	}
	if reason, ok := p.uncertain.Parameters[r.Name]; ok && r.Attribute == "" {
		return reason, false
	}
	changed := p.changes[r.Name]
	switch {
	case changed == nil:
		return "", false
	case changed.Action == Replace && !changed.Possible:
		return r.Name + " is replaced", true
	case changed.Replacement != resource.Never:
		return r.Name + " may be replaced", false
	case changed.Action == Modify && r.Attribute != "" && !fixed(changed.Type, r.Attribute):
		return r.Name + " changes", false // an attribute such as LatestVersionNumber may follow
	}
	return "", false
}

// fixed reports whether an attribute stays the same as long as its resource does: it
// identifies the resource, or is a property that cannot be changed in place.
func fixed(typ, attribute string) bool {
	t, _ := resource.Named(typ)
	return strings.HasSuffix(attribute, "Arn") || strings.HasSuffix(attribute, "Id") || t.Replacement([]string{attribute}) == resource.Always
}
