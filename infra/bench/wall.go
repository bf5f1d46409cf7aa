package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/workload"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

const (
	megabyte = 1e6
	wide     = 40 // stacks in a row of a large project
	rounds   = 3  // of a short measurement: the median counts
	starts   = 15 // of a function: the shortest counts
)

// A measurement collects figures.
type measurement struct {
	work    string // a folder
	command string // stackwright
	sceptre string // the command; "" if it is not compared
	fast    bool   // only to try the bench
	figures map[string]float64
}

// set sets a figure and the CPU time that belongs to it.
func (b *measurement) set(name string, value, cpu float64) {
	b.figures[name], b.figures["cpu "+name] = value, cpu
}

// size is the number of stacks of a large project.
func (b *measurement) size(n int) int {
	if b.fast {
		return n / 10
	}
	return n
}

// A result is what a command took.
type result struct {
	wall, cpu time.Duration
	peak      int64 // memory in bytes
}

// run runs a command in the work folder. Its output is shown only if it fails.
func (b *measurement) run(ctx context.Context, env []string, name string, args ...string) (result, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env, c.WaitDelay = b.work, append(os.Environ(), env...), time.Second
	started := time.Now()
	out, err := c.CombinedOutput()
	if err != nil {
		return result{}, fmt.Errorf("%s %v: %w\n%s", filepath.Base(name), args, err, out)
	}
	s := c.ProcessState
	return result{time.Since(started), s.UserTime() + s.SystemTime(), peak(s)}, nil
}

// laptop runs stackwright with an installation in a new folder, whose stacks take no time.
func (b *measurement) laptop(ctx context.Context, data, command, dir string, flags ...string) (result, error) {
	args := append([]string{command, dir, "--data", filepath.Join(b.work, data), "--seconds", instantly, "--quiet"}, flags...)
	return b.run(ctx, nil, b.command, args...)
}

// instantly is the duration of an operation that takes no time.
const instantly = "0"

// instant measures a deploy of 100 stacks, the same again, and destroy.
func instant(ctx context.Context, b *measurement) error {
	dir, err := b.project("instant", workload.Grid(10, 10, 1))
	if err != nil {
		return err
	}
	took, cpu := make(map[string][]float64), make(map[string][]float64)
	for round := range rounds {
		for _, c := range []struct{ figure, command string }{
			{"seconds/deploy 100", "deploy"}, {"seconds/deploy 100 again", "deploy"}, {"seconds/destroy 100", "destroy"},
		} {
			r, err := b.laptop(ctx, fmt.Sprint("instant", round), c.command, dir, "--yes")
			if err != nil {
				return err
			}
			took[c.figure], cpu[c.figure] = append(took[c.figure], r.wall.Seconds()), append(cpu[c.figure], r.cpu.Seconds())
		}
	}
	for figure, all := range took {
		b.set(figure, median(all), median(cpu[figure]))
	}
	return nil
}

func median(all []float64) float64 { return slices.Sorted(slices.Values(all))[len(all)/2] }

// planning measures the plan of a new project of 10,000 stacks.
func planning(ctx context.Context, b *measurement) error {
	dir, err := b.project("plan", workload.Grid(wide, b.size(10_000)/wide, 1))
	if err != nil {
		return err
	}
	r, err := b.laptop(ctx, "planned", "plan", dir)
	if err != nil {
		return err
	}
	b.set("seconds/plan 10000", r.wall.Seconds(), r.cpu.Seconds())
	b.figures["megabytes/plan 10000"] = float64(r.peak) / megabyte
	return nil
}

// own measures what the functions themselves do for the same plan: they read the files of
// the project, and plan.
func own(_ context.Context, b *measurement) error {
	dir, err := b.project("own", workload.Grid(wide, b.size(10_000)/wide, 1))
	if err != nil {
		return err
	}
	files, err := archive.Open(dir)
	if err != nil {
		return err
	}
	home := project.Target{Name: project.DefaultTarget, Account: "000000000000", Region: "us-east-1"}
	var took, used []float64
	for range rounds {
		started, before := time.Now(), ownCPU()
		loaded, err := format.Read(files, format.Options{Targets: map[string]project.Target{home.Name: home}})
		if err != nil {
			return err
		}
		if _, err := plan.Deploy(plan.View{Desired: loaded.Project}); err != nil {
			return err
		}
		took, used = append(took, time.Since(started).Seconds()), append(used, (ownCPU()-before).Seconds())
	}
	b.set("seconds/own 10000", median(took), median(used))
	return nil
}

// deploys measures deploys of 1,000, 1,600 and 10,000 stacks.
func deploys(ctx context.Context, b *measurement) error {
	took, cpu := make(map[int]float64), make(map[int]float64)
	for _, n := range []int{1000, 1600, 10_000} {
		name := fmt.Sprint("deploy", n)
		dir, err := b.project(name, workload.Grid(wide, b.size(n)/wide, 1))
		if err != nil {
			return err
		}
		r, err := b.laptop(ctx, name+"-data", "deploy", dir, "--yes")
		if err != nil {
			return err
		}
		took[n], cpu[n] = r.wall.Seconds(), r.cpu.Seconds()
		if n == 1600 {
			b.set("seconds/deploy 1600", took[n], cpu[n])
		} else {
			b.set(fmt.Sprint("milliseconds/stack of ", n), 1000*took[n]/float64(b.size(n)), 1000*cpu[n]/float64(b.size(n)))
		}
		fmt.Fprintf(os.Stderr, "deploy of %d stacks: %s, %s of CPU, %.0f MB\n", b.size(n), r.wall, r.cpu, float64(r.peak)/megabyte)
	}
	b.set("ratio/stack of 10000", took[10_000]/10/took[1000], cpu[10_000]/10/cpu[1000])
	return nil
}

// idleSum is the sum of what an idle installation costs. A test of infra/aws compares
// that table with the template.
var idleSum = regexp.MustCompile(`(?s)\| idle, a month.*?\| \*\*sum\*\* \| \| \*\*([0-9.]+)\*\* \|`)

// idle reads what an idle installation costs.
func idle(_ context.Context, b *measurement) error {
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
