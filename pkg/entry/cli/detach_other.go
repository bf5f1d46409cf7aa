//go:build !unix

package cli

import "os/exec"

// apart has nothing to do here: there are no sessions of terminals.
func apart(*exec.Cmd) {}
