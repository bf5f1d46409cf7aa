//go:build !unix

package lambda

import "os/exec"

func apart(*exec.Cmd) {}

// kill ends the process.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it has already ended
}
