package template

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Call is a call of an intrinsic function whose value is not known. Its arguments are
// reduced. Those of Fn::Sub are the pieces of its text, and Fn::Join with a known
// delimiter is such an Fn::Sub too; those of Fn::If are the name of the condition, both
// values, and the condition itself.
type Call struct {
	Name      string // "Ref" or the full name, such as "Fn::GetAtt"
	Arguments []any
}

// TooLarge is the name of a Call that stands for a value which is too large to be
// evaluated.
const TooLarge = "too large"

// Reduce evaluates an expression as far as its values are known. The result is built of
// string, bool, json.Number, []any, map[string]any and Call; it is nil for AWS::NoValue
// and for a nil expression. What cannot be evaluated stays a Call, also if CloudFormation
// would refuse it.
func (e *Evaluation) Reduce(x *Expr) any {
	if x == nil {
		return nil
	}
	v := e.begin().reduce(x)
	if v == (noValue{}) {
		return nil
	}
	return v
}

// reduce is Reduce; the result may be noValue.
func (r *running) reduce(x *Expr) any {
	if r.spend(x, 64) != nil {
		return Call{TooLarge, nil}
	}
	switch x.form {
	case scalar:
		return x.value
	case list:
		return slices.DeleteFunc(r.reduced(x.items), func(v any) bool { _, none := v.(noValue); return none })
	case mapping:
		all := make(map[string]any, len(x.items))
		for i, v := range r.reduced(x.items) {
			if _, none := v.(noValue); !none {
				all[x.keys[i]] = v
			}
		}
		return all
	}
	if v, err := r.eval(x); err == nil && Known(v) {
		return v
	}
	switch x.name {
	case "Fn::If":
		return r.reducedBranch(x)
	case "Fn::Sub":
		return r.reducedSub(x)
	case "Fn::Join":
		return r.reducedJoin(x)
	case "Condition":
		name, _ := x.items[0].Literal()
		if condition, ok := r.e.t.Conditions[name]; ok {
			return Call{x.name, []any{name, r.reduce(condition)}}
		}
	}
	return Call{x.name, kept(r.reduced(x.items))}
}

func (r *running) reduced(items []*Expr) []any {
	all := make([]any, len(items))
	for i, item := range items {
		all[i] = r.reduce(item)
	}
	return all
}

// kept writes AWS::NoValue as it is written, where it cannot remove its item.
func kept(arguments []any) []any {
	for i, v := range arguments {
		if _, none := v.(noValue); none {
			arguments[i] = Call{"Ref", []any{"AWS::NoValue"}}
		}
	}
	return arguments
}

// reducedBranch reduces the value of Fn::If that is taken, or both if that is not known.
func (r *running) reducedBranch(x *Expr) any {
	name, _ := x.items[0].Literal()
	switch r.e.conditions[name] {
	case true:
		return r.reduce(x.items[1])
	case false:
		return r.reduce(x.items[2])
	}
	arguments := append([]any{name}, r.reduced(x.items[1:])...)
	if condition, ok := r.e.t.Conditions[name]; ok {
		arguments = append(arguments, r.reduce(condition))
	}
	return Call{x.name, kept(arguments)}
}

func (r *running) reducedSub(x *Expr) any {
	var pieces []any
	for _, p := range x.parts {
		switch variable := x.variable(p.text); {
		case !p.reference:
			pieces = append(pieces, p.text)
		case variable != nil:
			pieces = append(pieces, r.reduce(variable))
		default:
			pieces = append(pieces, r.reference(p.text, x))
		}
	}
	return joined(pieces)
}

// reference reduces what ${name} in Fn::Sub stands for.
func (r *running) reference(text string, x *Expr) any {
	n := splitName(text)
	if v, err := r.part(x, part{text, true}, nil); err == nil && Known(v) {
		return v
	}
	if n.attribute != "" {
		return Call{"Fn::GetAtt", []any{n.of, n.attribute}}
	}
	return Call{"Ref", []any{n.of}}
}

func (r *running) reducedJoin(x *Expr) any {
	arguments := r.reduced(x.items)
	delimiter, known := Text(arguments[0])
	items, isList := arguments[1].([]any)
	if !known || !isList {
		return Call{x.name, kept(arguments)}
	}
	var pieces []any
	for i, item := range items {
		if i > 0 {
			pieces = append(pieces, delimiter)
		}
		pieces = append(pieces, item)
	}
	return joined(pieces)
}

// joined makes Fn::Sub of pieces. Texts that follow one another are one piece, and a
// single piece stands for itself.
func joined(pieces []any) any {
	var all []any
	for _, p := range pieces {
		if inner, ok := p.(Call); ok && inner.Name == "Fn::Sub" {
			all = append(all, inner.Arguments...)
			continue
		}
		all = append(all, p)
	}
	var merged []any
	for _, p := range all {
		text, isText := Text(p)
		if last := len(merged) - 1; isText && last >= 0 {
			if before, ok := merged[last].(string); ok {
				merged[last] = before + text
				continue
			}
		}
		switch {
		case isText && text == "":
		case isText:
			merged = append(merged, text)
		default:
			merged = append(merged, p)
		}
	}
	switch {
	case len(merged) == 0:
		return ""
	case len(merged) == 1:
		return kept(merged)[0]
	}
	return Call{"Fn::Sub", kept(merged)}
}

// A Reference is a name that a call refers to: of a parameter, a pseudo parameter or a
// resource, or else of an export, or of an output that Fn::GetStackOutput reads: then Account and Region are empty if
// they are those of the reader. Attribute is empty for a Ref.
type Reference struct {
	Name, Attribute, Export string
	Read                    StackOutput
}

// References lists what a reduced value refers to, in no particular order.
func References(v any) []Reference {
	var all []Reference
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			all = append(all, References(item)...)
		}
	case map[string]any:
		for _, item := range v {
			all = append(all, References(item)...)
		}
	case Call:
		name, named := "", false
		if len(v.Arguments) > 0 {
			name, named = v.Arguments[0].(string)
		}
		switch {
		case v.Name == "Ref" && named:
			return []Reference{{Name: name}}
		case v.Name == "Fn::ImportValue" && named:
			return []Reference{{Export: name}}
		case v.Name == getStackOutput && len(v.Arguments) == 1:
			if of, ok := (Scope{}).stackOutput(v.Arguments[0]); ok {
				all = append(all, Reference{Read: of})
			}
			return append(all, References(v.Arguments)...)
		case v.Name == "Fn::GetAtt" && named:
			attribute, _ := v.Arguments[1].(string)
			return append(References(v.Arguments[1]), Reference{Name: name, Attribute: attribute})
		}
		all = References(v.Arguments)
	}
	return all
}

// short names the functions whose short form differs from their full name.
func short(name string) string { return "!" + strings.TrimPrefix(name, "Fn::") }

// String writes the call in one line, in the short form of YAML.
func (c Call) String() string {
	switch c.Name {
	case "Fn::Sub":
		var b strings.Builder
		for _, p := range c.Arguments {
			switch p := p.(type) {
			case string:
				b.WriteString(strings.ReplaceAll(p, "${", "${!"))
			case Call:
				b.WriteString("${" + p.inner() + "}")
			default:
				b.WriteString("${" + Compact(p) + "}")
			}
		}
		return "!Sub " + b.String()
	case "Fn::If":
		return short(c.Name) + " " + Compact(c.Arguments[:min(3, len(c.Arguments))])
	case "Ref", "Fn::GetAtt":
		return short(c.Name) + " " + c.inner()
	}
	if len(c.Arguments) == 1 {
		return short(c.Name) + " " + Compact(c.Arguments[0])
	}
	return short(c.Name) + " " + Compact(c.Arguments)
}

// inner is the call in the braces of Fn::Sub.
func (c Call) inner() string {
	if c.Name != "Ref" && c.Name != "Fn::GetAtt" {
		return c.String()
	}
	words := make([]string, len(c.Arguments))
	for i, v := range c.Arguments {
		words[i] = Compact(v)
	}
	return strings.Join(words, ".")
}

// Compact writes a reduced value in one line: a scalar as text, all else as in the flow
// style of YAML with the keys sorted.
func Compact(v any) string {
	var b strings.Builder
	compact(&b, v, false)
	return b.String()
}

func compact(b *strings.Builder, v any, within bool) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case Call:
		b.WriteString(v.String())
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			compact(b, item, true)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(key + ": ")
			compact(b, v[key], true)
		}
		b.WriteByte('}')
	default:
		text, _ := Text(v)
		if within && (text == "" || strings.ContainsAny(text, ",:[]{}\"'\n#")) {
			text = strconv.Quote(text)
		}
		b.WriteString(text)
	}
}
