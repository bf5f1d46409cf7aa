package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A field is one of the six words of a cron expression.
type field struct {
	name        string
	least, most int
	names       []string // of the numbers from least on, if they have any
	steps       bool     // it may say */5
}

// parse reads a list of numbers, ranges and steps.
func (f field) parse(word string) (set, error) {
	all := make(set)
	for item := range strings.SplitSeq(word, ",") {
		from, to, step, err := f.item(item)
		if err != nil {
			return nil, err
		}
		for n := from; n <= to; n += step {
			all[n] = true
		}
	}
	return all, nil
}

// item reads one number, range or step: 5, 5-9, 5/10, 5-9/2, *, */5.
func (f field) item(word string) (from, to, step int, err error) {
	span, every, stepped := strings.Cut(word, "/")
	step = 1
	if stepped {
		n, ok := number(every)
		if !f.steps || !ok || n < 1 {
			return 0, 0, 0, f.wrong(word)
		}
		step = n
	}
	first, last, ranged := strings.Cut(span, "-")
	switch {
	case span == "*":
		return f.least, f.most, step, nil
	case ranged:
		if from, err = f.one(first); err == nil {
			to, err = f.one(last)
		}
		if err == nil && from > to {
			err = fmt.Errorf("%s ends before it begins", word)
		}
		return from, to, step, err
	}
	if from, err = f.one(span); err != nil {
		return 0, 0, 0, f.wrong(word)
	}
	if stepped {
		return from, f.most, step, nil
	}
	return from, from, step, nil
}

// one reads a number or a name.
func (f field) one(word string) (int, error) {
	if at := slices.Index(f.names, word); at >= 0 {
		return f.least + at, nil
	}
	if n, ok := number(word); ok && f.least <= n && n <= f.most {
		return n, nil
	}
	return 0, f.wrong(word)
}

// wrong says what may stand in the field.
func (f field) wrong(word string) error {
	what := fmt.Sprintf("numbers from %d to %d", f.least, f.most)
	if f.names != nil {
		what += fmt.Sprintf(" or %s to %s", f.names[0], f.names[len(f.names)-1])
	}
	return fmt.Errorf("%q is none: write %s", word, what)
}

// number reads a number of at most four digits.
func number(word string) (int, bool) {
	n, err := strconv.ParseUint(word, 10, 16)
	return int(n), err == nil && len(word) <= 4 && word[0] != '+'
}
