package report

import (
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// RunOf returns the run that a report shows, with all that is shown of it: Of reports the same of it again. What only
// the engine needs is missing, such as the task token.
func RunOf(shown Run) (run.Run, error) {
	r := run.Run{
		Request: run.Request{
			ID: shown.Run, Project: shown.Project, Operation: shown.Operation, Source: shown.Source, Of: shown.Of, Who: shown.Who, Claim: shown.Claim,
			Requester: shown.Requester, Upload: shown.Upload, Schedule: shown.Schedule, Follows: shown.Follows, Options: run.Options{Reason: shown.Reason, FromEnvironment: shown.From},
		},
		Command: shown.Command, Forced: shown.Forced, SupersededBy: shown.SupersededBy, Epoch: shown.Epoch, State: shown.State, Generation: shown.Generation, ObservedGeneration: shown.Observed, Digest: shown.Digest,
		Restarts: shown.Restarts, Changes: shown.Plan, Unchanged: shown.Unchanged, Messages: shown.Messages, Requested: shown.Requested, Started: shown.Started,
		Revision: shown.Revision, NotBefore: shown.NotBefore, Deadline: shown.Deadline, Ended: shown.Ended, MaxParallel: shown.MaxParallel, MaxFailures: shown.MaxFailures,
	}
	for _, c := range shown.Commands {
		r.Commands = append(r.Commands, run.GivenCommand{Command: c.Command, Force: c.Force, Run: c.Run, Who: c.Who, Why: c.Reason, At: c.Given})
	}
	numbers := make(map[string]int, len(shown.Steps))
	for n, s := range shown.Steps {
		step, err := stepOf(s, n, numbers)
		if err != nil {
			return run.Run{}, fault.New(fault.Broken, "run %s: %w", shown.Run, err)
		}
		numbers[s.Step] = n
		r.Steps = append(r.Steps, step)
		if made := r.Step(s.Proposal); s.Digest != "" && made != nil {
			made.Receipt.Proposal = s.Digest
		}
	}
	return r, nil
}

// stepOf returns the step that a report shows. numbers are those of the steps before it, by their IDs.
func stepOf(shown Step, n int, numbers map[string]int) (run.Step, error) {
	s := run.Step{
		Step: plan.Step{
			ID: shown.Step, Node: shown.Stack, Where: shown.Where, Rollout: shown.Rollout, Tolerant: shown.Tolerant, Verb: plan.Verb(shown.Verb), Possible: shown.Possible, Approval: shown.Approval, Proposal: shown.Proposal, Optional: shown.Optional,
			Deployment: project.Deployment(shown.Deployment), Expected: shown.Expected, Timeout: project.Timeout(shown.Timeout.Duration()),
		},
		Number: n, Status: shown.Status, Attempt: shown.Attempt, Receipt: plan.Receipt{Unchanged: shown.Unchanged}, Why: shown.Why,
		NotBefore: shown.NotBefore, Claimed: shown.Started, Ended: shown.Ended,
		Result: plan.Result{NothingStarted: shown.NotStarted, Status: shown.Left, Findings: shown.Findings},
	}
	if shown.Attempt == 0 {
		s.Claimed = shown.Claimed
	}
	for _, id := range shown.After {
		before, ok := numbers[id]
		if !ok {
			return s, fault.New(fault.Broken, "step %s comes after %s, which is not before it", shown.Step, id)
		}
		s.After = append(s.After, before)
	}
	if a := shown.Answer; a != nil {
		s.Answer = run.Answer{ID: shown.Step, Yes: a.Yes, Who: a.Who, Why: a.Reason, At: a.Given}
	}
	if shown.Cause != nil {
		s.Cause = *shown.Cause
	}
	return s, nil
}
