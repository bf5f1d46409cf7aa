package events

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

func compileTest(entry any) (test, error) {
	operator, ok := entry.(map[string]any)
	if !ok {
		if _, list := entry.([]any); list {
			return test{}, fmt.Errorf("a list within a list is not allowed")
		}
		return test{holds: func(value any) bool { return value == entry }}, nil
	}
	if len(operator) != 1 {
		return test{}, fmt.Errorf("only one key allowed in match expression")
	}
	for name, operand := range operator {
		return compileOperator(name, operand)
	}
	return test{}, nil // not reached: it has one key
}

func compileOperator(name string, operand any) (test, error) {
	switch name {
	case "exists":
		want, ok := operand.(bool)
		if !ok {
			return test{}, fmt.Errorf("exists match pattern must be either true or false")
		}
		return test{holds: func(any) bool { return true }, absent: !want}, nil
	case "numeric":
		return compileNumeric(operand)
	case "anything-but":
		return compileAnythingBut(operand)
	case "cidr":
		return compileCIDR(operand)
	case "prefix", "suffix", "equals-ignore-case", "wildcard":
		return compileText(name, operand)
	default:
		return test{}, fmt.Errorf("unrecognized match type %s", name)
	}
}

// compileText makes a test of a string. prefix and suffix may themselves have {"equals-ignore-case": "…"} as operand.
func compileText(name string, operand any) (test, error) {
	fold := name == "equals-ignore-case"
	if nested, ok := operand.(map[string]any); ok && (name == "prefix" || name == "suffix") && len(nested) == 1 {
		operand, fold = nested["equals-ignore-case"], true
	}
	want, ok := operand.(string)
	if !ok {
		return test{}, fmt.Errorf("%s match pattern must be a string", name)
	}
	if name == "wildcard" && strings.Contains(want, "**") {
		return test{}, fmt.Errorf("consecutive wildcard characters are not allowed")
	}
	if fold {
		want = strings.ToLower(want)
	}
	compare := map[string]func(text, want string) bool{
		"prefix": strings.HasPrefix, "suffix": strings.HasSuffix,
		"equals-ignore-case": func(text, want string) bool { return text == want }, "wildcard": wild,
	}[name]
	return test{holds: func(value any) bool {
		text, ok := value.(string)
		if fold {
			text = strings.ToLower(text)
		}
		return ok && compare(text, want)
	}}, nil
}

// wild matches text with a pattern in which * stands for any characters, \* for a star and \\ for a backslash.
func wild(text, pattern string) bool {
	for pattern != "" {
		switch {
		case pattern[0] == '*':
			for i := range len(text) + 1 {
				if wild(text[i:], pattern[1:]) {
					return true
				}
			}
			return false
		case pattern[0] == '\\' && len(pattern) > 1:
			pattern = pattern[1:]
		}
		if text == "" || text[0] != pattern[0] {
			return false
		}
		text, pattern = text[1:], pattern[1:]
	}
	return text == ""
}

// compileAnythingBut reverses exact values, or a prefix, suffix, wildcard or equals-ignore-case of one or more strings.
func compileAnythingBut(operand any) (test, error) {
	entries := []any{operand}
	wrap := func(entry any) any { return entry }
	if nested, ok := operand.(map[string]any); ok {
		if len(nested) != 1 {
			return test{}, fmt.Errorf("only one key allowed in match expression")
		}
		for name, inner := range nested {
			if !slices.Contains([]string{"prefix", "suffix", "wildcard", "equals-ignore-case"}, name) {
				return test{}, fmt.Errorf("unsupported anything-but pattern: %s", name)
			}
			operand, entries = inner, []any{inner}
			wrap = func(entry any) any { return map[string]any{name: entry} }
		}
	}
	if list, ok := operand.([]any); ok {
		entries = list
	}
	if len(entries) == 0 {
		return test{}, fmt.Errorf("anything-but list is empty")
	}
	var tests []test
	for _, entry := range entries {
		t, err := compileTest(wrap(entry))
		if err != nil {
			return test{}, err
		}
		tests = append(tests, t)
	}
	return test{holds: func(value any) bool {
		return !slices.ContainsFunc(tests, func(t test) bool { return t.holds(value) })
	}}, nil
}

// compileNumeric reads [operator, number] or [operator, number, operator, number].
func compileNumeric(operand any) (test, error) {
	list, ok := operand.([]any)
	if !ok || len(list) != 2 && len(list) != 4 {
		return test{}, fmt.Errorf("numeric match pattern must be a list of one or two comparisons")
	}
	var tests []func(float64) bool
	for pair := range slices.Chunk(list, 2) {
		operator, isText := pair[0].(string)
		number, isNumber := pair[1].(json.Number)
		bound, err := number.Float64()
		if !isText || !isNumber || err != nil {
			return test{}, fmt.Errorf("numeric match pattern: a comparison is an operator and a number")
		}
		compare, ok := map[string]func(float64) bool{
			"=": func(n float64) bool { return n == bound },
			"<": func(n float64) bool { return n < bound }, "<=": func(n float64) bool { return n <= bound },
			">": func(n float64) bool { return n > bound }, ">=": func(n float64) bool { return n >= bound },
		}[operator]
		if !ok {
			return test{}, fmt.Errorf("unrecognized numeric range operator: %s", operator)
		}
		tests = append(tests, compare)
	}
	return test{holds: func(value any) bool {
		number, ok := value.(json.Number)
		n, err := number.Float64()
		return ok && err == nil && !slices.ContainsFunc(tests, func(compare func(float64) bool) bool { return !compare(n) })
	}}, nil
}

func compileCIDR(operand any) (test, error) {
	text, ok := operand.(string)
	if !ok {
		return test{}, fmt.Errorf("prefix match pattern must be a string")
	}
	block, err := netip.ParsePrefix(text)
	if err != nil {
		return test{}, fmt.Errorf("malformed CIDR, one '/' required: %w", err)
	}
	return test{holds: func(value any) bool {
		text, ok := value.(string)
		address, err := netip.ParseAddr(text)
		return ok && err == nil && block.Contains(address)
	}}, nil
}
