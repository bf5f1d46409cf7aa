package template

import (
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// Evaluation is a template in a scope. It may be used from many goroutines if
// the scope's functions may.
type Evaluation struct {
	t          *Template
	s          Scope
	conditions map[string]any // true, false or Unknown
	err        error
}

// Export is an export that the stack makes.
type Export struct {
	Output, Name string
	Maybe        bool // its condition is not known
	Line, Column int  // of the export's name
}

// Import is an Fn::ImportValue that may be evaluated.
type Import struct {
	Name         string // "" in HiddenImports
	Line, Column int
}

// In evaluates the template's conditions in a scope; all else is evaluated when
// requested.
func (t *Template) In(s Scope) *Evaluation {
	e := &Evaluation{t: t, s: s, conditions: make(map[string]any, len(t.conditions))}
	r := e.begin()
	r.decides = !s.Literal
	var errs document.Errors
	for _, name := range t.conditions {
		if _, err := r.named(name); err != nil {
			errs.Join(t.File, err)
		}
	}
	e.err = errs.Err()
	return e
}

// Err is what went wrong when the conditions were evaluated (document.Errors),
// such as a mapping that lacks the key; such a condition counts as unknown.
func (e *Evaluation) Err() error { return e.err }

// Condition returns a condition's value and whether it is known; a name that
// the template does not define is not known.
func (e *Evaluation) Condition(name string) (value, known bool) {
	value, known = e.conditions[name].(bool)
	return value, known
}

// Value evaluates an expression. The result is built of string, bool,
// json.Number, []any, map[string]any and Unknown; what is AWS::NoValue is removed
// from lists and mappings and is nil on top, as is a nil expression. What Scope's
// functions return is passed on as it is.
// Errors are document.Errors, in CloudFormation's words where it has some.
// Dynamic references ({{resolve:…}}) are left as they stand.
func (e *Evaluation) Value(x *Expr) (any, error) {
	if x == nil {
		return nil, nil
	}
	v, err := e.begin().eval(x)
	if err != nil {
		return nil, document.Errors{err}
	}
	if v == (noValue{}) {
		return nil, nil
	}
	return v, nil
}

// Policy evaluates a DeletionPolicy or an UpdateReplacePolicy. It is empty if there is
// none, and known is false if its value is not known.
func (e *Evaluation) Policy(x *Expr) (policy string, known bool) {
	v := e.Reduce(x)
	if v == nil {
		return "", true
	}
	return Text(v)
}

// Resources lists the resources that the stack has, in dependency order: those
// whose condition is not known to be false. Their Properties are for Value.
func (e *Evaluation) Resources() []Resource {
	var resources []Resource
	for _, name := range e.t.order {
		if r := e.t.Resources[name]; e.mayBe(r.Condition) {
			resources = append(resources, r)
		}
	}
	return resources
}

// Outputs lists the outputs that the stack has, as written: those whose
// condition is not known to be false. Their Value and Export are for Value.
func (e *Evaluation) Outputs() []Output {
	var outputs []Output
	for _, name := range e.t.outputs {
		if o := e.t.Outputs[name]; e.mayBe(o.Condition) {
			outputs = append(outputs, o)
		}
	}
	return outputs
}

// Exports lists the exports whose name is known and whose condition is not
// known to be false, as written.
func (e *Evaluation) Exports() []Export {
	var exports []Export
	r := e.begin()
	for _, o := range e.Outputs() {
		if o.Export == nil {
			continue
		}
		name, ok := r.nameOf(o.Export)
		if !ok {
			continue
		}
		known := true
		if o.Condition != "" {
			_, known = e.Condition(o.Condition)
		}
		exports = append(exports, Export{o.Name, name, !known, o.Export.Line, o.Export.Column})
	}
	return exports
}

// Imports lists the exports that the stack imports as far as their names are
// known, by name, each once, at its first place: those in resources and outputs
// whose condition is not known to be false, and there in branches of Fn::If
// that may be taken.
func (e *Evaluation) Imports() []Import {
	known, _ := e.imports()
	slices.SortStableFunc(known, func(a, b Import) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(known, func(a, b Import) bool { return a.Name == b.Name })
}

// HiddenImports lists the places of imports whose name is not known in this
// scope, as they stand.
func (e *Evaluation) HiddenImports() []Import {
	_, hidden := e.imports()
	return hidden
}

func (e *Evaluation) imports() (known, hidden []Import) {
	r := e.begin()
	e.visitLive(func(x *Expr, _ bool) {
		if x.form != call || x.name != "Fn::ImportValue" {
			return
		}
		if name, ok := r.nameOf(x.items[0]); ok {
			known = append(known, Import{name, x.Line, x.Column})
		} else {
			hidden = append(hidden, Import{"", x.Line, x.Column})
		}
	})
	return known, hidden
}

// visitLive visits what may be evaluated of the resources and the values of the outputs. A condition that is not known
// decides about what is visited with maybe.
func (e *Evaluation) visitLive(visit func(x *Expr, maybe bool)) {
	for _, name := range e.t.resources {
		if r := e.t.Resources[name]; e.mayBe(r.Condition) {
			for _, x := range r.expressions() {
				e.live(x, !e.certain(r.Condition), visit)
			}
		}
	}
	for _, o := range e.Outputs() {
		e.live(o.Value, !e.certain(o.Condition), visit)
	}
}

// live visits what may be evaluated of an expression: not the branch of an
// Fn::If that is known not to be taken.
func (e *Evaluation) live(x *Expr, maybe bool, visit func(x *Expr, maybe bool)) {
	if x == nil {
		return
	}
	visit(x, maybe)
	items := x.items
	if x.form == call && x.name == "Fn::If" {
		items = e.branches(x)
		maybe = maybe || len(items) > 1
	}
	for _, item := range items {
		e.live(item, maybe, visit)
	}
}

// certain says whether a condition is known to be true.
func (e *Evaluation) certain(condition string) bool {
	return condition == "" || e.conditions[condition] == true
}

// mayBe says whether a condition is not known to be false.
func (e *Evaluation) mayBe(condition string) bool {
	return condition == "" || e.conditions[condition] != false
}
