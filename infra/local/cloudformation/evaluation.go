package cloudformation

import (
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// evaluation evaluates a version of a stack, resource by resource.
type evaluation struct {
	service   *Service
	stack     *stack
	version   *version
	evaluated map[string]*resource // the resources evaluated so far
	existing  map[string]*resource // the resources of the version before
	missing   []string             // exports that do not exist
	unread    error                // why the first output cannot be read that Fn::GetStackOutput names
}

// scope is what the functions of a template can refer to.
func (d *evaluation) scope() template.Scope {
	o := d.service.options
	given := map[string]string{}
	for _, p := range d.version.Parameters {
		given[p.Key] = p.Value
	}
	notifications := d.version.Notifications
	if notifications == nil {
		notifications = []string{}
	}
	return template.Scope{
		Literal:    true,
		Parameters: given, StackName: d.stack.Name, StackID: d.stack.ID,
		AccountID: o.Account, Region: o.Region,
		NotificationARNs: notifications, Zones: []string{o.Region + "a", o.Region + "b", o.Region + "c"},
		Ref: d.ref, GetAtt: d.attribute, Import: d.imported, Stored: d.stored, StackOutput: d.read,
	}
}

func (d *evaluation) ref(name string) (any, bool) {
	r, ok := d.evaluated[name]
	if !ok {
		return nil, false
	}
	return r.Physical, true
}

func (d *evaluation) attribute(name, attribute string) (any, bool) {
	r, ok := d.evaluated[name]
	if !ok {
		return nil, false
	}
	return d.service.attribute(d.stack, r, attribute), true
}

func (d *evaluation) imported(name string) (any, bool) {
	for st := range d.service.exporting[name] {
		if value, ok := st.export(name); ok && !st.beingDeleted() {
			return value, true
		}
	}
	if !slices.Contains(d.missing, name) {
		d.missing = append(d.missing, name)
	}
	return nil, false
}

func (d *evaluation) stored(name string) (string, bool) {
	for _, p := range d.version.Parameters {
		if p.Value == name && p.Resolved != "" {
			return p.Resolved, true
		}
	}
	return "", false
}

// resource evaluates one resource, and reports whether the resource must be replaced.
func (d *evaluation) resource(e *template.Evaluation, t *template.Template, declared template.Resource) (*resource, bool, error) {
	r := &resource{
		Logical: declared.Name, Type: declared.Type, After: t.Needs(declared.Name),
	}
	r.Deletion, _ = e.Policy(declared.DeletionPolicy)
	r.Replaced, _ = e.Policy(declared.UpdateReplacePolicy)
	properties, err := e.Value(declared.Properties)
	if err != nil {
		return nil, false, templateError(err)
	}
	metadata, err := e.Value(declared.Metadata)
	if err != nil {
		return nil, false, templateError(err)
	}
	if r.Properties, err = compactJSON(replaceUnknown(properties, "unknown")); err != nil {
		return nil, false, err
	}
	if r.Metadata, err = compactJSON(replaceUnknown(metadata, "unknown")); err != nil {
		return nil, false, err
	}
	r.Faults = metadataFaults(metadata)
	if why := d.unfit(e, declared); why != "" {
		r.Faults = map[string]string{"create": why, "update": why}
	}
	if err := d.resolve(r, replaceUnknown(properties, "unknown")); err != nil {
		return nil, false, err
	}
	is := d.existing[r.Logical]
	replaced := is != nil && mustReplace(typeOf(e, declared), is, r)
	if is != nil && !replaced && !failedToCreate(is) {
		r.Physical, r.Status, r.At = is.Physical, is.Status, is.At
		d.nest(r, is)
		if is.same(r) && is.actual != "" {
			r.actual = is.actual // a secret is read again only if its resource changes
		}
		return r, false, nil
	}
	if r.Physical = d.version.Identified[r.Logical]; r.Physical == "" || is != nil {
		r.Physical = d.service.physical(d.stack, r)
	}
	d.nest(r, nil)
	return r, replaced, nil
}

// replaceUnknown replaces the values that are not known: in an operation, those of imports that do not exist. Such an
// operation fails before it uses the value.
func replaceUnknown(v any, with string) any {
	switch v := v.(type) {
	case template.Unknown:
		return with
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = replaceUnknown(item, with)
		}
		return items
	case map[string]any:
		values := make(map[string]any, len(v))
		for key, item := range v {
			values[key] = replaceUnknown(item, with)
		}
		return values
	}
	return v
}

// metadataFaults are the faults that a template requests with StackwrightLocal in the Metadata of a resource. AWS
// ignores this key.
func metadataFaults(metadata any) map[string]string {
	all, _ := metadata.(map[string]any)
	ours, _ := all["StackwrightLocal"].(map[string]any)
	why, ok := template.Text(ours["Fail"])
	if !ok || why == "" {
		return nil
	}
	faults := map[string]string{}
	switch on := ours["On"].(type) {
	case nil:
		faults["create"], faults["update"] = why, why
	case []any:
		for _, one := range on {
			if name, ok := template.Text(one); ok {
				faults[name] = why
			}
		}
	default:
		if name, ok := template.Text(on); ok {
			faults[name] = why
		}
	}
	return faults
}
