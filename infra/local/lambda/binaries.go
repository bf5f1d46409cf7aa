package lambda

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/loopback"
)

// perFunction limits the processes of one function; more invocations wait for one of them.
const perFunction = 50

// Binaries runs functions as processes: dir/<function>/bootstrap, which fetches its invocations through Lambda's
// Runtime API. Use NewBinaries.
type Binaries struct {
	dir, address string
	env          []string
	host         Host
	ids          numbers
	server       *http.Server
	ctx          context.Context
	cancel       context.CancelFunc
	tasks        sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	count    int
	children map[string]*child   // by the first element of their path
	idle     map[string][]*child // by function
	slots    map[string]chan struct{}
}

// NewBinaries makes functions of the bootstraps in dir; env is added to each one's environment. It listens on a
// loopback port for their calls; a process is started when a function is first invoked.
func NewBinaries(dir string, env []string, host Host) (*Binaries, error) {
	host = host.shared()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find functions: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for functions: %w", err)
	}
	b := &Binaries{dir: dir, address: listener.Addr().String(), env: env, host: host,
		children: map[string]*child{}, idle: map[string][]*child{}, slots: map[string]chan struct{}{}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.server = &http.Server{Handler: loopback.Hosts(loopback.Programs(b.routes())), BaseContext: func(net.Listener) context.Context { return b.ctx }}
	b.tasks.Go(func() {
		if err := b.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			_, _ = fmt.Fprintf(host.Log, "runtime API: %v\n", err) // an error of the log cannot be logged
		}
	})
	return b, nil
}

// Names lists the functions.
func (b *Binaries) Names() []string {
	found, err := filepath.Glob(filepath.Join(b.dir, "*", "bootstrap"))
	if err != nil {
		return nil // the only error is a bad pattern
	}
	names := []string{}
	for _, path := range found {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	slices.Sort(names)
	return names
}

// Invoke calls a function, by its name or ARN, and waits for its answer. An error of the function is a *FunctionError,
// also if its process crashed (Runtime.ExitError) or was killed at its timeout (Sandbox.Timedout). The error of a process
// that was killed from outside is not of the function. If ctx ends, Invoke returns and the function continues, as in
// Lambda.
func (b *Binaries) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	name := Name(function)
	if _, err := os.Stat(b.bootstrap(name)); err != nil || filepath.Base(name) != name {
		return nil, &NotFound{b.host.ARN(name) + " (no " + b.bootstrap(name) + ": make build puts it there)"}
	}
	done := make(chan result, 1)
	if !b.launch(func() {
		answer, err := b.run(name, payload)
		done <- result{answer, err}
	}) {
		return nil, errClosed
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case r := <-done:
		return r.answer, r.err
	}
}

func (b *Binaries) bootstrap(name string) string { return filepath.Join(b.dir, name, "bootstrap") }

func (b *Binaries) launch(task func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.tasks.Go(task)
	return true
}

// run carries out the invocation in a process.
func (b *Binaries) run(name string, payload []byte) ([]byte, error) {
	slot := b.slot(name)
	select {
	case slot <- struct{}{}:
		defer func() { <-slot }()
	case <-b.ctx.Done():
		return nil, errClosed
	}
	job := &job{id: b.ids.next(), arn: b.host.ARN(name), payload: payload, timeout: b.host.timeout(name), out: make(chan result, 1)}
	for {
		c, err := b.nextJob(name)
		if err != nil {
			return nil, err
		}
		answer, err := c.do(b.ctx, job)
		if errors.Is(err, errGone) {
			continue // the process ended after its last answer; another one continues
		}
		b.assign(c)
		if err == nil {
			err = tooLong(job.id, answer)
		}
		return answer, err
	}
}

func (b *Binaries) slot(name string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.slots[name] == nil {
		b.slots[name] = make(chan struct{}, perFunction)
	}
	return b.slots[name]
}

// nextJob returns an idle process, or starts one.
func (b *Binaries) nextJob(name string) (*child, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errClosed
	}
	if list := b.idle[name]; len(list) > 0 {
		c := list[len(list)-1]
		b.idle[name] = list[:len(list)-1]
		return c, nil
	}
	b.count++
	c, err := b.start(name, fmt.Sprintf("process-%d", b.count))
	if err != nil {
		return nil, fmt.Errorf("start function %s: %w", name, err)
	}
	b.children[c.id] = c
	b.tasks.Go(func() {
		c.wait()
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.children, c.id)
	})
	return c, nil
}

func (b *Binaries) assign(c *child) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.alive() {
		b.idle[c.function] = append(b.idle[c.function], c)
	}
}

func (b *Binaries) child(id string) *child {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.children[id]
}

// Close kills all processes and waits until they have ended.
func (b *Binaries) Close() error {
	b.mu.Lock()
	b.closed = true
	for _, c := range b.children {
		c.kill()
	}
	b.mu.Unlock()
	b.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := b.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = b.server.Close()
	}
	b.tasks.Wait()
	return err
}
