package project

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Text is a value of which some parts are known only when other stacks are
// deployed.
type Text []Part

// A Part is either literal text or the output of a node.
type Part struct {
	Literal string `json:"literal,omitempty"`
	Node    string `json:"node,omitempty"`
	Output  string `json:"output,omitempty"`
}

// Literal returns a Text that is fully known.
func Literal(s string) Text { return Text{{Literal: s}} }

// Known returns the text and true if no part of it is an output.
func (t Text) Known() (string, bool) {
	var b strings.Builder
	for _, p := range t {
		if p.Node != "" {
			return "", false
		}
		b.WriteString(p.Literal)
	}
	return b.String(), true
}

// String shows the text with its references as the user writes them.
func (t Text) String() string {
	var b strings.Builder
	for _, p := range t {
		if p.Node != "" {
			fmt.Fprintf(&b, "${%s.%s}", p.Node, p.Output)
			continue
		}
		b.WriteString(p.Literal)
	}
	return b.String()
}

// Resolve returns the text with each output looked up.
func (t Text) Resolve(lookup func(node, output string) (string, error)) (string, error) {
	var b strings.Builder
	for _, p := range t {
		if p.Node == "" {
			b.WriteString(p.Literal)
			continue
		}
		v, err := lookup(p.Node, p.Output)
		if err != nil {
			return "", fmt.Errorf("${%s.%s}: %w", p.Node, p.Output, err)
		}
		b.WriteString(v)
	}
	return b.String(), nil
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
