package cli

import (
	"context"
	"fmt"
	"io"
	"time"
)

// A Laptop hosts installations in this process, on emulators of AWS.
type Laptop interface {
	// Start hosts the installation of a data folder. It returns an InUse if
	// another process hosts it.
	Start(context.Context, Hosting) (Host, error)

	// Stay is Start for a server. It waits for commands that use the folder for
	// a moment. A background process that hosts the folder hands it over.
	Stay(context.Context, Hosting) (Host, error)

	// Holder reports whether a process hosts a data folder, and its URL, which
	// is empty as long as the process opens or closes the folder.
	Holder(data string) (url string, held bool, err error)

	// Invoke sends the event in a file to the binary of the function that the
	// file is named after, at an installation of its own. failed reports that the
	// answer is the function's error.
	Invoke(ctx context.Context, file string, log io.Writer) (answer []byte, failed bool, err error)
}

// A Hosting says how a laptop's installation is to be hosted.
type Hosting struct {
	Data      string // folder with its state; "" is memory
	Address   string // to listen at
	Functions string // inprocess or binaries
	Seconds   float64
	Getenv    func(string) string
	Log       io.Writer   // nil is a file in the data folder
	Seen      func(Event) // is called with each event, in their order; may be nil
	ReadOnly  bool        // runs do not continue
	Yields    bool        // hands the folder over to a server that asks for it
}

// An Event is one of the laptop's event bus, as EventBridge has it.
type Event struct {
	Source, DetailType string
	Time               time.Time
	Detail             []byte // JSON
}

// A Host is an installation that this process hosts.
type Host interface {
	URL() string
	Idle(context.Context) bool // no run is in progress, and no event waits for delivery
	Delivering() bool          // an event waits for a function to take it
	Failed() <-chan error      // receives the error that ended the server
	Close() error              // runs in progress continue when the folder is hosted again
}

// An InUse is the error for a data folder that another process hosts.
type InUse struct{ Err error }

// Error names the process, and what to do.
func (e *InUse) Error() string { return e.Err.Error() }

// Unwrap is the answer of the process that hosts the folder.
func (e *InUse) Unwrap() error { return e.Err }

// The installation on a laptop.
const (
	Account = "000000000000"
	Region  = "us-east-1"
	Name    = "stackwright" // of the bucket, the table, the state machine and the schedule group
)

// MachineARN is the ARN of a laptop's state machine, which identifies the installation.
func MachineARN() string {
	return fmt.Sprintf("arn:aws:states:%s:%s:stateMachine:%s", Region, Account, Name)
}
