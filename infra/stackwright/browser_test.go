package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/enginetest/figure"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

var (
	chromium = flag.String("chromium", "", "the `command` of Chromium, which opens the page")
	axe      = flag.String("axe", "", "the `file` axe.min.js of axe-core, which finds what people with disabilities cannot use")
	images   = flag.String("images", "", "a `folder` for pictures of the page")
)

// A browser shows the page. Everything is done with the keyboard.
type browser struct {
	*testing.T
	ctx    context.Context
	page   string
	also   []string // other servers to which the page may send requests
	window bool     // pictures are of what the window shows, not of the whole page

	mu     sync.Mutex
	silent bool
	faults []string // errors of scripts, and requests to other servers
}

// newBrowser starts a browser with a window of a size, in a theme. When the test is over, it must have seen no error, and no request
// to other servers than that of the page and the given ones.
func newBrowser(t *testing.T, page string, width, height int64, theme string, also ...string) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(*chromium), chromedp.NoSandbox)
	all, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(all)
	t.Cleanup(func() { end(); stop() })
	site, _, _ := strings.Cut(page, "/#")
	b := &browser{T: t, ctx: ctx, page: site, also: also}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	err := chromedp.Listen(ctx, b.notice)
	_, network := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	_, styled := chromedp.Call(ctx, emulation.SetEmulatedMedia, media)
	if err = errors.Join(err, network, styled, chromedp.Do(ctx, chromedp.EmulateViewport(width, height), chromedp.Navigate(page))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.faults) > 0 {
			t.Errorf("the browser has reported:\n%s", strings.Join(b.faults, "\n"))
		}
	})
	return b
}

// notice keeps what the page must not do.
func (b *browser) notice(e any) {
	said := ""
	switch e := e.(type) {
	case *runtime.EventExceptionThrown:
		said = fmt.Sprintf("%s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *runtime.EventConsoleAPICalled:
		if len(e.Args) > 0 && (e.Type == "error" || e.Type == "warning") {
			said = fmt.Sprintf("console: %s", e.Args[0].Value)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			said = e.Entry.Text + " " + e.Entry.URL
		}
	case *network.EventRequestWillBeSent:
		if !slices.ContainsFunc(append(b.also, b.page), func(server string) bool { return strings.HasPrefix(e.Request.URL, server) }) {
			said = "a request to " + e.Request.URL
		}
	}
	if said != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.silent {
			b.faults = append(b.faults, said)
		}
	}
}

// quiet keeps nothing from now on: the answers of servers are errors.
func (b *browser) quiet() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.silent = true
}

// see waits until the page shows texts.
func (b *browser) see(texts ...string) {
	b.Helper()
	for _, text := range texts {
		for until := time.Now().Add(time.Minute); !evaluate[bool](b, fmt.Sprintf("document.body?.innerText.includes(%q) ?? false", text)); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(until) {
				b.picture("failed")
				b.Fatalf("no %q on the page:\n%s\n%s", text, evaluate[string](b, "document.body.innerText"), strings.Join(b.faults, "\n"))
			}
		}
	}
}

// evaluate returns what an expression is in the page.
func evaluate[T any](b *browser, expression string, how ...chromedp.EvaluateOption) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, how...))
	if err != nil {
		b.Fatal(err)
	}
	return value
}

// key presses a key.
func (b *browser) key(keys string) {
	b.Helper()
	if err := chromedp.Do(b.ctx, chromedp.KeyEvent(keys)); err != nil {
		b.Fatal(err)
	}
}

// press moves the focus with the tabulator to the first element with a text that contains the given one, and presses Enter.
func (b *browser) press(text string) {
	b.Helper()
	for range 120 {
		b.key(kb.Tab)
		at := evaluate[string](b, `(e => (e.getAttribute('aria-label') || e.textContent || '').trim())(document.activeElement)`)
		if strings.Contains(at, text) && len(at) < 200 {
			b.key(kb.Enter)
			return
		}
	}
	b.picture("failed")
	b.Fatalf("the keyboard reaches no %q", text)
}

// picture writes what the page shows, and checks that everybody can use it.
func (b *browser) picture(name string) {
	b.Helper()
	if *images != "" {
		time.Sleep(300 * time.Millisecond) // what the page changes is drawn
		take := chromedp.FullScreenshot(100)
		if b.window {
			take = chromedp.CaptureScreenshot()
		}
		png, err := chromedp.Run(b.ctx, take)
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(*images+"/"+name+".png", png, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	if *axe == "" {
		return
	}
	code, err := os.ReadFile(*axe)
	if err != nil {
		b.Fatal(err)
	}
	evaluate[*string](b, string(code)+"; null")
	found := evaluate[[]string](b, `axe.run().then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200) + ' ' + (n.failureSummary || ''))))`, chromedp.EvalAwaitPromise)
	if len(found) > 0 {
		b.Errorf("%s: axe has found:\n%s", name, strings.Join(found, "\n"))
	}
}

// A person deploys, sees a failure and its reason, retries, approves a plan and cancels, with the keyboard alone.
func TestPageInABrowser(t *testing.T) {
	if *chromium == "" {
		t.Skip("-chromium names no command")
	}
	for _, c := range []struct {
		name          string
		width, height int64
		theme         string
	}{{"wide-light", 1440, 900, "light"}, {"wide-dark", 1440, 900, "dark"}, {"narrow-light", 390, 844, "light"}, {"narrow-dark", 390, 844, "dark"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // a slow stack is waited for
			l := newLaptop(t)
			how := l.hosting(0.4)
			how.Console = "127.0.0.1:0"
			h, err := host.Open(context.Background(), how)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { h.Close() }) // after the browser
			b := newBrowser(t, h.Page(), c.width, c.height, c.theme)
			picture := func(view string) { t.Helper(); b.picture(c.name + "-" + view) }
			b.see("Nothing is deployed yet", "Colours: auto")
			picture("empty")

			over := l.start("deploy", l.project)
			b.see("pair", "deploy")
			b.press("deploy")
			b.see("3 of 3 steps done", "succeeded")
			over(cli.ExitOK)
			picture("run")
			b.press("Timeline")
			b.see("could start, but waits")
			picture("timeline")

			l.fail(h, cloudformation.Fault{Stack: "pair-topic", Operation: "update", Reason: "no topics <b>today</b>", Times: 1})
			l.edit("templates/topic.yaml", "    Type: AWS::SNS::Topic\n", "    Type: AWS::SNS::Topic\n    Metadata: {Version: 2}\n")
			over = l.start("deploy", l.project)
			b.press("pair / default")
			b.see("Runs", "deploy")
			over(cli.ExitFailed)
			b.press("deploy")
			b.see("A step failed", "no topics <b>today</b>", "stackwright retry")
			b.press("Resource events")
			b.see("UPDATE_FAILED", "UPDATE_IN_PROGRESS")
			picture("failed-run")
			b.press("Stackwright")
			b.see("1 failed", "no later run has repaired it")
			picture("overview-failed")
			b.press("failed deploy of pair")
			b.see("A step failed")
			b.press("Retry")
			b.press("Retry")
			b.see("succeeded")
			picture("retried")

			l.edit("stackwright.yaml", "project: pair\n", "project: pair\napprove_plan: true\nschedules: { nightly: { operation: refresh, cron: 0 3 * * ? * } }\n")
			l.edit("templates/topic.yaml", "Version: 2", "Version: 3")
			l.start("deploy", l.project)(cli.ExitWaiting)
			b.press("Stackwright")
			b.see("Waiting for a person")
			picture("overview")
			b.press("plan of pair")
			b.see("Waiting for your answer", "update", "topic")
			picture("plan")
			b.press("Approve")
			b.press("Approve")
			b.see("succeeded")

			l.fail(h, cloudformation.Fault{Stack: "*", Seconds: 24})
			l.edit("templates/topic.yaml", "Version: 3", "Version: 4")
			l.start("deploy", l.project)(cli.ExitWaiting)
			b.press("pair / default")
			b.see("waiting")
			b.press("deploy")
			b.press("Approve")
			b.press("Approve")
			b.see("1 running")
			b.press("pair / default")
			next, code := l.begin("refresh", l.project)
			l.until(next, `(waits) for`)
			b.see("queued")
			b.press("refresh")
			b.see("No stack is planned yet")
			picture("queued")
			b.press("pair / default")
			b.press("deploy")
			b.press("Cancel")
			b.press("Cancel")
			b.see("cancelled")
			b.press("pair / default")
			b.see("Schedules")
			b.press("Revisions")
			b.see("current: the last successful deploy", "Template of topic", "Metadata: {Version: 4}")
			picture("revisions")
			b.press("Access")
			b.see("with the role", "admin", "IAM alone decides")
			picture("access")
			b.press("Schedules")
			b.see("refresh", "cron(0 3 * * ? *)", "3:00:00")
			b.press("Audit")
			b.see("refresh", "cancel", "yes to ", "127.0.0.1")
			picture("audit")
			b.press("Stackwright")
			b.see("Next by schedule", "refresh of pair")
			b.press("Audit log: who requested which change")
			b.see("An admin of all projects also sees", "pair@default")
			picture("audit-of-all")
			b.press("Stackwright")
			b.press("pairdefault")
			b.press("Stacks")
			b.see("topic", "3 of 3")
			picture("stacks")
			b.press("Details of topic")
			b.press("Resources")
			b.see("AWS::SNS::Topic", "UPDATE_COMPLETE", "arn:aws:sns:")
			b.press("History")
			b.see("update in deploy", "create in deploy")
			b.press("Events of CloudFormation")
			b.see("no topics <b>today</b>", "CREATE_IN_PROGRESS")
			picture("stack")
			l.ended(next, code, cli.ExitOK)
		})
	}
}

// start carries out a command in the background. The function that it returns waits for its end, with the exit code that it must have.
func (l *laptop) start(args ...string) (over func(code int)) {
	ended := make(chan result, 1)
	go func() { ended <- l.run(args...) }()
	return func(code int) {
		l.Helper()
		if r := <-ended; r.code != code {
			l.Fatalf("%s ended with %d, not with %d\n%s%s%s", strings.Join(args, " "), r.code, code, r.out, r.err, l.log())
		}
	}
}

// A run of many stacks: how long the browser needs until it shows the first text and the graph, and until it shows that a step has
// ended. The last stack takes longer than all others.
func TestLargePageInABrowser(t *testing.T) {
	if *chromium == "" {
		t.Skip("-chromium names no command")
	}
	const stacks, last = 1000, 20 // seconds that the last stack takes
	l := newLaptop(t)
	var file strings.Builder
	fmt.Fprintf(&file, "project: large\nstacks:\n")
	for i := range stacks {
		fmt.Fprintf(&file, "  team-%d/s%d: { template: templates/alone.yaml", i%12, i)
		if width := stacks / 8; i >= width {
			fmt.Fprintf(&file, ", needs: [team-%d/s%d]", (i-width)%12, i-width)
		}
		fmt.Fprintln(&file, " }")
	}
	for name, text := range map[string]string{"stackwright.yaml": file.String(), "templates/alone.yaml": "Resources: { Queue: { Type: AWS::SQS::Queue } }\n"} {
		if err := os.WriteFile(l.project+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	how := l.hosting(0.01)
	how.Console = "127.0.0.1:0"
	h, err := host.Open(context.Background(), how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() }) // after the browser
	l.fail(h, cloudformation.Fault{Stack: fmt.Sprintf("large-team-%d-s%d", (stacks-1)%12, stacks-1), Seconds: last})
	b := newBrowser(t, h.Page(), 1440, 900, "light")
	b.see("Nothing is deployed yet")
	over := l.start("deploy", l.project)
	b.see("running")
	b.press("deploy")
	b.see(fmt.Sprintf("%d of %d steps done", stacks-1, stacks))
	if err := chromedp.Do(b.ctx, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	b.until(fmt.Sprintf("document.querySelectorAll('g.node').length >= %d", stacks))
	figure.Report(t, "seconds/page graph", evaluate[float64](b, "performance.now()")/1000, math.Inf(1))
	figure.Report(t, "seconds/page paint", evaluate[float64](b, "performance.getEntriesByName('first-contentful-paint')[0].startTime")/1000, math.Inf(1))
	b.until(fmt.Sprintf("document.body.innerText.includes('%d of %d steps done')", stacks, stacks))
	shown := time.Now()
	over(cli.ExitOK)
	var ended time.Time
	for _, step := range l.objects(l.must(cli.ExitOK, "status", "-o", "json"))[0]["steps"].([]any) {
		at, err := time.Parse(time.RFC3339Nano, step.(map[string]any)["ended"].(string))
		if err != nil {
			t.Fatal(err)
		}
		if at.After(ended) {
			ended = at
		}
	}
	figure.Report(t, "seconds/page change", shown.Sub(ended).Seconds(), math.Inf(1))
}

// until waits until an expression is true in the page, for a minute at most.
func (b *browser) until(expression string) {
	b.Helper()
	for until := time.Now().Add(time.Minute); !evaluate[bool](b, expression); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			b.picture("failed")
			b.Fatalf("this is not true after a minute: %s", expression)
		}
	}
}

// The pictures of the documentation are of examples/shop: three environments, of which one is being deployed, one has failed, and one
// waits for an answer. Two more projects have its nine stacks among many.
func TestPicturesOfThePage(t *testing.T) {
	if *chromium == "" || *images == "" {
		t.Skip("-chromium names no command, or -images no folder")
	}
	for _, stacks := range []int{9, 100, 1000} {
		t.Run(fmt.Sprint(stacks), func(t *testing.T) { pictures(t, stacks) })
	}
}

// among writes examples/shop into a folder, with as many further stacks as make a project of the given number.
func among(t *testing.T, folder string, stacks int) {
	t.Helper()
	const shop, teams, wide = 9, 12, 8
	if err := os.CopyFS(folder, os.DirFS("../../examples/shop")); err != nil {
		t.Fatal(err)
	}
	var more strings.Builder
	name := func(i int) string { return fmt.Sprintf("team-%02d/service-%d", i%teams+1, i/teams+1) }
	for i := range stacks - shop {
		needs := "network/vpc"
		if i >= teams*wide {
			needs = name(i - teams*wide + i%3)
		}
		fmt.Fprintf(&more, "  %s: { template: templates/service.yaml, needs: [%s] }\n", name(i), needs)
	}
	text, err := os.ReadFile(folder + "/stackwright.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"stackwright.yaml":       strings.Replace(string(text), "\nstacks:\n", "\nstacks:\n"+more.String(), 1),
		"templates/service.yaml": "Resources: { Queue: { Type: AWS::SQS::Queue } }\n",
	} {
		if err := os.WriteFile(folder+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// pictures takes a picture of each main view of a project of so many stacks.
func pictures(t *testing.T, stacks int) {
	l := newLaptop(t)
	l.project = t.TempDir()
	among(t, l.project, stacks)
	how := l.hosting(0.3)
	how.Console = "127.0.0.1:0"
	h, err := host.Open(context.Background(), how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() }) // after the browser
	l.edit("stackwright.yaml", "environments:\n", "environments:\n  staging: {}\n  dev: {}\n")
	for _, seconds := range [][2]string{{"60", "70"}, {"70", "80"}, {"80", "90"}} {
		l.must(cli.ExitOK, "deploy", l.project, "--env", "staging")
		l.must(cli.ExitOK, "deploy", l.project, "--env", "dev")
		l.edit("stackwright.yaml", "VisibilityTimeout: "+seconds[0], "VisibilityTimeout: "+seconds[1])
	}
	l.fail(h, cloudformation.Fault{Stack: "shop-dev-data-queue", Operation: "update", Reason: "Resource limit exceeded: queues (Service: Sqs, Status Code: 400)", Times: 1})
	l.must(cli.ExitFailed, "deploy", l.project, "--env", "dev")
	l.edit("stackwright.yaml", "cidr: 10.20.0.0/16", "cidr: 10.30.0.0/16")
	l.edit("stackwright.yaml", "project: shop", "project: shop\napprove_plan: true")
	l.must(cli.ExitWaiting, "deploy", l.project, "--env", "staging")
	l.edit("stackwright.yaml", "approve_plan: true\n", "")
	l.fail(h, cloudformation.Fault{Stack: "shop-prod-*", Seconds: 5})
	b := newBrowser(t, h.Page(), 1280, 960, "light")
	b.window = true
	picture := func(view string) {
		t.Helper()
		if name := "page-" + view; stacks == 9 {
			b.picture(name)
		} else {
			b.picture(fmt.Sprintf("%s-%d", name, stacks))
		}
	}
	b.see("staging", "dev")
	over := l.start("deploy", l.project, "--env", "prod")
	b.see("prod", "running")
	picture("overview")
	b.press("shopprod")
	b.see("running")
	b.press("deploy")
	b.see("steps done", " running")
	b.until(fmt.Sprintf(`Number((/(\d+) of \d+ steps done/.exec(document.body.innerText) || [])[1] || 0) > %d`, stacks/2))
	picture("run")
	over(cli.ExitOK)
	b.press("Timeline")
	b.see("works")
	picture("timeline")
	b.press("Stackwright")
	b.press("plan of shop@staging")
	b.see("resources replaced", "replaces resources")
	picture("plan")
	b.press("Stackwright")
	b.press("shopdev")
	b.see("Revisions", "failed")
	b.press("deploy")
	b.see("Resource limit exceeded")
	picture("failure")
	b.press("Stackwright")
	b.press("shopdev")
	b.see("Schedules")
	b.press("Revisions")
	b.see("current: the last successful deploy", "VisibilityTimeout")
	picture("revisions")
	b.press("Stacks")
	b.see("data/queue", "app/orders")
	picture("stacks")
}
