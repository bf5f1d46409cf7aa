package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// A parser reads the tokens of one template.
type parser struct {
	Settings
	tokens []token
	next   int
	depth  int
	loops  int
	blocks map[string]*block
	used   []map[string]bool // the names that each open macro reads
}

func parse(s Settings, name, source string) *template {
	p := &parser{Settings: s, tokens: lex(s, name, source), blocks: map[string]*block{}}
	return &template{name: name, body: p.statements(), blocks: p.blocks}
}

func (p *parser) current() token { return p.tokens[p.next] }

func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != end {
		p.next++
	}
	return t
}

// is reports whether the current token is an operator or a name.
func (p *parser) is(k kind, text string) bool {
	t := p.current()
	return t.kind == k && t.text == text
}

func (p *parser) isNext(k kind, text string) bool {
	return p.next+1 < len(p.tokens) && p.tokens[p.next+1].kind == k && p.tokens[p.next+1].text == text
}

func (p *parser) skip(k kind, text string) bool {
	if !p.is(k, text) {
		return false
	}
	p.take()
	return true
}

func (p *parser) expect(k kind, text string) token {
	t := p.current()
	if t.kind != k || text != "" && t.text != text {
		fail(t.at, "expected %s, found %s", token{kind: k, text: text}, t)
	}
	return p.take()
}

func (t token) String() string {
	switch t.kind {
	case end:
		return "the end of the template"
	case literalText:
		return "text"
	case variableEnd, blockEnd:
		return "the end of the tag"
	case variableStart, blockStart:
		return "a tag"
	case name:
		if t.text == "" {
			return "a name"
		}
	}
	return strconv.Quote(short(t.text))
}

// nested counts how deep expressions and statements are within one another.
func (p *parser) nested() func() {
	if p.depth++; p.depth > maxNested {
		fail(p.current().at, "expressions and tags are nested too deep: at most %d levels are read", maxNested)
	}
	return func() { p.depth-- }
}

// statements reads up to a tag with one of the words, which is the current token then, or
// to the end of the template if there are no words.
func (p *parser) statements(until ...string) []statement {
	defer p.nested()()
	var all []statement
	for {
		t := p.take()
		switch t.kind {
		case end:
			if len(until) > 0 {
				fail(t.at, "the template ends, expected the tag %s", strings.Join(until, " or "))
			}
			return all
		case literalText:
			all = append(all, &data{node{t.at}, t.text})
		case variableStart:
			all = append(all, &print{node{t.at}, p.tuple(false, true)})
			p.expect(variableEnd, "")
		case blockStart:
			if p.current().kind == name && slices.Contains(until, p.current().text) {
				return all
			}
			all = append(all, p.statement()...)
			p.expect(blockEnd, "")
		default:
			fail(t.at, "unexpected %s", t)
		}
	}
}

// body reads the statements after the head of a tag, up to its end word.
func (p *parser) body(until ...string) []statement {
	p.skip(operator, ":")
	p.expect(blockEnd, "")
	return p.statements(until...)
}

// statement reads a tag, up to the end of its last part.
func (p *parser) statement() []statement {
	t := p.expect(name, "")
	n := node{t.at}
	one := func(s statement) []statement { return []statement{s} }
	switch t.text {
	case "print":
		var all []statement
		for p.current().kind != blockEnd {
			if len(all) > 0 {
				p.expect(operator, ",")
			}
			all = append(all, &print{n, p.expression()})
		}
		return all
	case "if":
		return one(p.ifs(n))
	case "for":
		return one(p.loop(n))
	case "set":
		return one(p.set(n))
	case "with":
		return one(p.with(n))
	case "macro":
		m := &macro{node: n, name: p.expect(name, "").text}
		p.macro(m, "endmacro", true)
		return one(m)
	case "call":
		return one(p.callBlock(n))
	case "filter":
		f := p.filters(nil, true)
		body := p.body("endfilter")
		p.take()
		return one(&filterBlock{n, f, body})
	case "block":
		return one(p.block(n))
	case "extends":
		return one(&extends{n, p.expression()})
	case "include":
		s := &include{node: n, of: p.expression(), context: true}
		if p.is(name, "ignore") && p.isNext(name, "missing") {
			p.take()
			p.take()
			s.ignoreMissing = true
		}
		p.context(&s.context)
		return one(s)
	case "import":
		s := &imports{node: n, of: p.expression()}
		p.expect(name, "as")
		s.as = p.expect(name, "").text
		p.context(&s.context)
		return one(s)
	case "from":
		return one(p.from(n))
	case "do":
		if p.Do {
			return one(&do{n, p.tuple(false, true)})
		}
		fail(t.at, "the tag do is not turned on: list jinja2.ext.do under extensions")
	case "autoescape", "trans", "debug":
		fail(t.at, "the tag %s is not supported", t.text)
	}
	if to, ok := jumps[t.text]; ok {
		if p.LoopControls && p.loops > 0 {
			return one(&jump{n, to})
		}
		fail(t.at, "the tag %s is not turned on, or is outside of a loop: list jinja2.ext.loopcontrols under extensions", t.text)
	}
	fail(t.at, "unknown tag %q", short(t.text))
	return nil
}

func (p *parser) ifs(n node) statement {
	s := &ifs{node: n}
	for {
		s.tests = append(s.tests, p.tuple(false, false))
		s.bodies = append(s.bodies, p.body("elif", "else", "endif"))
		switch p.take().text {
		case "elif":
			continue
		case "else":
			s.rest = p.body("endif")
			p.take()
		}
		return s
	}
}

func (p *parser) loop(n node) statement {
	s := &loop{node: n, target: p.target(false)}
	p.expect(name, "in")
	s.over = p.tuple(false, false)
	if p.skip(name, "if") {
		s.test = p.expression()
	}
	s.recursive = p.skip(name, "recursive")
	p.loops++
	s.body = p.body("endfor", "else")
	p.loops--
	if p.take().text == "else" {
		s.rest = p.body("endfor")
		p.take()
	}
	return s
}

func (p *parser) set(n node) statement {
	s := &set{node: n, target: p.target(true)}
	if p.skip(operator, "=") {
		s.value = p.tuple(false, true)
		return s
	}
	s.filter = p.filters(nil, false)
	s.body = p.body("endset")
	p.take()
	return s
}

func (p *parser) with(n node) statement {
	s := &with{node: n}
	for p.current().kind != blockEnd {
		if len(s.targets) > 0 {
			p.expect(operator, ",")
		}
		s.targets = append(s.targets, p.target(false))
		p.expect(operator, "=")
		s.values = append(s.values, p.expression())
	}
	s.body = p.body("endwith")
	p.take()
	return s
}

// macro reads the parameters and the body of a macro.
func (p *parser) macro(m *macro, until string, required bool) {
	if required || p.is(operator, "(") {
		p.expect(operator, "(")
		for !p.is(operator, ")") {
			if len(m.parameters) > 0 {
				p.expect(operator, ",")
			}
			t := p.expect(name, "")
			m.parameters = append(m.parameters, t.text)
			if p.skip(operator, "=") {
				m.defaults = append(m.defaults, p.expression())
			} else if len(m.defaults) > 0 {
				fail(t.at, "a parameter without a default follows one with a default")
			}
		}
		p.take()
	}
	if !required {
		return
	}
	p.macroBody(m, until)
}

func (p *parser) macroBody(m *macro, until string) {
	used := map[string]bool{}
	p.used = append(p.used, used)
	loops := p.loops
	p.loops = 0
	m.body = p.body(until)
	p.loops = loops
	p.take()
	p.used = p.used[:len(p.used)-1]
	m.varargs, m.kwargs, m.caller = used["varargs"], used["kwargs"], used["caller"]
}

func (p *parser) callBlock(n node) statement {
	s := &callBlock{node: n, macro: &macro{node: n, name: "caller"}}
	p.macro(s.macro, "endcall", false)
	at := p.current().at
	c, ok := p.expression().(*call)
	if !ok {
		fail(at, "expected the call of a macro")
	}
	s.call = c
	p.macroBody(s.macro, "endcall")
	return s
}

func (p *parser) block(n node) statement {
	t := p.expect(name, "")
	s := &block{node: n, name: t.text}
	if p.blocks[t.text] != nil {
		fail(t.at, "the block %s is defined twice", t.text)
	}
	s.scoped = p.skip(name, "scoped")
	s.required = p.skip(name, "required")
	p.blocks[t.text] = s
	s.body = p.body("endblock")
	p.take()
	p.skip(name, t.text)
	if s.required {
		for _, one := range s.body {
			if d, ok := one.(*data); !ok || strings.TrimSpace(d.text) != "" {
				fail(n.at, "a required block can have only comments and space")
			}
		}
	}
	return s
}

func (p *parser) from(n node) statement {
	s := &imports{node: n, of: p.expression()}
	p.expect(name, "import")
	for {
		if len(s.names) > 0 {
			if p.context(&s.context) || !p.skip(operator, ",") {
				return s
			}
		}
		if p.context(&s.context) {
			return s
		}
		t := p.expect(name, "")
		if strings.HasPrefix(t.text, "_") {
			fail(t.at, "names that begin with an underscore cannot be imported")
		}
		alias := t.text
		if p.skip(name, "as") {
			alias = p.expect(name, "").text
		}
		s.names, s.aliases = append(s.names, t.text), append(s.aliases, alias)
	}
}

// context reads `with context` or `without context`.
func (p *parser) context(with *bool) bool {
	if (p.is(name, "with") || p.is(name, "without")) && p.isNext(name, "context") {
		*with = p.take().text == "with"
		p.take()
		return true
	}
	return false
}

// reserved words are no names of variables.
var reserved = []string{"true", "false", "none", "True", "False", "None"}

// target reads what is assigned to: a name, names, or a field of a namespace.
func (p *parser) target(fields bool) expression {
	at := p.current().at
	var all []expression
	tuple := false
	for {
		if len(all) > 0 {
			p.expect(operator, ",")
		}
		if p.current().kind == blockEnd || p.is(name, "in") || p.is(operator, ")") {
			break
		}
		all = append(all, p.oneTarget(fields))
		if !p.is(operator, ",") {
			break
		}
		tuple = true
	}
	switch {
	case len(all) == 0:
		fail(at, "expected a name, found %s", p.current())
	case !tuple:
		return all[0]
	}
	return &listOf{node{at}, all, true}
}

func (p *parser) oneTarget(fields bool) expression {
	defer p.nested()()
	if p.skip(operator, "(") {
		t := p.target(fields)
		p.expect(operator, ")")
		return t
	}
	t := p.expect(name, "")
	if slices.Contains(reserved, t.text) {
		fail(t.at, "%s cannot be assigned to", t.text)
	}
	if fields && p.skip(operator, ".") {
		p.use(t.text)
		return &namespaceField{node{t.at}, t.text, p.expect(name, "").text}
	}
	return &variable{node{t.at}, t.text}
}

func (p *parser) use(name string) {
	for _, u := range p.used {
		u[name] = true
	}
}
