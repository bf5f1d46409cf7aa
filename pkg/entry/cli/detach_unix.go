//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// apart has a process outlive the terminal of this one.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
