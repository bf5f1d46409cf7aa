package cloudformation

import (
	"slices"
	"strings"
)

// An exportIndex holds, by the name of an export, the stacks that export or import it, and perhaps stacks that did so
// before.
type exportIndex map[string]map[*stack]bool

// set adds the stack, or removes it if it has been deleted.
func (x exportIndex) set(name string, st *stack) {
	if !st.exists() {
		delete(x[name], st)
		return
	}
	if x[name] == nil {
		x[name] = map[*stack]bool{}
	}
	x[name][st] = true
}

// indexExports brings the indexes of exports and imports up to date with a stack.
func (s *Service) indexExports(st *stack) {
	for _, o := range st.exports() {
		s.exporting.set(o.Export, st)
	}
	imports := slices.Concat(st.Now.Imports, st.Holds)
	for _, child := range st.inside() {
		imports = append(imports, child.Now.Imports...)
	}
	if st.Before != nil {
		imports = append(imports, st.Before.Imports...)
	}
	for _, name := range imports {
		s.importing.set(name, st)
	}
}

// exportConflict says why outputs cannot be exported: another stack exports the same name.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
func (s *Service) exportConflict(st *stack, outputs []output) string {
	mine := map[string]bool{}
	for _, o := range exported(outputs) {
		if mine[o.Export] {
			return "Export with name " + o.Export + " is already exported by stack " + st.Name
		}
		mine[o.Export] = true
		for other := range s.exporting[o.Export] {
			if _, exports := other.export(o.Export); exports && other != st {
				return "Export with name " + o.Export + " is already exported by stack " + other.Name
			}
		}
	}
	return ""
}

// importers are the names of the stacks that import an export, nested ones included, sorted.
func (s *Service) importers(export string, but *stack) []string {
	var names []string
	for st := range s.importing[export] {
		if st == but {
			continue
		}
		if st.importsExport(export) {
			names = append(names, st.Name)
		}
		for _, child := range st.inside() {
			if slices.Contains(child.Now.Imports, export) {
				names = append(names, child.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// exportInUse says why the outputs of a stack cannot be replaced by others: an export that is imported would be deleted
// or changed.
func (s *Service) exportInUse(st *stack, outputs []output) string {
	old := st.ownExports()
	switch {
	case st.Before != nil:
		old = exported(st.Before.Outputs)
	case outputs == nil: // the stack is deleted, with those nested in it
		old = st.exports()
	}
	for _, o := range old {
		i := slices.IndexFunc(outputs, func(n output) bool { return n.Export == o.Export })
		if i >= 0 && outputs[i].Value == o.Value {
			continue
		}
		users := s.importers(o.Export, st)
		if len(users) == 0 {
			continue
		}
		if i < 0 {
			return "Delete canceled. Cannot delete export " + o.Export + inUse(users)
		}
		return "Update canceled. Cannot update export " + o.Export + inUse(users)
	}
	return ""
}

// nestedExports says why the exports of a nested stack cannot become others. root is the stack around it, was is the nested
// stack as it is, and will are its outputs.
func (s *Service) nestedExports(root *stack, was version, will []output) string {
	for _, o := range exported(was.Outputs) {
		i := slices.IndexFunc(will, func(n output) bool { return n.Export == o.Export })
		if users := s.importers(o.Export, root); len(users) > 0 && i < 0 {
			return "Cannot delete export " + o.Export + inUse(users)
		} else if len(users) > 0 && will[i].Value != o.Value {
			return "Cannot update export " + o.Export + inUse(users)
		}
	}
	return s.exportConflict(root, will)
}

func exported(all []output) []output {
	return slices.DeleteFunc(slices.Clone(all), func(o output) bool { return o.Export == "" })
}

func inUse(users []string) string {
	return " as it is in use by " + strings.Join(users, ", ") + "."
}
