package project

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/function"
)

// A Text is a value of which some parts are known only when other stacks are
// deployed.
type Text []Part

// A Part is literal text, the output of a node, or an expression with outputs.
type Part struct {
	Literal    string      `json:"literal,omitempty"`
	Node       string      `json:"node,omitempty"`
	Output     string      `json:"output,omitempty"`
	Expression *Expression `json:"expression,omitempty"`
	Source     *Source     `json:"source,omitempty"` // it is read when a plan is made
}

// errUnread is the error of what is read when a plan is made, and was not there.
var errUnread = fault.New(fault.Missing, "it did not exist when the plan was made")

// StackID stands for an output in texts: the ID of the stack. No output has such a name.
const StackID = "AWS::StackId"

// reference is an output as the user writes it.
func reference(node, output string) string {
	if output == StackID {
		return "attr:" + node + ".id"
	}
	return node + "." + output
}

// Literal returns a Text that is fully known.
func Literal(s string) Text { return Text{{Literal: s}} }

// Known returns the text and true if no part of it is an output or an expression.
func (t Text) Known() (string, bool) {
	var b strings.Builder
	for _, p := range t {
		if p.Node != "" || p.Expression != nil || p.Source != nil {
			return "", false
		}
		b.WriteString(p.Literal)
	}
	return b.String(), true
}

// Written reports whether the files of the project say a part of what the text becomes, or a default of it. Commas between
// the items of a list are none.
func (t Text) Written() bool {
	for _, p := range t {
		if strings.Trim(p.Literal, ",") != "" || p.Expression != nil && (Term{Expression: p.Expression}).written() {
			return true
		}
	}
	return false
}

// String shows the text with its references as the user writes them.
func (t Text) String() string {
	var b strings.Builder
	for _, p := range t {
		if p.Node != "" {
			b.WriteString("${" + reference(p.Node, p.Output) + "}")
			continue
		}
		if p.Source != nil {
			b.WriteString("${" + p.Source.String() + "}")
			continue
		}
		if p.Expression != nil {
			b.WriteString("${" + p.Expression.String() + "}")
			continue
		}
		b.WriteString(p.Literal)
	}
	return b.String()
}

// Resolve returns the text with each output looked up.
func (t Text) Resolve(lookup func(node, output string) (string, error)) (string, error) {
	var b strings.Builder
	var in function.Evaluation
	for _, p := range t {
		if p.Expression != nil {
			text, err := p.Expression.text(&in, lookup)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
			continue
		}
		if p.Source != nil {
			return "", fmt.Errorf("${%s}: %w", p.Source, errUnread)
		}
		if p.Node == "" {
			b.WriteString(p.Literal)
			continue
		}
		v, err := lookup(p.Node, p.Output)
		if err != nil {
			return "", fmt.Errorf("${%s}: %w", reference(p.Node, p.Output), err)
		}
		b.WriteString(v)
	}
	return b.String(), nil
}

// Outputs lists the outputs that the text refers to, those in expressions too, in their order.
func (t Text) Outputs() []OutputOf {
	var all []OutputOf
	for _, p := range t {
		switch {
		case p.Node != "":
			all = append(all, OutputOf{Node: p.Node, Output: p.Output, Certain: true})
		case p.Expression != nil:
			all = p.Expression.outputs(all, true)
		}
	}
	return all
}

// An OutputOf is an output of a node. It is certain if nothing takes its place when it does
// not exist.
type OutputOf struct {
	Node, Output string
	Certain      bool
}

// resolve resolves each text, in the order of the keys.
func resolve(kind string, texts map[string]Text, lookup func(node, output string) (string, error)) (map[string]string, error) {
	out := make(map[string]string, len(texts))
	for _, k := range slices.Sorted(maps.Keys(texts)) {
		v, err := texts[k].Resolve(lookup)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind, k, err)
		}
		out[k] = v
	}
	return out, nil
}
