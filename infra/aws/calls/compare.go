package calls

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Compare holds what somebody may do against what is needed: by the calls, and
// by what is listed with its reason though nobody calls it. It says of each
// action that is missing which call needs it, and names each that is too many.
// The allowed may come in any order, and more than once.
func Compare(who string, needed []Action, listed map[string]string, allowed []string) []string {
	var wrong []string
	may := make(map[string]bool)
	for _, a := range allowed {
		may[a] = true
	}
	must := make(map[string]bool)
	for _, a := range needed {
		must[a.Name] = true
		if !may[a.Name] {
			wrong = append(wrong, fmt.Sprintf("%s may not %s, which %s needs", who, a.Name, a.For[0]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		switch {
		case must[name]:
			wrong = append(wrong, fmt.Sprintf("%s: %s is listed as if nobody called it, and it is called", who, name))
		case !may[name]:
			wrong = append(wrong, fmt.Sprintf("%s may not %s, which it needs: %s", who, name, listed[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(may)) {
		if _, ok := listed[name]; !ok && !must[name] {
			wrong = append(wrong, fmt.Sprintf("%s may %s, which nothing in it calls for", who, name))
		}
	}
	return wrong
}

// String is the call as a person is told of it.
func (c Call) String() string {
	_, operation, _ := strings.Cut(c.Operation, ".")
	return operation + " at " + c.Place
}
