//go:build race

package engine_test

// Under the race detector only the smaller setups of the models are searched:
// make test searches all of them without it.
const small = true
