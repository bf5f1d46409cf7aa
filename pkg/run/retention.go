package run

import (
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
)

// A Retention says which runs are old: those that ended long ago, except for the newest ones of their project.
type Retention struct {
	OlderThan time.Duration // since the end of the run
	Keep      int           // how many of the newest runs of a project stay, however old they are
}

// Old lists those of the runs of a project that nothing needs any more. The runs are all that there are, newest first. It leaves out
// those that something names: the lock, a record, a retry of a run that stays, a saved plan, or a configuration that the lock names; the
// newest run of such a configuration stays. A rollback to a revision does not need its run: the lock has what a rollback reads.
func (k Retention) Old(runs []Run, l Lock, records map[string]plan.Record, now time.Time) []Run {
	stays := make(map[string]bool)
	for _, id := range append([]string{l.Owner.Run, l.LastAttempted.Run, l.CancelledBy}, l.Moved...) {
		stays[id] = true
	}
	for _, w := range l.Waiting {
		stays[w.Run] = true
	}
	for _, r := range records {
		stays[r.Run] = true
		if r.Drift != nil {
			stays[r.Drift.Run] = true
		}
	}
	sources := map[Source]bool{l.LastSuccessful: true, l.LastFull: true, l.LastAttempted.Source: true}
	delete(sources, Source{})
	var old []Run
	for n, r := range runs {
		if sources[r.Source] {
			delete(sources, r.Source)
			stays[r.ID] = true
		}
		if n < k.Keep || stays[r.ID] || !r.State.Over() || r.Ended.After(now.Add(-k.OlderThan)) || plan.IsPreview(r.Operation) && r.Changes != "" {
			stays[r.Of] = true // it is older
			continue
		}
		old = append(old, r)
	}
	return old
}
