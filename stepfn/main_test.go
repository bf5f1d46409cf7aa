package stepfn_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage rarely: the tests make many backends that live briefly.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1600)
	os.Exit(m.Run())
}
