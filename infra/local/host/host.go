// Package host runs an installation in this process: the functions and the state
// machine that are deployed, on emulators of AWS, served at one address.
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/console"
	"github.com/stackwright/stackwright/infra/local/events"
	"github.com/stackwright/stackwright/pkg/enginetest/asl"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/entry/page"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/loopback"
	"github.com/stackwright/stackwright/stepfn"
)

// A Laptop is what the command hosts installations with.
type Laptop struct{}

// Start is cli.Laptop.
func (Laptop) Start(ctx context.Context, how cli.Hosting) (cli.Host, error) { return Open(ctx, how) }

// Serve is cli.Laptop.
func (Laptop) Serve(ctx context.Context, how cli.Hosting) (cli.Host, error) { return Serve(ctx, how) }

// Holder is cli.Laptop.
func (Laptop) Holder(data string) (url string, held bool, err error) {
	holder, held, err := cloud.LockedBy(data)
	return holder.URL, held, err
}

// Open hosts the cloud of a data folder and serves it. The error for a folder
// that another process has is Busy, and a *cloud.InUse.
func Open(ctx context.Context, how cli.Hosting) (*Host, error) {
	definition, err := asl.Substitute(stepfn.Run, map[string]string{
		"Plan": arn("plan"), "ExecuteStep": arn("execute-step"), "WaitStatus": arn("wait-status"),
	})
	if err != nil {
		return nil, err
	}
	return open(ctx, how, definition, 0)
}

// A Host is a cloud of this process, served at an address.
type Host struct {
	Cloud   *cloud.Cloud
	server  *http.Server
	console *http.Server // nil without a console
	url     string
	page    string // the URL of the console
	log     io.Closer
	logged  io.Writer // where what goes wrong is logged
	failed  chan error
}

// open hosts a cloud with a state machine. What goes wrong in it is logged. IDs follow
// from the seed; 0 is chance.
func open(ctx context.Context, how cli.Hosting, machine []byte, seed uint64) (*Host, error) {
	if err := loopback.Check(how.Address); err != nil && !how.Exposed {
		return nil, fault.New(fault.Invalid, "--listen %s: %w; or add --exposed, if they may", how.Address, err)
	}
	listener, err := net.Listen("tcp", how.Address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w: choose another address with --listen", how.Address, err)
	}
	if how.Console == "" {
		h, err := openAt(ctx, how, machine, seed, listener)
		return h, closedOn(err, listener)
	}
	shown, err := page.Listen(how.Console)
	if err != nil {
		return nil, closedOn(err, listener)
	}
	h, err := openAt(ctx, how, machine, seed, listener)
	if err != nil {
		return nil, closedOn(err, listener, shown)
	}
	h.page = "http://" + shown.Addr().String()
	h.console = &http.Server{Handler: console.New(cli.Region, h.Cloud.API), ReadHeaderTimeout: time.Minute}
	go func() { h.failed <- h.console.Serve(shown) }()
	return h, nil
}

// closedOn closes listeners after an error.
func closedOn(err error, all ...net.Listener) error {
	for _, l := range all {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}

// openAt hosts a cloud, and serves it at an address.
func openAt(ctx context.Context, how cli.Hosting, machine []byte, seed uint64, listener net.Listener) (*Host, error) {
	how, err := readingOnly(how)
	if err != nil {
		return nil, err
	}
	h := &Host{url: "http://" + listener.Addr().String(), failed: make(chan error, 2), log: io.NopCloser(nil)}
	if how.Log == nil {
		file, err := logFile(how.Data)
		if err != nil {
			return nil, err
		}
		h.log, how.Log = file, file
	}
	h.logged = how.Log
	own, err := variables(how.Data)
	if err != nil {
		return nil, errors.Join(err, h.log.Close())
	}
	seen := func(e events.Event) {
		if how.OnEvent != nil {
			how.OnEvent(cli.Event{Source: e.Source, DetailType: e.DetailType, Time: e.Time, Detail: e.Detail})
		}
	}
	h.Cloud, err = cloud.Open(ctx, cloud.Options{
		Data: how.Data, Account: cli.Account, Region: cli.Region, Seconds: cmp.Or(how.Seconds, -1), // a cloud takes 0 for its default
		Bucket: cli.Name, Table: cli.Name, StateMachine: cli.Name, Group: cli.Name, Definition: machine,
		Functions: functions(how, h.url, own), Routes: routes(), Notify: own["STACKWRIGHT_NOTIFY"] != "", Getenv: how.Getenv, Log: how.Log,
		Paused: how.ReadOnly, Seen: seen, Seed: seed, Trust: h.trust,
	})
	if err != nil {
		return nil, errors.Join(err, h.log.Close())
	}
	guarded := loopback.Programs(h.Cloud)
	if !how.Exposed {
		guarded = loopback.Hosts(guarded)
	}
	h.server = &http.Server{Handler: guarded, ReadHeaderTimeout: time.Minute}
	go func() { h.failed <- h.server.Serve(listener) }()
	if err := h.Cloud.Serving(h.url, how.HandsOver); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// readingOnly makes a cloud in memory of one that only reads a data folder that does not exist: reading makes none.
func readingOnly(how cli.Hosting) (cli.Hosting, error) {
	if !how.ReadOnly || how.Data == "" {
		return how, nil
	}
	_, err := os.Stat(how.Data)
	if errors.Is(err, fs.ErrNotExist) {
		how.Data, how.Log, err = "", io.Discard, nil
	}
	if err != nil {
		return how, fmt.Errorf("read data folder: %w", err)
	}
	return how, nil
}

// logFile opens the log in the data folder.
func logFile(data string) (*os.File, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(data, "stackwright.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return file, nil
}

// Serve is Open for a server. It waits for commands that use the folder for a
// moment, and interrupts a process that hosts the folder until it is idle,
// unless it is to be such a process itself.
func Serve(ctx context.Context, how cli.Hosting) (*Host, error) {
	interrupted := 0
	for started := time.Now(); ; {
		h, err := Open(ctx, how)
		used, taken := errors.AsType[*cloud.InUse](err)
		if !taken || time.Since(started) > patience {
			return h, err
		}
		switch is := used.Holder; {
		case is.URL == "": // a command opens, reads, or closes it
		case !is.Yields || how.HandsOver:
			return nil, err
		case is.PID != interrupted:
			if interrupted = is.PID; interrupt(interrupted) != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

const (
	patience = 30 * time.Second       // how long Stay waits for the folder
	pause    = 200 * time.Millisecond // between two tries
)

// URL is cli.Host.
func (h *Host) URL() string { return h.url }

// Page is cli.Host.
func (h *Host) Page() string { return h.page }

// Failed is cli.Host.
func (h *Host) Failed() <-chan error { return h.failed }

// Delivering is cli.Host.
func (h *Host) Delivering() bool { return h.Cloud.Bus.Undelivered() > 0 }

// interrupt asks a process to end.
func interrupt(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return errors.Join(p.Signal(os.Interrupt), p.Release())
}

// Idle reports whether nothing is in progress.
func (h *Host) Idle(ctx context.Context) bool {
	out, err := sfn.NewFromConfig(h.Cloud.Config()).ListExecutions(ctx, &sfn.ListExecutionsInput{
		StateMachineArn: aws.String(h.Cloud.Machine), StatusFilter: types.ExecutionStatusRunning,
	})
	return err == nil && len(out.Executions) == 0 && h.Cloud.Bus.Undelivered() == 0 && h.Cloud.Schedules.Pending() == 0
}

// Close ends the server and then the cloud. What is in progress continues when the
// folder is opened again. From the start, other commands do not connect to the server any more.
func (h *Host) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	all := []error{h.Cloud.Serving("", false)}
	for _, s := range []*http.Server{h.console, h.server} {
		if s == nil {
			continue
		}
		err := s.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = s.Close()
		}
		all = append(all, err)
	}
	return errors.Join(errors.Join(all...), h.Cloud.Close(), h.log.Close())
}
