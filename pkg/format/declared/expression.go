package declared

// An Expression is a value that is computed: a reference, a list, a map, a call of a function,
// or else a known value.
type Expression struct {
	Written string // as in the file, with ${ and }; only of a whole expression
	Place   Place

	Reference *Reference
	Function  string       // that is called; "" for none
	List      bool         // Items is a list
	Keys      []string     // of a map, whose values are Items; nil if it is none
	Items     []Expression // or the arguments of the function
	Known     any          // a text, a json.Number, true or false, or nil, which is JSON's null
}

// A Place is where something is in a value, counted from 1.
type Place struct{ Line, Column int }

// Computed reports whether the part is no literal text.
func (p Part) Computed() bool { return p.Reference != nil || p.Expression != nil }

// Written is the part as it is in the file.
func (p Part) Written() string {
	switch {
	case p.Reference != nil:
		return p.Reference.Written
	case p.Expression != nil:
		return p.Expression.Written
	}
	return p.Literal
}

// References lists the references of the part, those in its expression too.
func (p Part) References() []Reference {
	switch {
	case p.Reference != nil:
		return []Reference{*p.Reference}
	case p.Expression != nil:
		return p.Expression.references(nil)
	}
	return nil
}

func (x Expression) references(all []Reference) []Reference {
	if x.Reference != nil {
		all = append(all, *x.Reference)
	}
	for _, item := range x.Items {
		all = item.references(all)
	}
	return all
}

// Weight is how many values the expression has.
func (x Expression) Weight() int {
	n := 1
	for _, item := range x.Items {
		n += item.Weight()
	}
	return n
}
