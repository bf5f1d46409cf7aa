package fact

import (
	"context"

	"github.com/stackwright/stackwright/pkg/plan"
)

// historyFact is what the history of the project says to an operation without files, or one whose request names a snapshot: how the files that were
// deployed last want stacks to be destroyed, and which snapshots there are.
func historyFact() Fact { return Fact{Complete: readHistory} }

func readHistory(ctx context.Context, e Reading, v *plan.View) error {
	o := e.operation(e.Run)
	if o.NeedsFiles && !o.NamesSnapshot() {
		return nil
	}
	l, err := e.Store.Lock(ctx, e.Run.Project)
	if err != nil {
		return err
	}
	if v.Snapshots = l.AboutSnapshot(e.Run.Snapshot, e.Now()); !o.NeedsFiles {
		v.Desired = l.OfDestroy(v.Desired)
	}
	return nil
}
