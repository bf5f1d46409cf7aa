package api

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A parameter is one of the query.
type parameter struct {
	name, text         string   // the text says what it is
	number, moment     bool     // a moment is a time, as RFC 3339 has it
	needed             bool     // a request without it is refused
	usual, least, most int      // of a number
	values             []string // that a text can be; nil are all texts
}

// understood refuses parameters of the query that the route does not have, and values that they cannot have.
func (q question) understood() error {
	var known, wrongs []string
	for _, p := range q.route.query {
		known = append(known, p.name)
	}
	there := "the route has none"
	if len(known) > 0 {
		there = "there is " + strings.Join(known, " and ")
	}
	for _, name := range slices.Sorted(maps.Keys(q.QueryStringParameters)) {
		if !slices.Contains(known, name) {
			wrongs = append(wrongs, fmt.Sprintf("%.40q is not understood: %s", name, there))
		}
	}
	for _, p := range q.route.query {
		value, given := q.QueryStringParameters[p.name]
		switch {
		case p.needed && value == "":
			wrongs = append(wrongs, fmt.Sprintf("%s: missing: give %s", p.name, p.text))
		case given && p.number && !p.has(value):
			wrongs = append(wrongs, fmt.Sprintf("%s: %.40q: it is a number from %d to %d", p.name, value, p.least, p.most))
		case given && p.moment && !isMoment(value):
			wrongs = append(wrongs, fmt.Sprintf("%s: %.40q: it is a time such as 2026-03-01T12:00:00Z", p.name, value))
		case given && p.values != nil && !slices.Contains(p.values, value):
			wrongs = append(wrongs, fmt.Sprintf("%s: %.40q: it is one of %s", p.name, value, strings.Join(p.values, ", ")))
		}
	}
	_, unknown := q.selection()
	return wrong(append(wrongs, unknown...))
}

// has reports whether a number is one that the parameter can be.
func (p parameter) has(value string) bool {
	n, err := strconv.Atoi(value)
	return err == nil && n >= p.least && n <= p.most
}

// isMoment reports whether a text is a time.
func isMoment(text string) bool {
	at, err := readMoment(text)
	return err == nil && !at.IsZero()
}

// number returns a parameter of the query that is a number. It has been found valid.
func (q question) number(name string) int {
	n, err := strconv.Atoi(q.QueryStringParameters[name])
	if err == nil {
		return n
	}
	return q.route.query[slices.IndexFunc(q.route.query, func(p parameter) bool { return p.name == name })].usual
}
