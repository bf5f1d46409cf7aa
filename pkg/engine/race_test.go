//go:build race

package engine_test

// smallOnly limits TestModels to the smaller setups: the race detector is too slow
// for the others. make test checks all setups without it.
const smallOnly = true
