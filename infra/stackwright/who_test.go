package main

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/format/archive"
)

// A deploy that supersedes the user's own run asks nothing, not even on a terminal.
func TestDeployAsksOnlyAboutRunsOfOthers(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.slow(h, "pair-topic", 4, func() {
		first, one := l.begin("deploy", l.project)
		id := l.running(first)
		l.until(first, `(done)  +alone/create`)
		l.edit("stackwright.yaml", "text: hello", "text: goodbye")
		l.answers = "no\n"
		second, two := l.begin("deploy", l.project)
		l.until(second, `run (\w+) waits for `+id)
		l.ended(first, one, cli.ExitStopped)
		l.ended(second, two, cli.ExitOK)
		if strings.Contains(second.String(), "this deploy supersedes") {
			t.Errorf("it asks about the user's own run:\n%s", second)
		}
	})
}

// An upload of another program than the command line is shown with what its metadata
// and its event say, and harms no terminal.
func TestUploadsOfOtherProgramsSayWhoMadeThem(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	const known = "unknown principal of account " + cli.Account
	for _, c := range []struct{ metadata, claim string }{
		{"", ""},
		{"release pipeline 7", "release pipeline 7"},
		{"jürgen@büro", "jürgen@büro"},
		{"arn:aws:iam::000000000000:assumed-role/security/ciso", "arn:aws:iam::000000000000:assumed-role/security/ciso"},
		{"ann\x1b[2J\x07@laptop\r\nroot", "ann?[2J?@laptop??root"},
		{strings.Repeat("a ", 5_000), strings.Repeat("a ", 350) + "…"},
	} {
		id := l.uploads(h, c.metadata)
		l.must(cli.ExitOK, "status", id, "--follow")
		run := l.last(l.must(cli.ExitOK, "status", id, "-o", "json"))
		if claim, _ := run["claim"].(string); run["who"] != known || claim != c.claim || run["requester"] != cli.Account || run["state"] != "succeeded" {
			t.Errorf("%.40q: run %s, requested by %q, which says it is %q, of account %q", c.metadata, run["state"], run["who"], claim, run["requester"])
		}
		for _, shown := range []string{l.must(cli.ExitOK, "status", id), l.must(cli.ExitOK, "runs")} {
			if l.has(shown, cmp.Or(c.claim, known)[:3]); strings.ContainsAny(shown, "\x1b\x07\r") {
				t.Errorf("it holds control characters: %q", shown)
			}
		}
	}
}

// uploads puts the laptop's project with metadata that names who puts it, and returns
// the run that the upload starts.
func (l *laptop) uploads(h *host.Host, who string) string {
	l.Helper()
	known := len(l.objects(l.must(cli.ExitOK, "runs", "-o", "json")))
	files, err := archive.Open(l.project)
	if err != nil {
		l.Fatal(err)
	}
	body, err := archive.Pack(files)
	if err != nil {
		l.Fatal(err)
	}
	if _, err := objects(h).By(who).Put(l.Context(), "projects/pair/default.zip", body); err != nil {
		l.Fatal(err)
	}
	return l.newRun(known)
}

// newRun waits until there are more than known runs, and returns the newest.
func (l *laptop) newRun(known int) string {
	l.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if runs := l.objects(l.must(cli.ExitOK, "runs", "-o", "json")); len(runs) > known {
			return runs[0]["run"].(string)
		}
	}
	l.Fatal("the upload starts no run")
	return ""
}
