package accept

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
	values "github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A kind is what a change does, in the order in which changes of one list are made.
type kind int

const (
	set kind = iota
	remove
	insert
)

// A change is one change of a template. Values are nil, bool, string, json.Number, []any and map[string]any.
type change struct {
	kind  kind
	path  path
	value any
}

// compare returns the changes after which a place has the live value, and none if it has that already. If they cannot be made, stop
// says where and why.
func compare(at place, f plan.Finding) (changes []change, stop *place) {
	if at.why != "" {
		return nil, &at
	}
	if at.node == nil {
		return added(at, f)
	}
	n := document.Resolve(at.node)
	expected, actual := decode(f.Expected, n, f.Actual), decode(f.Actual, n, f.Expected)
	if f.Actual == "" {
		return removed(at, expected)
	}
	return differences(at, expected, actual)
}

// decode reads a value as CloudFormation gives it: a text, or JSON of a list or a mapping. other is the value on the other side. A
// property that is a text may hold JSON on both sides.
func decode(text string, n *yaml.Node, other string) any {
	v, ok := collection(text)
	if _, also := collection(other); !ok || n != nil && n.Kind == yaml.ScalarNode && also {
		return text
	}
	return v
}

// collection reads JSON of a list or a mapping.
func collection(text string) (v any, ok bool) {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") || !json.Valid([]byte(text)) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err == nil
}

// added is compare for what the template does not have.
func added(at place, f plan.Finding) ([]change, *place) {
	switch {
	case f.Actual == "": // it is not there any more, and not in the template
		return nil, nil
	case f.Expected != "":
		return nil, &place{node: at.parent, why: missing}
	}
	actual := decode(f.Actual, nil, "")
	if i, item := at.path[len(at.path)-1].(int); item {
		items := at.parent.Content
		if i < len(items) && matches(items[i], actual) {
			return nil, nil
		}
		if len(items) > 0 {
			actual = as(actual, document.Resolve(items[0]))
		}
	}
	return []change{{insert, at.path, actual}}, nil
}

// removed is compare for what is not there any more.
func removed(at place, expected any) ([]change, *place) {
	if stop := unlike(at, expected); stop != nil {
		return nil, stop
	}
	return []change{{kind: remove, path: at.path}}, nil
}

// unlike returns why the value at a place may not be replaced; nil if it is the one that was deployed.
func unlike(at place, expected any) *place {
	n := document.Resolve(at.node)
	if f := functionIn(n); f != nil {
		return &place{node: f, stopped: true, actual: at.actual, rest: map[bool]string{true: "in"}[f != n]}
	}
	if strings.Contains(n.Value, "{{resolve:") {
		return &place{node: n, why: dynamic}
	}
	if !matches(n, expected) {
		return &place{node: n, why: changed}
	}
	return nil
}

// differences is compare for two values.
func differences(at place, expected, actual any) ([]change, *place) {
	n := document.Resolve(at.node)
	if reflect.DeepEqual(expected, actual) || matches(n, actual) {
		return nil, nil
	}
	at.actual = actual
	if _, _, is := function(n); !is {
		was, mapping := expected.(map[string]any)
		now, still := actual.(map[string]any)
		if mapping && still && n.Kind == yaml.MappingNode {
			return inMapping(at, n, was, now)
		}
		old, list := expected.([]any)
		items, still := actual.([]any)
		if list && still && n.Kind == yaml.SequenceNode {
			return inList(at, n, old, items)
		}
	}
	if stop := unlike(at, expected); stop != nil {
		return nil, stop
	}
	return []change{{set, at.path, as(actual, n)}}, nil
}

// inMapping is differences for two mappings.
func inMapping(at place, n *yaml.Node, was, now map[string]any) (all []change, stop *place) {
	both := maps.Clone(was)
	maps.Copy(both, now)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		child, here := document.Lookup(n, key)
		one := place{path: at.path.with(key), node: child, actual: now[key]}
		before, had := was[key]
		after, has := now[key]
		var changes []change
		switch {
		case !here && !has:
		case !here && !had:
			changes = []change{{insert, one.path, after}}
		case !here && !reflect.DeepEqual(before, after):
			return nil, &place{node: n, why: missing}
		case !here:
		case !has:
			changes, stop = removed(one, before)
		default:
			changes, stop = differences(one, before, after)
		}
		if stop != nil {
			return nil, stop
		}
		all = append(all, changes...)
	}
	return all, nil
}

// inList is differences for two lists.
func inList(at place, n *yaml.Node, was, now []any) (all []change, stop *place) {
	if item := uncertain(n); item != nil {
		return nil, &place{node: item, stopped: true, rest: "[]"}
	}
	if len(n.Content) != len(was) {
		return nil, &place{node: n, why: changed}
	}
	for i := range max(len(was), len(now)) {
		one := place{path: at.path.with(i)}
		var changes []change
		switch {
		case i >= len(was):
			v := now[i]
			if len(n.Content) > 0 {
				v = as(v, document.Resolve(n.Content[0]))
			}
			changes = []change{{insert, one.path, v}}
		case i >= len(now):
			one.node = n.Content[i]
			changes, stop = removed(one, was[i])
		default:
			one.node, one.actual = n.Content[i], now[i]
			changes, stop = differences(one, was[i], now[i])
		}
		if stop != nil {
			return nil, stop
		}
		all = append(all, changes...)
	}
	return all, nil
}

// as gives a scalar the type of the one in whose place it is put: a number stays a number, and a text a text.
func as(v any, n *yaml.Node) any {
	text, scalar := values.Text(v)
	if !scalar || n.Kind != yaml.ScalarNode {
		return v
	}
	switch tag := n.ShortTag(); {
	case document.Tagged(n) != "":
	case tag == "!!bool" && (text == "true" || text == "false"):
		return text == "true"
	case (tag == "!!int" || tag == "!!float") && number(text):
		return json.Number(text)
	case tag == "!!str" || tag == "!!timestamp":
		return text
	}
	if s, is := v.(string); is && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 && (s == "true" || s == "false") {
		return s == "true"
	}
	return v
}

// number reports whether a text is a number of JSON.
func number(text string) bool {
	var n json.Number
	return !strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &n) == nil && n != ""
}

// matches reports whether a node without functions has a value. Scalars are compared as CloudFormation does, by their texts.
func matches(n *yaml.Node, v any) bool {
	n = document.Resolve(n)
	if _, _, is := function(n); is {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		return n.Kind == yaml.MappingNode && len(n.Content) == 2*len(v) && !slices.ContainsFunc(document.Pairs(n), func(pair document.Pair) bool {
			one, ok := v[pair.Key.Value]
			return !ok || !matches(pair.Value, one)
		})
	case []any:
		return n.Kind == yaml.SequenceNode && slices.EqualFunc(n.Content, v, matches)
	case nil:
		return document.Null(n)
	}
	text, ok := values.Text(v)
	return ok && n.Kind == yaml.ScalarNode && !document.Null(n) && sameText(n, text)
}

// sameText reports whether a scalar of a template is a text for CloudFormation, which reads YAML 1.1.
func sameText(n *yaml.Node, text string) bool {
	if n.Value == text {
		return true
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return false
	}
	switch word := strings.ToLower(n.Value); text {
	case "true":
		return word == "true" || word == "yes" || word == "on"
	case "false":
		return word == "false" || word == "no" || word == "off"
	}
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || len(n.Value)+len(text) > 30 { // a longer one may differ in digits that a float64 does not have
		return false
	}
	a, err := strconv.ParseFloat(n.Value, 64)
	b, wrong := strconv.ParseFloat(text, 64)
	return err == nil && wrong == nil && a == b
}
