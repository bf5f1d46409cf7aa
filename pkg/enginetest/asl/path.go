package asl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A path is a reference path: it names exactly one place, in the state's input ($) or in the context object ($$).
// Wildcards, slices, filters and descents are refused.
type path struct {
	text    string
	context bool
	field   *contextField // of the context object; steps lead on from there
	steps   []step
}

// A step is a key, or an index where key is empty and index is not negative.
type step struct {
	key   string
	index int
}

func parsePath(text string) (path, error) {
	p := path{text: text}
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return p, fmt.Errorf("%q is no path: it must begin with $ (intrinsic functions are not understood)", text)
	}
	if r, ok := strings.CutPrefix(rest, "$"); ok {
		p.context, rest = true, r
	}
	for rest != "" {
		s, r, err := parseStep(rest)
		if err != nil {
			return p, fmt.Errorf("path %q: %w", text, err)
		}
		p.steps, rest = append(p.steps, s), r
	}
	if p.context {
		p.enter()
	}
	return p, nil
}

// parseStep reads one .name, ['name'] or [0].
func parseStep(text string) (step, string, error) {
	if rest, ok := strings.CutPrefix(text, "."); ok {
		end := strings.IndexFunc(rest, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
		})
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return step{}, "", errors.New("only names and indexes are understood, such as $.a.b, $['a'] and $.a[0]")
		}
		return step{key: rest[:end], index: -1}, rest[end:], nil
	}
	inner, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
	if !ok || text[0] != '[' {
		return step{}, "", errors.New("only names and indexes are understood, such as $.a.b, $['a'] and $.a[0]")
	}
	if n := len(inner); n > 2 && (inner[0] == '\'' || inner[0] == '"') && inner[n-1] == inner[0] &&
		!strings.ContainsAny(inner[1:n-1], `'"\`) {
		return step{key: inner[1 : n-1], index: -1}, rest, nil
	}
	if n, err := strconv.ParseUint(inner, 10, 31); err == nil {
		return step{index: int(n)}, rest, nil
	}
	return step{}, "", fmt.Errorf("[%s] is neither a quoted name nor an index", inner)
}

// walk follows steps into v.
func walk(v any, steps []step) (any, bool) {
	for _, s := range steps {
		if s.index >= 0 {
			list, ok := v.([]any)
			if !ok || s.index >= len(list) {
				return nil, false
			}
			v = list[s.index]
			continue
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = object[s.key]; !ok {
			return nil, false
		}
	}
	return v, true
}

// A selection is an InputPath or OutputPath: everything unless written, nothing ({}) if null.
type selection struct {
	none bool
	path *path
}

// A target is a ResultPath: where a result goes in the state's input. Without steps it replaces it; none drops the result.
type target struct {
	none  bool
	steps []step
}

// put returns input with value at the target. Input is not changed; what lies beside the path is shared.
func (t target) put(input, value any) (any, error) {
	if t.none {
		return input, nil
	}
	return put(input, value, t.steps)
}

func put(input, value any, steps []step) (any, error) {
	if len(steps) == 0 {
		return value, nil
	}
	old, ok := input.(map[string]any)
	if !ok && input != nil {
		return nil, &Error{Name: ResultPathFailure, Cause: fmt.Sprintf("the ResultPath's %q cannot be put into what is no object", steps[0].key)}
	}
	inner, err := put(old[steps[0].key], value, steps[1:])
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(old)+1)
	for k, v := range old {
		out[k] = v
	}
	out[steps[0].key] = inner
	return out, nil
}
