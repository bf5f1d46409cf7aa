package stepfn_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage gather: setups are many and short.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1600)
	os.Exit(m.Run())
}
