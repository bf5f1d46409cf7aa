package function

import "strings"

var (
	lower = ofText("lower", strings.ToLower)
	upper = ofText("upper", strings.ToUpper)
)

// ofText is a function of one text.
func ofText(name string, apply func(string) string) Function {
	return Function{
		Name: name, Syntax: name + "(text)", Takes: []Kind{Text}, Gives: Text,
		apply: func(_ *Evaluation, args []any) (any, error) { return apply(args[0].(string)), nil },
	}
}
