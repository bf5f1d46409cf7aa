// Command bench measures how fast Stackwright is, and writes docs/performance.md: the
// figures of tests in virtual time, and those of real commands. It keeps the figures in
// infra/bench/measured.json, so that a part of them can be measured again. With -sceptre it
// compares Stackwright with Sceptre instead.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	only := flag.String("only", "", "only the producers that match this pattern")
	sceptre := flag.String("sceptre", "", "the sceptre command, to compare it with Stackwright")
	fast := flag.Bool("fast", false, "small projects and few tests, to try this command; it writes nothing")
	flag.Parse()
	if err := bench(*only, *sceptre, *fast); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench measures, prints the page's tables, and writes the figures and the page. A
// producer that fails or does not finish loses only its own figures; only one that fails
// is an error.
func bench(only, sceptre string, fast bool) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	r, err := read(recordFile)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "stackwright-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) // a temporary folder: what is left of it does no harm
	command, err := filepath.Abs("build/stackwright")
	if err != nil {
		return err
	}
	producers := all
	if sceptre != "" {
		if sceptre, err = filepath.Abs(sceptre); err != nil {
			return err
		}
		producers = []producer{comparison}
	}
	var failed error
	for _, p := range producers {
		if !pattern.MatchString(p.name) {
			continue
		}
		s, err := p.session(&measurement{work: work, command: command, sceptre: sceptre, fast: fast})
		r[p.name] = s
		fmt.Fprintf(os.Stderr, "%s took %.0f s %s\n", p.name, s.Took, s.Error)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
		}
	}
	fmt.Print(r.figures(), "\n", r.sessions(), "\n", r.missed())
	if fast {
		return failed
	}
	return errors.Join(failed, r.write(recordFile), r.writePage(page))
}

// A producer measures some figures.
type producer struct {
	name    string
	command string        // what it does, for the page
	budget  time.Duration // the most that it may take
	measure func(context.Context, *measurement) error
}

// all produces the figures of the first table. Together they have less than ten minutes.
var all = []producer{
	{"makespan", "`go test ./stepfn -run '^TestMakespan$'`", time.Minute, virtual("./stepfn", "Makespan")},
	{"order", "`go test ./stepfn -run '^TestCriticalPathFirst$'`", time.Minute, virtual("./stepfn", "CriticalPathFirst")},
	{"calls", "`go test ./stepfn -run '^TestCalls'`", 20 * time.Second, virtual("./stepfn", "Calls(OfUnchangedStacks)?")},
	{"cost", "`go test ./stepfn -run '^TestCostOfTenChains$'`", 10 * time.Second, virtual("./stepfn", "CostOfTenChains")},
	{"fleet", "`go test ./stepfn -run '^TestFleet$'`", 40 * time.Second, virtual("./stepfn", "Fleet")},
	{"poll", "`go test ./pkg/aws/dynamodb -run '^TestFollowReadsWhatChanged$'`", 30 * time.Second, virtual("./pkg/aws/dynamodb", "FollowReadsWhatChanged")},
	{"instant", "`stackwright deploy`, `deploy` and `destroy` with `--seconds 0`, three times", 30 * time.Second, instant},
	{"own", "`format.Read` and `plan.Deploy`, in one process", 15 * time.Second, own},
	{"plan", "`stackwright plan --seconds 0`", 40 * time.Second, planning},
	{"init", "each `build/FUNCTION/bootstrap`, 15 times", 20 * time.Second, inits},
	{"api", "`stackwright serve`, and the same with `--functions binaries`, with 50 requests a second", 50 * time.Second, answers},
	{"page", "`go test ./infra/stackwright -run '^TestLargePageInABrowser$'`, with Chromium", time.Minute, virtual("./infra/stackwright", "LargePageInABrowser", "-chromium", "chromium")},
	{"zip", "`build/lambda/FUNCTION/bootstrap`, compressed", 30 * time.Second, zips},
	{"idle", "the sum in docs/deploy.md", time.Second, idle},
	{"deploy", "`stackwright deploy --seconds 0` of 1,000, 1,600 and 10,000 stacks", 130 * time.Second, deploys},
}

// comparison measures both tools.
var comparison = producer{"sceptre", "`make bench-sceptre`", 30 * time.Minute, compare}

// session measures within the budget. What does not finish is no error: the page says so.
func (p producer) session(b *measurement) (session, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.budget)
	defer cancel()
	b.figures = make(map[string]float64)
	s := about()
	started := time.Now()
	err := p.measure(ctx, b)
	s.Took, s.Figures = time.Since(started).Seconds(), b.figures
	switch {
	case err != nil && ctx.Err() != nil:
		s.Error, err = fmt.Sprintf("not finished within %s", p.budget), nil
	case err != nil:
		s.Error = err.Error()
	}
	return s, err
}
