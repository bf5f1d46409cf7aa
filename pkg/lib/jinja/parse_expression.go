package jinja

import (
	"slices"
	"strconv"
)

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
