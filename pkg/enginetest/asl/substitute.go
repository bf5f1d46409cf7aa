package asl

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var placeholder = regexp.MustCompile(`\$\{[^}]*\}?`)
var placeholderName = regexp.MustCompile(`^\$\{([A-Za-z0-9_]+)\}$`)

// Substitute puts values in place of ${Name} in the strings of a machine's text, as CloudFormation's
// DefinitionSubstitutions do. A name without a value is an error, and so is a value without a use.
func Substitute(body []byte, values map[string]string) ([]byte, error) {
	used := make(map[string]bool, len(values))
	var unknown []string
	out := placeholder.ReplaceAllFunc(body, func(found []byte) []byte {
		m := placeholderName.FindSubmatch(found)
		if m == nil {
			unknown = append(unknown, string(found))
			return found
		}
		name := string(m[1])
		value, ok := values[name]
		if !ok {
			unknown = append(unknown, string(found))
			return found
		}
		used[name] = true
		return quote(value)
	})
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return nil, fmt.Errorf("asl: substitute: nothing is known for %s", strings.Join(slices.Compact(unknown), ", "))
	}
	var unused []string
	for name := range values {
		if !used[name] {
			unused = append(unused, "${"+name+"}")
		}
	}
	if len(unused) > 0 {
		slices.Sort(unused)
		return nil, fmt.Errorf("asl: substitute: the machine has no %s", strings.Join(unused, ", "))
	}
	return out, nil
}

// quote is s as it stands inside a JSON string.
func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // a string can always be written as JSON
		return []byte(s)
	}
	return b[1 : len(b)-1]
}
