package jinja

import (
	"strings"
	"unicode"
)

var tests map[string]func(e *evaluator, of any, a args) bool

func init() {
	kind := func(names ...string) func(*evaluator, any, args) bool {
		return func(e *evaluator, of any, a args) bool {
			e.bind("the test", a)
			for _, name := range names {
				if Kind(e.defined(of)) == name {
					return true
				}
			}
			return false
		}
	}
	compares := func(operator string) func(*evaluator, any, args) bool {
		return func(e *evaluator, of any, a args) bool {
			b := e.bind("the test", a, "other")
			if !b.given[0] {
				e.fail("the test needs an argument")
			}
			return e.compare(operator, of, b.values[0])
		}
	}
	parity := func(want int64) func(*evaluator, any, args) bool {
		return func(e *evaluator, of any, a args) bool {
			e.bind("the test", a)
			return e.equal(e.arithmetic("%", e.defined(of), int64(2)), want, 0)
		}
	}
	defined := func(e *evaluator, of any, a args) bool {
		e.bind("defined", a)
		_, undefined := of.(Undefined)
		return !undefined
	}
	tests = map[string]func(e *evaluator, of any, a args) bool{
		"defined":   defined,
		"undefined": func(e *evaluator, of any, a args) bool { return !defined(e, of, a) },
		"none":      kind("None"),
		"boolean":   kind("bool"),
		"integer":   kind("int"),
		"float":     kind("float"),
		"number":    kind("int", "float", "bool"),
		"string":    kind("str"),
		"mapping":   kind("dict"),
		"sequence":  kind("str", "list", "tuple", "dict", "range"),
		"iterable":  kind("str", "list", "tuple", "dict", "range", "view of a dict", "generator"),
		"callable":  kind("function"),
		"true":      func(e *evaluator, of any, a args) bool { e.bind("true", a); return e.defined(of) == true },
		"false":     func(e *evaluator, of any, a args) bool { e.bind("false", a); return e.defined(of) == false },
		"odd":       parity(1),
		"even":      parity(0),
		"divisibleby": func(e *evaluator, of any, a args) bool {
			return e.equal(e.arithmetic("%", e.defined(of), e.bind("divisibleby", a, "num").int(0, 0)), int64(0), 0)
		},
		"lower": func(e *evaluator, of any, a args) bool {
			e.bind("lower", a)
			return cased(e.str(of), unicode.IsUpper, unicode.IsLower)
		},
		"upper": func(e *evaluator, of any, a args) bool {
			e.bind("upper", a)
			return cased(e.str(of), unicode.IsLower, unicode.IsUpper)
		},
		"escaped": func(e *evaluator, of any, a args) bool { e.fail("the test escaped is not supported"); return false },
		"filter": func(e *evaluator, of any, a args) bool {
			name, _ := of.(string)
			return filters[name] != nil
		},
		"test": func(e *evaluator, of any, a args) bool {
			name, _ := of.(string)
			return tests[name] != nil
		},
		"in": func(e *evaluator, of any, a args) bool {
			b := e.bind("in", a, "seq")
			return e.compare("in", of, b.any(0, nil))
		},
		"sameas": func(e *evaluator, of any, a args) bool {
			b := e.bind("sameas", a, "other")
			e.defined(of)
			switch of := of.(type) {
			case *List:
				return of == b.any(0, nil)
			case *Dict:
				return of == b.any(0, nil)
			}
			if !Hashable(of) {
				e.fail("sameas: a value of type %s", Kind(of))
			}
			return Kind(of) == Kind(b.any(0, nil)) && e.equal(of, b.any(0, nil), 0)
		},
	}
	for _, names := range [][]string{
		{"==", "eq", "equalto"}, {"!=", "ne"}, {">", "gt", "greaterthan"}, {">=", "ge"}, {"<", "lt", "lessthan"}, {"<=", "le"},
	} {
		for _, name := range names {
			tests[name] = compares(names[0])
		}
	}
}

// cased reports whether a text has letters with a case, and only of one.
func cased(s string, never, once func(rune) bool) bool {
	return strings.IndexFunc(s, never) < 0 && strings.IndexFunc(s, once) >= 0
}
