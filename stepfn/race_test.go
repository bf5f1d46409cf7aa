//go:build race

package stepfn_test

// Under the race detector (make race) the tests play less. make test plays everything.
const (
	defaultScenarios = 1_000
	defaultEmulated  = 20
	defaultLarge     = 40
	many             = 1_000 // stacks of a large run in memory
	planned          = 500   // stacks of a run that is only planned
	raced            = true
)

// mostCrashes is at how many of its writes a scenario crashes, about. Each crash is a
// play of its own.
const mostCrashes = 12
