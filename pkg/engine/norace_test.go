//go:build !race

package engine_test

// smallOnly is false: TestModels checks all setups.
const smallOnly = false
