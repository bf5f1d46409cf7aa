package template

// Scope is what is known when a template is evaluated. The zero value knows
// nothing: everything that is not given is Unknown.
type Scope struct {
	// Parameters are the values given. One that is absent is unknown, also when it has
	// a default: start from Template.Defaults() to use them.
	Parameters map[string]string

	// The pseudo parameters; "" is unknown.
	StackName, StackID, AccountID, Region string
	Partition, URLSuffix                  string   // "" is taken from the region if that is known
	NotificationARNs                      []string // nil is unknown; an empty list is none
	Zones                                 []string // Fn::GetAZs of Region; nil is unknown

	// Ref gives the physical ID of a resource, GetAtt an attribute, Import the
	// value of an export; false means unknown. Nil means that none is known.
	Ref    func(resource string) (any, bool)
	GetAtt func(resource, attribute string) (any, bool)
	Import func(name string) (any, bool)
	// Stored gives what the Systems Manager parameter store holds under a name.
	Stored func(name string) (string, bool)
}

// Unknown is the value of what does not follow from what is known. It may stand
// for a whole value or for a part of one: an item of a list, a value of a mapping.
type Unknown struct{}

// Known says whether nothing in a value is Unknown.
func Known(v any) bool {
	switch v := v.(type) {
	case Unknown:
		return false
	case []any:
		for _, item := range v {
			if !Known(item) {
				return false
			}
		}
	case map[string]any:
		for _, item := range v {
			if !Known(item) {
				return false
			}
		}
	}
	return true
}

// Text returns a known scalar as CloudFormation writes it where text is wanted
// (true, 80, some text), and whether the value is one.
func Text(v any) (string, bool) { return text(v) }

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

// Evaluation is a template in a scope. It may be used from many goroutines if the
// scope's functions may.
type Evaluation struct {
	t          *Template
	s          Scope
	conditions map[string]any // true, false or Unknown
	err        error
}

// In evaluates the template's conditions in a scope; all else is evaluated when asked for.
func (t *Template) In(s Scope) *Evaluation { return in(t, s) }

// Err is what went wrong when the conditions were evaluated (document.Errors),
// such as a mapping that lacks the key; such a condition counts as unknown.
func (e *Evaluation) Err() error { return e.err }

// Condition returns a condition's value and whether it is known; a name that
// the template does not define is not known.
func (e *Evaluation) Condition(name string) (value, known bool) { return e.condition(name) }

// Value evaluates an expression. The result is built of string, bool,
// json.Number, []any, map[string]any and Unknown; what is AWS::NoValue is removed from lists and mappings and is nil on
// top, as is a nil expression. Errors are document.Errors, in CloudFormation's words where it has some.
// Dynamic references ({{resolve:…}}) are left as they stand.
func (e *Evaluation) Value(x *Expr) (any, error) { return e.top(x) }

// Resources lists the resources that the stack has, in dependency order:
// those whose condition is not known to be false. Their Properties are for Value.
func (e *Evaluation) Resources() []Resource { return e.resources() }

// Outputs lists the outputs that the stack has, as written: those whose
// condition is not known to be false. Their Value and Export are for Value.
func (e *Evaluation) Outputs() []Output { return e.outputs() }

// Exports lists the exports whose name is known and whose condition is not
// known to be false, as written.
func (e *Evaluation) Exports() []Export { return e.exports() }

// Imports lists the exports that the stack imports as far as their names are
// known, by name, each once, at its first place: those in
// resources and outputs whose condition is not known to be false, and there in branches of Fn::If that may be taken.
func (e *Evaluation) Imports() []Import { known, _ := e.imports(); return known }

// HiddenImports lists the places of imports whose name cannot be told in this scope.
func (e *Evaluation) HiddenImports() []Import { _, hidden := e.imports(); return hidden }
