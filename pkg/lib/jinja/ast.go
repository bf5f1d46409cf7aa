package jinja

// An expression is one of the types below.
type expression interface{ position() Position }

// node is where an expression or a statement begins.
type node struct{ at Position }

func (n node) position() Position { return n.at }

type (
	constant struct {
		node
		value any
	}
	variable struct {
		node
		name string
	}
	namespaceField struct {
		node
		name, field string
	}
	listOf struct {
		node
		items []expression
		tuple bool
	}
	dictOf struct {
		node
		keys, values []expression
	}
	attribute struct {
		node
		of   expression
		name string
	}
	item struct {
		node
		of, key expression
	}
	slice struct {
		node
		from, to, step expression // nil if they are not given
	}
	call struct {
		node
		of expression
		arguments
	}
	filter struct {
		node
		of   expression // nil for that of a block
		name string
		arguments
	}
	test struct {
		node
		of   expression
		name string
		arguments
	}
	unary struct {
		node
		operator string
		of       expression
	}
	binary struct {
		node
		operator    string
		left, right expression
	}
	comparison struct {
		node
		first     expression
		operators []string
		others    []expression
	}
	concatenation struct {
		node
		parts []expression
	}
	conditional struct {
		node
		test, then, otherwise expression // otherwise is nil if it is not given
	}
)

// arguments are those of a call.
type arguments struct {
	positional []expression
	names      []string
	named      []expression
	list, dict expression // *list and **dict
}

// A statement is one of the types below.
type statement interface{ position() Position }

type (
	data struct {
		node
		text string
	}
	print struct {
		node
		of expression
	}
	ifs struct {
		node
		tests  []expression
		bodies [][]statement
		rest   []statement
	}
	loop struct {
		node
		target    expression
		over      expression
		test      expression // nil if there is none
		recursive bool
		body      []statement
		rest      []statement
	}
	set struct {
		node
		target expression
		value  expression  // nil for a block
		filter expression  // of a block; nil if there is none
		body   []statement // of a block
	}
	with struct {
		node
		targets []expression
		values  []expression
		body    []statement
	}
	macro struct {
		node
		name                    string
		parameters              []string
		defaults                []expression // of the last parameters
		body                    []statement
		varargs, kwargs, caller bool // whether the body uses them
	}
	callBlock struct {
		node
		call  *call
		macro *macro
	}
	filterBlock struct {
		node
		filter expression
		body   []statement
	}
	block struct {
		node
		name             string
		scoped, required bool
		body             []statement
	}
	extends struct {
		node
		of expression
	}
	include struct {
		node
		of            expression
		ignoreMissing bool
		context       bool
	}
	imports struct {
		node
		of      expression
		as      string   // "" for `from`
		names   []string // of `from`
		aliases []string
		context bool
	}
	do struct {
		node
		of expression
	}
	jump struct {
		node
		to flow
	}
)

// A template is a parsed template.
type template struct {
	name   string
	body   []statement
	blocks map[string]*block
}
