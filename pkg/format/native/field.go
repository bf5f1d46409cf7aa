package native

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// mapping returns the entries of a mapping. A null is an empty one.
func (p *parser) mapping(what string, n *yaml.Node) []document.Pair {
	if !p.plain(what, n) || document.Null(n) {
		return nil
	}
	if n = document.Resolve(n); n.Kind != yaml.MappingNode {
		p.Add(p.at(n), "%s: expected a mapping, found %s", what, document.Kind(n))
		return nil
	}
	var pairs []document.Pair
	for _, pair := range document.Pairs(n) {
		if p.plain(what, pair.Key) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// keys returns the values of a mapping whose keys are fixed.
func (p *parser) keys(what string, n *yaml.Node, known []string, later map[string]string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	for _, pair := range p.mapping(what, n) {
		key := pair.Key.Value
		switch instead, unsupported := later[key]; {
		case slices.Contains(known, key):
			values[key] = pair.Value
		case unsupported:
			p.Add(p.at(pair.Key), "%s: %s is not supported yet: %s", what, key, instead)
		default:
			hint := p.Hint(key, known)
			if same := elsewhere[key]; slices.Contains(known, same) {
				hint = ": did you mean " + same + "?"
			}
			p.Add(p.at(pair.Key), "%s: unknown key %q%s", what, problem.Short(key), hint)
		}
	}
	return values
}

// items returns the items of a list.
func (p *parser) items(what string, n *yaml.Node) []*yaml.Node {
	if !p.plain(what, n) || document.Null(n) {
		return nil
	}
	if n = document.Resolve(n); n.Kind != yaml.SequenceNode {
		p.Add(p.at(n), "%s: expected a list, found %s", what, document.Kind(n))
		return nil
	}
	return document.Items(n)
}

// names returns a list of texts, each once.
func (p *parser) names(what string, n *yaml.Node) []declared.Value {
	var all []declared.Value
	seen := map[string]bool{}
	items := p.items(what, n)
	if len(items) > declared.MaxStacks {
		p.Add(p.at(n), "%s: %d items: at most %d are allowed", what, len(items), declared.MaxStacks)
		return nil
	}
	for _, item := range items {
		v, ok := p.scalar(what, item)
		if !ok {
			continue
		}
		text := document.Resolve(item).Value
		if seen[text] {
			p.Add(v.At, "%s: %s is listed twice: remove one", what, problem.Short(text))
			continue
		}
		seen[text] = true
		all = append(all, v)
	}
	return all
}

// maxValues is how many values all expressions of a project file may have.
const maxValues = 200_000

// scalar returns one text, number, true or false, as it is written.
func (p *parser) scalar(what string, n *yaml.Node) (declared.Value, bool) {
	if !p.plain(what, n) {
		return declared.Value{}, false
	}
	n = document.Resolve(n)
	if n.Kind != yaml.ScalarNode {
		p.Add(p.at(n), "%s: expected text, found %s", what, document.Kind(n))
		return declared.Value{}, false
	}
	if document.Null(n) {
		p.Add(p.at(n), `%s: expected text, found nothing: write "" for empty text`, what)
		return declared.Value{}, false
	}
	if len(n.Value) > declared.MaxWritten {
		p.Add(p.at(n), "%s: %d bytes: at most %d are allowed", what, len(n.Value), declared.MaxWritten)
		return declared.Value{}, false
	}
	text, err := reference.Parse(n.Value)
	if err != nil {
		p.Add(p.at(n), "%s: %v", what, err)
		return declared.Value{}, false
	}
	for _, part := range text {
		if part.Expression != nil {
			p.values += part.Expression.Weight()
		}
	}
	if p.values > maxValues {
		p.Add(problem.Position{File: p.file}, "the expressions have more than %d values: divide the project into several", maxValues)
		return declared.Value{}, false
	}
	return declared.Value{At: p.at(n), Items: [][]declared.Part{text}, Kind: document.Kind(n)}, true
}

// scalars returns what scalar returns, or a list of it.
func (p *parser) scalars(what string, n *yaml.Node) (declared.Value, bool) {
	if !p.plain(what, n) {
		return declared.Value{}, false
	}
	n = document.Resolve(n)
	switch n.Kind {
	case yaml.ScalarNode:
		return p.scalar(what, n)
	case yaml.MappingNode:
		p.Add(p.at(n), "%s: expected text, a number, true, false or a list of them, found a mapping", what)
		return declared.Value{}, false
	}
	v := declared.Value{At: p.at(n), List: true, Kind: "a list"}
	for _, item := range n.Content {
		one, ok := p.scalar(what, item)
		if !ok {
			return declared.Value{}, false
		}
		v.Items = append(v.Items, one.Items...)
	}
	return v, true
}

// wholeNumber is the form of a count.
var wholeNumber = pattern.New(`^(0|[1-9][0-9]{0,5})$`)

// mostDeletions is the highest max_deletions.
const mostDeletions = 999_999

// deletions reads how many stacks a deploy may delete; nil if the file does not say.
func (p *parser) deletions(what string, n *yaml.Node) *int {
	if n == nil {
		return nil
	}
	count, ok := p.count(what, n, 0, mostDeletions)
	if !ok {
		return nil
	}
	return &count
}

// count reads a number of stacks.
func (p *parser) count(what string, n *yaml.Node, least, most int) (count int, ok bool) {
	return p.countOf("stacks", what, n, least, most)
}

// countOf reads a number of things.
func (p *parser) countOf(things, what string, n *yaml.Node, least, most int) (count int, ok bool) {
	if !p.plain(what, n) {
		return 0, false
	}
	if kind := document.Kind(n); kind != "a whole number" {
		p.Add(p.at(n), "%s: expected a whole number without references, found %s", what, kind)
		return 0, false
	}
	text := document.Resolve(n).Value
	count, err := strconv.Atoi(text)
	if err != nil || !wholeNumber.MatchString(text) || count < least || count > most {
		p.Add(p.at(n), "%s: %s: write a number of %s, from %d to %d", what, problem.Short(text), things, least, most)
		return 0, false
	}
	return count, true
}

// maxParallel reads how many stacks a run changes at the same time: one number, or one
// for each prefix of the names of stacks.
func (p *parser) maxParallel(what string, n *yaml.Node) []declared.Limit {
	if n == nil {
		return nil
	}
	if document.Null(n) || !isMapping(n) {
		most, ok := p.count(what, n, 1, declared.MaxStacks)
		if !ok {
			return nil
		}
		return []declared.Limit{{Limit: project.Limit{Most: most}, Label: what, At: p.at(n)}}
	}
	pairs := p.mapping(what, n)
	if len(pairs) > declared.MaxLimits {
		p.Add(p.at(n), "%s: %d prefixes: at most %d are allowed", what, len(pairs), declared.MaxLimits)
		return nil
	}
	var all []declared.Limit
	for _, pair := range pairs {
		label := what + " " + quoted(pair.Key.Value)
		if most, ok := p.count(label, pair.Value, 1, declared.MaxStacks); ok {
			all = append(all, declared.Limit{Limit: project.Limit{Prefix: pair.Key.Value, Most: most}, Label: label, At: p.at(pair.Key)})
		}
	}
	return all
}

// groups reads the limits of groups: a mapping for each, with max_parallel.
func (p *parser) groups(what string, n *yaml.Node) []declared.Limit {
	if n == nil {
		return nil
	}
	pairs := p.mapping(what, n)
	if len(pairs) > declared.MaxLimits {
		p.Add(p.at(n), "%s: %d groups: at most %d are allowed", what, len(pairs), declared.MaxLimits)
		return nil
	}
	var all []declared.Limit
	for _, pair := range pairs {
		label := what + ": " + problem.Short(pair.Key.Value)
		keys := p.keys(label, pair.Value, groupKeys, nil)
		switch {
		case !project.Name.MatchString(pair.Key.Value):
			p.Add(p.at(pair.Key), "%s: it is not a valid name: use letters, digits and hyphens, at most 64, beginning with a letter", label)
		case keys == nil: // it was reported
		case keys["max_parallel"] == nil:
			p.Add(p.at(pair.Key), "%s: max_parallel is missing: write how many stacks of the group a run changes at the same time", label)
		default:
			if most, ok := p.count(label+": max_parallel", keys["max_parallel"], 1, declared.MaxStacks); ok {
				all = append(all, declared.Limit{Limit: project.Limit{Group: pair.Key.Value, Most: most}, Label: label, At: p.at(pair.Key)})
			}
		}
	}
	return all
}

// choice reads one of some words; "" if there is none.
func (p *parser) choice(what string, n *yaml.Node, of []string) string {
	if n == nil || !p.plain(what, n) {
		return ""
	}
	found, text := document.Kind(n), document.Resolve(n).Value
	if found == "text" {
		found = quoted(text)
	}
	if !slices.Contains(of, text) {
		p.Add(p.at(n), "%s: expected %s, found %s", what, strings.Join(of, " or "), found)
		return ""
	}
	return text
}

// duration reads the timeout of a run; 0 if there is none.
func (p *parser) duration(what string, n *yaml.Node) project.Timeout {
	if n == nil {
		return 0
	}
	v, ok := p.scalar(what, n)
	if !ok {
		return 0
	}
	text, plain := v.Literal()
	if !plain {
		p.Add(v.At, "%s: references are allowed only in parameters, tags and options of stacks: write a duration, such as 2h", what)
		return 0
	}
	t, err := project.ParseTimeout(problem.Short(text))
	if err != nil {
		p.Add(v.At, "%s: %v", what, err)
	}
	return t
}

// plain refuses tags such as !Ref.
func (p *parser) plain(what string, n *yaml.Node) bool {
	tag := document.Tagged(n)
	if tag == "" {
		return true
	}
	why := "YAML tags are not allowed in a project file"
	switch tag {
	case "!Ref", "!Sub", "!GetAtt", "!ImportValue", "!GetStackOutput", "!Join", "!If", "!Select", "!Split", "!FindInMap":
		why = "it works only in templates: write ${stack.Output}, ${stack:name}, ${account} …"
	}
	p.Add(p.at(n), "%s: %s: %s", what, problem.Short(tag), why)
	return false
}

func isList(n *yaml.Node) bool {
	return document.Null(n) || document.Resolve(n).Kind == yaml.SequenceNode
}

func isMapping(n *yaml.Node) bool {
	return document.Null(n) || document.Resolve(n).Kind == yaml.MappingNode
}

func quoted(s string) string { return `"` + problem.Short(s) + `"` }
