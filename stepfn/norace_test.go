//go:build !race

package stepfn_test

const (
	defaultScenarios = 10_000
	defaultEmulated  = 300
	defaultLarge     = 300
	many             = 2_000 // stacks of a large run in memory
)

// mostDeaths is at about how many of its writes a scenario is interrupted, each in
// turn; few have more.
const mostCrashes = 100
