//go:build !race

package stepfn_test

const (
	defaultScenarios = 1_200
	defaultEmulated  = 40
	defaultLarge     = 300
	many             = 2_000  // stacks of a large run in memory
	planned          = 10_000 // stacks of a run that is only planned
	raced            = false
)

// mostCrashes is at how many of its writes a scenario crashes with -all-points, about. Each crash is a
// play of its own. Few scenarios have more writes.
const mostCrashes = 100
