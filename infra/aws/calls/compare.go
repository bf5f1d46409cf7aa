package calls

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Compare compares the allowed actions with those that are needed: by the calls, and by the list of actions that are
// needed without a call, with their reasons. It names the call for each missing action, and each action that is not
// needed. The allowed actions may be in any order, and repeated.
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
			wrong = append(wrong, fmt.Sprintf("%s: %s is listed as not called, but it is called", who, name))
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

// String describes the call for a message.
func (c Call) String() string {
	_, operation, _ := strings.Cut(c.Operation, ".")
	return operation + " at " + c.Place
}
