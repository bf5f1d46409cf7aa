package cli

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"regexp"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"

	"github.com/stackwright/stackwright/pkg/remote"
)

// A Shell is the environment of a command: its input, output and variables.
type Shell struct {
	In              io.Reader
	Out, Err        io.Writer // data; everything else
	Getenv          func(string) string
	Environment     []string                              // all variables, as os.Environ has them; nil if they are not checked
	Self            string                                // the name by which users call this program
	Window          func() (width, height int)            // of the terminal that Out is; nil if it is none
	Kept            bool                                  // Out is a file
	Asks            bool                                  // a person can answer at In
	Interrupts      <-chan os.Signal                      // Ctrl-C, or a request to end
	ExitOnInterrupt func()                                // makes the next interrupt end the program at once
	Start           func(args []string, log string) error // starts this program as a background process; nil starts a real one
	Browse          func(url string) error                // opens a page in a browser; nil opens a real one
	Laptop          Laptop                                // hosts installations
	Transport       http.RoundTripper                     // sends requests to APIs; nil is that of net/http
	Web             remote.Web                            // gets the files that projects name by URLs; nil is the Internet
}

// The codes that commands end with.
const (
	ExitOK          = 0   // succeeded, or nothing to do
	ExitFailed      = 1   // a step failed, or the command could not be carried out
	ExitRefused     = 2   // the request cannot be carried out, and nothing was changed
	ExitStopped     = 3   // cancelled or superseded
	ExitWaiting     = 4   // the run waits for a person
	ExitChanges     = 5   // plan --exit-code, or destroy --plan --exit-code: there are changes; drift --exit-code: stacks have drifted; drift --accept: some is left
	ExitLost        = 6   // the server or the network was lost: the run continues
	ExitInterrupted = 130 // interrupted: the run continues
)

// A view shows a run.
type view interface {
	Show(run.Run) error // its current state
	End(run.Run) error  // after it has ended, or while it waits for a person
}

// A quietView shows only the end of a run.
type quietView struct{ view }

// Show is view.
func (quietView) Show(run.Run) error { return nil }

// view is how this call shows a run: as JSON, as a tree on a terminal, else as
// lines.
func (c *call) view() view {
	_, colour := term.Able(c.Getenv)
	var v view
	switch {
	case c.flags.output == "json":
		v = term.NewJSON(c.Out)
	case c.drawsTree():
		v = &term.Live{Screen: term.Screen{Out: c.screen}, Size: c.Window, Now: time.Now, Colour: colour, Next: c.next, Targets: c.flags.targets}
	default:
		v = term.NewPlain(c.Out, c.next)
	}
	if c.flags.quiet {
		return quietView{v}
	}
	return v
}

// drawsTree reports whether the output is a terminal on which a tree can be drawn.
func (c *call) drawsTree() bool {
	live, _ := term.Able(c.Getenv)
	return live && c.Window != nil
}

// exit is the exit code for the state of a run.
func exit(s run.State) int {
	code, known := map[run.State]int{
		run.StateSucceeded: ExitOK, run.StateRefused: ExitRefused, run.StateCancelled: ExitStopped, run.StateSuperseded: ExitStopped, run.StateWaiting: ExitWaiting,
	}[s]
	if !known {
		return ExitFailed
	}
	return code
}

// A yamlWriter writes each JSON object that it is given, a line each, as a YAML
// document.
type yamlWriter struct {
	to   io.Writer
	rest []byte // an object whose line has not ended
}

// Write is io.Writer.
func (y *yamlWriter) Write(p []byte) (int, error) {
	y.rest = append(y.rest, p...)
	for {
		line, after, ended := bytes.Cut(y.rest, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		y.rest = after
		text, err := yamlOf(line)
		if err == nil {
			_, err = y.to.Write(append([]byte("---\n"), text...))
		}
		if err != nil {
			return 0, err
		}
	}
}

// yamlOf is a JSON object as YAML, its keys in the same order.
func yamlOf(object []byte) ([]byte, error) {
	var n yaml.Node
	if err := yaml.Unmarshal(object, &n); err != nil {
		return nil, fault.New(fault.Broken, "print as YAML: %w", err)
	}
	block(&n)
	text, err := yaml.Marshal(&n)
	if err != nil {
		return nil, fault.New(fault.Broken, "print as YAML: %w", err)
	}
	return text, nil
}

// workflowCommand is a line of a text that the runner of a pipeline would read as a command.
var workflowCommand = regexp.MustCompile(`(?m)^\s*::|##\[`)

// block sets the style of a node and all nodes below it: without braces, and with
// quotes only if they are needed, or a line would be a command for a pipeline.
func block(n *yaml.Node) {
	if n.Style &^= yaml.FlowStyle; !workflowCommand.MatchString(n.Value) {
		n.Style &^= yaml.DoubleQuotedStyle
	}
	for _, below := range n.Content {
		block(below)
	}
}
