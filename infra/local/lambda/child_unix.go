//go:build unix

package lambda

import (
	"errors"
	"os/exec"
	"syscall"
)

// apart keeps a terminal's Ctrl-C away from the process: it is for us, who end our functions in good order.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends the process and all that it started.
func (c *child) kill() {
	if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		_ = c.cmd.Process.Kill() // it has ended already, which is what was wanted
	}
}
