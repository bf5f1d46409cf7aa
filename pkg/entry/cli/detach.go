package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// detach stops following a run after Ctrl-C, and prints how to follow it again.
// If this process hosts the run, a background process continues it. A second
// Ctrl-C ends the program at once.
func (s *session) detach(ctx context.Context, id string) (int, error) {
	c := s.call
	if c.ExitOnInterrupt != nil {
		c.ExitOnInterrupt()
	}
	if s.host() != nil {
		fmt.Fprintf(c.Err, "interrupted: a background process takes over run %s; press Ctrl-C again to end this program at once\n", id)
		if err := s.continueInBackground(ctx); err != nil {
			return ExitFailed, err
		}
	}
	fmt.Fprintln(c.Err, c.unfollowed(nil, id).hint())
	return ExitInterrupted, nil
}

// continueInBackground ends the server of this process, and starts a background process that
// serves the folder until no run is in progress.
func (s *session) continueInBackground(ctx context.Context) error {
	c := s.call
	data, err := filepath.Abs(c.flags.data)
	if err != nil {
		return fmt.Errorf("find data folder: %w", err)
	}
	address, page := strings.TrimPrefix(s.host().URL(), "http://"), strings.TrimPrefix(s.host().Page(), "http://")
	if err := s.end(); err != nil {
		return err
	}
	args := []string{
		"serve", "--until-idle", "--data", data, "--listen", address,
		"--seconds", strconv.FormatFloat(c.flags.seconds, 'f', -1, 64), "--functions", c.flags.functions,
	}
	if page != "" {
		args = append(args, "--console", page)
	}
	start := c.Start
	if start == nil {
		start = startInBackground
	}
	if err := start(args, filepath.Join(data, "stackwright.log")); err != nil {
		return errors.Join(fmt.Errorf("start a background server: %w", err), fmt.Errorf("to continue the run, start the server: %s", c.commandLine("serve")))
	}
	return nil
}

// startInBackground starts this program as a background process, in a session of its own,
// that writes its output to a log.
func startInBackground(args []string, log string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...)
	cmd.Stdout, cmd.Stderr = out, out
	apart(cmd)
	err = cmd.Start()
	if err == nil {
		err = cmd.Process.Release()
	}
	return errors.Join(err, out.Close())
}
