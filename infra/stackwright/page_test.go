package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A command that hosts a run serves the page where the user says, and opens it.
func TestPageOfACommand(t *testing.T) {
	l := newLaptop(t)
	opened, shown := "", ""
	var out, err bytes.Buffer
	code := cli.Execute(context.Background(), cli.Shell{
		Laptop: host.Laptop{}, Out: &out, Err: &err, Self: "stackwright", Getenv: func(k string) string { return l.env[k] }, Interrupts: l.interrupts,
		Browse: func(url string) error {
			opened = url
			r, err := http.Get(url + "/installation")
			if err != nil {
				return err
			}
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			shown = string(text)
			return err
		},
	}, []string{"deploy", l.project, "--data", l.data, "--console", "127.0.0.1:0", "--open"})
	if code != cli.ExitOK || opened == "" || !strings.Contains(err.String(), "in a browser: "+opened+"\n") || !strings.Contains(shown, `"place":"on this laptop (emulators, `+l.data+`)"`) {
		t.Errorf("deploy ended with %d, opened %q with %q\n%s%s", code, opened, shown, out.String(), err.String())
	}
	if r, err := http.Get(opened); err == nil {
		r.Body.Close()
		t.Errorf("%s is served after the command has ended", opened)
	}
}

// Without a terminal, no page is served; and none at an address that others can reach.
func TestNoPageOfACommand(t *testing.T) {
	l := newLaptop(t)
	r := l.run("deploy", l.project, "--console", "0.0.0.0:4567")
	l.has(r.err, "--console 0.0.0.0:4567: \"0.0.0.0\" is not an address of this machine alone")
	if r.code != cli.ExitFailed || strings.Contains(l.must(cli.ExitOK, "runs"), "deploy") {
		t.Errorf("deploy ended with %d\n%s", r.code, r.err)
	}
	if r := l.run("deploy", l.project); strings.Contains(r.out+r.err, "in a browser") {
		t.Errorf("a page is served though nobody can see its address:\n%s", r.err)
	}
}
