// Command bench measures how fast Stackwright is, and writes the tables of
// docs/performance.md: the figures of tests in virtual time, and those of real commands.
// With -sceptre it compares Stackwright with Sceptre instead.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/figure"
)

func main() {
	page := flag.String("page", "docs/performance.md", "the page whose tables are written; - writes none")
	only := flag.String("only", "", "only the producers that match this pattern; the page is not written")
	sceptre := flag.String("sceptre", "", "the sceptre command, to compare it with Stackwright")
	flag.Parse()
	if err := bench(*page, *only, *sceptre); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench prints a table, and writes it into the page.
func bench(page, only, sceptre string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "stackwright-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) // a temporary folder: what is left of it does no harm
	b := &measurement{work: work, figures: make(map[string]float64), command: "build/stackwright"}
	if b.command, err = filepath.Abs(b.command); err != nil {
		return err
	}
	about, name := machine(), "figures"
	table := func() string { return b.table(rows) }
	producers := all
	if sceptre != "" {
		if b.sceptre, err = filepath.Abs(sceptre); err != nil {
			return err
		}
		name, producers, table = "sceptre", []producer{{"sceptre", (*measurement).compare}}, b.comparison
	}
	var failed error
	started := time.Now()
	for _, p := range producers {
		if !pattern.MatchString(p.name) {
			continue
		}
		at := time.Now()
		if err := p.measure(b); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
		}
		fmt.Fprintf(os.Stderr, "%s took %s\n", p.name, time.Since(at).Round(time.Second))
	}
	if name == "figures" && only == "" {
		for _, r := range rows {
			if _, ok := b.value(r); !ok {
				failed = errors.Join(failed, fmt.Errorf("nothing has measured %s", r.figure))
			}
		}
	}
	text := about + fmt.Sprintf("; it took %s.\n\n", time.Since(started).Round(time.Second)) + table()
	fmt.Print(text)
	if failed != nil || page == "-" || only != "" {
		return failed
	}
	return write(page, name, text)
}

// A measurement collects figures.
type measurement struct {
	work    string // a folder
	command string // stackwright
	sceptre string // the command; "" if it is not compared
	figures map[string]float64
}

// A producer measures some figures.
type producer struct {
	name    string
	measure func(*measurement) error
}

// all produces the figures of rows.
var all = []producer{
	{"tests", (*measurement).tests},
	{"instant", (*measurement).instant},
	{"plan", (*measurement).plan},
	{"deploy", (*measurement).deploys},
	{"init", (*measurement).inits},
	{"zip", (*measurement).zips},
	{"idle", (*measurement).idle},
}

// tests runs the tests that measure in virtual time.
func (b *measurement) tests() error {
	file := filepath.Join(b.work, "figures")
	args := append([]string{"test", "-count", "1", "-timeout", "20m", "-run", virtual}, virtualPackages...)
	tests := exec.Command(cmp.Or(os.Getenv("GO"), "go"), args...)
	tests.Env = append(os.Environ(), figure.File+"="+file)
	tests.Stdout, tests.Stderr = os.Stderr, os.Stderr
	failed := tests.Run()
	f, err := os.Open(file)
	if err != nil {
		return errors.Join(failed, err)
	}
	defer f.Close() // it is only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var one figure.Figure
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return err
		}
		b.figures[one.Row] = one.Value
	}
	return failed
}

// A result is what a command took.
type result struct {
	wall, cpu time.Duration
	peak      int64 // memory in bytes
}

// run runs a command in the work folder. Its output is shown only if it fails.
func (b *measurement) run(env []string, name string, args ...string) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = b.work, append(os.Environ(), env...)
	started := time.Now()
	out, err := c.CombinedOutput()
	if err != nil {
		return result{}, fmt.Errorf("%s %v: %w\n%s", filepath.Base(name), args, err, out)
	}
	s := c.ProcessState
	return result{time.Since(started), s.UserTime() + s.SystemTime(), peak(s)}, nil
}
