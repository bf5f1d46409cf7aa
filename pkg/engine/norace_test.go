//go:build !race

package engine_test

// All setups of the models are searched.
const small = false
