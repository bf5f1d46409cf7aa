package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// idleFor is how long no run must be in progress before serve --until-idle ends.
const idleFor = 3

// serve serves an installation until it is stopped.
func serve(ctx context.Context, c *call) (int, error) {
	how := c.hosting(c.flags.listen, false)
	how.HandsOver = c.flags.untilIdle
	if how.Console == "" && c.flags.console == "" && !c.flags.untilIdle {
		how.Console = "auto"
	}
	if c.flags.verbose {
		how.Log = c.Err
	}
	var lines eventLines
	if c.flags.output == "text" && !c.flags.quiet {
		how.OnEvent = lines.add
	}
	h, err := c.Laptop.Serve(ctx, how)
	if fault.Is(err, fault.Busy) && c.flags.untilIdle {
		fmt.Fprintf(c.Err, "another process serves the data folder: %v\n", err)
		return ExitOK, nil
	}
	if err != nil {
		return ExitFailed, err
	}
	if err := c.greet(h); err != nil {
		return ExitFailed, errors.Join(err, h.Close())
	}
	if c.flags.open {
		c.openPage(h.Page())
	}
	lines.start(c.Out)
	var idle <-chan time.Time
	if c.flags.untilIdle {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		idle = ticker.C
	}
	for calm := 0; calm < idleFor; {
		select {
		case <-ctx.Done():
			return ExitOK, h.Close()
		case <-c.Interrupts:
			if c.ExitOnInterrupt != nil {
				c.ExitOnInterrupt()
			}
			fmt.Fprintln(c.Err, "stopped: the next serve continues the runs and operations in progress")
			return ExitOK, h.Close()
		case err := <-h.Failed():
			return ExitFailed, errors.Join(fmt.Errorf("serve at %s: %w", h.URL(), err), h.Close())
		case <-idle:
			if calm++; !waitUntilIdle(ctx, h) {
				calm = 0
			}
		}
	}
	return ExitOK, h.Close()
}

// eventLines prints events. It keeps those that arrive before start is called,
// because a server continues its runs before it prints where it listens. A server
// continues if its terminal is closed.
type eventLines struct {
	mu   sync.Mutex
	to   io.Writer
	kept bytes.Buffer
}

// add prints an event, or keeps it.
func (l *eventLines) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line := eventLine(e); line != "" {
		fmt.Fprintln(cmp.Or(l.to, io.Writer(&l.kept)), line)
	}
}

// start prints the kept events, and from now on each event at once.
func (l *eventLines) start(to io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.kept.WriteTo(to)
	l.to = to
}

// eventLine is an event as a line of text, or "" for an event that is not shown.
func eventLine(e Event) string {
	var d struct {
		Object  struct{ Key string }
		Run     string
		Text    string
		Why     string
		StackID string                  `json:"stack-id"`
		Status  struct{ Status string } `json:"status-details"`
	}
	if json.Unmarshal(e.Detail, &d) != nil {
		return ""
	}
	text := ""
	switch {
	case e.Source == "aws.s3" && (strings.HasPrefix(d.Object.Key, "projects/") || strings.HasPrefix(d.Object.Key, "requests/")):
		text = "upload  " + d.Object.Key
	case e.DetailType == "CloudFormation Stack Status Change":
		text = "stack   " + d.StackID + " is " + d.Status.Status
		if _, name, is := strings.Cut(d.StackID, ":stack/"); is {
			name, _, _ = strings.Cut(name, "/")
			text = "stack   " + name + " is " + d.Status.Status
		}
	case e.Source == "stackwright" && d.Run != "":
		text = "run     " + d.Run + ": " + d.Text
		if d.Why != "" {
			text += ": " + d.Why
		}
	default:
		return ""
	}
	return e.Time.Local().Format(time.TimeOnly) + "  " + text
}

// greet prints the address of the server and how to use it.
func (c *call) greet(h Host) error {
	if c.flags.output == "json" {
		return json.NewEncoder(c.Out).Encode(map[string]string{
			"endpoint": h.URL(), "bucket": Name, "table": Name, "state_machine": MachineARN(), "data": c.flags.data, "page": h.Page(),
		})
	}
	page := ""
	if h.Page() != "" {
		page = fmt.Sprintf("browser: %s\n", h.Page())
	}
	_, err := fmt.Fprintf(c.Out, `Stackwright is served at %[1]s (account %[2]s, region %[3]s, state and log in %[4]s)

%[7]sdeploy:  %[5]s deploy DIR --endpoint %[1]s
or:      aws s3 cp shop.zip s3://%[6]s/projects/shop/prod.zip --endpoint-url %[1]s
watch:   %[5]s status --follow --endpoint %[1]s
         aws cloudformation describe-stacks --endpoint-url %[1]s
         curl --aws-sigv4 aws:amz:%[3]s:execute-api --user local:local %[1]s/projects/shop/prod/runs

The aws command needs credentials; any are accepted: export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=%[3]s
Ctrl-C stops the server. The state is kept, and the next serve continues with it.
`, h.URL(), Account, Region, c.flags.data, c.Self, Name, page)
	return err
}
