// Command stackwright is what people use Stackwright by. It runs it on a laptop,
// the same functions and the same state machine with stand-ins for AWS, and it
// works on an installation on AWS.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"
)

func main() {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(interrupts, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away must not take a run with it
	s := shell{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv,
		self: self(os.Args[0]), interrupts: interrupts, asks: term.IsTerminal(int(os.Stdin.Fd())),
		obey: func() { signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) },
	}
	if term.IsTerminal(int(os.Stdout.Fd())) {
		s.window = func() (int, int) {
			width, height, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0, 0 // the tree takes its own size
			}
			return width, height
		}
	}
	os.Exit(execute(context.Background(), s, os.Args[1:]))
}

// self is how a person calls this program.
func self(path string) string {
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "go run ./infra/local"
	}
	return path
}
