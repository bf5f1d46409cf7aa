package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/infra/local/lambda"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/wire"
)

// addressee is the function that an event file is for, by its name.
func addressee(file string) (function string, ok bool) {
	parts := strings.Split(filepath.Base(file), ".")
	return parts[0], len(parts) == 3 && parts[1] != "" && parts[2] == "json" && slices.Contains(wire.Names(), parts[0])
}

// invoke sends an event to a function's binary, and shows what it answers. An
// error of the function is an answer too.
func invoke(ctx context.Context, c *call) (int, error) {
	file := c.args[0]
	function, ok := addressee(file)
	if !ok {
		return exitFailed, fault.New(fault.Invalid, "%s is for no function: call it FUNCTION.WHAT.json, where FUNCTION is one of %s", file, strings.Join(wire.Names(), ", "))
	}
	apart := *c
	apart.err = only{c.err, function + ": "}
	s, err := apart.newScene(ctx, filepath.Dir(file))
	if err != nil {
		return exitFailed, err
	}
	if err := s.prepare(ctx, function); err != nil {
		return exitFailed, errors.Join(err, s.close())
	}
	answer, err := s.send(ctx, filepath.Base(file))
	code := exitOK
	if failed, is := errors.AsType[*lambda.FunctionError](err); is {
		answer, err, code = failed.Payload, nil, exitFailed
	}
	if err == nil {
		_, err = fmt.Fprintln(c.out, strings.TrimSpace(string(answer)))
	}
	if err = errors.Join(err, s.close()); err != nil {
		return exitFailed, err
	}
	return code, nil
}

// An only passes on what one function logs, and nothing of what had to come before.
type only struct {
	to     io.Writer
	prefix string
}

// Write is io.Writer. It is given a line at a time.
func (o only) Write(line []byte) (int, error) {
	if !bytes.HasPrefix(line, []byte(o.prefix)) {
		return len(line), nil
	}
	return o.to.Write(line)
}
