package main

import (
	"io"
	"os"
)

// A shell is all that a command has of the world around it.
type shell struct {
	in         io.Reader
	out, err   io.Writer // data; all the rest
	getenv     func(string) string
	self       string                                // how a person calls this program
	window     func() (width, height int)            // of the terminal that out is; nil if it is none
	asks       bool                                  // a person can answer at in
	interrupts <-chan os.Signal                      // Ctrl-C, or the wish to end
	obey       func()                                // lets the next interrupt end the program at once
	start      func(args []string, log string) error // starts this program anew, on its own; nil is the real thing
}

// The codes that commands end with.
const (
	exitOK        = 0   // succeeded, or nothing to do
	exitFailed    = 1   // a step failed, or the command could not be carried out
	exitRefused   = 2   // what was asked cannot be done: nothing was
	exitStopped   = 3   // cancelled or superseded
	exitWaiting   = 4   // only a person can move it on
	exitChanges   = 5   // plan --exit-code: there are changes
	exitUnwatched = 130 // interrupted: the run goes on without its watcher
)
