package cli

import (
	"io"
	"os"
)

// A Shell is all that a command has of the setup around it.
type Shell struct {
	In         io.Reader
	Out, Err   io.Writer // data; all the rest
	Getenv     func(string) string
	Self       string                                // how a person calls this program
	Window     func() (width, height int)            // of the terminal that Out is; nil if it is none
	Asks       bool                                  // a person can answer at In
	Interrupts <-chan os.Signal                      // Ctrl-C, or a request to end
	Obey       func()                                // lets the next interrupt end the program at once
	Start      func(args []string, log string) error // starts this program anew, on its own; nil is the real thing
	Laptop     Laptop                                // hosts installations
}

// The codes that commands end with.
const (
	ExitOK        = 0   // succeeded, or nothing to do
	ExitFailed    = 1   // a step failed, or the command could not be carried out
	ExitRefused   = 2   // what was requested cannot be done: nothing was
	ExitStopped   = 3   // cancelled or superseded
	ExitWaiting   = 4   // only a person can move it on
	ExitChanges   = 5   // plan --exit-code: there are changes
	ExitLost      = 6   // the server or the network was lost: the run goes on without its watcher
	ExitUnwatched = 130 // interrupted: the run goes on without its watcher
)
