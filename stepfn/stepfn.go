// Package stepfn holds the state machine.
package stepfn

import _ "embed"

// Run is the state machine that executes a run, in the Amazon States Language,
// with ${Plan} and ${WaitStatus} for the functions' ARNs.
//
//go:embed run.asl.json
var Run []byte
