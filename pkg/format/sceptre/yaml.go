package sceptre

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"go.yaml.in/yaml/v4"
)

// A resolver is a value with a tag, such as !stack_output. It has no name if the value could
// not be read, which was reported.
type resolver struct {
	name     string
	argument any
	at       problem.Position
}

// String is how a template shows a resolver, in messages.
func (r *resolver) String() string { return "a resolver (!" + r.name + ")" }

// place keeps a position for an entry of a dictionary.
func (t *tree) place(at problem.Position) int {
	t.places = append(t.places, at)
	return len(t.places) - 1
}

// value makes a value as PyYAML's safe_load does, which reads YAML 1.1. It reports false if
// it has added a problem. at finds the position of a node.
func (t *tree) value(n *yaml.Node, depth int, at func(*yaml.Node) problem.Position) (any, bool) {
	n = document.Resolve(n)
	if n == nil {
		return nil, true
	}
	if t.budget.Steps--; t.budget.Steps < 0 {
		t.exhausted(at(n))
		return nil, false
	}
	tag := document.Tagged(n)
	var v any
	good := true
	switch n.Kind {
	case yaml.MappingNode:
		d := jinja.NewDict()
		for _, p := range document.Pairs(n) {
			key, ok := t.scalar(p.Key, at)
			hooked := t.hooked
			t.hooked = hooked || depth == 0 && key == "hooks"
			one, fine := t.value(p.Value, depth+1, at)
			t.hooked = hooked
			if !jinja.Hashable(key) {
				ok = false // it could not be read
			}
			good = good && ok && fine
			if ok && fine {
				d.Put(jinja.Entry{Key: key, Value: one, Place: t.place(at(p.Key))})
			}
		}
		v = d
	case yaml.SequenceNode:
		l := &jinja.List{}
		for _, item := range document.Items(n) {
			one, fine := t.value(item, depth+1, at)
			good = good && fine
			l.Items = append(l.Items, one)
		}
		v = l
	default:
		v, good = t.scalar(n, at)
	}
	if tag == "" || !good {
		return v, good
	}
	name := strings.TrimPrefix(tag, "!")
	refused := refusedResolver
	if t.hooked {
		refused = refusedHook
	}
	if why := refused(name); why != "" {
		t.Add(at(n), "!%s: %s", problem.Short(name), why)
	}
	return &resolver{name, v, at(n)}, true
}

// scalar makes a value of a scalar.
func (t *tree) scalar(n *yaml.Node, at func(*yaml.Node) problem.Position) (any, bool) {
	plain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if n.Style&yaml.TaggedStyle != 0 {
		if n.ShortTag() == "!!str" {
			return n.Value, true
		}
		plain = true // Sceptre reads the argument of a resolver so, also in quotes
	}
	if !plain {
		return n.Value, true
	}
	v, wrong := plainValue(n.Value)
	if wrong != "" {
		t.Add(at(n), "%s: %s", problem.Short(n.Value), wrong)
		return &resolver{at: at(n)}, true
	}
	return v, true
}

// The forms of YAML 1.1 as PyYAML reads them.
var (
	booleans  = map[string]bool{"yes": true, "true": true, "on": true, "no": false, "false": false, "off": false}
	nulls     = map[string]bool{"": true, "~": true, "null": true, "Null": true, "NULL": true}
	floats    = pattern.New(`^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$`)
	sixties   = pattern.New(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`)
	integers  = pattern.New(`^[-+]?(?:0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$`)
	timestamp = pattern.New(`^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9]{2})?))?)$`)
)

// plainValue is the value of a text without quotes.
func plainValue(s string) (v any, wrong string) {
	lower := strings.ToLower(s)
	if b, ok := booleans[lower]; ok && (s == lower || s == strings.ToUpper(s) || s == strings.ToUpper(s[:1])+lower[1:]) {
		return b, ""
	}
	switch {
	case nulls[s]:
		return nil, ""
	case integers.MatchString(s):
		return integer(s)
	case floats.MatchString(s):
		f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
		if err != nil {
			return nil, "the number is too large: write it in quotes"
		}
		return f, ""
	case sixties.MatchString(s):
		if !strings.Contains(s, ".") && strings.Trim(s, "+-")[0] == '0' {
			return s, "" // no number to the base 60 begins with 0
		}
		return nil, "YAML 1.1, which Sceptre reads, takes this for a number to the base 60: write it in quotes"
	case timestamp.MatchString(s):
		return nil, "YAML 1.1, which Sceptre reads, takes this for a date: write it in quotes"
	case lower == ".inf" || lower == "-.inf" || lower == "+.inf":
		return math.Inf(map[bool]int{true: -1, false: 1}[s[0] == '-']), ""
	case lower == ".nan":
		return math.NaN(), ""
	}
	return s, ""
}

func integer(s string) (any, string) {
	sign := ""
	if s[0] == '-' || s[0] == '+' {
		sign, s = strings.TrimPrefix(s[:1], "+"), s[1:]
	}
	digits, base := strings.ReplaceAll(s, "_", ""), 10
	switch {
	case strings.HasPrefix(digits, "0b"):
		digits, base = digits[2:], 2
	case strings.HasPrefix(digits, "0x"):
		digits, base = digits[2:], 16
	case len(digits) > 1 && digits[0] == '0':
		base = 8
	}
	i, err := strconv.ParseInt(sign+digits, base, 64)
	if err != nil {
		return nil, "the number is too large: write it in quotes"
	}
	return i, ""
}

// exhausted reports once that the budget is used up.
func (t *tree) exhausted(at problem.Position) {
	if !t.full {
		t.full = true
		t.Add(at, "rendering the configurations and templates takes too much time or memory: divide the project, or render it with Sceptre and upload the result")
	}
}

// jinjaIn returns the Jinja2 environment of a folder, with options of j2_environment. Text is
// not escaped in files whose names end in plain. The parsed files are kept if keep is true.
func (t *tree) jinjaIn(folder string, options any, at problem.Position, plain string, keep bool) (*jinja.Environment, bool) {
	settings, good := t.settings(options, at)
	key := fmt.Sprintf("%s\x00%+v", folder, settings)
	if env := t.envs[key]; env != nil && keep {
		return env, good
	}
	env := &jinja.Environment{
		Settings: settings, Budget: &t.budget,
		Load: func(name string) (string, bool) {
			for part := range strings.SplitSeq(name, "/") {
				if part == ".." || part == "." || strings.Contains(part, `\`) {
					return "", false
				}
			}
			body, ok := t.files[path.Join(folder, name)]
			return string(body), ok
		},
		Escapes: func(name string) bool { return !strings.HasSuffix(strings.ToLower(name), plain) },
	}
	if keep {
		t.envs[key] = env
	}
	return env, good
}

// settings are the options of j2_environment.
func (t *tree) settings(options any, at problem.Position) (jinja.Settings, bool) {
	s := jinja.Default()
	d, ok := options.(*jinja.Dict)
	if !ok {
		if options != nil {
			t.Add(at, "j2_environment: expected a mapping, found %s", jinja.Kind(options))
			return s, false
		}
		return s, true
	}
	texts := map[string]*string{
		"block_start_string": &s.BlockStart, "block_end_string": &s.BlockEnd, "variable_start_string": &s.VariableStart,
		"variable_end_string": &s.VariableEnd, "comment_start_string": &s.CommentStart, "comment_end_string": &s.CommentEnd,
	}
	booleans := map[string]*bool{"trim_blocks": &s.TrimBlocks, "lstrip_blocks": &s.LstripBlocks, "keep_trailing_newline": &s.KeepTrailingNewline}
	good := true
	for _, e := range d.Entries() {
		key, _ := e.Key.(string)
		text, isText := e.Value.(string)
		boolean, isBoolean := e.Value.(bool)
		switch {
		case texts[key] != nil && isText && text != "":
			*texts[key] = text
		case booleans[key] != nil && isBoolean:
			*booleans[key] = boolean
		case key == "extensions":
			good = t.extensions(&s, e) && good
		default:
			t.Add(t.places[e.Place], "j2_environment: %s is not supported, or not with this value: %s", problem.Short(key), wayOut)
			good = false
		}
	}
	return s, good
}

func (t *tree) extensions(s *jinja.Settings, e jinja.Entry) bool {
	l, ok := e.Value.(*jinja.List)
	if !ok {
		t.Add(t.places[e.Place], "j2_environment: extensions: expected a list")
		return false
	}
	good := true
	for _, item := range l.Items {
		switch item {
		case "jinja2.ext.do":
			s.Do = true
		case "jinja2.ext.loopcontrols":
			s.LoopControls = true
		case "jinja2.ext.debug": // its tag is refused where it is used
		default:
			text, _ := jinja.Str(item, 200)
			t.Add(t.places[e.Place], "j2_environment: the extension %s is not supported: %s", problem.Short(text), wayOut)
			good = false
		}
	}
	return good
}
