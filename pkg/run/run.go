// Package run says what may start, what no longer can, and whether all is over.
// It is pure: everything follows from the statuses of the steps, the wish and
// the time that is passed in.
package run

import (
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// Version is that of the runs that this code writes. It reads its own and the
// one before.
const Version = 1

// A Status is how far a step has come.
type Status string

// The statuses of a step.
const (
	Pending Status = "pending"
	Running Status = "running"
	Done    Status = "done"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// A Wish is how a person steers a run. It is obeyed at the next look.
type Wish string

// The wishes.
const (
	Go        Wish = "go"
	Pause     Wish = "pause"
	Cancel    Wish = "cancel"
	Back      Wish = "rollback"  // cancel, and then go back to what was last deployed well
	Supersede Wish = "supersede" // a newer upload waits for the end; nobody takes this back
)

// Stops reports whether nothing more is to begin, for good.
func (w Wish) Stops() bool { return w == Cancel || w == Back || w == Supersede }

// A State is what a run as a whole has come to.
type State string

// The states. Asked, Queued, Going and Parked are kept while a run lives, the
// ends for good; Ready, Watch, Look and Aside pass through the state machine only.
const (
	Asked  State = "asked"  // no plan yet
	Queued State = "queued" // no plan yet, and another run holds the lock
	Going  State = "going"  // its plan is committed

	Ready State = "ready" // some step may start
	Watch State = "watch" // something runs, or waits for its time
	Look  State = "look"  // something has happened: see what
	Aside State = "aside" // a newer execution drives the run

	Parked     State = "parked"     // only a person can move it on
	Succeeded  State = "succeeded"  // every step is done
	Broken     State = "failed"     // some step failed
	Cancelled  State = "cancelled"  // it was stopped
	Superseded State = "superseded" // a newer run took its place
	Refused    State = "refused"    // it never began
)

// Over reports whether nothing more will happen to a run in this state.
func (s State) Over() bool {
	switch s {
	case Succeeded, Broken, Cancelled, Superseded, Refused:
		return true
	}
	return false
}

// A Run is one attempt to carry out one plan.
type Run struct {
	ID        string
	Version   int
	Project   string // "shop@prod"
	Operation string
	Source    Source
	Of        string // the run that this one is a retry of
	Force     bool   // a retry, though a newer revision was deployed since
	Who       string // asked for it

	Only         []string // names of the nodes that it is about; none is all
	MaxDeletions *int     // how many stacks it may delete for good; nil is what the project says

	Upload    bool   // it was asked for by an upload: latest wins
	Schedule  string // the name of the schedule that asked for it, if one did
	Sequencer string // of the upload: which of two of one key is newer
	Refuse    bool   // rather than wait in line
	Rollback  bool   // a deploy that fails is followed by a rollback

	Wish   Wish
	Forced bool   // what is being updated is cancelled too
	By     string // the run that supersedes this one
	Drive  int    // the number of the execution that may write
	State  State  // Asked, Queued, Going, Parked or an end
	News   int    // raised by whoever wishes or answers
	Seen   int    // the news that it was parked with
	Token  string // of the execution that waits
	Events int    // in the execution's history, about

	Revived   int       // how often since a step was last settled its execution had died
	RevivedAt time.Time // for the last time
	Settled   int       // how many steps were over when it was last revived

	Digest    string   // of the plan
	Unchanged int      // how many nodes needed no step
	Messages  []string // why it was refused, or what went wrong with the engine
	Asked     time.Time
	Begun     time.Time
	Deadline  time.Time // when it is overdue; zero if it may take any time
	Ended     time.Time

	Steps []Step // in the order of the plan
}

// A Source is the configuration that a run carries out.
type Source struct {
	Key     string `json:"key,omitempty"`
	Version string `json:"version,omitempty"`
}

// A Step is a planned step and how far it has come.
type Step struct {
	plan.Step
	Number    int    // its place in the plan, from 0
	Spec      string // digest of the node's spec; empty where nothing is desired
	Status    Status
	Attempt   int // how often it has been begun
	Nonce     string
	Note      plan.Note
	Why       string // why it failed, or was skipped, or did nothing
	Event     Event
	Due       time.Time // of the next look, while it runs
	NotBefore time.Time // of the next start, while it is pending
	Claimed   time.Time
	Ended     time.Time
	Forced    bool // it was looked at since the run was cancelled with force
}

// An Event is what was heard of a running step, until a look agrees with it.
type Event struct {
	Status plan.Status `json:"status,omitempty"`
	Looks  int         `json:"looks,omitempty"` // how many have not yet seen it
}

// Writes reports whether the run was to bring the project to its source, and
// began to.
func (r *Run) Writes() bool {
	switch r.Operation {
	case "deploy", "destroy", "rollback":
		return !r.Begun.IsZero()
	}
	return false
}

// Settles counts the steps that are over.
func (r *Run) Settles() int {
	n := 0
	for _, s := range r.Steps {
		if s.Over() {
			n++
		}
	}
	return n
}

// Over reports whether nothing more will happen to the step.
func (s Step) Over() bool { return s.Status == Done || s.Status == Failed || s.Status == Skipped }

// Start puts the steps of a plan in the run, all pending.
func (r *Run) Start(p plan.Plan, specs map[string]string) {
	r.State, r.Digest, r.Unchanged = Going, p.Digest(specs), len(p.Unchanged)
	r.Steps = make([]Step, len(p.Steps))
	for i, s := range p.Steps {
		r.Steps[i] = Step{Step: s, Number: i, Spec: specs[s.Node], Status: Pending}
	}
}

// index finds steps by ID.
func (r *Run) index() map[string]*Step {
	by := make(map[string]*Step, len(r.Steps))
	for i := range r.Steps {
		by[r.Steps[i].ID] = &r.Steps[i]
	}
	return by
}

// Step returns the step with the given ID, or nil.
func (r *Run) Step(id string) *Step {
	for i := range r.Steps {
		if r.Steps[i].ID == id {
			return &r.Steps[i]
		}
	}
	return nil
}

// Ready lists the numbers of the steps that may start now, at most max of them.
func (r *Run) Ready(now time.Time, max int) []int {
	ready := []int{}
	for _, s := range r.open(now) {
		if len(ready) < max && !s.NotBefore.After(now) {
			ready = append(ready, s.Number)
		}
	}
	return ready
}

// open lists the pending steps for which only their time may have to come.
func (r *Run) open(now time.Time) []*Step {
	if r.Wish != Go || r.Overdue(now) {
		return nil
	}
	by := r.index()
	var open []*Step
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status == Pending && all(by, s.After, Done) {
			open = append(open, s)
		}
	}
	return open
}

// Prune skips the pending steps that can no longer start, and returns their
// numbers. Each names its root cause. One pass is enough, for the steps are in
// order. A run that is paused may be overdue: it ends when it is continued.
func (r *Run) Prune(now time.Time) []int {
	var pruned []int
	by := r.index()
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status != Pending {
			continue
		}
		if why := doom(by, s.After); why != "" {
			s.Status, s.Why = Skipped, why
		} else if r.Wish.Stops() {
			s.Status, s.Why = Skipped, r.stopped()
		} else if r.Wish == Go && r.Overdue(now) {
			s.Status, s.Why = Skipped, timeIsOver
		}
		if s.Status == Skipped {
			pruned = append(pruned, s.Number)
		}
	}
	return pruned
}

// Obey returns what is wished of r once w is. Nothing takes back what stops a
// run, and least of all that it is superseded. The error is Refused if r cannot
// obey.
func (r *Run) Obey(w Wish) (Wish, error) {
	switch {
	case r.State.Over():
		return r.Wish, fault.New(fault.Refused, "run %s is over (%s)", r.ID, r.State)
	case r.Wish == Supersede && w.Stops():
		return r.Wish, nil
	case r.Wish == Supersede:
		return r.Wish, fault.New(fault.Refused, "run %s is superseded by %s", r.ID, r.By)
	case r.Wish.Stops() && !w.Stops():
		return r.Wish, fault.New(fault.Refused, "run %s is being cancelled: retry it when it is over", r.ID)
	}
	return w, nil
}

// Stopped is the end of a run that a wish stopped.
func (r *Run) Stopped() State {
	if r.Wish == Supersede {
		return Superseded
	}
	return Cancelled
}

// Why steps are skipped: for another, whose ID follows, or for the time.
const (
	after      = "after "
	timeIsOver = "the run's time was over"
)

// stopped is why a step was skipped that nothing but a wish forbade.
func (r *Run) stopped() string {
	if r.Wish == Supersede {
		return "superseded by " + r.By
	}
	return "cancelled"
}

// doom says why a step after the given ones can never start, if so.
func doom(by map[string]*Step, ids []string) string {
	for _, id := range ids {
		switch a := by[id]; a.Status {
		case Failed:
			return after + a.ID
		case Skipped:
			return a.Why
		}
	}
	return ""
}

// Standing says what a going run has come to: Ready, Watch, Parked or an end.
func (r *Run) Standing(now time.Time) State {
	if len(r.Ready(now, 1)) > 0 {
		return Ready
	}
	var failed, stopped, pending bool
	for _, s := range r.Steps {
		switch s.Status {
		case Running:
			return Watch
		case Pending:
			pending = true
		case Failed:
			failed = true
		case Skipped:
			stopped = stopped || !strings.HasPrefix(s.Why, after)
		}
	}
	switch {
	case len(r.open(now)) > 0, pending && r.Wish == Go && r.Overdue(now): // which are to be skipped
		return Watch
	case pending:
		return Parked
	case r.TimedOut() && r.Wish != Supersede:
		return Broken
	case stopped, failed && (r.Wish == Supersede || r.Forced):
		return r.Stopped()
	case failed:
		return Broken
	}
	return Succeeded
}

// all reports whether every step of the given IDs has the given status.
func all(by map[string]*Step, ids []string, want Status) bool {
	for _, id := range ids {
		if by[id].Status != want {
			return false
		}
	}
	return true
}
