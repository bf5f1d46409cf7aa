package lambda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// initTimeout is how long a process may take until it asks for its first invocation. Lambda then starts it once more,
// within the timeout of the function; here it goes on:
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
const initTimeout = 10 * time.Second

// errGone is the error of a process that ended while it was idle.
var errGone = errors.New("the process is gone")

// job is one invocation.
type job struct {
	id, arn string
	payload []byte
	timeout time.Duration
	out     chan result
}

// child is a process of one function. It carries out one job at a time.
type child struct {
	id, function string
	cmd          *exec.Cmd
	work         chan *job
	gone         chan struct{} // closed when the process has ended

	mu      sync.Mutex
	current *job
	served  bool
	failed  []byte // the report of a failed start
	exit    error
}

func (b *Binaries) start(function, id string) (*child, error) {
	c := &child{id: id, function: function, work: make(chan *job), gone: make(chan struct{})}
	c.cmd = exec.Command(b.bootstrap(function))
	c.cmd.Dir = filepath.Dir(b.bootstrap(function))
	c.cmd.Env = append([]string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "TZ=:UTC", "LANG=en_US.UTF-8", "_HANDLER=bootstrap",
		"LAMBDA_TASK_ROOT=" + c.cmd.Dir, "AWS_EXECUTION_ENV=AWS_Lambda_provided.al2023",
		"AWS_REGION=" + b.host.Region, "AWS_DEFAULT_REGION=" + b.host.Region,
		"AWS_LAMBDA_FUNCTION_NAME=" + function, "AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
	}, b.env...)
	if b.host.Environ != nil {
		c.cmd.Env = append(c.cmd.Env, b.host.Environ(function)...)
	}
	// The path identifies the process: the Runtime API itself does not name its caller.
	c.cmd.Env = append(c.cmd.Env, "AWS_LAMBDA_RUNTIME_API="+b.address+"/"+id)
	out := &lines{to: b.host.Log, prefix: function + ": "}
	c.cmd.Stdout, c.cmd.Stderr = out, out
	c.cmd.WaitDelay = time.Second
	apart(c.cmd)
	return c, c.cmd.Start()
}

// wait waits for the end of the process.
func (c *child) wait() {
	err := c.cmd.Wait()
	c.mu.Lock()
	c.exit = err
	c.mu.Unlock()
	close(c.gone)
}

func (c *child) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

// do carries out a job and waits for its end.
func (c *child) do(ctx context.Context, j *job) ([]byte, error) {
	start := time.NewTimer(initTimeout + j.timeout)
	defer start.Stop()
	select {
	case c.work <- j:
	case <-c.gone:
		return nil, c.neverReady(j)
	case <-start.C:
		c.kill()
		<-c.gone
		return nil, reportOf("Sandbox.Timedout", j.id, "the function did not ask for work within %s", initTimeout+j.timeout)
	case <-ctx.Done():
		return nil, errClosed
	}
	limit := time.NewTimer(j.timeout)
	defer limit.Stop()
	select {
	case r := <-j.out:
		return r.answer, r.err
	case <-c.gone:
		return c.last(j)
	case <-limit.C:
		c.kill()
		<-c.gone
		return nil, timedOut(j.id, j.timeout)
	case <-ctx.Done():
		return nil, errClosed
	}
}

// last is the answer of a process that ended right after it, or the report of a process that ended without one.
func (c *child) last(j *job) ([]byte, error) {
	select {
	case r := <-j.out:
		return r.answer, r.err
	default:
		return nil, c.crashed(j)
	}
}

func (c *child) neverReady(j *job) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.served {
		return errGone
	}
	if c.failed != nil {
		return failure(c.failed)
	}
	return c.crash(j)
}

func (c *child) crashed(j *job) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.crash(j)
}

// crash is the error of a process that ended without an answer. A process that a signal ended was killed from outside: a
// function here has no limit of memory. That is as if Lambda had lost the machine under it, so it is no FunctionError.
func (c *child) crash(j *job) error {
	if failed, ok := errors.AsType[*exec.ExitError](c.exit); ok && failed.ExitCode() < 0 {
		return fmt.Errorf("RequestId: %s Error: the process of function %s was killed: %w", j.id, c.function, c.exit)
	}
	how := "exit status 0"
	if c.exit != nil {
		how = c.exit.Error()
	}
	return reportOf("Runtime.ExitError", j.id, "Runtime exited with error: %s", how)
}

// begin makes j the current job of the process.
func (c *child) begin(j *job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current, c.served = j, true
}

// finish answers the job with the ID; false means that it is not the current one.
func (c *child) finish(id string, r result) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil || c.current.id != id {
		return false
	}
	c.current.out <- r
	c.current = nil
	return true
}

// lines writes a prefix before each line.
type lines struct {
	mu     sync.Mutex
	to     io.Writer
	prefix string
	rest   []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(b), nil
		}
		if _, err := fmt.Fprintf(l.to, "%s%s\n", l.prefix, line); err != nil {
			return 0, err
		}
		l.rest = rest
	}
}
