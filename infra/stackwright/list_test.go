package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// Lists are filtered, sorted and cut: of runs, events, stacks and resources. What does not exist is refused, with what there is.
func TestListsAreFiltered(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	l.must(cli.ExitOK, "refresh", l.project)
	lines := func(args ...string) int {
		t.Helper()
		return len(strings.Split(strings.TrimSpace(l.must(cli.ExitOK, args...)), "\n")) - 1 // without the head
	}
	for _, c := range []struct {
		args string
		want int
	}{
		{"runs", 2}, {"runs --operation refresh", 1}, {"runs --state failed", 0}, {"runs --since 1h", 2}, {"runs --until 1h", 0}, {"runs --since 2100-01-01", 0}, {"runs --limit 1", 1},
		{"runs --who ann", 2}, {"runs --who nobody", 0}, {"runs --project other", 0},
		{"events --stack queue", 4}, {"events --stack queue --event step_ended", 2}, {"events --since 2100-01-01", 0}, {"events --limit 3", 3},
		{"stacks", 3}, {"stacks --stack queue", 1}, {"stacks --stack t*", 1}, {"stacks --status CREATE_*", 3}, {"stacks --status UPDATE_*", 0}, {"stacks --target default", 3}, {"stacks --target eu", 0},
		{"stacks --changed-since 1h", 3}, {"stacks --changed-since 2100-01-01", 0}, {"stacks --tag nothing", 0}, {"stacks --project pair --limit 2", 2},
		{"resources --stack queue --type AWS::SQS::*", 1}, {"resources --type AWS::RDS::*", 0},
	} {
		if got := lines(strings.Fields(c.args)...); got != c.want {
			t.Errorf("%s lists %d, want %d", c.args, got, c.want)
		}
	}
	up, down := l.must(cli.ExitOK, "stacks", "--sort", "stack"), l.must(cli.ExitOK, "stacks", "--sort", "-stack")
	if first, last := strings.Index(up, "queue"), strings.Index(up, "topic"); first > last || strings.Index(down, "queue") < strings.Index(down, "topic") {
		t.Errorf("sorted:\n%s\nand the other way:\n%s", up, down)
	}
	for args, want := range map[string]string{
		"runs --state done":        "--state done: use one of pending, queued",
		"runs --operation deploi":  "--operation deploi: use one of deploy, plan",
		"runs --since yesterday":   "give a time such as 2026-03-01T12:00:00Z",
		"events --event nothing":   "--event nothing: use one of requested",
		"stacks --sort size":       "--sort size: sort by one of stack, project, name, status, changed, depends-on",
		"stacks --changed-since x": "--changed-since x: give a time",
	} {
		if r := l.run(strings.Fields(args)...); r.code != cli.ExitRefused || !strings.Contains(r.err, want) {
			t.Errorf("%s: %d %s", args, r.code, r.err)
		}
	}
}

// While a stack is created, its ID is not recorded yet: the list shows the status that it has. No time is shown before it has one.
func TestStacksInCreation(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	how := l.hosting(1)
	how.Console = "127.0.0.1:0"
	h := l.host(how)
	done := make(chan result)
	go func() { done <- l.run("deploy", l.project) }()
	seen := ""
	for !strings.Contains(seen, "CREATE_IN_PROGRESS") {
		select {
		case r := <-done:
			t.Fatalf("the deploy ended with %d before a creation was seen\n%s%s", r.code, r.out, seen)
		default:
		}
		seen = l.must(cli.ExitOK, "stacks")
		for _, o := range l.objects(l.must(cli.ExitOK, "stacks", "-o", "json")) {
			if changed, shown := o["changed"]; shown && strings.HasPrefix(changed.(string), "0001") || o["status"] != "" && o["id"] == "" {
				t.Errorf("%v", o)
			}
		}
		if strings.Contains(seen, "CREATE_IN_PROGRESS") { // the page says so, too, from what the API says
			stacks := l.fetched(h.Page() + "/projects/pair/default/stacks")
			l.has(stacks, `"changing":true`)
		}
		if strings.Contains(seen, "gone") || strings.Contains(seen, "0001") {
			t.Fatal(seen)
		}
	}
	if r := <-done; r.code != cli.ExitOK {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
}

// fetched is what a server answers.
func (l *laptop) fetched(url string) string {
	l.Helper()
	r, err := http.Get(url)
	if err != nil {
		l.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		l.Fatal(err)
	}
	return string(text)
}
