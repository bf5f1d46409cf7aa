package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// failedRun deploys a project of which a step fails for a reason that is markup.
func (l *laptop) failedRun() {
	l.Helper()
	h := l.serve(0.05)
	l.fail(h, cloudformation.Fault{Stack: "pair-topic", Operation: "create", Reason: "no topics <b>today</b>", Times: 1})
	l.must(cli.ExitFailed, "deploy", l.project)
}

// The report of a run has its failures, its graph and timeline, its steps and its log, and no text becomes markup. A
// timeline is drawn on the terminal, and for documents.
func TestReport(t *testing.T) {
	l := newLaptop(t)
	l.failedRun()
	report := l.must(cli.ExitOK, "report")
	l.has(report, "<!doctype html>", "deploy of pair@default: failed", "A step failed", "no topics &lt;b&gt;today&lt;/b&gt;", "<svg ", "requested by ann@", "topic/create started", "</html>")
	l.has(report, `<p class="quiet">on this laptop (emulators, `+l.data+`)</p>`)
	for _, never := range []string{"<b>today", "<script", "http-equiv=\"refresh", "src=", "url(", "ZgotmplZ"} {
		if strings.Contains(report, never) {
			t.Errorf("the report has %q", never)
		}
	}
	l.has(l.must(cli.ExitOK, "timeline"), "pair@default ", "topic/create", "█")
	l.has(l.must(cli.ExitOK, "timeline", "-o", "svg"), "<svg ", "topic/create")
	l.has(l.must(cli.ExitOK, "timeline", "-o", "mermaid"), "gantt\n", "topic/create")
	if steps := l.last(l.must(cli.ExitOK, "timeline", "-o", "json"))["steps"].([]any); len(steps) == 0 {
		t.Error("the timeline has no steps")
	}
	l.must(cli.ExitOK, "plan", l.project)
	l.has(l.run("timeline").err, "no step has started: ", "(plan of pair@default, succeeded)")
	l.has(l.must(cli.ExitOK, "report"), "plan of pair@default: succeeded", "What the plan changes", "<details class=\"panel\" open>")
	l.has(l.run("report", "nosuch").err, "there is no run nosuch")
}

// A browser shows a report without a server, a script or a request, and everybody can use it.
func TestReportInABrowser(t *testing.T) {
	if *chromium == "" {
		t.Skip("-chromium names no command")
	}
	l := newLaptop(t)
	l.failedRun()
	file := filepath.Join(t.TempDir(), "run.html")
	if err := os.WriteFile(file, []byte(l.must(cli.ExitOK, "report")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, theme := range []string{"light", "dark"} {
		b := newBrowser(t, (&url.URL{Scheme: "file", Path: file}).String(), 1280, 900, theme)
		b.see("deploy", "A step failed", "no topics <b>today</b>", "Timeline", "topic/create started")
		b.picture("report-" + theme)
	}
}
