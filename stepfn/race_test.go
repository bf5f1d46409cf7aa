//go:build race

package stepfn_test

// Under the race detector fewer worlds are played on the real adapters: make
// test plays all of them without it.
const defaultReals = 40

// mostDeaths is at about how many of its writes a story is interrupted, each in
// turn; few have more.
const mostDeaths = 12
