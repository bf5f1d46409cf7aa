//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// apart starts a process in a session of its own, so that it outlives the terminal.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
