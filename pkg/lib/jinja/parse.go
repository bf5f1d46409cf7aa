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

// tuple reads an expression, or several as a tuple.
func (p *parser) tuple(parentheses, conditions bool) expression {
	at := p.current().at
	var all []expression
	tuple := false
	for {
		if len(all) > 0 {
			p.expect(operator, ",")
		}
		if t := p.current(); t.kind == variableEnd || t.kind == blockEnd || p.is(operator, ")") || p.is(name, "recursive") && len(all) > 0 {
			break
		}
		if conditions {
			all = append(all, p.expression())
		} else {
			all = append(all, p.or())
		}
		if !p.is(operator, ",") {
			break
		}
		tuple = true
	}
	switch {
	case !tuple && len(all) > 0:
		return all[0]
	case !tuple && !parentheses:
		fail(at, "expected an expression, found %s", p.current())
	}
	return &listOf{node{at}, all, true}
}

func (p *parser) expression() expression {
	defer p.nested()()
	at := p.current().at
	e := p.or()
	for p.skip(name, "if") {
		c := &conditional{node: node{at}, then: e, test: p.or()}
		if p.skip(name, "else") {
			c.otherwise = p.expression()
		}
		e = c
	}
	return e
}

func (p *parser) or() expression {
	return p.binary(p.and, name, "or")
}

func (p *parser) and() expression {
	return p.binary(p.not, name, "and")
}

// binary reads operators of one precedence, the left first.
func (p *parser) binary(part func() expression, k kind, operators ...string) expression {
	left := part()
	for count := 0; p.current().kind == k && slices.Contains(operators, p.current().text); count++ {
		p.chain(count)
		t := p.take()
		left = &binary{node{t.at}, t.text, left, part()}
	}
	return left
}

// chain limits how long a chain of operators is, which are nested when they are evaluated.
func (p *parser) chain(count int) {
	if count > 10*maxNested {
		fail(p.current().at, "the expression is too long: at most %d operators are read", 10*maxNested)
	}
}

func (p *parser) not() expression {
	defer p.nested()()
	if t := p.current(); p.skip(name, "not") {
		return &unary{node{t.at}, "not", p.not()}
	}
	return p.comparison()
}

func (p *parser) comparison() expression {
	at := p.current().at
	c := &comparison{node: node{at}, first: p.sum()}
	for {
		t := p.current()
		switch {
		case t.kind == operator && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, t.text), p.is(name, "in"):
			p.take()
		case p.is(name, "not") && p.isNext(name, "in"):
			p.take()
			p.take()
			t.text = "not in"
		case len(c.others) == 0:
			return c.first
		default:
			return c
		}
		c.operators = append(c.operators, t.text)
		c.others = append(c.others, p.sum())
	}
}

func (p *parser) sum() expression {
	return p.binary(p.concatenation, operator, "+", "-")
}

func (p *parser) concatenation() expression {
	at := p.current().at
	parts := []expression{p.product()}
	for p.skip(operator, "~") {
		parts = append(parts, p.product())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &concatenation{node{at}, parts}
}

func (p *parser) product() expression {
	return p.binary(p.power, operator, "*", "/", "//", "%")
}

func (p *parser) power() expression {
	return p.binary(func() expression { return p.unary(true) }, operator, "**")
}

func (p *parser) unary(filters bool) expression {
	defer p.nested()()
	var e expression
	if t := p.current(); p.skip(operator, "-") || p.skip(operator, "+") {
		e = &unary{node{t.at}, t.text, p.unary(false)}
	} else {
		e = p.primary()
	}
	e = p.postfix(e)
	if !filters {
		return e
	}
	for count := 0; ; count++ {
		p.chain(count)
		switch {
		case p.is(operator, "|"):
			e = p.filters(e, false)
		case p.is(name, "is"):
			e = p.test(e)
		case p.is(operator, "("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) primary() expression {
	t := p.take()
	n := node{t.at}
	switch {
	case t.kind == name:
		switch t.text {
		case "true", "True":
			return &constant{n, true}
		case "false", "False":
			return &constant{n, false}
		case "none", "None":
			return &constant{n, nil}
		}
		p.use(t.text)
		return &variable{n, t.text}
	case t.kind == text:
		all := t.text
		for p.current().kind == text {
			all += p.take().text
		}
		return &constant{n, all}
	case t.kind == integer:
		v, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil {
			fail(t.at, "%s: the number is too large", short(t.text))
		}
		return &constant{n, v}
	case t.kind == float:
		v, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			fail(t.at, "%s: the number is too large", short(t.text))
		}
		return &constant{n, v}
	case t.kind == operator && t.text == "(":
		e := p.tuple(true, true)
		p.expect(operator, ")")
		return e
	case t.kind == operator && t.text == "[":
		l := &listOf{node: n}
		for !p.is(operator, "]") {
			if len(l.items) > 0 {
				p.expect(operator, ",")
			}
			if p.is(operator, "]") {
				break
			}
			l.items = append(l.items, p.expression())
		}
		p.take()
		return l
	case t.kind == operator && t.text == "{":
		d := &dictOf{node: n}
		for !p.is(operator, "}") {
			if len(d.keys) > 0 {
				p.expect(operator, ",")
			}
			if p.is(operator, "}") {
				break
			}
			d.keys = append(d.keys, p.expression())
			p.expect(operator, ":")
			d.values = append(d.values, p.expression())
		}
		p.take()
		return d
	}
	fail(t.at, "expected an expression, found %s", t)
	return nil
}

func (p *parser) postfix(e expression) expression {
	for count := 0; ; count++ {
		p.chain(count)
		switch {
		case p.is(operator, "."):
			t := p.take()
			field := p.take()
			switch field.kind {
			case name:
				e = &attribute{node{t.at}, e, field.text}
			case integer:
				v, _ := strconv.ParseInt(field.text, 10, 64)
				e = &item{node{t.at}, e, &constant{node{field.at}, v}}
			default:
				fail(field.at, "expected a name or a number, found %s", field)
			}
		case p.is(operator, "["):
			e = p.subscript(e)
		case p.is(operator, "("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) subscript(of expression) expression {
	t := p.take()
	var keys []expression
	for !p.is(operator, "]") {
		if len(keys) > 0 {
			p.expect(operator, ",")
		}
		keys = append(keys, p.subscribed())
	}
	p.take()
	switch len(keys) {
	case 0:
		fail(t.at, "expected an index or a key between [ and ]")
	case 1:
		return &item{node{t.at}, of, keys[0]}
	}
	return &item{node{t.at}, of, &listOf{node{t.at}, keys, true}}
}

func (p *parser) subscribed() expression {
	s := &slice{node: node{p.current().at}}
	ends := func() bool { return p.is(operator, "]") || p.is(operator, ",") || p.is(operator, ":") }
	if !p.is(operator, ":") {
		s.from = p.expression()
		if !p.is(operator, ":") {
			return s.from
		}
	}
	p.take()
	if !ends() {
		s.to = p.expression()
	}
	if p.skip(operator, ":") && !ends() {
		s.step = p.expression()
	}
	return s
}

func (p *parser) call(of expression) expression {
	at := p.current().at
	return &call{node{at}, of, p.arguments()}
}

func (p *parser) arguments() (a arguments) {
	opened := p.expect(operator, "(")
	ensure := func(ok bool) {
		if !ok {
			fail(opened.at, "the arguments are in the wrong order, or there are two lists of them")
		}
	}
	for first := true; !p.is(operator, ")"); first = false {
		if !first {
			p.expect(operator, ",")
			if p.is(operator, ")") {
				break
			}
		}
		switch {
		case p.skip(operator, "*"):
			ensure(a.list == nil && a.dict == nil)
			a.list = p.expression()
		case p.skip(operator, "**"):
			ensure(a.dict == nil)
			a.dict = p.expression()
		case p.current().kind == name && p.isNext(operator, "="):
			ensure(a.dict == nil)
			key := p.take()
			p.take()
			if slices.Contains(a.names, key.text) {
				fail(key.at, "the argument %s is given twice", key.text)
			}
			a.names, a.named = append(a.names, key.text), append(a.named, p.expression())
		default:
			ensure(a.list == nil && a.dict == nil && a.names == nil)
			a.positional = append(a.positional, p.expression())
		}
	}
	p.take()
	return a
}

// filters reads filters after an expression; or, if inline, those of a block, which begin
// without a bar.
func (p *parser) filters(of expression, inline bool) expression {
	for count := 0; inline || p.is(operator, "|"); count++ {
		p.chain(count)
		if !inline {
			p.take()
		}
		inline = false
		t := p.dotted()
		f := &filter{node: node{t.at}, of: of, name: t.text}
		if filters[t.text] == nil {
			fail(t.at, "%s", unknown("filter", t.text, unsupportedFilters, filters))
		}
		if p.is(operator, "(") {
			f.arguments = p.arguments()
		}
		of = f
	}
	return of
}

func (p *parser) dotted() token {
	t := p.expect(name, "")
	for p.skip(operator, ".") {
		t.text += "." + p.expect(name, "").text
	}
	return t
}

func (p *parser) test(of expression) expression {
	at := p.take().at
	negated := p.skip(name, "not")
	t := p.dotted()
	e := &test{node: node{at}, of: of, name: t.text}
	if tests[t.text] == nil {
		fail(t.at, "%s", unknown("test", t.text, nil, tests))
	}
	switch c := p.current(); {
	case p.is(operator, "("):
		e.arguments = p.arguments()
	case c.kind == name && (c.text == "else" || c.text == "or" || c.text == "and"):
	case p.is(name, "is"):
		fail(c.at, "tests cannot be chained with is")
	case c.kind == name, c.kind == text, c.kind == integer, c.kind == float, p.is(operator, "["), p.is(operator, "{"):
		if c.kind == name && (c.text == "if" || c.text == "in" || c.text == "not") {
			// Jinja2 would read these as an argument too.
			fail(c.at, "write parentheses around the test before %s", c.text)
		}
		e.positional = []expression{p.postfix(p.primary())}
	}
	if negated {
		return &unary{node{at}, "not", e}
	}
	return e
}
