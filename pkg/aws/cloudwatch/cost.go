package cloudwatch

import "github.com/stackwright/stackwright/pkg/run"

// What AWS charges, in USD, in us-east-1, beyond the free tiers, as its price
// pages had it when this was written, in November 2026. Other regions differ by
// up to a half.
//
// https://aws.amazon.com/step-functions/pricing/
// https://aws.amazon.com/lambda/pricing/ (arm64)
// https://aws.amazon.com/dynamodb/pricing/on-demand/
const (
	perTransition = 25e-6
	perInvocation = 0.2e-6 + perGBSecond*gigabytes*lasts
	perGBSecond   = 13.3334e-6
	perWrite      = 0.625e-6 // of one KB
)

// What an invocation of a function takes, about: its memory, and how long it
// lasts, most of which it waits for an answer.
const (
	gigabytes = 0.5
	lasts     = 0.5 // seconds
)

// What the engine adds to RUN.events for a look, and for a step that is to be
// started.
const (
	perLook  = 10
	perStart = 8
)

// How many units a look writes, and a step that is begun: each of its changes is
// a transaction, in which a unit counts twice.
const (
	writesOfLook = 2
	writesOfStep = 24
	writesOfRun  = 20
)

// Cost estimates, in USD, what a run has cost by itself, not what its stacks cost:
// state transitions, function calls and writes, as they follow from the length of
// the history of the execution that ended it and from how often its steps were
// begun. A look is an invocation and two transitions, and so is the start of a
// step; an event that tells of its end is one more invocation.
//
// Executions before the last one, storage, reads, logs and what is charged by the
// month are left out. The history's length errs upwards: of runs of 3 to 40 steps
// the transitions come out at 1.1 to 1.7 times what they were. It is meant to
// compare runs, and to see what grows.
func Cost(r run.Run) float64 {
	starts := 0
	for _, s := range r.Steps {
		starts += s.Attempt
	}
	looks := max(r.Events-perStart*starts, 0) / perLook
	transitions := 3 + 2*looks + 2*starts // Plan, Standing and the end, too
	invocations := 2 + looks + 2*starts   // start and plan, too
	writes := writesOfRun + writesOfLook*looks + writesOfStep*starts
	return perTransition*float64(transitions) + perInvocation*float64(invocations) + perWrite*float64(writes)
}
