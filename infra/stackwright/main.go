// Command stackwright deploys CloudFormation stacks through an installation of
// Stackwright: one on AWS, or one that it hosts on a laptop, with the functions
// and the state machine that are deployed and emulators of AWS.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

func main() {
	if os.Getenv("GOGC") == "" { // emulators and functions in this process make much garbage: collect it less often
		debug.SetGCPercent(150)
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(interrupts, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away must not take a run with it
	s := cli.Shell{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Environment: os.Environ(), Laptop: host.Laptop{},
		Self: self(os.Args[0]), Interrupts: interrupts, Asks: term.IsTerminal(int(os.Stdin.Fd())),
		ExitOnInterrupt: func() { signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) },
	}
	if term.IsTerminal(int(os.Stdout.Fd())) {
		s.Window = func() (int, int) {
			width, height, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0, 0 // the tree takes its own size
			}
			return width, height
		}
	}
	if about, err := os.Stdout.Stat(); err == nil {
		s.Kept = about.Mode().IsRegular()
	}
	os.Exit(cli.Execute(context.Background(), s, os.Args[1:]))
}

// self is how a person calls this program.
func self(path string) string {
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "go run ./infra/stackwright"
	}
	return path
}
