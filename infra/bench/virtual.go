package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/figure"
)

// virtual returns a producer that runs tests which measure in virtual time. The figures of
// tests that end before the budget count. make bench has built the tests.
func virtual(pkg, tests string, flags ...string) func(context.Context, *measurement) error {
	return func(ctx context.Context, b *measurement) error {
		pattern := "^Test" + tests + "$"
		if b.fast {
			pattern += "/^(4x5|8x10|20x5|.*10s|.*5s|.*ten_seconds|.*steps)$"
		}
		file := filepath.Join(b.work, "figures")
		if err := os.RemoveAll(file); err != nil {
			return err
		}
		built, err := filepath.Abs(filepath.Join("build", "bench", path.Base(pkg)+".test"))
		if err != nil {
			return err
		}
		c := exec.CommandContext(ctx, built, "-test.timeout", "0", "-test.run", pattern)
		c.Args = append(c.Args, flags...)
		c.Dir, c.Env = pkg, append(os.Environ(), figure.File+"="+file)
		c.Stdout, c.Stderr, c.WaitDelay = os.Stderr, os.Stderr, time.Second
		failed := c.Run()
		f, err := os.Open(file)
		if err != nil {
			return errors.Join(failed, err)
		}
		defer f.Close() // it is only read
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var one figure.Figure
			if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
				return errors.Join(failed, err)
			}
			b.figures[one.Name] = one.Value
		}
		return failed
	}
}
