package template

// Expr is a value as written in a template: a literal, a list, a mapping, or a
// call of an intrinsic function, with its place. Evaluation.Value evaluates it.
type Expr struct {
	Line, Column int

	form  form
	value any      // form scalar: string, bool, json.Number, or nil
	name  string   // form call: "Ref", "Condition" or the full name "Fn::Sub"
	keys  []string // form mapping: the keys as written
	items []*Expr  // the list's items, the mapping's values, the call's arguments
}

type form int

const (
	scalar form = iota + 1
	list
	mapping
	call
)

// Literal returns the value when it is a literal string, and whether it is.
func (x *Expr) Literal() (string, bool) {
	if x == nil || x.form != scalar {
		return "", false
	}
	s, ok := x.value.(string)
	return s, ok
}
