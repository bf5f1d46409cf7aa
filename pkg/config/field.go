package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// maxWritten is how many bytes a value may have as it is written, references
// and all.
const maxWritten = 64 << 10

// A value is what stands for a parameter, a tag or an option: a list is written
// with commas.
type value struct {
	at    place
	items [][]part
	list  bool
	typed string // what it is in the file, such as "true or false"
}

// literal returns the text and true if there is no reference in it.
func (v value) literal() (string, bool) {
	var b strings.Builder
	for i, item := range v.items {
		if i > 0 {
			b.WriteByte(',')
		}
		for _, p := range item {
			if p.written != "" {
				return "", false
			}
			b.WriteString(p.literal)
		}
	}
	return b.String(), true
}

// mapping returns the entries of a mapping. Nothing at all is an empty one.
func (r *reader) mapping(what string, n *yaml.Node) []document.Pair {
	if !r.plain(what, n) || document.Null(n) {
		return nil
	}
	if n = document.Resolve(n); n.Kind != yaml.MappingNode {
		r.add(r.place(n), "%s: %s found, a mapping is wanted", what, document.Kind(n))
		return nil
	}
	var pairs []document.Pair
	for _, p := range document.Pairs(n) {
		if r.plain(what, p.Key) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// keys returns the entries of a mapping whose keys are fixed.
func (r *reader) keys(what string, n *yaml.Node, known []string, soon map[string]string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	for _, p := range r.mapping(what, n) {
		key := p.Key.Value
		switch why, later := soon[key]; {
		case slices.Contains(known, key):
			values[key] = p.Value
		case later:
			r.add(r.place(p.Key), "%s: %s: not yet: this is understood, but not carried out yet: %s", what, key, why)
		default:
			r.add(r.place(p.Key), "%s: unknown key %q%s", what, short(key), r.hint(key, known))
		}
	}
	return values
}

// items returns the items of a list.
func (r *reader) items(what string, n *yaml.Node) []*yaml.Node {
	if !r.plain(what, n) || document.Null(n) {
		return nil
	}
	if n = document.Resolve(n); n.Kind != yaml.SequenceNode {
		r.add(r.place(n), "%s: %s found, a list is wanted", what, document.Kind(n))
		return nil
	}
	return document.Items(n)
}

// names returns a list of texts, each at its place and each once.
func (r *reader) names(what string, n *yaml.Node) []value {
	var all []value
	seen := map[string]bool{}
	items := r.items(what, n)
	if len(items) > MaxStacks {
		r.add(r.place(n), "%s: %d items: at most %d are read", what, len(items), MaxStacks)
		return nil
	}
	for _, item := range items {
		v, ok := r.scalar(what, item)
		if !ok {
			continue
		}
		text := document.Resolve(item).Value
		if seen[text] {
			r.add(v.at, "%s: %s stands here a second time: remove it", what, short(text))
			continue
		}
		seen[text] = true
		all = append(all, v)
	}
	return all
}

// scalar returns one text, number or truth value, as it is written.
func (r *reader) scalar(what string, n *yaml.Node) (value, bool) {
	if !r.plain(what, n) {
		return value{}, false
	}
	n = document.Resolve(n)
	if n.Kind != yaml.ScalarNode {
		r.add(r.place(n), "%s: %s found, text is wanted", what, document.Kind(n))
		return value{}, false
	}
	if document.Null(n) {
		r.add(r.place(n), `%s: nothing found, text is wanted: write "" for empty text`, what)
		return value{}, false
	}
	if len(n.Value) > maxWritten {
		r.add(r.place(n), "%s: %d bytes: at most %d are read", what, len(n.Value), maxWritten)
		return value{}, false
	}
	text, err := parts(n.Value)
	if err != nil {
		r.add(r.place(n), "%s: %v", what, err)
		return value{}, false
	}
	return value{at: r.place(n), items: [][]part{text}, typed: document.Kind(n)}, true
}

// scalars returns one text, number or truth value, or a list of them.
func (r *reader) scalars(what string, n *yaml.Node) (value, bool) {
	if !r.plain(what, n) {
		return value{}, false
	}
	n = document.Resolve(n)
	switch n.Kind {
	case yaml.ScalarNode:
		return r.scalar(what, n)
	case yaml.MappingNode:
		r.add(r.place(n), "%s: a mapping found, text, a number, true, false or a list of them is wanted", what)
		return value{}, false
	}
	v := value{at: r.place(n), list: true, typed: "a list"}
	for _, item := range n.Content {
		one, ok := r.scalar(what, item)
		if !ok {
			return value{}, false
		}
		v.items = append(v.items, one.items...)
	}
	return v, true
}

// wholeNumber is how a count is written.
var wholeNumber = regexp.MustCompile(`^(0|[1-9][0-9]{0,5})$`)

// count reads a number of stacks. What is not there is nil.
func (r *reader) count(what string, n *yaml.Node) *int {
	if n == nil || !r.plain(what, n) {
		return nil
	}
	if kind := document.Kind(n); kind != "a whole number" {
		r.add(r.place(n), "%s: %s found, a whole number is wanted, without references", what, kind)
		return nil
	}
	text := document.Resolve(n).Value
	count, err := strconv.Atoi(text)
	if err != nil || !wholeNumber.MatchString(text) {
		r.add(r.place(n), "%s: %s: write a number of stacks, from 0 to 999999", what, short(text))
		return nil
	}
	return &count
}

// choice reads one of some words. What is not there is empty.
func (r *reader) choice(what string, n *yaml.Node, of []string) string {
	if n == nil || !r.plain(what, n) {
		return ""
	}
	found, text := document.Kind(n), document.Resolve(n).Value
	if found == "text" {
		found = quoted(text)
	}
	if !slices.Contains(of, text) {
		r.add(r.place(n), "%s: %s found, %s is wanted", what, found, strings.Join(of, " or "))
		return ""
	}
	return text
}

// duration reads how long a run may take. What is not there is 0.
func (r *reader) duration(what string, n *yaml.Node) project.Timeout {
	if n == nil {
		return 0
	}
	v, ok := r.scalar(what, n)
	if !ok {
		return 0
	}
	text, plain := v.literal()
	if !plain {
		r.add(v.at, "%s: references are for parameters, tags and options of stacks: write a duration, as in 2h", what)
		return 0
	}
	return r.timeoutOf(what, v.at, text)
}

// timeoutOf is the timeout that a text says.
func (r *reader) timeoutOf(what string, at place, text string) project.Timeout {
	t, err := project.ParseTimeout(short(text))
	if err != nil {
		r.add(at, "%s: %v", what, err)
	}
	return t
}

// plain refuses tags such as !Ref.
func (r *reader) plain(what string, n *yaml.Node) bool {
	tag := document.Tagged(n)
	if tag == "" {
		return true
	}
	why := "it has no meaning in a project file"
	switch tag {
	case "!Ref", "!Sub", "!GetAtt", "!ImportValue", "!Join", "!If", "!Select", "!Split", "!FindInMap":
		why = "it works in templates only, here write ${stack.Output}, ${stack:name}, ${account} …"
	}
	r.add(r.place(n), "%s: %s: %s", what, short(tag), why)
	return false
}
