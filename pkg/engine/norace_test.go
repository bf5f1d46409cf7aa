//go:build !race

package engine_test

// All worlds of the models are searched.
const small = false
