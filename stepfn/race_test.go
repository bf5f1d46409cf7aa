//go:build race

package stepfn_test

// Under the race detector, by make race, fewer setups are played: make test plays
// all of them without it.
const (
	defaultWorlds = 1_000
	defaultReals  = 20
	defaultLarge  = 40
	many          = 1_000 // stacks of a large run in memory
)

// mostDeaths is at about how many of its writes a scenario is interrupted, each in
// turn; few have more.
const mostDeaths = 12
