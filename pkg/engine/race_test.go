//go:build race

package engine_test

// Under the race detector only the smaller worlds of the models are searched:
// make test searches all of them without it.
const small = true
