package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/function"
)

// ErrUnknown is the error of a lookup of an output that is not known yet. No default takes its
// place, as it does of an output that does not exist (fault.Missing).
var ErrUnknown = errors.New("it is not known yet")

// An Expression is a function that is called when its arguments are known: some of them are
// outputs of other stacks. function.Default is called in the same way.
type Expression struct {
	Function  string `json:"function"`
	Arguments []Term `json:"arguments"`
}

// A Term is a value in an expression: what is known, or exactly one of the other fields. The zero Term
// is JSON's null.
type Term struct {
	Known      any             `json:"known,omitempty"` // as package function has them
	Node       string          `json:"node,omitempty"`
	Output     string          `json:"output,omitempty"`
	Source     *Source         `json:"source,omitempty"`
	List       []Term          `json:"list,omitempty"` // some items are not known
	Map        map[string]Term `json:"map,omitempty"`  // the same
	Expression *Expression     `json:"expression,omitempty"`
}

// UnmarshalJSON keeps numbers as they are written.
func (t *Term) UnmarshalJSON(body []byte) error {
	type plain Term
	from := json.NewDecoder(bytes.NewReader(body))
	from.UseNumber()
	return from.Decode((*plain)(t))
}

// AsTerm is a text as a value in an expression.
func (t Text) AsTerm() Term {
	if known, ok := t.Known(); ok {
		return Term{Known: known}
	}
	var all []Term
	for _, p := range t {
		switch {
		case p.Node != "":
			all = append(all, Term{Node: p.Node, Output: p.Output})
		case p.Expression != nil:
			all = append(all, Term{Expression: p.Expression})
		case p.Source != nil:
			all = append(all, Term{Source: p.Source})
		default:
			all = append(all, Term{Known: p.Literal})
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return Term{Expression: &Expression{Function: "join", Arguments: []Term{{Known: ""}, {List: all}}}}
}

// Late reports whether the term is known only when other stacks are deployed.
func (t Term) Late() bool {
	return t.Node != "" || t.Source != nil || t.List != nil || t.Map != nil || t.Expression != nil
}

// written reports whether a part of what the term becomes, or a default of it, is known.
func (t Term) written() bool {
	within := t.List
	for _, value := range t.Map {
		within = append(within, value)
	}
	if t.Expression != nil {
		f, _ := function.Named(t.Expression.Function)
		within = t.Expression.Arguments[min(f.Apart, len(t.Expression.Arguments)):]
	}
	return !function.Empty(t.Known) || slices.ContainsFunc(within, Term.written)
}

// Extent returns about how many bytes the term takes, each use of a shared one counted, and how
// many levels of expressions, lists and maps are within one another.
func (t Term) Extent() (bytes, levels int) {
	bytes = 64 + len(t.Node) + len(t.Output) + function.Size(t.Known)
	within := t.List
	for key, value := range t.Map {
		bytes += len(key)
		within = append(within, value)
	}
	if t.Expression != nil {
		within = t.Expression.Arguments
	}
	for _, one := range within {
		size, below := one.Extent()
		bytes, levels = bytes+size, max(levels, below+1)
	}
	return bytes, levels
}

// text evaluates the expression.
func (x *Expression) text(in *function.Evaluation, lookup func(node, output string) (string, error)) (string, error) {
	v, err := x.evaluate(in, lookup)
	if err == nil {
		var text string
		if text, err = function.Joined(v); err == nil {
			return text, nil
		}
		err = fault.As(fault.Invalid, err)
	}
	shown := []rune(x.String())
	if len(shown) > 100 {
		shown = append(shown[:100], '…')
	}
	return "", fmt.Errorf("${%s}: %w", string(shown), err)
}

func (x *Expression) evaluate(in *function.Evaluation, lookup func(node, output string) (string, error)) (any, error) {
	if x.Function == function.Default {
		return x.first(in, lookup)
	}
	f, ok := function.Named(x.Function)
	if !ok {
		return nil, fault.New(fault.Broken, "there is no function %q: a newer Stackwright wrote this", x.Function)
	}
	args := make([]any, len(x.Arguments))
	for i, arg := range x.Arguments {
		var err error
		if args[i], err = arg.evaluate(in, lookup); err != nil {
			return nil, err
		}
	}
	v, err := in.Call(f, args)
	switch {
	case errors.Is(err, function.ErrMissing):
		err = fault.As(fault.Missing, err)
	case err != nil:
		err = fault.As(fault.Invalid, err)
	}
	return v, err
}

// first returns the first argument that exists.
func (x *Expression) first(in *function.Evaluation, lookup func(node, output string) (string, error)) (v any, err error) {
	for _, arg := range x.Arguments {
		if v, err = arg.evaluate(in, lookup); !fault.Is(err, fault.Missing) {
			break
		}
	}
	return v, err
}

func (t Term) evaluate(in *function.Evaluation, lookup func(node, output string) (string, error)) (any, error) {
	switch {
	case t.Node != "":
		v, err := lookup(t.Node, t.Output)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", reference(t.Node, t.Output), err)
		}
		return v, nil
	case t.Source != nil:
		return nil, fmt.Errorf("%s: %w", t.Source, errUnread)
	case t.Expression != nil:
		return t.Expression.evaluate(in, lookup)
	case t.List != nil:
		items := make([]any, len(t.List))
		for i, item := range t.List {
			var err error
			if items[i], err = item.evaluate(in, lookup); err != nil {
				return nil, err
			}
		}
		return items, nil
	case t.Map != nil:
		values := make(map[string]any, len(t.Map))
		for _, key := range slices.Sorted(maps.Keys(t.Map)) {
			var err error
			if values[key], err = t.Map[key].evaluate(in, lookup); err != nil {
				return nil, err
			}
		}
		return values, nil
	}
	return t.Known, nil
}

// lazy reports whether an argument is used only if those before it do not exist.
func (x *Expression) lazy() bool { return x.Function == function.Default }

// outputs adds the outputs that the expression refers to.
func (x *Expression) outputs(all []OutputOf, certain bool) []OutputOf {
	last := len(x.Arguments) - 1
	for i, arg := range x.Arguments {
		all = arg.outputs(all, certain && (!x.lazy() || i == last))
	}
	return all
}

func (t Term) outputs(all []OutputOf, certain bool) []OutputOf {
	switch {
	case t.Node != "":
		return append(all, OutputOf{Node: t.Node, Output: t.Output, Certain: certain})
	case t.Expression != nil:
		return t.Expression.outputs(all, certain)
	}
	for _, item := range t.List {
		all = item.outputs(all, certain)
	}
	for _, key := range slices.Sorted(maps.Keys(t.Map)) {
		all = t.Map[key].outputs(all, certain)
	}
	return all
}

// String is the expression as the user writes it.
func (x *Expression) String() string {
	var args []string
	for _, arg := range x.Arguments {
		args = append(args, arg.String())
	}
	if x.Function == function.Default {
		return strings.Join(args, " ?? ")
	}
	return x.Function + "(" + strings.Join(args, ", ") + ")"
}

// String is the term as the user writes it.
func (t Term) String() string {
	var all []string
	switch {
	case t.Node != "":
		return reference(t.Node, t.Output)
	case t.Source != nil:
		return t.Source.String()
	case t.Expression != nil:
		return t.Expression.String()
	case t.List != nil:
		for _, item := range t.List {
			all = append(all, item.String())
		}
		return "[" + strings.Join(all, ", ") + "]"
	case t.Map != nil:
		for _, key := range slices.Sorted(maps.Keys(t.Map)) {
			all = append(all, quote(key)+": "+t.Map[key].String())
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	return show(t.Known)
}

// show writes a known value as the user writes it.
func show(v any) string {
	var t Term
	switch v := v.(type) {
	case string:
		return quote(v)
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		for _, item := range v {
			t.List = append(t.List, Term{Known: item})
		}
		return t.String()
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
		t.Map = make(map[string]Term, len(v))
		for key, item := range v {
			t.Map[key] = Term{Known: item}
		}
		return t.String()
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// quote writes a text in quotes, each quote in it twice.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
