package run

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

// The memory and the duration of a typical invocation, most of which waits for an
// answer.
const (
	gigabytes = 0.5
	lasts     = 0.5 // seconds
)

// perPoll is what the engine adds to RUN.events for a poll.
const perPoll = 8

// The write units of a poll, a step and a run. Each change is a transaction, in
// which a unit counts twice.
const (
	writesOfPoll = 6
	writesOfStep = 28
	writesOfRun  = 20
)

// cost estimates in USD what a run itself has cost, without its stacks: state
// transitions, invocations and writes. It derives them from the length of the
// history of the run's last execution, and from how often its steps were started. A
// poll is an invocation and two transitions; the event of a step's end is one more
// invocation.
//
// It leaves out earlier executions, storage, reads, logs and monthly charges. The
// estimate serves to compare runs and to see growth.
func (r *Run) cost() float64 {
	starts := 0
	for _, s := range r.Steps {
		starts += s.Attempt
	}
	polls := r.Events / perPoll
	transitions := 3 + 2*polls        // and Plan, Next and the end
	invocations := 2 + polls + starts // and start and plan
	writes := writesOfRun + writesOfPoll*polls + writesOfStep*starts
	return perTransition*float64(transitions) + perInvocation*float64(invocations) + perWrite*float64(writes)
}
