//go:build !race

package stepfn_test

const defaultReals = 300
