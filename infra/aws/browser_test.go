package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium is the command of Chromium. make check-aws names it, if there is one.
var chromium = os.Getenv("STACKWRIGHT_CHROMIUM")

// opensPage carries out the command open on the installation, and returns the address of the page, which ends with the test.
func (i *installed) opensPage(t *testing.T) string {
	t.Helper()
	command := filepath.Join(t.TempDir(), "stackwright")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", command, "./infra/stackwright")
	build.Dir = "../.."
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, said)
	}
	open := exec.CommandContext(t.Context(), command, "open", "--api", i.url, "--console", "127.0.0.1:0", "--no-browser")
	open.Env = []string{"HOME=" + t.TempDir(), "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_REGION=" + region, "AWS_EC2_METADATA_DISABLED=true"}
	open.Cancel = func() error { return open.Process.Signal(syscall.SIGINT) }
	open.Stderr = t.Output()
	out, err := open.StdoutPipe()
	if err == nil {
		err = open.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = open.Wait() }) // the end of the test interrupts it
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address := regexp.MustCompile(`http://\S+#code=\S+`).FindString(lines.Text()); address != "" {
			return address
		}
	}
	t.Fatalf("open prints no address (%v)", lines.Err())
	return ""
}

// A tab is a browser that shows the page.
type tab struct {
	*testing.T
	ctx  context.Context
	site string

	mu     sync.Mutex
	faults []string // errors of scripts and of answers, and requests to other servers
}

// newTab opens an address in a browser. When the test is over, it must have reported nothing.
func newTab(t *testing.T, address string) *tab {
	t.Helper()
	all, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox)...)
	ctx, end := chromedp.NewContext(all)
	t.Cleanup(func() { end(); stop() })
	site, _, _ := strings.Cut(address, "/#")
	b := &tab{T: t, ctx: ctx, site: site}
	err := chromedp.Listen(ctx, b.notice)
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err == nil {
		err = chromedp.Do(ctx, chromedp.Navigate(address))
	}
	if err != nil {
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
func (b *tab) notice(e any) {
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
		if !strings.HasPrefix(e.Request.URL, b.site) {
			said = "a request to " + e.Request.URL
		}
	}
	if said != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.faults = append(b.faults, said)
	}
}

// see waits until the page shows texts.
func (b *tab) see(texts ...string) {
	b.Helper()
	for _, text := range texts {
		for until := time.Now().Add(time.Minute); !strings.Contains(b.text(), text); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(until) {
				b.Fatalf("no %q on the page:\n%s", text, b.text())
			}
		}
	}
}

// text is what the page shows.
func (b *tab) text() string {
	b.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body?.innerText ?? ''"))
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// goes opens a part of the page.
func (b *tab) goes(to string) {
	b.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Navigate(b.site+"/#/"+to)); err != nil {
		b.Fatal(err)
	}
}

// shows opens the page of the installation in a browser, as a person does who has credentials of AWS. It shows the project, and a run that
// waits for approval. What it shows is what the function of the template answers, at the routes of the template.
func (i *installed) shows(run string) {
	i.Run("in a browser", func(t *testing.T) {
		if chromium == "" {
			t.Skip("STACKWRIGHT_CHROMIUM names no command")
		}
		b := newTab(t, i.opensPage(t))
		b.see("pair", "deploy", "arn:aws:iam::"+account+":root")
		for part, says := range map[string]string{"": "Find a stack", "/timeline": "This installation", "/steps": "first", "/plan": "huge", "/log": "requested"} {
			b.goes("pair@default/" + run + part)
			b.see(run, "Approve", says)
		}
		b.goes("pair@default")
		b.see("Run "+run+" holds the lock", "waiting", "succeeded")
	})
}
