package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/workload"
)

// The load on the API.
const (
	eachSecond = 50 // requests
	loaded     = 12 * time.Second
)

// answers measures how long the API needs for what the page asks about a run of 1,000 stacks, with the functions in one process, as
// on a laptop, and the memory of function api, as a process of its own.
func answers(ctx context.Context, b *measurement) error {
	dir, err := b.project("api", workload.Grid(wide, b.size(1000)/wide, 1))
	if err != nil {
		return err
	}
	if _, err := b.laptop(ctx, "api-data", "deploy", dir, "--yes"); err != nil {
		return err
	}
	err = b.served(ctx, "inprocess", func(api string) error {
		took, err := load(ctx, api)
		if err != nil {
			return err
		}
		b.figures["milliseconds/api"] = 1000 * took[len(took)*99/100].Seconds()
		fmt.Fprintf(os.Stderr, "%d requests: median %s, 99 of 100 within %s, the slowest %s\n", len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
		return nil
	})
	if err != nil {
		return err
	}
	return b.served(ctx, "binaries", func(api string) error {
		_, err := load(ctx, api)
		if memory, known := peakOf(filepath.Join(filepath.Dir(b.command), "api", "bootstrap")); known {
			b.figures["megabytes/api"] = float64(memory) / megabyte
		}
		return err
	})
}

// served calls f with the address of the API of a server whose functions run in a given way.
func (b *measurement) served(ctx context.Context, functions string, f func(api string) error) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	serve := exec.CommandContext(ctx, b.command, "serve", "--data", filepath.Join(b.work, "api-data"), "--seconds", instantly, "--listen", "127.0.0.1:0", "--console", address, "--functions", functions)
	serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
	serve.WaitDelay = 5 * time.Second
	if err := serve.Start(); err != nil {
		return err
	}
	defer func() {
		_ = serve.Process.Signal(os.Interrupt) // it fails only if the process has ended
		_ = serve.Wait()                       // it was interrupted
	}()
	return f("http://" + address)
}

// freeAddress is an address of this machine at which nothing listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// paths waits until the API answers, and returns the URLs of what the page asks about the newest run.
func paths(ctx context.Context, api string) ([]string, error) {
	of := api + "/projects/bench/default"
	var list struct{ Runs []struct{ Run string } }
	for {
		text, err := get(ctx, of+"/runs")
		if err == nil {
			err = json.Unmarshal(text, &list)
		}
		if err == nil && len(list.Runs) > 0 {
			break
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(errors.New("the API does not list the run"), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	run := of + "/runs/" + list.Runs[0].Run
	return []string{run, run + "/steps", run + "/timeline", run + "/graph", of, of + "/runs", of + "/stacks", of + "/lock", api + "/projects", api + "/approvals"}, nil
}

// get is the body of the answer to a request.
func get(ctx context.Context, url string) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, r.Status)
	}
	return text, err
}

// load starts eachSecond requests a second, and returns how long each took, in order. Each kind of request was answered once before:
// function api then has read the run, which has ended.
func load(ctx context.Context, api string) ([]time.Duration, error) {
	urls, err := paths(ctx, api)
	if err != nil {
		return nil, err
	}
	for _, url := range urls {
		if _, err := get(ctx, url); err != nil {
			return nil, err
		}
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	clock := time.NewTicker(time.Second / eachSecond)
	defer clock.Stop()
	for i := range int(loaded.Seconds()) * eachSecond {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-clock.C:
		}
		all.Go(func() {
			started := time.Now()
			_, err := get(ctx, urls[i%len(urls)])
			mu.Lock()
			defer mu.Unlock()
			took, failed = append(took, time.Since(started)), errors.Join(failed, err)
		})
	}
	all.Wait()
	slices.Sort(took)
	return took, failed
}

// peakOf is the most memory that a running process of a program has had, in bytes. It is known on Linux.
// https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
func peakOf(program string) (most int64, known bool) {
	processes, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return 0, false
	}
	for _, exe := range processes {
		if name, err := os.Readlink(exe); err != nil || name != program {
			continue // it is another program, has ended, or is of another user
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(exe), "status"))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(text)) {
			if kilobytes, found := strings.CutPrefix(line, "VmHWM:"); found {
				if n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kilobytes), " kB"), 10, 64); err == nil {
					most, known = max(most, n<<10), true
				}
			}
		}
	}
	return most, known
}
