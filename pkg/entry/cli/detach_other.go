//go:build !unix

package cli

import "os/exec"

// apart does nothing on this system, which has no sessions of terminals.
func apart(*exec.Cmd) {}
