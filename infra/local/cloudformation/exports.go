package cloudformation

import (
	"slices"
	"strings"
)

// exportConflict says why outputs cannot be exported: another stack exports the same name.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
func (s *Service) exportConflict(st *stack, outputs []output) string {
	mine := map[string]bool{}
	for _, o := range outputs {
		if o.Export == "" {
			continue
		}
		if mine[o.Export] {
			return "Export with name " + o.Export + " is already exported by stack " + st.Name
		}
		mine[o.Export] = true
	}
	for _, other := range s.stacks {
		if other == st {
			continue
		}
		for _, o := range other.exports() {
			if mine[o.Export] {
				return "Export with name " + o.Export + " is already exported by stack " + other.Name
			}
		}
	}
	return ""
}

// importers are the names of the stacks that import an export, sorted.
func (s *Service) importers(export string, but *stack) []string {
	var names []string
	for _, st := range s.stacks {
		if st != but && st.importsExport(export) {
			names = append(names, st.Name)
		}
	}
	slices.Sort(names)
	return names
}

// exportInUse says why the outputs of a stack cannot be replaced by others: an export that is imported would be deleted
// or changed.
func (s *Service) exportInUse(st *stack, outputs []output) string {
	old := st.exports()
	if st.Before != nil {
		old = exported(st.Before.Outputs)
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

func exported(all []output) []output {
	return slices.DeleteFunc(slices.Clone(all), func(o output) bool { return o.Export == "" })
}

func inUse(users []string) string {
	return " as it is in use by " + strings.Join(users, ", ") + "."
}
