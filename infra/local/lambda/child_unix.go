//go:build unix

package lambda

import (
	"errors"
	"os/exec"
	"syscall"
)

// apart keeps a terminal's Ctrl-C away from the process: this process handles it, and ends its functions in order.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends the process and its children.
func (c *child) kill() {
	if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		_ = c.cmd.Process.Kill() // it has already ended
	}
}
