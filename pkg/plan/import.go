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
	"github.com/stackwright/stackwright/pkg/project"
)

// An Importation is the arguments of the verbs Import and CreateEmpty. An empty stack has a template and no resources.
type Importation struct {
	LastUpdated time.Time          `json:"last_updated,omitzero"` // of the stack, as the plan has seen it; zero for one that the step before creates
	Template    string             `json:"template"`              // the digest of its template
	Bytes       int                `json:"bytes"`                 // its size
	Parameters  []string           `json:"parameters,omitempty"`  // those of the project that the stack does not have yet, sorted
	Resources   []ImportedResource `json:"resources,omitempty"`   // sorted by their IDs
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
// sorted. A stack that was deployed as desired has them all.
func (v View) Importing() []string {
	about, _ := v.selected()
	var all []string
	for name := range v.Desired.Nodes {
		if v.mayLack(name) && (about == nil || about[name]) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// mayLack reports whether the stack of a desired node may lack resources that it imports.
func (v View) mayLack(name string) bool {
	n, r, live := v.Desired.Nodes[name], v.Recorded[name], v.Live[name]
	if len(v.imports(name)) == 0 || v.inaccessible(name) || v.Found[name].Owner != "" {
		return false
	}
	takes := live.Status.Gone() || v.managed(name) || v.adopts(name)
	got, err := n.Resolve(v.output)
	has := err == nil && v.managed(name) && r.Current(live) && r.Digest == got.Digest
	return takes && !has
}

// imports returns the identifiers of the resources that the stack of a node imports, by their IDs: those under import:, and those that a
// replace has left in AWS. An identifier that import: does not say is that of the replace, or in the template.
func (v View) imports(name string) map[string]project.Identifier {
	all := make(map[string]project.Identifier)
	for _, r := range v.Recorded[name].Reimport {
		if !v.drops(name, r) {
			all[r.ID] = r.Identifier
		}
	}
	for id, written := range v.Desired.Nodes[name].Import {
		if len(written) > 0 || all[id] == nil {
			all[id] = written
		}
	}
	return all
}

// drops reports whether the files no longer have a resource that a replace has left in AWS: they have none of that ID and type, or one
// with another identifier.
func (v View) drops(name string, r ImportedResource) bool {
	t := v.Found[name].Desired
	if t == nil {
		return false // it is not read yet
	}
	is := t.Resources[r.ID]
	e := v.asDesired(name)
	for property, value := range r.Identifier {
		written := v.Desired.Nodes[name].Import[r.ID][property]
		if text, known := template.Text(e.Reduce(is.Property(property))); known && written == "" {
			written = text
		}
		if written != "" && written != value {
			return true
		}
	}
	return is.Type != r.Type
}

// creates reports whether the stack of a node is created before the import.
func (v View) creates(name string) bool {
	live := v.Live[name]
	return live.Status.Gone() || live.Dead()
}

// Imports lists the resources that the stack of a node imports: those under import: that it
// does not have yet. It refuses all that CloudFormation cannot import, at once. Found has the
// templates.
func (v View) Imports(name string) ([]ImportedResource, error) {
	found := v.Found[name]
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
	imports := v.imports(name)
	for _, id := range slices.Sorted(maps.Keys(imports)) {
		if has[id] {
			if err := v.replacesImported(name, id); err != nil {
				refusals = append(refusals, refuse("%s cannot be imported: %w", id, err))
			}
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
			if _, together := imports[need]; !together && !has[need] {
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
	case !v.creates(name) && len(found.Lost) > 0:
		refusals = append(refusals, refuse("%s cannot be imported, because %s: CloudFormation would refuse the import, or change them. Deploy it without import: first", ids(all), sayLost(found.Lost)))
	case !v.creates(name) && found.Template == nil:
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
	t := v.Found[name].Desired
	declared, ok := t.Resources[id]
	if !ok {
		return ImportedResource{}, fault.New(fault.Refused, "the template has no such resource%s", suggest.Hint(id, t.ResourceNames()))
	}
	if declared.Type == "AWS::CloudFormation::Stack" {
		return ImportedResource{}, fault.New(fault.Refused, "it is a stack, and a stack may belong to another project: adopt it as a stack of this project instead")
	}
	typ, _ := resource.Named(declared.Type)
	if len(typ.Identifier) == 0 {
		return ImportedResource{}, fault.New(fault.Refused, "CloudFormation imports no resource of the type %s: remove it under import:, and create a new one", declared.Type)
	}
	e := v.asDesired(name)
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
	written := v.imports(name)[id]
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

// asDesired evaluates the desired template of a node, as far as its parameters are known.
func (v View) asDesired(name string) *template.Evaluation {
	n, t := v.Desired.Nodes[name], v.Found[name].Desired
	in := scope(n.Stack, v.Live[name].StackID, n.Target)
	in.Parameters = defaults(t)
	for parameter, text := range n.Parameters {
		value, why := text.Resolve(v.certain)
		if delete(in.Parameters, parameter); why == nil {
			in.Parameters[parameter] = value
		}
	}
	return t.In(in)
}

// replacesImported refuses a resource that the stack of a node has, if import: means another
// resource of that ID: the update would replace the one by a new one.
func (v View) replacesImported(name, id string) error {
	n, found := v.Desired.Nodes[name], v.Found[name]
	has, wants := found.Template.Resources[id], found.Desired.Resources[id]
	typ, _ := resource.Named(has.Type)
	if has.Type != wants.Type {
		return nil // the update deletes it, and the plan says so
	}
	in := scope(n.Stack, v.Live[name].StackID, n.Target)
	in.Parameters = maps.Clone(v.Live[name].Parameters)
	maps.DeleteFunc(in.Parameters, func(parameter, _ string) bool { return found.Template.Parameters[parameter].NoEcho })
	before, after := found.Template.In(in), v.asDesired(name)
	for _, property := range typ.Identifier {
		was, known := template.Text(before.Reduce(has.Property(property)))
		is, given := n.Import[id][property]
		if !given {
			is, given = template.Text(after.Reduce(wants.Property(property)))
		}
		if known && given && was != "" && is != "" && was != is {
			return fault.New(fault.Refused, "the stack has another %s, with the %s %s, and an update would replace it: give the resource with the %s %s another ID in the template, or remove %s under import: to create a new one in its place", id, property, was, property, is, id)
		}
	}
	return nil
}

// importation returns the steps that import resources into the stack of a node; none if
// there is nothing to import. It refuses resources that a stack has. A stack that does not exist is created
// empty before: CloudFormation refuses a role and tags in an import that creates a stack.
func (v View) importation(name string) ([]Step, error) {
	if !v.mayLack(name) {
		return nil, nil
	}
	all, err := v.Imports(name)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	n, found := v.Desired.Nodes[name], v.Found[name]
	var refusals []error
	for _, r := range all {
		if holder := found.Holders[r.ID]; holder != "" && (holder != n.Stack || !v.creates(name)) { // its own stack is deleted first
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: %s cannot be imported: %s belongs to the stack %s: a resource is in one stack. Remove it there, with DeletionPolicy: Retain, and deploy that stack first", name, r.ID, r.PhysicalID(), holder))
		}
	}
	if len(refusals) > 0 {
		return nil, errors.Join(refusals...)
	}
	a := Importation{Template: found.Import, Bytes: found.ImportBytes, Resources: all}
	var present Live
	var steps []Step
	if v.creates(name) {
		empty, err := NewArguments(ImportationVersion, Importation{Template: found.Empty, Bytes: len(template.Empty)})
		if err != nil {
			return nil, err
		}
		steps = append(steps, Step{Verb: CreateEmpty, Timeout: n.Timeout, Arguments: empty})
	} else {
		present = v.Live[name]
	}
	a.LastUpdated = present.LastUpdated
	for parameter := range n.Parameters {
		_, new := found.Desired.Parameters[parameter]
		if _, old := present.Parameters[parameter]; new && !old {
			a.Parameters = append(a.Parameters, parameter)
		}
	}
	slices.Sort(a.Parameters)
	step := Step{Verb: Import, Timeout: n.Timeout}
	step.Arguments, err = NewArguments(ImportationVersion, a)
	if err != nil {
		return nil, fault.New(fault.Refused, "stack %s: it imports too many resources at once: deploy it first with some of them under import:, and then with all (%w)", name, err)
	}
	return append(steps, step), nil
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
