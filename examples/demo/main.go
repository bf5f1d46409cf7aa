// Command demo shows what Stackwright does, on the project in examples/shop and
// on a throw-away copy of the laptop's AWS. It checks all that it shows.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	program := flag.String("stackwright", "build/stackwright", "the program to show")
	project := flag.String("project", "examples/shop", "the project to show it on")
	seconds := flag.Float64("seconds", 1, "simulated seconds that an operation on a stack takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := demonstrate(ctx, *program, *project, *seconds)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demonstrate plays all acts.
func demonstrate(ctx context.Context, program, project string, seconds float64) (err error) {
	started := time.Now()
	s, err := open(ctx, program, project, seconds)
	if err != nil {
		return err
	}
	defer func() { err = s.close(err) }()
	acts := []func(context.Context) error{s.deploys, s.showsOutputs, s.changes, s.fails, s.retries, s.reviews, s.adopts, s.imports, s.moves, s.forgets, s.destroys}
	for n, act := range acts {
		if err := act(ctx); err != nil {
			return fmt.Errorf("act %d: %w", n+1, err)
		}
	}
	fmt.Printf("\nAll of it took %.0f seconds; every exit code and every step was as it should be.\n", time.Since(started).Seconds())
	return nil
}
