package jinja

import (
	"math"
	"slices"
	"strings"
)

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
