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
	"github.com/stackwright/stackwright/pkg/asl"
	"github.com/stackwright/stackwright/stepfn"
)

// A host is a cloud of this process, served at an address.
type host struct {
	cloud  *cloud.Cloud
	server *http.Server
	url    string
	log    io.Closer // nil if it is not ours
	failed chan error
}

// serve opens the cloud of the call's data folder and serves it at an address.
// What goes wrong unseen is written to log, or to a file in the folder.
func (c *call) serve(ctx context.Context, address string, log io.Writer) (*host, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w: choose another address with --listen", address, err)
	}
	h := &host{url: "http://" + listener.Addr().String(), failed: make(chan error, 1)}
	if log == nil {
		file, err := c.logFile()
		if err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		h.log, log = file, file
	}
	definition, err := asl.Substitute(stepfn.Run, map[string]string{
		"Plan": arn("plan"), "ExecuteStep": arn("execute-step"), "WaitStatus": arn("wait-status"),
	})
	if err == nil {
		h.cloud, err = cloud.Open(ctx, cloud.Options{
			Data: c.flags.data, Account: account, Region: region, Seconds: c.flags.seconds,
			Bucket: name, Table: name, StateMachine: name, Definition: definition,
			Functions: c.functions(h.url, log), Getenv: c.getenv, Log: log,
		})
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close(), h.closeLog())
	}
	h.server = &http.Server{Handler: h.cloud, ReadHeaderTimeout: time.Minute}
	go func() { h.failed <- h.server.Serve(listener) }()
	if err := h.cloud.Serving(h.url); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
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

// quiet reports whether no run goes on, or will not in a moment: the end of a
// run is written before its execution ends.
func (h *host) quiet(ctx context.Context) bool {
	client := sfn.NewFromConfig(h.cloud.Config())
	for range 20 {
		out, err := client.ListExecutions(ctx, &sfn.ListExecutionsInput{
			StateMachineArn: aws.String(h.cloud.Machine), StatusFilter: types.ExecutionStatusRunning,
		})
		if err == nil && len(out.Executions) == 0 && h.cloud.Bus.Undelivered() == 0 {
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
	if h.log == nil {
		return nil
	}
	return h.log.Close()
}
