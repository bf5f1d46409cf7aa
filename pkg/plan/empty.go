package plan

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

// OfRecorded reports whether the operation is about the stacks that are recorded, and does nothing where none is.
// Snapshots outlive their stacks.
func (o Operation) OfRecorded() bool {
	return o.Plan != nil && (!o.NeedsFiles || o.Prunes) && !o.DeletesSnapshot && !o.PrunesSnapshots
}

// Empty reports whether no stack is recorded.
func (v View) Empty() bool { return len(v.Recorded)+len(v.Unreachable) == 0 }

// NothingRecorded says that no stack of a project and environment is recorded, and which others of the project have
// some.
func NothingRecorded(id string, others []string) error {
	name, _, _ := strings.Cut(id, "@")
	if len(others) == 0 {
		return fault.New(fault.Refused, "nothing is recorded for %s, nor for another environment of %s: deploy it first",
			id, name)
	}
	return fault.New(fault.Refused, "nothing is recorded for %s: deploy it first, or name an environment of %s that has "+
		"stacks: %s", id, name, listed(others))
}
