package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// The example with hooks is planned, deployed, changed and destroyed. A hook with a cache_key is not called again, one whose
// condition is false is in no plan, and an unchanged project calls none.
func TestHooksExample(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "hooks")
	if err := os.CopyFS(l.project, os.DirFS("../../examples/hooks")); err != nil {
		t.Fatal(err)
	}
	l.serve(0.05)
	bus := "arn:aws:events:" + cli.Region + ":" + cli.Account + ":event-bus/default"
	r := l.must(cli.ExitOK, "plan", l.project)
	l.has(r, "hook announce, before_deploy: event", bus, "hook tell, after_create: event", "hook index, after_create: event")
	if strings.Contains(r, "page") {
		t.Errorf("the plan has a hook whose condition is false:\n%s", r)
	}
	l.has(l.must(cli.ExitOK, "deploy", l.project), "1 created", "3 hooks called")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "1 unchanged")
	l.edit("stackwright.yaml", "Text: hello", "Text: bye")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "1 updated", "not called: its cache_key is that of its last success")
	l.has(l.must(cli.ExitOK, "plan", l.project, "-o", "json"), `"stacks":[]`)
	l.put("index.version", "2\n")
	l.has(l.must(cli.ExitOK, "plan", l.project), "hooks only", "hooks whose cache_key has changed are called: index")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "2 hooks called", "topic/hook:index")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "1 unchanged")
	l.edit("stackwright.yaml", "name: farewell", "name: goodbye")
	l.has(l.must(cli.ExitOK, "plan", l.project), "hooks only", "the hooks of its deletion are recorded", "1 with only hooks")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "1 with other hooks of their deletion")
	l.edit("stackwright.yaml", "event-bus/default", "event-bus/other")
	if r := l.run("deploy", l.project); r.code != cli.ExitRefused {
		t.Errorf("deploy ended with %d: %s", r.code, r.err)
	} else {
		l.has(r.out+r.err, "hooks of greeting@default may not reach")
	}
	l.has(l.must(cli.ExitOK, "destroy", l.project, "--yes"), "topic/hook:goodbye", "1 deleted")
}
