//go:build race

package stepfn_test

// Under the race detector fewer worlds are played on the real adapters: make
// test plays all of them without it.
const defaultReals = 40
