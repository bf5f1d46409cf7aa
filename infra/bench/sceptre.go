package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/enginetest/workload"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// scale is by how much operations are faster than in the graph.
const scale = 10

// compare deploys the same graphs with both tools at the same emulator.
func (b *measurement) compare() error {
	for _, c := range []struct {
		name    string
		graph   workload.Graph
		instant bool
	}{
		{"instant", workload.Grid(10, 10, 1), true},
		{"makespan", workload.Grid(8, 10, 1), false},
	} {
		for _, tool := range []string{"stackwright", "sceptre"} {
			if err := b.deployWith(tool, c.name, c.graph, c.instant); err != nil {
				return fmt.Errorf("%s, %s: %w", tool, c.name, err)
			}
		}
	}
	return nil
}

// deployWith deploys a graph, does so again, and destroys it, at a new installation that
// this process hosts.
func (b *measurement) deployWith(tool, name string, g workload.Graph, instant bool) error {
	h, err := host.Open(context.Background(), cli.Hosting{
		Data: filepath.Join(b.work, tool+"-"+name), Address: "127.0.0.1:0", Functions: "inprocess", Seconds: 0, Getenv: func(string) string { return "" },
	})
	if err != nil {
		return err
	}
	defer func() {
		if err := h.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}()
	if !instant {
		for _, s := range g {
			f := cloudformation.Fault{Stack: "*" + s.Name, Seconds: s.Duration.Seconds() / scale}
			if err := h.Cloud.Stacks.Inject(f); err != nil {
				return err
			}
		}
	}
	deploy, destroy, err := b.commands(tool, name, h.URL(), g)
	if err != nil {
		return err
	}
	before := 0
	for _, one := range []struct {
		what string
		do   func() (result, error)
	}{{"deploy", deploy}, {"again", deploy}, {"destroy", destroy}} {
		r, err := one.do()
		if err != nil {
			return err
		}
		total := requests(h)
		key := strings.Join([]string{tool, name, one.what}, "/")
		b.figures["seconds/"+key], b.figures["cpu/"+key] = r.wall.Seconds(), r.cpu.Seconds()
		b.figures["calls/"+key] = float64(total-before) / float64(len(g))
		fmt.Fprintf(os.Stderr, "%s: %s, %d requests to CloudFormation\n", key, r.wall.Round(time.Millisecond), total-before)
		if before = total; !instant {
			b.figures["ratio/"+key] = r.wall.Seconds() * scale / g.CriticalPath().Seconds()
			break // only the deploy counts
		}
	}
	return nil
}

// requests counts the requests to CloudFormation.
func requests(h *host.Host) int {
	n := 0
	for _, all := range []map[string]int{h.Cloud.Stacks.Calls(), h.Cloud.Stacks.Reads()} {
		for _, count := range all {
			n += count
		}
	}
	return n
}

// commands returns how a tool deploys and destroys a graph.
func (b *measurement) commands(tool, name, url string, g workload.Graph) (deploy, destroy func() (result, error), err error) {
	if tool == "stackwright" {
		dir, err := b.project(tool+"-project-"+name, g)
		run := func(command string) func() (result, error) {
			return func() (result, error) {
				return b.run(nil, b.command, command, dir, "--endpoint", url, "--quiet", "--yes")
			}
		}
		return run("deploy"), run("destroy"), err
	}
	dir, err := b.sceptreProject(tool+"-project-"+name, g)
	env := []string{
		"AWS_ENDPOINT_URL=" + url, "AWS_ACCESS_KEY_ID=any", "AWS_SECRET_ACCESS_KEY=any", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
	}
	run := func(command string) func() (result, error) {
		return func() (result, error) { return b.run(env, b.sceptre, "--dir", dir, command, "--yes", "all") }
	}
	return run("launch"), run("delete"), err
}

// comparison is the table of both tools.
func (b *measurement) comparison() string {
	var t strings.Builder
	g := workload.Grid(8, 10, 1)
	fmt.Fprintf(&t, "Deploying the 80 stacks row by row takes at least %.2f times the critical path of %s.\n\n", g.Waves().Seconds()/g.CriticalPath().Seconds(), g.CriticalPath().Round(time.Second))
	t.WriteString("| measure | Sceptre 4.7 | Stackwright |\n|---|---:|---:|\n")
	for _, r := range []struct{ title, figure, format string }{
		{fmt.Sprintf("makespan ÷ critical path, 80 stacks 8 × 10, operations %d times faster", scale), "ratio/%s/makespan/deploy", "%.2f"},
		{"100 instant stacks 10 × 10: deploy", "seconds/%s/instant/deploy", "%.1f s"},
		{"the same again", "seconds/%s/instant/again", "%.2f s"},
		{"destroy", "seconds/%s/instant/destroy", "%.1f s"},
		{"requests to CloudFormation a created stack, instant", "calls/%s/instant/deploy", "%.2f"},
		{"an unchanged stack", "calls/%s/instant/again", "%.2f"},
		{"a deleted stack", "calls/%s/instant/destroy", "%.2f"},
		{"a created stack of the 80", "calls/%s/makespan/deploy", "%.2f"},
	} {
		fmt.Fprintf(&t, "| %s |", r.title)
		for _, tool := range []string{"sceptre", "stackwright"} {
			v, ok := b.figures[fmt.Sprintf(r.figure, tool)]
			if !ok {
				t.WriteString(" – |")
				continue
			}
			fmt.Fprintf(&t, " "+r.format+" |", v)
		}
		t.WriteString("\n")
	}
	return t.String()
}
