package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// largeProject writes a project of n stacks into a folder. They are in rows of so many;
// each but those of the first row refers to outputs of two stacks of the row above.
func largeProject(b *testing.B, n, wide int) string {
	b.Helper()
	var text strings.Builder
	text.WriteString("project: large\nstacks:\n")
	for i := range n {
		fmt.Fprintf(&text, "  s%05d:\n    template: stack.yaml\n", i)
		if i >= wide {
			above := i - wide - i%wide
			fmt.Fprintf(&text, "    parameters:\n      A: ${s%05d.Name}\n      B: ${s%05d.Name}\n", above+i%wide, above+(i+1)%wide)
		}
	}
	dir := b.TempDir()
	for name, body := range map[string]string{
		"stackwright.yaml": text.String(),
		"stack.yaml": `Parameters: { A: { Type: String, Default: "" }, B: { Type: String, Default: "" } }
Resources: { Topic: { Type: AWS::SNS::Topic, Properties: { DisplayName: !Ref A } } }
Outputs: { Name: { Value: !GetAtt Topic.TopicName } }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// A whole command for a project of 10,000 stacks with about 20,000 edges, on a laptop.
func BenchmarkLargeProject(b *testing.B) {
	project := largeProject(b, 10_000, 100)
	for _, args := range [][]string{{"graph", project, "-o", "json"}, {"plan", project}, {"plan", project, "-o", "json"}} {
		b.Run(strings.ReplaceAll(strings.Join(args, " "), project, "DIR"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var out, failed bytes.Buffer
				s := cli.Shell{Laptop: host.Laptop{}, In: strings.NewReader(""), Out: &out, Err: &failed, Self: "stackwright", Getenv: func(string) string { return "" }}
				command := args
				if args[0] != "graph" {
					command = append([]string{"--data", b.TempDir()}, args...)
				}
				if code := cli.Execute(context.Background(), s, command); code != cli.ExitOK || out.Len() == 0 {
					b.Fatalf("it ended with %d\n%s", code, failed.String())
				}
			}
		})
	}
}
