package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A Verb is what a step can do to a stack: a row of All, in a file of its own. All other
// code reads the columns of the row and never its name.
type Verb struct {
	Name   plan.Verb
	Action // starts and polls it

	Request       Request                                          // starts its operation on the stack; empty if it starts none
	Configures    bool                                             // it passes the node's parameters or tags to CloudFormation, so they are resolved first
	WokenByEvents bool                                             // CloudFormation's events report its end, so it is polled less often
	StartReads    int                                              // how many stacks its start reads, besides those of the step's users
	PollReads     int                                              // how many stacks one poll reads
	Share         float64                                          // how long it takes, compared with the creation of the stack; 0 if that has no influence
	Before        func(context.Context, Task) (plan.Record, error) // makes the record that the claim of a step writes before it starts; nil to keep the old one. Its errors are those of Start
	Tidy          func(context.Context, Task) error                // deletes, when the run ends, what its steps leave behind; nil if they leave nothing
	Leaves        string                                           // what has the name of the step's token, and is left behind if the run is ended by force
	Past          string                                           // what its steps did, for people, as in "3 created"
}

// Mutates reports whether the verb changes stacks, so that a claim records the intent.
func (v Verb) Mutates() bool {
	return v.Writes() && !v.Request.Reads()
}

// Writes reports whether the start of the verb sends a request to CloudFormation.
func (v Verb) Writes() bool { return v.Request != "" && v.Request != CallHook }

// All lists the verbs of this version, which use c, p, h, x and b, in the order in which summaries show them.
func All(c Cloud, p Publisher, h Hooks, x Switches, b Backups) []Verb {
	return []Verb{
		publishVerb(p),
		createVerb(c),
		updateVerb(c),
		executeVerb(c),
		createEmptyVerb(c),
		importVerb(c),
		moveOutVerb(),
		moveInVerb(c),
		deleteVerb(c),
		continueVerb(c),
		waitVerb(c),
		readVerb(c),
		compareVerb(c),
		verifyVerb(c),
		detectVerb(c),
		proposeRevertVerb(c),
		revertVerb(c),
		adoptVerb(c),
		forgetVerb(),
		proposeVerb(c),
		approveVerb(),
		setLevelVerb(),
		hookVerb(h),
		setHooksVerb(),
		setRetainVerb(),
		suspendVerb(x),
		resumeVerb(x),
		proposeSuspendVerb(x),
		proposeResumeVerb(x),
		backUpVerb(b),
		deleteBackupVerb(b),
		dropSnapshotVerb(),
		bakeVerb(h),
		barrierVerb(),
	}
}

// Verbs are verbs by name.
type Verbs map[plan.Verb]Verb

// Named makes a table of verbs.
func Named(all ...Verb) Verbs {
	verbs := make(Verbs, len(all))
	for _, v := range all {
		verbs[v.Name] = v
	}
	return verbs
}

// Of returns the verb of the given name. The action of a verb that this version does not
// know fails.
func (v Verbs) Of(name plan.Verb) Verb {
	if verb, ok := v[name]; ok {
		return verb
	}
	return Verb{Name: name, Action: unknownVerb(name)}
}

// unknownVerb is the action of a verb that this version does not know.
type unknownVerb plan.Verb

// Start fails the step.
func (v unknownVerb) Start(context.Context, Task) (plan.Receipt, error) {
	return plan.Receipt{}, v.err()
}

// Poll fails the step.
func (v unknownVerb) Poll(context.Context, Task) (Progress, error) { return Progress{}, v.err() }

func (v unknownVerb) err() error {
	return fault.New(fault.Broken, "this version does not know the verb %q: deploy the newer functions", string(v))
}
