package jinja

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A scope holds variables. A name that is not in it is looked up in its parent.
type scope struct {
	values map[string]any
	parent *scope
}

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.values[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (s *scope) inner() *scope { return &scope{map[string]any{}, s} }

// An evaluator renders one template and those that it includes.
type evaluator struct {
	env   *Environment
	at    Position
	depth int
	nests int
}

func (e *evaluator) fail(format string, args ...any) { fail(e.at, format, args...) }

func (e *evaluator) exhausted() {
	panic(&failure{Error_: Error{e.at, ErrExhausted.Error()}, exhausted: true})
}

// step counts a statement or an expression.
func (e *evaluator) step() {
	if e.env.Budget.Steps--; e.env.Budget.Steps < 0 {
		e.exhausted()
	}
}

// charge counts bytes before they are made.
func (e *evaluator) charge(bytes int) {
	if e.env.Budget.Bytes -= bytes; bytes < 0 || e.env.Budget.Bytes < 0 {
		e.exhausted()
	}
}

// list makes a list.
func (e *evaluator) list(items []any) *List {
	e.charge(16 * len(items))
	return &List{items}
}

// enter counts macros, includes and blocks within one another.
func (e *evaluator) enter() func() {
	if e.depth++; e.depth > maxDepth {
		e.fail("macros, includes and blocks are more than %d levels within one another: they never end, or must be simplified", maxDepth)
	}
	return func() { e.depth-- }
}

// str is the text of a value in a template.
func (e *evaluator) str(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	s, wrong := Str(v, e.env.Budget.Bytes)
	if wrong != "" {
		if wrong == "the text is too long" {
			e.exhausted()
		}
		e.fail("%s", wrong)
	}
	e.charge(len(s))
	return s
}

func (e *evaluator) repr(v any) string {
	w := &writer{room: e.env.Budget.Bytes}
	w.repr(v)
	if w.wrong != "" {
		e.fail("%s", w.wrong)
	}
	e.charge(w.Len())
	return w.String()
}

// defined refuses a value that is not defined.
func (e *evaluator) defined(v any) any {
	if u, ok := v.(Undefined); ok && !u.lenient {
		e.fail("%s", u.Why)
	}
	return v
}

func (e *evaluator) truth(v any) bool { return Truth(e.defined(v)) }

// items lists what a loop over a value gives.
func (e *evaluator) items(v any) []any {
	switch v := e.defined(v).(type) {
	case *List:
		return v.Items
	case Tuple:
		return v
	case *Dict:
		all := make([]any, 0, v.Len())
		e.charge(16 * v.Len())
		for _, entry := range v.entries {
			all = append(all, entry.Key)
		}
		return all
	case string:
		e.charge(32 * len(v))
		var all []any
		for _, r := range v {
			all = append(all, string(r))
		}
		return all
	case view:
		return v.items
	case numbers:
		n := v.size()
		if n > int64(e.env.Budget.Bytes) {
			e.exhausted()
		}
		e.charge(16 * int(n))
		all := make([]any, 0, n)
		for i, at := int64(0), v.from; i < n; i, at = i+1, at+v.step {
			all = append(all, at)
		}
		return all
	case *generator:
		all := v.items
		v.items = nil
		return all
	case Undefined:
		return nil
	default:
		e.fail("a value of type %s has no items", Kind(v))
	}
	return nil
}

// eval evaluates an expression.
func (e *evaluator) eval(x expression, s *scope) any {
	e.step()
	if e.nests++; e.nests > 40*maxNested {
		e.fail("expressions and macros are nested too deep")
	}
	before := e.at
	e.at = x.position()
	v := e.expression(x, s)
	e.at = before
	e.nests--
	return v
}

func (e *evaluator) all(xs []expression, s *scope) []any {
	values := make([]any, 0, len(xs))
	for _, x := range xs {
		values = append(values, e.eval(x, s))
	}
	return values
}

func (e *evaluator) expression(x expression, s *scope) any {
	switch x := x.(type) {
	case *constant:
		return x.value
	case *variable:
		if v, ok := s.get(x.name); ok {
			return v
		}
		return Undefined{Why: quoted(x.name) + " is undefined"}
	case *listOf:
		if x.tuple {
			e.charge(16 * len(x.items))
			return Tuple(e.all(x.items, s))
		}
		return e.list(e.all(x.items, s))
	case *dictOf:
		d := NewDict()
		for i, k := range x.keys {
			key := e.eval(k, s)
			e.set(d, key, e.eval(x.values[i], s))
		}
		return d
	case *attribute:
		return e.attribute(e.eval(x.of, s), x.name)
	case *item:
		of := e.eval(x.of, s)
		if cut, ok := x.key.(*slice); ok {
			return e.slice(of, cut, s)
		}
		return e.item(of, e.eval(x.key, s))
	case *call:
		f := e.eval(x.of, s)
		a := e.arguments(x.arguments, s)
		e.at = x.at
		return e.call(f, a)
	case *filter:
		of := e.eval(x.of, s)
		return e.filter(x, of, s)
	case *test:
		of := e.eval(x.of, s)
		a := e.arguments(x.arguments, s)
		e.at = x.at
		return tests[x.name](e, of, a)
	case *unary:
		return e.unary(x.operator, e.eval(x.of, s))
	case *binary:
		return e.binary(x, s)
	case *comparison:
		left := e.eval(x.first, s)
		for i, o := range x.operators {
			right := e.eval(x.others[i], s)
			if !e.compare(o, left, right) {
				return false
			}
			left = right
		}
		return true
	case *concatenation:
		var b strings.Builder
		for _, part := range x.parts {
			text := e.str(e.eval(part, s))
			e.charge(len(text))
			b.WriteString(text)
		}
		return b.String()
	case *conditional:
		if e.truth(e.eval(x.test, s)) {
			return e.eval(x.then, s)
		}
		if x.otherwise == nil {
			return Undefined{Why: "the condition is false and there is no else", lenient: true}
		}
		return e.eval(x.otherwise, s)
	}
	e.fail("this is not an expression")
	return nil
}

func (e *evaluator) filter(x *filter, of any, s *scope) any {
	a := e.arguments(x.arguments, s)
	e.at = x.at
	return filters[x.name](e, of, a)
}

// set sets a key of a dictionary.
func (e *evaluator) set(d *Dict, key, value any) {
	if e.defined(key); !Hashable(key) {
		e.fail("a value of type %s cannot be a key", Kind(key))
	}
	e.charge(64)
	d.Set(key, value)
}

func (e *evaluator) arguments(of arguments, s *scope) args {
	a := args{list: e.all(of.positional, s), names: of.names, named: e.all(of.named, s)}
	if of.list != nil {
		a.list = append(a.list, e.items(e.eval(of.list, s))...)
	}
	if of.dict != nil {
		d, ok := e.eval(of.dict, s).(*Dict)
		if !ok {
			e.fail("expected a dict after **")
		}
		a.names, a.named = slices.Clone(a.names), slices.Clone(a.named)
		for _, entry := range d.entries {
			key, ok := entry.Key.(string)
			if !ok || slices.Contains(a.names, key) {
				e.fail("a key after ** is no text, or is given twice")
			}
			a.names, a.named = append(a.names, key), append(a.named, entry.Value)
		}
	}
	return a
}

func (e *evaluator) call(f any, a args) any {
	switch f := e.defined(f).(type) {
	case *callable:
		return f.call(e, a)
	case *state:
		if f.call != nil {
			return f.call(e, a)
		}
	}
	e.fail("a value of type %s cannot be called", Kind(f))
	return nil
}

// attribute is `of.name`: first a method or field of the type, then a key.
func (e *evaluator) attribute(of any, name string) any {
	e.defined(of)
	if m := e.method(of, name); m != nil {
		return m
	}
	switch of := of.(type) {
	case *Dict:
		if v, ok := of.Get(name); ok {
			return v
		}
	case *namespace:
		if v, ok := of.fields.Get(name); ok {
			return v
		}
	case *state:
		if v, ok := of.field(name); ok {
			return v
		}
	case *module:
		if v, ok := of.exports[name]; ok {
			return v
		}
		return Undefined{Why: "the template " + quoted(of.name) + " does not export " + quoted(name)}
	}
	return Undefined{Why: missing(of, quoted(name))}
}

func missing(of any, name string) string {
	if of == nil {
		return "None has no attribute " + name
	}
	return "'" + Kind(of) + " object' has no attribute " + name
}

// item is `of[key]`: first a key, then a method.
func (e *evaluator) item(of, key any) any {
	e.defined(of)
	e.defined(key)
	switch of := of.(type) {
	case *Dict:
		if v, ok := of.Get(key); ok {
			return v
		}
	case *List, Tuple, string, numbers:
		if i, _, isInt, ok := number(key); ok && isInt {
			if v, ok := e.index(of, i); ok {
				return v
			}
			return Undefined{Why: missing(of, e.repr(key))}
		}
	}
	if name, ok := key.(string); ok {
		return e.attribute(of, name)
	}
	return Undefined{Why: missing(of, e.repr(key))}
}

// index returns an item; negative indexes count from the end.
func (e *evaluator) index(of any, i int64) (any, bool) {
	if n, ok := of.(numbers); ok {
		if i < 0 {
			i += n.size()
		}
		return n.from + i*n.step, 0 <= i && i < n.size()
	}
	if s, ok := of.(string); ok {
		if i < 0 {
			i += int64(utf8.RuneCountInString(s))
		}
		e.charge(len(s))
		for _, r := range s {
			if i == 0 {
				return string(r), true
			}
			i--
		}
		return nil, false
	}
	items, _ := sequence(of)
	if i < 0 {
		i += int64(len(items))
	}
	if i < 0 || i >= int64(len(items)) {
		return nil, false
	}
	return items[i], true
}

// slice is `of[from:to:step]`.
func (e *evaluator) slice(of any, cut *slice, s *scope) any {
	e.defined(of)
	bound := func(x expression) (int64, bool) {
		if x == nil {
			return 0, false
		}
		v := e.defined(e.eval(x, s))
		if v == nil {
			return 0, false
		}
		i, _, isInt, ok := number(v)
		if !ok || !isInt {
			e.fail("the bounds of a slice must be whole numbers, not %s", Kind(v))
		}
		return i, true
	}
	from, hasFrom := bound(cut.from)
	to, hasTo := bound(cut.to)
	step, hasStep := bound(cut.step)
	if !hasStep {
		step = 1
	}
	if step == 0 {
		e.fail("the step of a slice cannot be 0")
	}
	var items []any
	text, isText := of.(string)
	if items, _ = sequence(of); isText {
		items = e.items(text)
	} else if items == nil {
		switch of.(type) {
		case *List, Tuple:
		default:
			e.fail("a value of type %s cannot be sliced", Kind(of))
		}
	}
	size := int64(len(items))
	clamp := func(i, low, high int64) int64 {
		if i < 0 {
			i += size
		}
		return min(max(i, low), high)
	}
	low, high := int64(0), size
	if step < 0 {
		low, high = -1, size-1
	}
	switch {
	case hasFrom:
		from = clamp(from, low, high)
	case step < 0:
		from = high
	default:
		from = low
	}
	switch {
	case hasTo:
		to = clamp(to, low, high)
	case step < 0:
		to = low
	default:
		to = high
	}
	var cutOut []any
	for i := from; step > 0 && i < to || step < 0 && i > to; {
		cutOut = append(cutOut, items[i])
		if step > size || step < -size {
			break
		}
		i += step
	}
	switch {
	case isText:
		var b strings.Builder
		for _, item := range cutOut {
			b.WriteString(item.(string))
		}
		return b.String()
	case Kind(of) == "tuple":
		e.charge(16 * len(cutOut))
		return Tuple(cutOut)
	}
	return e.list(cutOut)
}

func (e *evaluator) unary(operator string, v any) any {
	if operator == "not" {
		return !e.truth(v)
	}
	i, f, isInt, ok := number(e.defined(v))
	switch {
	case !ok:
		e.fail("%s cannot be applied to a value of type %s", operator, Kind(v))
	case operator == "+" && isInt:
		return i
	case operator == "+":
		return f
	case isInt && i == math.MinInt64:
		e.large()
	case isInt:
		return -i
	}
	return -f
}

func (e *evaluator) large() {
	e.fail("the number is too large: whole numbers have at most 63 bits here")
}

func (e *evaluator) binary(x *binary, s *scope) any {
	left := e.eval(x.left, s)
	switch x.operator {
	case "and":
		if !e.truth(left) {
			return left
		}
		return e.eval(x.right, s)
	case "or":
		if e.truth(left) {
			return left
		}
		return e.eval(x.right, s)
	}
	right := e.eval(x.right, s)
	e.at = x.at
	return e.arithmetic(x.operator, e.defined(left), e.defined(right))
}

func (e *evaluator) arithmetic(operator string, left, right any) any {
	i, f, leftInt, leftNumber := number(left)
	j, g, rightInt, rightNumber := number(right)
	if leftNumber && rightNumber {
		if leftInt && rightInt {
			return e.integers(operator, i, j)
		}
		return e.floats(operator, f, g)
	}
	a, leftText := left.(string)
	b, rightText := right.(string)
	switch operator {
	case "+":
		if leftText && rightText {
			e.charge(len(a) + len(b))
			return a + b
		}
		x, leftList := left.(*List)
		y, rightList := right.(*List)
		if leftList && rightList {
			return e.list(slices.Concat(x.Items, y.Items))
		}
		t, leftTuple := left.(Tuple)
		u, rightTuple := right.(Tuple)
		if leftTuple && rightTuple {
			e.charge(16 * (len(t) + len(u)))
			return slices.Concat(t, u)
		}
	case "*":
		if leftInt {
			left, right, j, rightInt, a, leftText = right, left, i, leftInt, b, rightText
		}
		if rightInt {
			return e.repeat(left, j)
		}
	case "%":
		if leftText {
			return e.percent(a, right)
		}
	}
	e.fail("%s cannot be applied to values of the types %s and %s", operator, Kind(left), Kind(right))
	return nil
}

func (e *evaluator) repeat(v any, times int64) any {
	times = max(times, 0)
	room := func(size int) {
		if size > 0 && times > int64(e.env.Budget.Bytes/size) {
			e.exhausted()
		}
		e.charge(size * int(times))
	}
	switch v := v.(type) {
	case string:
		if v == "" {
			return v
		}
		room(len(v))
		return strings.Repeat(v, int(times))
	case *List:
		if len(v.Items) == 0 {
			return &List{}
		}
		room(16 * len(v.Items))
		return &List{slices.Repeat(v.Items, int(times))}
	case Tuple:
		if len(v) == 0 {
			return v
		}
		room(16 * len(v))
		return slices.Repeat(v, int(times))
	}
	e.fail("a value of type %s cannot be repeated", Kind(v))
	return nil
}

func (e *evaluator) integers(operator string, a, b int64) any {
	switch operator {
	case "+":
		if c := a + b; (c > a) == (b > 0) {
			return c
		}
		e.large()
	case "-":
		if c := a - b; (c < a) == (b > 0) {
			return c
		}
		e.large()
	case "*":
		if a == 0 || b == 0 {
			return int64(0)
		}
		if c := a * b; c/b == a && (a != -1 || b != math.MinInt64) && (b != -1 || a != math.MinInt64) {
			return c
		}
		e.large()
	case "**":
		return e.power(a, b)
	}
	if b == 0 {
		e.fail("division by zero")
	}
	if a == math.MinInt64 {
		e.large()
	}
	switch operator {
	case "/":
		return float64(a) / float64(b)
	case "//":
		q := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			q--
		}
		return q
	}
	r := a % b
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

func (e *evaluator) power(a, b int64) any {
	if b < 0 {
		if a == 0 {
			e.fail("division by zero")
		}
		return math.Pow(float64(a), float64(b))
	}
	switch {
	case a == 1 || b == 0:
		return int64(1)
	case a == 0:
		return int64(0)
	case a == -1:
		return 1 - 2*(b%2)
	case b > 63:
		e.large()
	}
	var result any = int64(1)
	for range b {
		result = e.integers("*", result.(int64), a)
	}
	return result
}

func (e *evaluator) floats(operator string, a, b float64) any {
	switch operator {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "**":
		c := math.Pow(a, b)
		if math.IsNaN(c) || math.IsInf(c, 0) {
			e.fail("the result is not a number")
		}
		return c
	}
	if b == 0 {
		e.fail("division by zero")
	}
	mod := math.Mod(a, b)
	if mod != 0 && (mod < 0) != (b < 0) {
		mod += b
	}
	switch operator {
	case "/":
		return a / b
	case "//":
		return math.Round((a - mod) / b)
	}
	return mod
}

// compare compares two values as Python does.
func (e *evaluator) compare(operator string, left, right any) bool {
	e.defined(left)
	e.defined(right)
	switch operator {
	case "==":
		return e.equal(left, right, 0)
	case "!=":
		return !e.equal(left, right, 0)
	case "in":
		return e.contains(right, left)
	case "not in":
		return !e.contains(right, left)
	}
	c := e.order(left, right)
	switch operator {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func (e *evaluator) equal(a, b any, depth int) bool {
	e.step()
	if depth > maxNested {
		e.fail("the values are nested too deep to compare")
	}
	_, f, _, leftNumber := number(a)
	_, g, _, rightNumber := number(b)
	if leftNumber || rightNumber {
		i, leftInt := a.(int64)
		j, rightInt := b.(int64)
		if leftInt && rightInt {
			return i == j
		}
		return leftNumber && rightNumber && f == g
	}
	all := func(x, y []any) bool {
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !e.equal(x[i], y[i], depth+1) {
				return false
			}
		}
		return true
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		y, ok := b.(string)
		return ok && x == y
	case *List:
		y, ok := b.(*List)
		return ok && all(x.Items, y.Items)
	case Tuple:
		y, ok := b.(Tuple)
		return ok && all(x, y)
	case numbers:
		y, ok := b.(numbers)
		return ok && x == y
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || x.Len() != y.Len() {
			return false
		}
		for _, entry := range x.entries {
			other, ok := y.Get(entry.Key)
			if !ok || !e.equal(entry.Value, other, depth+1) {
				return false
			}
		}
		return true
	case Undefined:
		e.fail("%s", x.Why)
	}
	e.fail("values of the types %s and %s cannot be compared", Kind(a), Kind(b))
	return false
}

func (e *evaluator) contains(in, v any) bool {
	switch in := in.(type) {
	case string:
		s, ok := v.(string)
		if !ok {
			e.fail("only text can be in text, not %s", Kind(v))
		}
		return strings.Contains(in, s)
	case *Dict:
		if !Hashable(v) {
			e.fail("a value of type %s cannot be a key", Kind(v))
		}
		_, ok := in.Get(v)
		return ok
	}
	for _, item := range e.items(in) {
		if e.equal(item, v, 0) {
			return true
		}
	}
	return false
}

// order compares two values that have an order.
func (e *evaluator) order(a, b any) int {
	e.step()
	i, f, leftInt, leftNumber := number(a)
	j, g, rightInt, rightNumber := number(b)
	s, leftText := a.(string)
	t, rightText := b.(string)
	x, leftList := sequence(a)
	y, rightList := sequence(b)
	switch {
	case leftNumber && rightNumber && leftInt && rightInt:
		return compare(i, j)
	case leftNumber && rightNumber:
		return compare(f, g)
	case leftText && rightText:
		return strings.Compare(s, t)
	case leftList && rightList && Kind(a) == Kind(b):
		for k := range min(len(x), len(y)) {
			if !e.equal(x[k], y[k], 0) {
				return e.order(x[k], y[k])
			}
		}
		return len(x) - len(y)
	}
	e.fail("values of the types %s and %s have no order", Kind(a), Kind(b))
	return 0
}

func compare[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func quoted(s string) string {
	w := &writer{room: math.MaxInt}
	w.quoted(s)
	return w.String()
}
