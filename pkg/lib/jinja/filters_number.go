package jinja

import (
	"math"
	"strconv"
	"strings"
)

func absolute(e *evaluator, of any, a args) any {
	e.bind("abs", a)
	i, f, isInt, ok := number(e.defined(of))
	switch {
	case !ok:
		e.fail("abs: expected a number, found %s", Kind(of))
	case isInt && i < 0:
		return e.unary("-", i)
	case isInt:
		return i
	}
	return math.Abs(f)
}

// plainNumber is a text as Python's int and float read it, without the underscores.
func plainNumber(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") || strings.ContainsAny(s, "xXpP") {
		return "", false
	}
	return strings.ReplaceAll(s, "_", ""), s != ""
}

func toFloat(e *evaluator, of any, a args) any {
	b := e.bind("float", a, "default")
	if _, f, _, ok := number(e.defined(of)); ok {
		return f
	}
	if s, ok := of.(string); ok {
		if plain, ok := plainNumber(s); ok {
			if f, err := strconv.ParseFloat(plain, 64); err == nil {
				return f
			}
		}
	}
	return b.any(0, 0.0)
}

func toInt(e *evaluator, of any, a args) any {
	b := e.bind("int", a, "default", "base")
	i, f, isInt, ok := number(e.defined(of))
	if ok && isInt {
		return i
	}
	if s, isText := of.(string); isText {
		base := b.int(1, 10)
		plain, fine := plainNumber(s)
		if base != 10 {
			plain, fine = strings.ToLower(strings.TrimSpace(s)), base >= 2 && base <= 36
			for prefix, of := range map[string]int64{"0b": 2, "0o": 8, "0x": 16} {
				if of == base {
					plain = strings.TrimPrefix(plain, prefix)
				}
			}
		}
		if fine {
			if i, err := strconv.ParseInt(plain, int(base), 64); err == nil {
				return i
			}
			if g, err := strconv.ParseFloat(plain, 64); err == nil {
				f, ok = g, true
			}
		}
	}
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return b.any(0, int64(0))
	}
	if math.Abs(f) >= 1<<63 {
		e.large()
	}
	return int64(f)
}

func round(e *evaluator, of any, a args) any {
	b := e.bind("round", a, "precision", "method")
	i, f, isInt, ok := number(e.defined(of))
	if !ok {
		e.fail("round: expected a number, found %s", Kind(of))
	}
	precision := b.int(0, 0)
	if precision < 0 || precision > 300 {
		e.fail("round: the precision must be from 0 to 300")
	}
	switch method := b.str(1, "common"); method {
	case "common":
		if isInt {
			return i
		}
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(precision), 64), 64)
		return rounded
	case "ceil", "floor":
		scale := math.Pow(10, float64(precision))
		if method == "ceil" {
			return math.Ceil(f*scale) / scale
		}
		return math.Floor(f*scale) / scale
	}
	e.fail("round: the method must be common, ceil or floor")
	return nil
}
