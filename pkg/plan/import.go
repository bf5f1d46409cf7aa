package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// An Importation is the arguments of the verbs Import and CreateByImport.
type Importation struct {
	LastUpdated time.Time          `json:"last_updated,omitzero"` // of the stack, as the plan has seen it; zero for one that is created
	Template    string             `json:"template"`              // the digest of the template of the import
	Bytes       int                `json:"bytes"`                 // its size
	Parameters  []string           `json:"parameters,omitempty"`  // those of the project that the stack does not have yet, sorted
	Resources   []ImportedResource `json:"resources"`             // sorted by their IDs
}

// An ImportedResource is a resource that an import brings into a stack.
type ImportedResource struct {
	ID         string            `json:"id"` // in the template
	Type       string            `json:"type"`
	Identifier map[string]string `json:"identifier"` // the properties that identify it, by name
}

// PhysicalID is the ID that CloudFormation gives to the resource: of nearly all types that
// is the identifier, and its parts joined by a bar if there are several.
func (r ImportedResource) PhysicalID() string {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(r.Identifier)) {
		values = append(values, r.Identifier[name])
	}
	return strings.Join(values, "|")
}

// ImportationVersion is the version of Importation.
const ImportationVersion = 1

// Importing lists the desired nodes whose stacks may lack resources that they import,
// sorted. A stack that was deployed from the desired template has them all.
func (v View) Importing() []string {
	about, _ := v.selected()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.Desired.Nodes)) {
		n, r, live := v.Desired.Nodes[name], v.Recorded[name], v.Live[name]
		takes := live.Status.Gone() || v.managed(name) || v.adopts(name)
		has := v.managed(name) && r.Current(live) && r.Template == n.Template.Digest
		if len(n.Import) > 0 && takes && !has && !v.inaccessible(name) && (about == nil || about[name]) {
			all = append(all, name)
		}
	}
	return all
}

// creates reports whether an import creates the stack of a node.
func (v View) creates(name string) bool {
	live := v.Live[name]
	return live.Status.Gone() || live.Dead()
}

// Imports lists the resources that the stack of a node imports: those under import: that it
// does not have yet. It refuses all that CloudFormation cannot import, at once. Found has the
// templates.
func (v View) Imports(name string) ([]ImportedResource, error) {
	n, found := v.Desired.Nodes[name], v.Found[name]
	refuse := func(format string, args ...any) error {
		return fault.New(fault.Refused, "stack %s: "+format, append([]any{name}, args...)...)
	}
	switch {
	case found.Unreadable != "":
		return nil, refuse("its template cannot be read, so it is not known which resources it has to import: %s: allow cloudformation:GetTemplate", found.Unreadable)
	case found.Desired == nil:
		return nil, refuse("its template cannot be understood, so no resource can be imported: run stackwright validate")
	}
	has := make(map[string]bool)
	if !v.creates(name) && found.Template != nil {
		for _, id := range found.Template.ResourceNames() {
			has[id] = true
		}
	}
	var all []ImportedResource
	var refusals []error
	for _, id := range slices.Sorted(maps.Keys(n.Import)) {
		if has[id] {
			continue
		}
		r, err := v.imported(name, id)
		if err != nil {
			refusals = append(refusals, refuse("%s cannot be imported: %w", id, err))
			continue
		}
		all = append(all, r)
	}
	for _, r := range all {
		for _, need := range found.Desired.Needs(r.ID) {
			if _, together := n.Import[need]; !together && !has[need] {
				refusals = append(refusals, refuse("%s cannot be imported: it refers to %s, which does not exist yet: import %s too, or deploy it before, without %s", r.ID, need, need, r.ID))
			}
		}
	}
	switch s := v.Live[name].Status; {
	case len(refusals) > 0 || len(all) == 0:
	case found.Desired.Macros() || found.Template != nil && found.Template.Macros():
		refusals = append(refusals, refuse("%s cannot be imported, because the template has macros: import into a stack whose template has none", ids(all)))
	case s.Busy(), s.Cleaning():
		refusals = append(refusals, refuse("%s cannot be imported while it is %s: wait until this operation has ended", ids(all), s))
	case !v.creates(name) && !s.Good() && !s.Restored():
		refusals = append(refusals, refuse("%s cannot be imported while it is %s: deploy it without import: first, until an update succeeds", ids(all), s))
	case !v.creates(name) && found.Template == nil && found.Digest != "":
		refusals = append(refusals, refuse("%s cannot be imported, because the template that is deployed cannot be understood: deploy it without import: first", ids(all)))
	}
	return all, errors.Join(refusals...)
}

func ids(all []ImportedResource) string {
	var names []string
	for _, r := range all {
		names = append(names, r.ID)
	}
	return listed(names)
}

// imported returns a resource of a node's template with its identifier.
func (v View) imported(name, id string) (ImportedResource, error) {
	n, t := v.Desired.Nodes[name], v.Found[name].Desired
	declared, ok := t.Resources[id]
	if !ok {
		return ImportedResource{}, fault.New(fault.Refused, "the template has no such resource%s", suggest.Hint(id, t.ResourceNames()))
	}
	typ, _ := resource.Named(declared.Type)
	if len(typ.Identifier) == 0 {
		return ImportedResource{}, fault.New(fault.Refused, "CloudFormation imports no resource of the type %s: remove it under import:, and create a new one", declared.Type)
	}
	in := scope(n.Stack, v.Live[name].StackID, n.Target)
	in.Parameters = defaults(t)
	for parameter, text := range n.Parameters {
		value, why := text.Resolve(v.output)
		if delete(in.Parameters, parameter); why == nil {
			in.Parameters[parameter] = value
		}
	}
	e := t.In(in)
	switch policy, known := e.Policy(declared.DeletionPolicy); {
	case policy == "Retain" || policy == "RetainExceptOnCreate":
	case !known:
		return ImportedResource{}, fault.New(fault.Refused, "its DeletionPolicy is not known before the deploy: write DeletionPolicy: Retain")
	case policy == "":
		return ImportedResource{}, fault.New(fault.Refused, "CloudFormation imports only resources with a DeletionPolicy: write DeletionPolicy: Retain")
	default:
		return ImportedResource{}, fault.New(fault.Refused, "its DeletionPolicy is %s, so a rollback of this deploy would delete it: write DeletionPolicy: Retain; a later deploy can change it", policy)
	}
	r := ImportedResource{ID: id, Type: declared.Type, Identifier: make(map[string]string)}
	written := n.Import[id]
	for property := range written {
		if !slices.Contains(typ.Identifier, property) {
			return r, fault.New(fault.Refused, "%s does not identify resources of the type %s: write %s", property, declared.Type, strings.Join(typ.Identifier, " and "))
		}
	}
	for _, property := range typ.Identifier {
		value, known := template.Text(e.Reduce(declared.Property(property)))
		own, given := written[property]
		switch {
		case given && known && own != value:
			return r, fault.New(fault.Refused, "import: says that its %s is %s, and the template says %s: write the same in both", property, own, value)
		case given:
			r.Identifier[property] = own
		case len(written) == 0 && known && value != "":
			r.Identifier[property] = value
		case len(written) == 0:
			return r, fault.New(fault.Refused, "its %s is not written in the template, or not known before the deploy: write import: {%s: {%s: VALUE}}", property, id, property)
		default:
			return r, fault.New(fault.Refused, "its identifier lacks %s: resources of the type %s are identified by %s", property, declared.Type, strings.Join(typ.Identifier, " and "))
		}
	}
	return r, nil
}

// importation returns the step that imports resources into the stack of a node; none if
// there is nothing to import. It refuses resources that a stack has.
func (v View) importation(name string) ([]Step, error) {
	if !slices.Contains(v.Importing(), name) {
		return nil, nil
	}
	all, err := v.Imports(name)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	n, found := v.Desired.Nodes[name], v.Found[name]
	var refusals []error
	for _, r := range all {
		if holder := found.Holders[r.ID]; holder != "" {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: %s cannot be imported: %s belongs to the stack %s: a resource is in one stack. Remove it there, with DeletionPolicy: Retain, and deploy that stack first", name, r.ID, r.PhysicalID(), holder))
		}
	}
	if len(refusals) > 0 {
		return nil, errors.Join(refusals...)
	}
	a := Importation{Template: found.Import, Bytes: found.ImportBytes, Resources: all}
	step := Step{Verb: CreateByImport, Timeout: n.Timeout}
	if !v.creates(name) {
		step.Verb, a.LastUpdated = Import, v.Live[name].LastUpdated
		for parameter := range n.Parameters {
			_, new := found.Desired.Parameters[parameter]
			if _, old := v.Live[name].Parameters[parameter]; new && !old {
				a.Parameters = append(a.Parameters, parameter)
			}
		}
		slices.Sort(a.Parameters)
	}
	step.Arguments, err = NewArguments(ImportationVersion, a)
	if err != nil {
		return nil, fault.New(fault.Refused, "stack %s: it imports too many resources at once: deploy it first with some of them under import:, and then with all (%w)", name, err)
	}
	return []Step{step}, nil
}

// Imported reports whether the change imports a resource that exists.
func (r ResourceChange) Imported() bool { return r.Action == difference.Import }

// importReason says what is imported, for people.
func importReason(steps []Step) (string, map[string]bool) {
	imported := make(map[string]bool)
	for _, s := range steps {
		var a Importation
		if action([]Step{s}) != ActionImport || s.Arguments.Read(ImportationVersion, &a) != nil {
			continue
		}
		var what []string
		for _, r := range a.Resources {
			imported[r.ID] = true
			what = append(what, fmt.Sprintf("%s (%s)", r.ID, r.PhysicalID()))
		}
		return "imports " + listed(what), imported
	}
	return "", imported
}
