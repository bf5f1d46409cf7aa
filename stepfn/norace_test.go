//go:build !race

package stepfn_test

const (
	defaultWorlds = 10_000
	defaultReals  = 300
)

// mostDeaths is at about how many of its writes a story is interrupted, each in
// turn; few have more.
const mostDeaths = 100
