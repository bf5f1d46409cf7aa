package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/lib/price"
)

// The cost of testdata/cost: before it is deployed, and when it is changed afterwards, in each form. The plan has a line of it.
func TestCost(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "cost")
	if err := os.CopyFS(l.project, os.DirFS("testdata/cost")); err != nil {
		t.Fatal(err)
	}
	l.serve(0.05)
	first := l.must(cli.ExitOK, "cost", l.project)
	l.must(cli.ExitOK, "deploy", l.project)
	l.has(l.must(cli.ExitOK, "cost", l.project), "the plan changes nothing that has a price; 4 unchanged") // the secret may have changed
	l.edit("stackwright.yaml", "nat: false", "nat: true")
	l.edit("stackwright.yaml", "size: t3.small", "size: t3.medium")
	l.edit("files/db.yaml", "MultiAZ: true", "MultiAZ: false")
	change := l.must(cli.ExitOK, "cost", l.project)
	links := l.must(cli.ExitOK, "cost", l.project, "--link", "--only", "network,data/db")
	document := l.must(cli.ExitOK, "cost", l.project, "-o", "json")
	for name, got := range map[string]string{"first.txt": first, "change.txt": change, "links.txt": links, "change.json": indented(t, document)} {
		golden.Same(t, filepath.Join("testdata", "cost.golden", name), got)
	}
	for line := range strings.Lines(first + change) {
		if words := strings.Fields(line); utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 && len(words) > 3 {
			t.Errorf("longer than 80 columns: %s", line)
		}
	}
	var c report.Cost
	if err := json.Unmarshal([]byte(document), &c); err != nil {
		t.Fatal(err)
	}
	// A NAT gateway and its address, two t3.medium instead of t3.small, and one db.t4g.medium with 20 GB less.
	want := price.Of((0.045+0.005)*730 + 2*(0.0416-0.0208)*730 - 0.065*730 - 20*0.115)
	if c.Cost.Difference.Dollars() != want || c.Format != report.CostFormat {
		t.Errorf("the difference is %v, want %s", c.Cost.Difference, want)
	}
	for _, form := range []string{"text", "markdown"} {
		l.has(l.must(cli.ExitOK, "plan", l.project, "-o", form), "cost: +"+want.String()+" a month, an estimate (")
	}
	l.has(l.must(cli.ExitOK, "plan", l.project, "-o", "json"), `"cost":{"currency":"USD"`)
	l.has(l.must(cli.ExitOK, "destroy", l.project, "--plan"), "cost: -$")
	shows(t, "../../docs/how-to/estimate-costs.md", "## What it shows", change)
	l.has(links, "CloudFormation's estimate: https://calculator.s3.amazonaws.com/", "parameter Password is a secret")
}

// The policies of the page about costs read the cost of a plan.
func TestPoliciesOfCosts(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/how-to/estimate-costs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, policies, _ := strings.Cut(string(page), "```yaml\n")
	policies, _, _ = strings.Cut(policies, "```")
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "cost")
	if err := os.CopyFS(l.project, os.DirFS("testdata/cost")); err != nil {
		t.Fatal(err)
	}
	l.serve(0.05)
	l.edit("stackwright.yaml", "project: bill\n", "project: bill\n"+policies)
	const warned, denied = "WARNING: policy unknown-prices warns of the plan", "DENIED: policy budget denies the plan"
	text := l.must(cli.ExitOK, "plan", l.project)
	l.has(text, warned)
	if strings.Contains(text, "DENIED") {
		t.Error(text)
	}
	l.edit("stackwright.yaml", "size: t3.small", "size: m5.24xlarge")
	l.has(l.must(cli.ExitRefused, "plan", l.project), warned, denied)
	l.has(l.must(cli.ExitOK, "cost", l.project), "m5.24xlarge") // it says what it costs all the same
}

// A suspend says what it saves an hour, status says it meanwhile, and a resume what it has saved.
func TestSavingsOfSuspend(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "cost")
	if err := os.CopyFS(l.project, os.DirFS("testdata/cost")); err != nil {
		t.Fatal(err)
	}
	l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.must(cli.ExitOK, "suspend", l.project)
	steps := l.must(cli.ExitOK, "status", "-o", "json")
	l.has(steps, "this saves about $0.04 an hour, an estimate", "this saves about $0.13 an hour, an estimate", `"hourly":0.1716`, `"unpriced":0`)
	l.has(l.run("status").err, "bill@default is suspended since ", "data/db, web; this saves about $0.17 an hour, an estimate")
	l.must(cli.ExitOK, "resume", l.project)
	l.has(l.must(cli.ExitOK, "status", "-o", "json"), "this has saved about $", " in 0.0 hours, an estimate")
}

// A template that is too large for the request of a link, a token instead of credentials, and CloudFormation's refusals have messages.
func TestCostLinkRefused(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "cost")
	if err := os.CopyFS(l.project, os.DirFS("testdata/cost")); err != nil {
		t.Fatal(err)
	}
	l.serve(0.05)
	l.edit("files/secret.yaml", "Resources:", strings.Repeat("# nothing\n", 6000)+"Resources:")
	said := strings.Join(strings.Fields(l.must(cli.ExitOK, "cost", l.project, "--link")), " ")
	l.has(said, "bytes, and a request has room for 51200", "parameter Subnet is not known: ${network.Subnet}: stack network is not deployed yet, or has no such output")
	l.env["STACKWRIGHT_TOKEN"], l.elsewhere = "token", true
	if r := l.run("cost", l.project, "--link", "--api", "https://example.com"); r.code != cli.ExitRefused || !strings.Contains(r.err, "--link sends requests to CloudFormation, for which a token is not enough") {
		t.Errorf("%d: %s", r.code, r.err)
	}
}
