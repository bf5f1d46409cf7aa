package run

import (
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A Command is the last command that a run was given. The run obeys at its next poll.
type Command string

// The commands.
const (
	Continue          Command = "continue"
	Pause             Command = "pause"
	Cancel            Command = "cancel"
	CancelAndRollBack Command = "rollback"  // cancel, and then roll back to the last successful deploy
	Supersede         Command = "supersede" // a newer upload is queued for the lock; nobody can take this back
)

// Stops reports whether a run never starts a step again after this command.
func (c Command) Stops() bool { return c == Cancel || c == CancelAndRollBack || c == Supersede }

// A GivenCommand is a command, with who gave it to a run, when and why.
type GivenCommand struct {
	ID      string    `json:"id,omitempty"` // of the request: each is carried out once
	Command Command   `json:"command"`
	Force   bool      `json:"force,omitempty"`   // with a command that stops: updates in progress are cancelled too
	Checked bool      `json:"checked,omitempty"` // with Continue: by Stackwright, after it has checked the policies again
	Run     string    `json:"run,omitempty"`     // with Supersede: the run that supersedes this one
	Who     string    `json:"who,omitempty"`
	From    string    `json:"from,omitempty"` // as in Request
	Why     string    `json:"why,omitempty"`
	At      time.Time `json:"at"`
}

// mostCommands is how many commands a run keeps: the newest. The audit log has all.
const mostCommands = 20

// Give makes r obey a command, raises its generation and adds the command to those
// it was given. The error is Refused if r cannot obey.
func (r *Run) Give(c GivenCommand) error {
	command, err := r.obey(c.Command)
	if err == nil && c.Checked && !r.Unchecked() {
		err = fault.New(fault.Refused, "run %s was given another command meanwhile", r.ID)
	}
	if err != nil {
		return err
	}
	r.Command, r.Forced = command, r.Forced || c.Force
	r.Generation++
	r.given(c)
	return nil
}

// obey returns the command that r obeys after c. No command replaces one that stops the
// run. A superseded run stays superseded, even if a user cancels it.
func (r *Run) obey(c Command) (Command, error) {
	switch {
	case r.State.Over():
		return r.Command, fault.New(fault.Refused, "run %s has ended (%s)", r.ID, r.State)
	case r.Command == Supersede && c.Stops():
		return r.Command, nil
	case r.Command == Supersede:
		return r.Command, fault.New(fault.Refused, "run %s is superseded by %s", r.ID, r.SupersededBy)
	case r.Command.Stops() && !c.Stops():
		return r.Command, fault.New(fault.Refused, "run %s is being cancelled: retry it when it has ended", r.ID)
	}
	return c, nil
}

// Unchecked reports whether a user has continued r, and function plan has not checked the policies
// since. No step starts before that: the policies, and the time, may be others than when r was planned.
func (r *Run) Unchecked() bool {
	if r.Command != Continue || len(r.Commands) == 0 {
		return false
	}
	last := r.Commands[len(r.Commands)-1]
	return last.Command == Continue && !last.Checked
}

// StopFor tells r, which owns a lock, to stop for a newer run.
func (r *Run) StopFor(by Run, at time.Time) {
	r.Command, r.SupersededBy = Supersede, by.ID
	r.Generation++
	r.given(GivenCommand{Command: Supersede, Run: by.ID, Who: by.By(), From: by.From, Why: by.Reason, At: at})
}

// ReplaceBy ends r, which is queued, because a newer run takes its place.
func (r *Run) ReplaceBy(by Run, at time.Time) {
	r.State, r.SupersededBy, r.Ended = StateSuperseded, by.ID, at
	r.given(GivenCommand{Command: Supersede, Run: by.ID, Who: by.By(), From: by.From, Why: by.Reason, At: at})
}

// given adds a command to those that r was given.
func (r *Run) given(c GivenCommand) {
	r.Commands = append(slices.Clone(r.Commands), c)
	if n := len(r.Commands) - mostCommands; n > 0 {
		r.Commands = r.Commands[n:]
	}
}

// Given returns the command that r obeys now, with who gave it and why. It is the zero
// GivenCommand if nobody has given r a command.
func (r *Run) Given() GivenCommand {
	for _, c := range slices.Backward(r.Commands) {
		if c.Command == r.Command || c.Command == Supersede && r.SupersededBy != "" {
			return c
		}
	}
	return GivenCommand{}
}
