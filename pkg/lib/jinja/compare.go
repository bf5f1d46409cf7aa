package jinja

import (
	"strings"
)

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
