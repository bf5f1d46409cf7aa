package template

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// call evaluates an intrinsic function.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
func (r *running) call(x *Expr) (any, *document.Error) {
	switch x.name {
	case "Fn::Transform":
		return Unknown{}, nil
	case "Fn::If":
		return r.branch(x)
	case "Fn::And":
		return r.decided(x, false)
	case "Fn::Or":
		return r.decided(x, true)
	case "Fn::Sub":
		return r.sub(x)
	case "Fn::FindInMap":
		return r.findInMap(x)
	}
	arguments := make([]any, len(x.items))
	for i, item := range x.items {
		v, err := r.eval(item)
		if err != nil {
			return nil, err
		}
		arguments[i] = v
	}
	if _, is := ruleShape(x.name); is {
		return r.ruleFunction(x, arguments)
	}
	switch x.name {
	case "Fn::Select":
		return r.selected(x, arguments)
	case "Fn::Length":
		if items, ok := arguments[0].([]any); ok {
			return json.Number(strconv.Itoa(len(items))), nil
		}
	}
	for _, v := range arguments {
		if !Known(v) {
			return Unknown{}, nil
		}
	}
	return r.plainly(x, arguments)
}

// plainly evaluates a function all of whose arguments are known.
func (r *running) plainly(x *Expr, arguments []any) (any, *document.Error) {
	switch x.name {
	case "Fn::Equals":
		if r.decides && !comparable(arguments) {
			return Unknown{}, nil
		}
		return equal(arguments[0], arguments[1]), nil
	case "Fn::Join":
		return r.join(x, arguments)
	case "Fn::ToJsonString":
		return r.toJSON(x, arguments[0])
	case "Fn::Length":
		return nil, r.fail(x, "Template error: Fn::Length needs a list")
	case getStackOutput:
		return r.stackOutput(x, arguments[0])
	}
	words := make([]string, len(arguments))
	for i, v := range arguments {
		word, ok := Text(v)
		if !ok {
			return nil, r.fail(x.items[i], "Template error: %s needs text here", x.name)
		}
		words[i] = word
	}
	switch x.name {
	case "Ref":
		return r.ref(words[0], x)
	case "Fn::GetAtt":
		return r.getAtt(words[0], words[1], x)
	case "Condition":
		return r.named(words[0])
	case "Fn::Not":
		return r.not(x)
	case "Fn::Base64":
		return base64.StdEncoding.EncodeToString([]byte(words[0])), nil
	case "Fn::Split":
		return r.split(x, words)
	case "Fn::ImportValue":
		if r.e.s.Import != nil {
			if v, ok := r.e.s.Import(words[0]); ok {
				return v, nil
			}
		}
	case "Fn::GetAZs":
		if (words[0] == "" || words[0] == r.e.s.Region) && r.e.s.Zones != nil {
			return texts(r.e.s.Zones), nil
		}
	case "Fn::Cidr":
		return r.cidr(x, words)
	}
	return Unknown{}, nil
}

func (r *running) not(x *Expr) (any, *document.Error) {
	v, err := r.truth(x.items[0])
	if is, ok := v.(bool); ok {
		return !is, err
	}
	return v, err
}

// sub evaluates Fn::Sub: its own variables first, then whatever else has the name.
func (r *running) sub(x *Expr) (any, *document.Error) {
	var variables map[string]any
	if len(x.items) > 0 {
		v, err := r.eval(x.items[0])
		if err != nil {
			return nil, err
		}
		variables, _ = v.(map[string]any)
	}
	var b strings.Builder
	known := true
	for _, p := range x.parts {
		v, err := r.part(x, p, variables)
		if err != nil {
			return nil, err
		}
		if !Known(v) {
			known = false
			continue
		}
		word, ok := Text(v)
		if !ok {
			return nil, r.fail(x, "Template error: every value of Fn::Sub must be text: ${%s} is not", p.text)
		}
		if err := r.spend(x, len(word)); err != nil {
			return nil, err
		}
		b.WriteString(word)
	}
	if !known {
		return Unknown{}, nil
	}
	return b.String(), nil
}

func (r *running) part(x *Expr, p part, variables map[string]any) (any, *document.Error) {
	if !p.reference {
		return p.text, nil
	}
	if v, ok := variables[p.text]; ok {
		return v, nil
	}
	n := splitName(p.text)
	if n.attribute != "" {
		return r.getAtt(n.of, n.attribute, x)
	}
	return r.ref(n.of, x)
}

// findInMap returns a value of a mapping. Its DefaultValue (with AWS::LanguageExtensions)
// counts where a key is missing.
func (r *running) findInMap(x *Expr) (any, *document.Error) {
	var path [3]string
	for i := range path {
		v, err := r.eval(x.items[i])
		if err != nil {
			return nil, err
		}
		word, ok := Text(v)
		if !Known(v) {
			return Unknown{}, nil
		}
		if !ok {
			return nil, r.fail(x.items[i], "Template error: Fn::FindInMap needs text here")
		}
		path[i] = word
	}
	m := r.e.t.Mappings[path[0]]
	second := m.key(path[1])
	switch found := second.key(path[2]); {
	case found != nil:
		return r.eval(found)
	case m == nil && r.e.t.macros, m != nil && m.form == call, second != nil && second.form == call:
		return Unknown{}, nil
	case len(x.items) == 4:
		return r.eval(x.items[3].key("DefaultValue"))
	}
	return nil, r.fail(x, "Template error: Unable to get mapping for %s", strings.Join(path[:], "::"))
}

func (r *running) join(x *Expr, arguments []any) (any, *document.Error) {
	delimiter, ok := Text(arguments[0])
	items, isList := arguments[1].([]any)
	s, _ := shapeOf(x.name)
	if !ok || !isList {
		return nil, r.fail(x, "%s", s.complaint)
	}
	words := make([]string, len(items))
	size := 0
	for i, item := range items {
		if words[i], ok = Text(item); !ok {
			return nil, r.fail(x, "%s", s.complaint)
		}
		size += len(words[i]) + len(delimiter)
	}
	if err := r.spend(x, size); err != nil {
		return nil, err
	}
	return strings.Join(words, delimiter), nil
}

func (r *running) split(x *Expr, words []string) (any, *document.Error) {
	if words[0] == "" {
		return nil, r.fail(x, "Template error: the delimiter of Fn::Split must not be empty")
	}
	if err := r.spend(x, 32*(1+strings.Count(words[1], words[0]))); err != nil {
		return nil, err
	}
	return texts(strings.Split(words[1], words[0])), nil
}

func (r *running) selected(x *Expr, arguments []any) (any, *document.Error) {
	word, ok := Text(arguments[0])
	items, isList := arguments[1].([]any)
	if !Known(arguments[0]) || arguments[1] == any(Unknown{}) {
		return Unknown{}, nil
	}
	index, err := strconv.Atoi(word)
	if !ok || !isList || err != nil {
		s, _ := shapeOf(x.name)
		return nil, r.fail(x, "%s", s.complaint)
	}
	if index < 0 || index >= len(items) {
		return nil, r.fail(x, "Template error: Fn::Select cannot select nonexistent value at index %d", index)
	}
	return items[index], nil
}

// toJSON writes JSON with its keys sorted.
func (r *running) toJSON(x *Expr, v any) (any, *document.Error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, r.fail(x, "Template error: Fn::ToJsonString: %v", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
