package plan

import (
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/difference"
)

// InUse are the exports that a plan may give up, by the node whose stack has the export and by the name of the
// export.
type InUse map[string]map[string]Use

// A Use is who uses an export.
type Use struct {
	Importers []string // the physical names of the stacks that import it, sorted
	Revalued  bool     // the stack keeps it, and its value certainly becomes another one
}

// GivenUp lists the exports that the plan may give up, sorted, by node. A stack gives up all its exports when it
// is deleted, also to be created again, and those that its desired template lacks when it is updated.
func (v View) GivenUp() map[string][]string {
	v.about, _ = v.selected() // the plan refuses an unknown name
	all := make(map[string][]string)
	for name := range v.Recorded {
		if !v.managed(name) || v.stays(name) {
			continue
		}
		n, desired := v.Desired.Nodes[name]
		if !desired && !v.removes(name, v.about) {
			continue
		}
		for output, export := range v.Live[name].Exports {
			if !desired || v.Live[name].Dead() || !n.Links.MayExport(output, export) {
				all[name] = append(all[name], export)
			}
		}
		slices.Sort(all[name])
	}
	return all
}

// Exporting lists the templates that Revalued reads, as they are deployed and as they are desired: those of stacks
// that export something, and whose template or parameters change.
func (v View) Exporting() (nodes []string, templates []string) {
	v.about, _ = v.selected()
	for _, name := range slices.Sorted(maps.Keys(v.Desired.Nodes)) {
		deployed, why := v.TemplateOf(name)
		if len(v.Live[name].Exports) == 0 || deployed == "" || why != "" || !v.alters(name) {
			continue
		}
		nodes = append(nodes, name)
		templates = append(templates, deployed, v.Desired.Nodes[name].Template.Digest)
	}
	slices.Sort(templates)
	return nodes, slices.Compact(templates)
}

// Revalued lists the exports of a node's stack that an update keeps with another value, as far as that is certain,
// sorted.
func (v View) Revalued(name string, templates Templates) []string {
	n, live := v.Desired.Nodes[name], v.Live[name]
	digest, _ := v.TemplateOf(name)
	deployed, err := templates(digest)
	desired, wrong := templates(n.Template.Digest)
	if err != nil || wrong != nil {
		return nil // the plan says that the templates are not compared
	}
	before := difference.Side{Template: deployed, Scope: scope(n.Stack, live.StackID, n.Target)}
	before.Scope.Parameters = live.Parameters
	after := difference.Side{Template: desired, Scope: scope(n.Stack, live.StackID, n.Target)}
	d := describer{View: v, templates: templates}
	after.Scope.Parameters = defaults(desired)
	uncertain := d.values(&StackChange{Action: ActionUpdate}, n, before, after)
	for parameter := range n.Parameters {
		if _, err := n.Parameters[parameter].Resolve(v.certain); err != nil || len(n.Parameters[parameter].Outputs()) > 0 {
			uncertain[parameter] = "it is an output of another stack"
		}
	}
	var all []string
	for _, o := range difference.Of(before, after, difference.Uncertain{Parameters: uncertain}).Outputs {
		if o.Certain && o.Export != "" && !o.NoLonger && live.Exports[o.Name] == o.Export {
			all = append(all, o.Export)
		}
	}
	slices.Sort(all)
	return all
}

// alters reports whether the plan may change the stack of a desired node.
func (v View) alters(name string) bool {
	r, live := v.Recorded[name], v.Live[name]
	if !v.managed(name) || v.stays(name) {
		return false
	}
	got, err := v.Desired.Nodes[name].Resolve(v.certain)
	return err != nil || !r.Current(live) || got.Digest != r.Digest
}

// Altered lists the recorded nodes whose stacks the plan may change, and those whose stacks it deletes, sorted.
func (v View) Altered() (changed, deleted []string) {
	v.about, _ = v.selected()
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		_, desired := v.Desired.Nodes[name]
		switch {
		case desired && v.alters(name):
			changed = append(changed, name)
		case !desired && v.managed(name) && v.removes(name, v.about):
			deleted = append(deleted, name)
		}
	}
	return changed, deleted
}
