package cli

import (
	"io"
	"os"
)

// A Shell is the environment of a command: its input, output and variables.
type Shell struct {
	In         io.Reader
	Out, Err   io.Writer // data; everything else
	Getenv     func(string) string
	Self       string                                // the name by which users call this program
	Window     func() (width, height int)            // of the terminal that Out is; nil if it is none
	Asks       bool                                  // a person can answer at In
	Interrupts <-chan os.Signal                      // Ctrl-C, or a request to end
	Obey       func()                                // lets the next interrupt end the program at once
	Start      func(args []string, log string) error // starts this program as a background process; nil starts a real one
	Laptop     Laptop                                // hosts installations
}

// The codes that commands end with.
const (
	ExitOK        = 0   // succeeded, or nothing to do
	ExitFailed    = 1   // a step failed, or the command could not be carried out
	ExitRefused   = 2   // the request cannot be carried out, and nothing was changed
	ExitStopped   = 3   // cancelled or superseded
	ExitWaiting   = 4   // the run waits for a person
	ExitChanges   = 5   // plan --exit-code: there are changes
	ExitLost      = 6   // the server or the network was lost: the run continues
	ExitUnwatched = 130 // interrupted: the run continues
)
