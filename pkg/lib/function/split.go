package function

import (
	"errors"
	"strings"
)

var splitText = Function{
	Name: "split", Syntax: "split(separator, text)", Takes: []Kind{Text, Text}, Gives: List, Apart: 1,
	apply: func(_ *Evaluation, args []any) (any, error) {
		by, text := args[0].(string), args[1].(string)
		if by == "" {
			return nil, errors.New("the separator is empty")
		}
		var items []any
		for one := range strings.SplitSeq(text, by) {
			items = append(items, one)
		}
		return items, nil
	},
}
