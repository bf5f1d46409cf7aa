package main

import (
	"archive/zip"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/wire"
)

// inits measures how long functions take from the start of their process until they
// request the first event. The shortest of many starts counts, because other processes
// only make it longer.
func inits(ctx context.Context, b *measurement) error {
	slowest, most := 0.0, 0.0
	for _, name := range wire.Names() {
		var took, cpu []float64
		for range starts {
			wall, used, err := initTime(ctx, filepath.Join(filepath.Dir(b.command), name, "bootstrap"))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			took, cpu = append(took, 1000*wall.Seconds()), append(cpu, 1000*used.Seconds())
		}
		slowest, most = max(slowest, slices.Min(took)), max(most, slices.Min(cpu))
	}
	b.set("milliseconds/init", slowest, most)
	return nil
}

// variables are the environment of a function.
var variables = map[string]string{
	"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
	"STACKWRIGHT_TABLE": "stackwright", "STACKWRIGHT_BUCKET": "stackwright", "STACKWRIGHT_ACCOUNT": "000000000000",
	"STACKWRIGHT_STATE_MACHINE": "arn:aws:states:us-east-1:000000000000:stateMachine:stackwright",
}

// initTime starts a function and ends it when it requests an event.
func initTime(ctx context.Context, bootstrap string) (wall, cpu time.Duration, err error) {
	ready := make(chan time.Time, 1)
	runtime := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		select {
		case ready <- time.Now():
		default:
		}
		<-q.Context().Done()
	}))
	defer runtime.Close()
	c := exec.CommandContext(ctx, bootstrap)
	c.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + runtime.Listener.Addr().String()}
	for _, k := range slices.Sorted(maps.Keys(variables)) {
		c.Env = append(c.Env, k+"="+variables[k])
	}
	started := time.Now()
	if err := c.Start(); err != nil {
		return 0, 0, err
	}
	select {
	case at := <-ready:
		wall = at.Sub(started)
	case <-ctx.Done():
		err = errors.New("it requests no event")
	}
	_ = c.Process.Kill() // it fails only if the process has ended
	_ = c.Wait()         // it was killed
	return wall, c.ProcessState.UserTime() + c.ProcessState.SystemTime(), err
}

// zips measures the functions for AWS as they are uploaded.
func zips(_ context.Context, b *measurement) error {
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
	b.figures["megabytes/zip"] = float64(largest) / megabyte
	return nil
}

// A counter counts what is written to it.
type counter int

func (n *counter) Write(p []byte) (int, error) { *n += counter(len(p)); return len(p), nil }
