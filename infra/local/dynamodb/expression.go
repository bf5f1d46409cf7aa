package dynamodb

import (
	"regexp"
	"slices"
	"strings"
)

// placeholders are the parts of a request that its expressions refer to.
type placeholders struct {
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues attributes
}

// parser reads the expressions of one request: the part of DynamoDB's language that Stackwright uses, and refuses the
// rest. Attributes are those at the top of an item, without paths.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html
type parser struct {
	placeholders
	used        map[string]bool
	tokens      []string // of the expression that is being read
	comparisons []comparison
	nested      bool // whether there was an OR
}

// condition tells whether an item fulfils an expression; an item that does not exist has no attributes.
type condition func(attributes) bool

// comparison is of one attribute with values: =, <, <=, >, >=, BETWEEN, IN or begins_with.
type comparison struct {
	name, operator string
	values         []value
}

var token = regexp.MustCompile(`^\s*([:#]?\w+|<=|>=|[=<>(),])`)

// newParser begins with a request's placeholders. A request without any has no such field at all.
func newParser(p placeholders) (*parser, error) {
	if p.ExpressionAttributeNames != nil && len(p.ExpressionAttributeNames) == 0 {
		return nil, invalid("ExpressionAttributeNames must not be empty")
	}
	if p.ExpressionAttributeValues != nil && len(p.ExpressionAttributeValues) == 0 {
		return nil, invalid("ExpressionAttributeValues must not be empty")
	}
	return &parser{placeholders: p, used: map[string]bool{}}, nil
}

// done refuses placeholders that no expression uses.
func (p *parser) done() error {
	for name := range p.ExpressionAttributeNames {
		if !p.used[name] {
			return invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", name)
		}
	}
	for name := range p.ExpressionAttributeValues {
		if !p.used[name] {
			return invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", name)
		}
	}
	return nil
}

func (p *parser) begin(expression string) error {
	p.tokens = nil
	for rest := strings.TrimSpace(expression); rest != ""; rest = strings.TrimSpace(rest) {
		found := token.FindStringSubmatch(rest)
		if found == nil {
			return invalid("Invalid expression: Syntax error; near: %q. This emulator reads comparisons of attributes with values, AND, OR, IN, "+
				"BETWEEN, attribute_exists, attribute_not_exists, begins_with, SET and ADD", rest)
		}
		p.tokens, rest = append(p.tokens, found[1]), rest[len(found[0]):]
	}
	return nil
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

// accept takes the next token if it is the given one; words are the same in small letters.
func (p *parser) accept(want string) bool {
	if !strings.EqualFold(p.peek(), want) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) expect(want string) error {
	if !p.accept(want) {
		return p.unexpected(want)
	}
	return nil
}

func (p *parser) unexpected(want string) error {
	return invalid("Invalid expression: Syntax error; token: %q, expected %s", p.peek(), want)
}

// attribute takes a name, or the placeholder of one.
func (p *parser) attribute() (string, error) {
	next := p.peek()
	if next == "" || strings.HasPrefix(next, ":") || strings.ContainsAny(next, "=<>(),") {
		return "", p.unexpected("an attribute")
	}
	p.tokens = p.tokens[1:]
	if !strings.HasPrefix(next, "#") {
		return next, nil
	}
	name, ok := p.ExpressionAttributeNames[next]
	if !ok {
		return "", invalid("Invalid expression: An expression attribute name used in the document path is not defined; attribute name: %s", next)
	}
	p.used[next] = true
	return name, nil
}

// value takes the placeholder of a value.
func (p *parser) value() (value, error) {
	next := p.peek()
	if !strings.HasPrefix(next, ":") {
		return value{}, p.unexpected("the placeholder of a value")
	}
	p.tokens = p.tokens[1:]
	v, ok := p.ExpressionAttributeValues[next]
	if !ok {
		return value{}, invalid("Invalid expression: An expression attribute value used in expression is not defined; attribute value: %s", next)
	}
	p.used[next] = true
	return v, nil
}

// values takes values that commas separate.
func (p *parser) values() (all []value, err error) {
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if all = append(all, v); !p.accept(",") {
			return all, nil
		}
	}
}

// condition reads a condition; every item fulfils an empty one.
func (p *parser) condition(expression string) (condition, error) {
	if expression == "" {
		return func(attributes) bool { return true }, nil
	}
	if err := p.begin(expression); err != nil {
		return nil, err
	}
	c, err := p.or()
	if err == nil && len(p.tokens) > 0 {
		err = p.unexpected("the end")
	}
	return c, err
}

func (p *parser) or() (condition, error) {
	left, err := p.and()
	if err != nil || !p.accept("OR") {
		return left, err
	}
	p.nested = true
	right, err := p.or()
	return func(a attributes) bool { return left(a) || right(a) }, err
}

func (p *parser) and() (condition, error) {
	left, err := p.term()
	if err != nil || !p.accept("AND") {
		return left, err
	}
	right, err := p.and()
	return func(a attributes) bool { return left(a) && right(a) }, err
}

func (p *parser) term() (condition, error) {
	switch {
	case p.accept("("):
		c, err := p.or()
		if err != nil {
			return nil, err
		}
		return c, p.expect(")")
	case p.accept("attribute_exists"):
		name, err := p.argument()
		return func(a attributes) bool { return a[name].kind != "" }, err
	case p.accept("attribute_not_exists"):
		name, err := p.argument()
		return func(a attributes) bool { return a[name].kind == "" }, err
	}
	c, err := p.comparison()
	p.comparisons = append(p.comparisons, c)
	return c.holds, err
}

func (p *parser) argument() (string, error) {
	if err := p.expect("("); err != nil {
		return "", err
	}
	name, err := p.attribute()
	if err != nil {
		return "", err
	}
	return name, p.expect(")")
}

func (p *parser) comparison() (c comparison, err error) {
	if p.accept("begins_with") {
		c.operator = "begins_with"
		if err := p.expect("("); err != nil {
			return c, err
		}
		if c.name, err = p.attribute(); err != nil {
			return c, err
		}
		if err := p.expect(","); err != nil {
			return c, err
		}
		prefix, err := p.value()
		if err != nil {
			return c, err
		}
		c.values = []value{prefix}
		return c, p.expect(")")
	}
	if c.name, err = p.attribute(); err != nil {
		return c, err
	}
	c.operator = strings.ToUpper(p.peek())
	switch {
	case slices.Contains([]string{"=", "<", "<=", ">", ">="}, c.operator):
		p.tokens = p.tokens[1:]
		v, err := p.value()
		c.values = []value{v}
		return c, err
	case p.accept("BETWEEN"):
		from, err := p.value()
		if err != nil {
			return c, err
		}
		if err := p.expect("AND"); err != nil {
			return c, err
		}
		to, err := p.value()
		c.values = []value{from, to}
		return c, err
	case p.accept("IN"):
		if err := p.expect("("); err != nil {
			return c, err
		}
		if c.values, err = p.values(); err != nil {
			return c, err
		}
		return c, p.expect(")")
	}
	return c, p.unexpected("a comparison")
}

// holds tells whether an item fulfils the comparison. Without the attribute, or with one of another type, it does not.
func (c comparison) holds(a attributes) bool {
	v, ok := a[c.name]
	if !ok {
		return false
	}
	if c.operator == "=" || c.operator == "IN" {
		return slices.ContainsFunc(c.values, v.equal)
	}
	order, ordered := v.compare(c.values[0])
	if !ordered {
		return false
	}
	switch c.operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "BETWEEN":
		most, ordered := v.compare(c.values[1])
		return order >= 0 && ordered && most <= 0
	default: // begins_with
		return v.kind == "S" && strings.HasPrefix(v.string(), c.values[0].string())
	}
}

// keyCondition reads the condition of a query: which partition, and which of its sort keys.
func (p *parser) keyCondition(expression string, t *table) (s span, c condition, err error) {
	if c, err = p.condition(expression); err != nil {
		return s, nil, err
	}
	if p.nested {
		return s, nil, invalid("Invalid operator used in KeyConditionExpression: OR")
	}
	seen := map[string]bool{}
	for _, c := range p.comparisons {
		switch {
		case seen[c.name] || c.operator == "IN":
			return s, nil, invalid("KeyConditionExpressions must only contain one condition per key")
		case c.name == t.hash && c.operator == "=":
			s.hash = c.values[0].string()
		case c.name == t.sort:
			c.narrow(&s)
		default:
			return s, nil, invalid("Query key condition not supported")
		}
		seen[c.name] = true
	}
	if s.hash == "" {
		return s, nil, invalid("Query condition missed key schema element: %s", t.hash)
	}
	return s, c, nil
}

// narrow limits the span to the sort keys that may fulfil the comparison.
func (c comparison) narrow(s *span) {
	first := c.values[0].string()
	switch c.operator {
	case "=":
		s.from, s.to, s.bounded = first, first, true
	case "<", "<=":
		s.to, s.bounded = first, true
	case ">", ">=":
		s.from = first
	case "BETWEEN":
		s.from, s.to, s.bounded = first, c.values[1].string(), true
	case "begins_with":
		s.from, s.to, s.bounded = first, first+"\xff", true // no text contains this byte
	}
}

// update reads SET and ADD clauses; apply changes a copy of an item's attributes.
func (p *parser) update(expression string, t *table) (apply func(attributes) error, err error) {
	var changes []func(attributes) error
	changed := map[string]bool{}
	if err := p.begin(expression); err != nil {
		return nil, err
	}
	for len(p.tokens) > 0 {
		add := p.accept("ADD")
		if !add && !p.accept("SET") {
			return nil, p.unexpected("SET or ADD")
		}
		for more := true; more; more = p.accept(",") {
			name, err := p.attribute()
			if err != nil {
				return nil, err
			}
			if name == t.hash || name == t.sort {
				return nil, invalid("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", name)
			}
			if changed[name] {
				return nil, invalid("Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path: [%s]", name)
			}
			changed[name] = true
			if !add {
				if err := p.expect("="); err != nil {
					return nil, err
				}
			}
			v, err := p.value()
			if err != nil {
				return nil, err
			}
			changes = append(changes, func(a attributes) error { return change(a, name, v, add) })
		}
	}
	if len(changes) == 0 {
		return nil, invalid("Invalid UpdateExpression: The expression can not be empty;")
	}
	return func(a attributes) error {
		for _, change := range changes {
			if err := change(a); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// change sets an attribute, or adds a number to it. An attribute that does not exist counts as 0.
func change(a attributes, name string, v value, add bool) error {
	if !add {
		a[name] = v
		return nil
	}
	was, ok := a[name]
	if !ok {
		was = value{"N", []byte(`"0"`)}
	}
	sum, err := was.plus(v)
	if err != nil {
		return invalid("An operand in the update expression has an incorrect data type: %v", err)
	}
	a[name] = sum
	return nil
}

// projection reads the names of attributes; nil stands for all.
func (p *parser) projection(expression string) (names []string, err error) {
	if expression == "" {
		return nil, nil
	}
	if err := p.begin(expression); err != nil {
		return nil, err
	}
	for {
		name, err := p.attribute()
		if err != nil {
			return nil, err
		}
		if names = append(names, name); !p.accept(",") {
			break
		}
	}
	if len(p.tokens) > 0 {
		return nil, p.unexpected("the end")
	}
	return names, nil
}
