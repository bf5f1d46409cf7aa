//go:build !unix

package main

import "os/exec"

// apart has nothing to do here: there are no sessions of terminals.
func apart(*exec.Cmd) {}
