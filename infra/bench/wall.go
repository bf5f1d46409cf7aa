package main

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/workload"
	"github.com/stackwright/stackwright/pkg/wire"
)

const (
	megabyte = 1e6
	wide     = 40 // stacks in a row of a large project
	rounds   = 3  // of a short measurement: the median counts
)

// laptop runs stackwright with an installation in a new folder, whose stacks take no time.
func (b *measurement) laptop(data, command, dir string, flags ...string) (result, error) {
	args := append([]string{command, dir, "--data", filepath.Join(b.work, data), "--seconds", instantly, "--quiet"}, flags...)
	return b.run(nil, b.command, args...)
}

// instantly is the duration of an operation that takes no time.
const instantly = "0"

// instant measures a deploy of 100 stacks, the same again, and destroy.
func (b *measurement) instant() error {
	dir, err := b.project("instant", workload.Grid(10, 10, 1))
	if err != nil {
		return err
	}
	took, cpu := make(map[string][]float64), make(map[string][]float64)
	for round := range rounds {
		for _, c := range []struct{ figure, command string }{
			{"seconds/deploy 100", "deploy"}, {"seconds/deploy 100 again", "deploy"}, {"seconds/destroy 100", "destroy"},
		} {
			r, err := b.laptop(fmt.Sprint("instant", round), c.command, dir, "--yes")
			if err != nil {
				return err
			}
			took[c.figure], cpu[c.figure] = append(took[c.figure], r.wall.Seconds()), append(cpu[c.figure], r.cpu.Seconds())
		}
	}
	for figure, all := range took {
		b.figures[figure], b.figures["cpu "+figure] = median(all), median(cpu[figure])
	}
	return nil
}

func median(all []float64) float64 { return slices.Sorted(slices.Values(all))[len(all)/2] }

// plan measures the plan of a new project of 10,000 stacks.
func (b *measurement) plan() error {
	dir, err := b.project("plan", workload.Grid(wide, 10_000/wide, 1))
	if err != nil {
		return err
	}
	r, err := b.laptop("planned", "plan", dir)
	if err != nil {
		return err
	}
	b.figures["seconds/plan 10000"], b.figures["cpu seconds/plan 10000"], b.figures["bytes/plan 10000"] = r.wall.Seconds(), r.cpu.Seconds(), float64(r.peak)/megabyte
	return nil
}

// deploys measures deploys of 1,000, 1,600 and 10,000 stacks.
func (b *measurement) deploys() error {
	took, cpu := make(map[int]float64), make(map[int]float64)
	for _, n := range []int{1000, 1600, 10_000} {
		name := fmt.Sprint("deploy", n)
		dir, err := b.project(name, workload.Grid(wide, n/wide, 1))
		if err != nil {
			return err
		}
		r, err := b.laptop(name+"-data", "deploy", dir, "--yes")
		if err != nil {
			return err
		}
		took[n], cpu[n] = r.wall.Seconds(), r.cpu.Seconds()
		fmt.Fprintf(os.Stderr, "deploy of %d stacks: %s, %s of CPU, %.0f MB\n", n, r.wall, r.cpu, float64(r.peak)/megabyte)
	}
	b.figures["seconds/deploy 1600"], b.figures["cpu seconds/deploy 1600"] = took[1600], cpu[1600]
	b.figures["milliseconds/stack of 1000"], b.figures["milliseconds/stack of 10000"] = took[1000], took[10_000]/10
	b.figures["ratio/stack of 10000"], b.figures["cpu ratio/stack of 10000"] = took[10_000]/10/took[1000], cpu[10_000]/10/cpu[1000]
	return nil
}

// inits measures how long functions take from the start of their process until they
// request the first event.
func (b *measurement) inits() error {
	slowest := 0.0
	for _, name := range wire.Names() {
		var took []float64
		for range 2*rounds + 1 {
			d, err := initTime(filepath.Join(filepath.Dir(b.command), name, "bootstrap"))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			took = append(took, float64(d)/float64(time.Millisecond))
		}
		slowest = max(slowest, median(took))
	}
	b.figures["milliseconds/init"] = slowest
	return nil
}

// variables are the environment of a function.
var variables = map[string]string{
	"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
	"STACKWRIGHT_TABLE": "stackwright", "STACKWRIGHT_BUCKET": "stackwright", "STACKWRIGHT_ACCOUNT": "000000000000",
	"STACKWRIGHT_STATE_MACHINE": "arn:aws:states:us-east-1:000000000000:stateMachine:stackwright",
}

// initTime starts a function and ends it when it requests an event.
func initTime(bootstrap string) (time.Duration, error) {
	ready := make(chan time.Time, 1)
	runtime := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		select {
		case ready <- time.Now():
		default:
		}
		<-q.Context().Done()
	}))
	defer runtime.Close()
	c := exec.Command(bootstrap)
	c.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + runtime.Listener.Addr().String()}
	for _, k := range slices.Sorted(maps.Keys(variables)) {
		c.Env = append(c.Env, k+"="+variables[k])
	}
	started := time.Now()
	if err := c.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = c.Process.Kill() // it fails only if the process has ended
		_ = c.Wait()         // it was killed
	}()
	select {
	case at := <-ready:
		return at.Sub(started), nil
	case <-time.After(10 * time.Second):
		return 0, errors.New("it requests no event")
	}
}

// zips measures the functions for AWS as they are uploaded.
func (b *measurement) zips() error {
	largest := 0
	for _, name := range wire.Names() {
		f, err := os.Open(filepath.Join(filepath.Dir(b.command), "lambda", name, "bootstrap"))
		if err != nil {
			return err
		}
		var n counter
		z := zip.NewWriter(&n)
		z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
		w, err := z.Create("bootstrap")
		if err == nil {
			_, err = io.Copy(w, f)
		}
		if err := errors.Join(err, z.Close(), f.Close()); err != nil {
			return err
		}
		largest = max(largest, int(n))
	}
	b.figures["bytes/zip"] = float64(largest) / megabyte
	return nil
}

// A counter counts what is written to it.
type counter int

func (n *counter) Write(p []byte) (int, error) { *n += counter(len(p)); return len(p), nil }

// idleSum is the sum of what an idle installation costs. A test of infra/aws compares
// that table with the template.
var idleSum = regexp.MustCompile(`(?s)\| idle, a month.*?\| \*\*sum\*\* \| \| \*\*([0-9.]+)\*\* \|`)

// idle reads what an idle installation costs.
func (b *measurement) idle() error {
	page, err := os.ReadFile("docs/deploy.md")
	if err != nil {
		return err
	}
	found := idleSum.FindSubmatch(page)
	if found == nil {
		return errors.New("docs/deploy.md has no sum of what an idle installation costs")
	}
	b.figures["dollars/idle"], err = strconv.ParseFloat(string(found[1]), 64)
	return err
}
