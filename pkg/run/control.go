package run

import (
	"slices"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A Control is a command that users may give to a run: a row of Controls. All
// other code reads the columns of the row and never its name.
type Control struct {
	Name         string
	Summary      string        // what it does
	Command      Command       // recorded for the run
	WithRollback Command       // recorded instead if the rollback option is set
	EndsRun      bool          // it ends the run at once, even if its execution still runs, and so frees the lock
	NeedsReason  bool          // it is refused without a reason
	Answers      bool          // it answers a question of the run whether its plan, or what it does with a stack, is approved
	Yes          bool          // with Answers: the answer
	Options      []plan.Option // that a request for it may have
}

// Controls lists the commands that users may give to a run.
func Controls() []Control {
	return []Control{
		{Name: "pause", Summary: "Pause a run: it starts no more steps until it is continued", Command: Pause, Options: []plan.Option{plan.OptionReason}},
		{Name: "continue", Summary: "Continue a paused run", Command: Continue, Options: []plan.Option{plan.OptionReason}},
		{
			Name: "cancel", Summary: "Cancel a run: running steps end, and the other steps are skipped", Command: Cancel, WithRollback: CancelAndRollBack,
			Options: []plan.Option{plan.OptionReason, plan.OptionRollback, plan.OptionForce},
		},
		{
			Name: "approve", Summary: "Approve the plan of a run, or a step of it, that waits for approval", Answers: true, Yes: true,
			Options: []plan.Option{plan.OptionReason, plan.OptionDigest, plan.OptionStep},
		},
		{
			Name: "reject", Summary: "Reject the plan of a run, or a step of it, that waits for approval", Answers: true, NeedsReason: true,
			Options: []plan.Option{plan.OptionReason, plan.OptionDigest, plan.OptionStep},
		},
		{Name: "unlock", Summary: "End a run at once, and release the lock that it holds", Command: Cancel, EndsRun: true, NeedsReason: true, Options: []plan.Option{plan.OptionReason}},
	}
}

// ControlNamed returns the command of the given name. It reports false if there is
// none.
func ControlNamed(name string) (Control, bool) {
	all := Controls()
	if i := slices.IndexFunc(all, func(c Control) bool { return c.Name == name }); i >= 0 {
		return all[i], true
	}
	return Control{}, false
}

// Role returns the role that a command needs. To end a run at once needs more than to deploy, because operations that it has
// started may still change stacks.
func (c Control) Role() access.Role {
	switch {
	case c.EndsRun:
		return access.Admin
	case c.Answers:
		return access.Approver
	}
	return access.Deployer
}

// Role returns the role that the request needs. An exact plan makes change sets, and so may call macros: who may only have
// plans made has none.
func (q Request) Role() access.Role {
	c, command := ControlNamed(q.Operation)
	if o := plan.AllOperations().Of(q.Operation); !command && o.Preview && !o.Proposes && !q.Exact {
		return access.Planner
	}
	return c.Role()
}

// ControlNames lists the names of the commands.
func ControlNames() []string {
	var names []string
	for _, c := range Controls() {
		names = append(names, c.Name)
	}
	return names
}

// CommandFor returns the command that is recorded for a run, for the options of the
// request.
func (c Control) CommandFor(o Options) Command {
	if o.Rollback && c.WithRollback != "" {
		return c.WithRollback
	}
	return c.Command
}
