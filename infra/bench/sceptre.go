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
func compare(ctx context.Context, b *measurement) error {
	for _, c := range []struct {
		name    string
		graph   workload.Graph
		instant bool
	}{
		{"instant", workload.Grid(10, 10, 1), true},
		{"makespan", workload.Grid(8, 10, 1), false},
	} {
		for _, tool := range []string{"stackwright", "sceptre"} {
			if err := b.deployWith(ctx, tool, c.name, c.graph, c.instant); err != nil {
				return fmt.Errorf("%s, %s: %w", tool, c.name, err)
			}
		}
	}
	return nil
}

// deployWith deploys a graph, does so again, and destroys it, at a new installation that
// this process hosts.
func (b *measurement) deployWith(ctx context.Context, tool, name string, g workload.Graph, instant bool) error {
	h, err := host.Open(ctx, cli.Hosting{
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
	deploy, destroy, err := b.commands(ctx, tool, name, h.URL(), g)
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
func (b *measurement) commands(ctx context.Context, tool, name, url string, g workload.Graph) (deploy, destroy func() (result, error), err error) {
	if tool == "stackwright" {
		dir, err := b.project(tool+"-project-"+name, g)
		run := func(command string) func() (result, error) {
			return func() (result, error) {
				return b.run(ctx, nil, b.command, command, dir, "--endpoint", url, "--quiet", "--yes")
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
		return func() (result, error) { return b.run(ctx, env, b.sceptre, "--dir", dir, command, "--yes", "all") }
	}
	return run("launch"), run("delete"), err
}
