package accept

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	values "github.com/stackwright/stackwright/pkg/lib/template"
)

func sorted(v map[string]any) []string { return slices.Sorted(maps.Keys(v)) }

// entries are the ways to write an entry of the parent with its key or dash, indented as its others.
func (w *writer) entries(v any, indent string) (all []string) {
	key, named := w.step.(string)
	switch {
	case named && w.json:
		key = jsonText(key) + ": "
	case named:
		key = scalars(key, nil)[0] + ":"
	case !w.flow():
		key = "-"
	}
	if w.json {
		return []string{key + w.asJSON(v, indent, w.lastEntry())}
	}
	if !w.flow() {
		for _, text := range w.block(v, indent, !named) {
			all = append(all, key+text)
		}
		if _, scalar := values.Text(v); scalar || v == nil {
			return all
		}
		// As the other items are written.
		if like := w.parent.Content[len(w.parent.Content)-1]; !named && like.Style&yaml.FlowStyle != 0 {
			return append([]string{key + " " + flowText(v, flow{padded: w.padded(like)})}, all...)
		}
		return append(all, key+" "+flowText(v, flow{}))
	}
	if named {
		key += " "
	}
	if _, scalar := values.Text(v); scalar {
		for _, text := range scalars(v, nil) {
			all = append(all, key+text)
		}
		return all
	}
	return []string{key + flowText(v, flow{}), key + flowText(v, flow{json: true})}
}

// lastEntry is the last value in the parent; nil if there is none.
func (w *writer) lastEntry() *yaml.Node {
	if n := len(w.parent.Content); n > 0 {
		return w.parent.Content[n-1]
	}
	return nil
}

// padded reports whether a mapping is written with a blank behind its brace.
func (w *writer) padded(n *yaml.Node) bool {
	_, rest, _ := bytes.Cut(w.body[min(w.start(len(w.parent.Content)-1), len(w.body)):], []byte("{"))
	return n.Kind == yaml.MappingNode && bytes.HasPrefix(rest, []byte(" "))
}

// texts are the ways to write a value in the place of another one.
func (w *writer) texts(v any, old *yaml.Node) (all []string) {
	_, scalar := values.Text(v)
	scalar = scalar || v == nil
	switch {
	case w.json && scalar:
		return []string{jsonText(v)}
	case w.json:
		before, _ := w.before(w.start(w.at))
		return []string{w.asJSON(v, before[:len(before)-len(strings.TrimLeft(before, " \t"))], old)}
	case scalar:
		if text, is := v.(string); is && strings.Contains(text, "\n") && !w.flow() {
			all = append(all, w.literal(text, strings.Repeat(" ", w.parent.Column+1)))
		}
		return append(all, scalars(v, old)...)
	case w.flow():
		return []string{flowText(v, flow{}), flowText(v, flow{json: true})}
	case w.parent.Kind == yaml.MappingNode:
		all = w.block(v, strings.Repeat(" ", w.parent.Column-1), false)
	}
	return append(all, flowText(v, flow{}), flowText(v, flow{json: true}))
}

// literal is a text of several lines.
func (w *writer) literal(text, indent string) string {
	header := "|"
	if !strings.HasSuffix(text, "\n") {
		header = "|-"
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = indent + l
		}
	}
	return header + w.eol + strings.Join(lines, w.eol)
}

// plain are texts that mean the same to all readers of YAML without quotes, if they are none of the words.
var (
	plain = pattern.New(`^[A-Za-z/_]([-A-Za-z0-9_./@+=$*()]|:[-A-Za-z0-9_./@+=$*(]| [-A-Za-z0-9_./@+=$*(])*$`)
	words = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
)

// scalars are the ways to write a scalar, as the old one if there is one.
func scalars(v any, old *yaml.Node) []string {
	text, is := v.(string)
	if !is {
		return []string{jsonText(v)}
	}
	single := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	double := jsonText(text)
	switch {
	case strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' || r == 0x7f || r > 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
	}):
		return []string{double}
	case old != nil && old.Style&yaml.DoubleQuotedStyle != 0:
		return []string{double, single}
	case old != nil && old.Style&yaml.SingleQuotedStyle != 0:
		return []string{single, double}
	case plain.MatchString(text) && !slices.Contains(words, strings.ToLower(text)):
		return []string{text, single, double}
	}
	return []string{single, double}
}

// block are the ways to write a value behind a colon or a dash: a scalar in the same line, a list or a mapping with one entry in each
// line. indent is that of the line.
func (w *writer) block(v any, indent string, dash bool) []string {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			return []string{w.blockMapping(v, indent, dash)}
		}
		return []string{" {}"}
	case []any:
		if len(v) > 0 {
			return []string{w.blockList(v, indent, dash)}
		}
		return []string{" []"}
	}
	var all []string
	if text, is := v.(string); is && strings.Contains(text, "\n") {
		all = append(all, " "+w.literal(text, indent+"  "))
	}
	for _, text := range scalars(v, nil) {
		all = append(all, " "+text)
	}
	return all
}

func (w *writer) blockMapping(v map[string]any, indent string, dash bool) string {
	var b strings.Builder
	for i, key := range sorted(v) {
		if b.WriteString(w.eol + indent + "  "); i == 0 && dash { // the first is behind the dash
			b.Reset()
			b.WriteString(" ")
		}
		b.WriteString(scalars(key, nil)[0] + ":" + w.block(v[key], indent+"  ", false)[0])
	}
	return b.String()
}

func (w *writer) blockList(v []any, indent string, dash bool) string {
	var b strings.Builder
	for i, item := range v {
		if b.WriteString(w.eol + indent + "  "); i == 0 && dash {
			b.Reset()
			b.WriteString(" ")
		}
		b.WriteString("-" + w.block(item, indent+"  ", true)[0])
	}
	return b.String()
}

// A flow is a way to write a list or a mapping in one line.
type flow struct{ padded, json bool }

// flowText is a value in one line.
func flowText(v any, f flow) string {
	scalar := func(v any) string {
		if f.json {
			return jsonText(v)
		}
		return scalars(v, nil)[0]
	}
	pad := map[bool]string{true: " "}[f.padded]
	var all []string
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sorted(v) {
			all = append(all, scalar(key)+": "+flowText(v[key], f))
		}
		if len(all) > 0 {
			return "{" + pad + strings.Join(all, ", ") + pad + "}"
		}
		return "{}"
	case []any:
		for _, item := range v {
			all = append(all, flowText(item, f))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return scalar(v)
}

// jsonText is a value as JSON in one line.
func jsonText(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // no value that was read cannot be written; if one could, the result would be refused
	}
	return strings.TrimSpace(out.String())
}

// asJSON is a value as JSON, in a line with an indentation: in one line, or with one entry in each line if that is how another value
// is written.
func (w *writer) asJSON(v any, indent string, like *yaml.Node) string {
	text := flowText(v, flow{json: true})
	if like == nil {
		return text
	}
	from, to, ok := document.Span(w.body, like)
	if !ok || bytes.IndexByte(w.body[from:to], '\n') < 0 {
		return text
	}
	unit := bytes.TrimLeft(w.body[w.lineEnd(0):], "\r\n")
	unit = unit[:len(unit)-len(bytes.TrimLeft(unit, " \t"))]
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), indent, string(unit)); err != nil {
		return text
	}
	return strings.ReplaceAll(out.String(), "\n", w.eol)
}
