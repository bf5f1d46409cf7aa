package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/pkg/lib/asl"
	"github.com/stackwright/stackwright/stepfn"
)

// A hosting says how a cloud is to be hosted.
type hosting struct {
	address string
	log     io.Writer // nil is a file in the data folder
	still   bool      // only to be looked at: nothing goes on
	yields  bool      // until somebody means to stay
	seed    uint64    // what IDs follow from; 0 is chance
	machine []byte    // stands in for the state machine that is deployed; nil is that one
}

// A host is a cloud of this process, served at an address.
type host struct {
	hosting
	cloud  *cloud.Cloud
	server *http.Server
	url    string
	file   io.Closer // the log; nil if it is not ours
	failed chan error
}

// serve opens the cloud of the call's data folder and serves it. What goes wrong
// unseen is logged. It is an *cloud.InUse if another process has the folder.
func (c *call) serve(ctx context.Context, how hosting) (*host, error) {
	listener, err := net.Listen("tcp", how.address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w: choose another address with --listen", how.address, err)
	}
	h := &host{hosting: how, url: "http://" + listener.Addr().String(), failed: make(chan error, 1)}
	if how.log == nil {
		file, err := c.logFile()
		if err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		h.file, h.log = file, file
	}
	definition, err := how.definition()
	if err == nil {
		h.cloud, err = cloud.Open(ctx, cloud.Options{
			Data: c.flags.data, Account: account, Region: region, Seconds: c.flags.seconds,
			Bucket: name, Table: name, StateMachine: name, Group: name, Definition: definition,
			Functions: c.functions(h.url, h.log), Routes: routes(), Getenv: c.getenv, Log: h.log, Still: how.still, Seed: how.seed, Trust: trust,
		})
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close(), h.closeLog())
	}
	h.server = &http.Server{Handler: h.cloud, ReadHeaderTimeout: time.Minute}
	go func() { h.failed <- h.server.Serve(listener) }()
	if err := h.cloud.Serving(h.url, how.yields); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// definition is that of the state machine.
func (how hosting) definition() ([]byte, error) {
	if how.machine != nil {
		return how.machine, nil
	}
	return asl.Substitute(stepfn.Run, map[string]string{
		"Plan": arn("plan"), "ExecuteStep": arn("execute-step"), "WaitStatus": arn("wait-status"),
	})
}

// logFile opens the file in the data folder to which is written what nobody
// watches.
func (c *call) logFile() (*os.File, error) {
	if err := os.MkdirAll(c.flags.data, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(c.flags.data, "stackwright.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return file, nil
}

// stay is serve for whoever means to stay, or to carry on for the time being
// (how.yields): it waits for who only looks, and has who yields leave, unless it
// would itself.
func (c *call) stay(ctx context.Context, how hosting) (*host, error) {
	told := 0
	for begun := time.Now(); ; {
		h, err := c.serve(ctx, how)
		used, taken := errors.AsType[*cloud.InUse](err)
		if !taken || time.Since(begun) > patient {
			return h, err
		}
		switch is := used.Holder; {
		case is.URL == "": // it is being opened, looked at, or closed
		case !is.Yields || how.yields:
			return nil, err
		case is.PID != told:
			if told = is.PID; interrupt(told) != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(glance):
		}
	}
}

// interrupt asks a process to end.
func interrupt(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return errors.Join(p.Signal(os.Interrupt), p.Release())
}

// quiet reports whether no run goes on, or will not in a moment: the end of a
// run is written before its execution ends.
func (h *host) quiet(ctx context.Context) bool {
	for range 20 {
		if h.idle(ctx) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(glance / 2):
		}
	}
	return false
}

// idle reports whether there is nothing to go on with now.
func (h *host) idle(ctx context.Context) bool {
	out, err := sfn.NewFromConfig(h.cloud.Config()).ListExecutions(ctx, &sfn.ListExecutionsInput{
		StateMachineArn: aws.String(h.cloud.Machine), StatusFilter: types.ExecutionStatusRunning,
	})
	return err == nil && len(out.Executions) == 0 && h.cloud.Bus.Undelivered() == 0 && h.cloud.Schedules.Pending() == 0
}

// close ends the server and then the cloud; what was in flight goes on when the
// folder is next opened.
func (h *host) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := h.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = h.server.Close()
	}
	return errors.Join(err, h.cloud.Close(), h.closeLog())
}

// closeLog closes the log if it is ours.
func (h *host) closeLog() error {
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}
