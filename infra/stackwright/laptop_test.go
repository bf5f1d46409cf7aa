package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/entry/notify"
)

// A laptop has a data folder and a project. Tests run commands on it.
type laptop struct {
	*testing.T
	data, project string
	env           map[string]string
	answers       string // of the user at the terminal; "" if there is none
	interrupts    chan os.Signal
	elsewhere     bool           // commands do not get the data folder
	web           *web           // has the files that projects name by URLs; nil is none
	servers       notify.Servers // that events are delivered to

	mu      sync.Mutex
	started [][]string // what was started as a process of its own
	begins  func(args []string)
}

// newLaptop returns a laptop with a copy of testdata/pair.
func newLaptop(t *testing.T) *laptop {
	l := &laptop{T: t, data: filepath.Join(t.TempDir(), "data"), project: filepath.Join(t.TempDir(), "pair"), interrupts: make(chan os.Signal, 1)}
	l.env = map[string]string{"USER": "ann", "STACKWRIGHT_SECONDS": "0.05", "AWS_PROFILE": "nobody", "AWS_REGION": "eu-north-1", "AWS_CONFIG_FILE": "/nowhere"}
	if err := os.CopyFS(l.project, os.DirFS("testdata/pair")); err != nil {
		t.Fatal(err)
	}
	return l
}

// as returns the laptop with another user.
func (l *laptop) as(user string) *laptop {
	other := &laptop{T: l.T, data: l.data, project: l.project, env: maps.Clone(l.env)}
	other.env["USER"] = user
	return other
}

// A result is the exit code and output of a command.
type result struct {
	code     int
	out, err string
}

// run carries out a command on the laptop.
func (l *laptop) run(args ...string) result {
	l.Helper()
	var out, err bytes.Buffer
	code := l.runTo(&out, &err, args...)
	return result{code, out.String(), err.String()}
}

// runTo carries out a command that writes to out and err.
func (l *laptop) runTo(out, err io.Writer, args ...string) int {
	s := cli.Shell{
		Laptop: host.Laptop{}, Web: l.web,
		In: strings.NewReader(l.answers), Out: out, Err: err, Self: "stackwright", Asks: l.answers != "",
		Getenv: func(k string) string { return l.env[k] }, Interrupts: l.interrupts,
		Start: func(args []string, _ string) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.started = append(l.started, args)
			if l.begins != nil {
				l.begins(args)
			}
			return nil
		},
	}
	if !l.elsewhere && args[0] != "invoke" {
		args = append(slices.Clone(args), "--data", l.data)
	}
	return cli.Execute(context.Background(), s, args)
}

// must carries out a command that must end with the given code, and returns its output.
func (l *laptop) must(code int, args ...string) string {
	l.Helper()
	r := l.run(args...)
	if r.code != code {
		l.Fatalf("%s ended with %d, not with %d\n%s%s%s", strings.Join(args, " "), r.code, code, r.out, r.err, l.log())
	}
	return r.out
}

// log holds the errors that no caller receives.
func (l *laptop) log() string {
	b, err := os.ReadFile(filepath.Join(l.data, "stackwright.log"))
	if err != nil {
		return ""
	}
	return "log:\n" + string(b)
}

// edit changes a file of the project.
func (l *laptop) edit(name, from, to string) {
	l.Helper()
	path := filepath.Join(l.project, name)
	before, err := os.ReadFile(path)
	if err != nil {
		l.Fatal(err)
	}
	after := strings.Replace(string(before), from, to, 1)
	if after == string(before) {
		l.Fatalf("%s has no %q", name, from)
	}
	if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
		l.Fatal(err)
	}
}

// hosting describes how the laptop's cloud is hosted.
func (l *laptop) hosting(seconds float64) cli.Hosting {
	return cli.Hosting{
		Data: l.data, Address: "127.0.0.1:0", Functions: "inprocess", Seconds: seconds,
		Getenv: func(k string) string { return l.env[k] }, Web: l.web, Servers: l.servers,
	}
}

// serve hosts the laptop's cloud until the test is over.
func (l *laptop) serve(seconds float64) *host.Host { return l.host(l.hosting(seconds)) }

// host hosts the laptop's cloud, in a way, until the test is over.
func (l *laptop) host(how cli.Hosting) *host.Host {
	l.Helper()
	h, err := host.Open(context.Background(), how)
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() {
		if err := h.Close(); err != nil {
			l.Error(err)
		}
	})
	return h
}

// fail makes a stack fail once.
func (l *laptop) fail(h *host.Host, f cloudformation.Fault) {
	l.Helper()
	if err := h.Cloud.Stacks.Inject(f); err != nil {
		l.Fatal(err)
	}
}

// objects reads JSON objects, one from each line.
func (l *laptop) objects(text string) []map[string]any {
	l.Helper()
	var all []map[string]any
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			l.Fatalf("%v in %q", err, line)
		}
		all = append(all, o)
	}
	return all
}

// last returns the object that describes the end of a run.
func (l *laptop) last(text string) map[string]any {
	l.Helper()
	all := l.objects(text)
	if len(all) == 0 {
		l.Fatal("nothing was printed")
	}
	return all[len(all)-1]
}

// has checks that a text contains words.
func (l *laptop) has(text string, words ...string) {
	l.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			l.Errorf("no %q in\n%s", w, text)
		}
	}
}
