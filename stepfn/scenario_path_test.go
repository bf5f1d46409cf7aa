package stepfn_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// The path of a run is the list of the states that its executions entered, in order. A
// scenario writes it as
//
//	path (Plan |)+ Plan Next Watch... Next Waiting | Plan Next Watch... Next Succeeded
//
// with - for the blank in the name of a state and | between two executions. Watch...
// is Watch once or more, because the number of waits depends on when events arrive. After a group
// in parentheses, + means once or more, and * any number of times.
//
// pathPattern returns the pattern of such a path.
func pathPattern(elements []string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("^")
	for _, e := range elements {
		parts := pathElement.FindStringSubmatch(e)
		state := regexp.QuoteMeta(parts[2]) + " "
		if parts[3] != "" {
			state += "(?:(?:Next |Poll-again )" + state + ")*"
		}
		b.WriteString(strings.ReplaceAll(parts[1], "(", "(?:") + "(?:" + state + ")" + parts[4])
	}
	b.WriteString("$")
	pattern, err := regexp.Compile(b.String())
	if err != nil {
		return nil, errors.New("its parentheses or repetitions make no pattern") // the message of regexp is about the text of the pattern
	}
	return pattern, nil
}

// pathElement matches one word of a path: opening parentheses, the name of a state, and
// what may follow it.
var pathElement = regexp.MustCompile(`^(\(*)([A-Za-z-]+|\|)(\.\.\.)?((?:\)|[+*])*)$`)

// isPathElement reports whether a word is a valid word of a path.
func isPathElement(word string) bool {
	parts := pathElement.FindStringSubmatch(word)
	return parts != nil && (parts[2] == "|" || slices.Contains(pathNames(), parts[2]))
}

// pathNames lists the states of the machine as paths write them.
func pathNames() []string {
	m, err := deployed()
	if err != nil {
		panic(err) // every test that plays a scenario reports this error
	}
	var names []string
	for name := range m.States {
		names = append(names, pathName(name))
	}
	slices.Sort(names)
	return names
}

func pathName(state string) string { return strings.ReplaceAll(state, " ", "-") }

// pathOf writes the states that executions entered as a path.
func pathOf(executions [][]string) string {
	var all []string
	for _, entered := range executions {
		var names []string
		for _, state := range entered {
			if name := pathName(state); slices.Contains(pathNames(), name) {
				names = append(names, name)
			}
		}
		all = append(all, strings.Join(names, " "))
	}
	return strings.Join(all, " | ")
}
