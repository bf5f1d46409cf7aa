package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// The plan of a suspend shows what it stops and what keeps running, the plan of a resume what it starts, and neither changes anything.
func TestSuspendIsPlanned(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(0.05) // the emulators remember what was stopped as long as it runs
	for name, text := range map[string]string{
		"stackwright.yaml": "project: shop\nenvironments: { dev: {} }\nstacks: { app: { template: app.yaml } }\n",
		"app.yaml": `Resources:
  Api: { Type: "AWS::ECS::Service", Properties: { Cluster: shop, ServiceName: api, DesiredCount: 2 } }
  Logs: { Type: "AWS::ECS::Service", Properties: { Cluster: shop, ServiceName: logs, SchedulingStrategy: DAEMON } }
`,
	} {
		if err := os.WriteFile(filepath.Join(l.project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dev := func(args ...string) []string { return append(args, l.project, "--env", "dev") }
	l.must(cli.ExitOK, dev("deploy")...)
	l.has(l.run(dev("suspend", "-o", "markdown")...).err, "-o markdown shows a plan: add --plan")
	l.has(l.must(cli.ExitOK, dev("suspend", "--plan")...), "suspend --plan of shop@dev", "which is of 2 desired tasks with 2 running", "service/shop/logs stays as", "it is: it is a daemon service", "1 to suspend")
	shown := l.must(cli.ExitOK, dev("suspend", "--plan", "-o", "json")...)
	l.has(shown, `"suspension"`, `"was":"2"`, `"why":"it is a daemon service`)
	l.has(l.must(cli.ExitOK, dev("suspend", "--plan", "-o", "markdown")...), "stop ECS service")
	l.must(cli.ExitOK, dev("suspend")...)
	again := l.must(cli.ExitOK, dev("suspend", "--plan")...)
	if strings.Contains(again, "stop ECS service") || strings.Contains(again, "to suspend") {
		t.Errorf("what is stopped would be stopped:\n%s", again)
	}
	l.has(again, "suspended already since", "app  stays as it is", "no changes, 1 unchanged")
	l.has(l.must(cli.ExitOK, dev("suspend")...), "suspended already since")
	l.has(l.must(cli.ExitOK, dev("resume", "--plan")...), "start ECS service", "as it was: 2", "suspended since", "1 to resume")
	l.must(cli.ExitOK, dev("resume")...)
	l.has(l.must(cli.ExitOK, dev("resume", "--plan")...), "no stack is suspended: there is nothing to start")
	l.has(l.must(cli.ExitOK, dev("suspend", "--plan")...), "which is of 2 desired tasks with 2 running")
}
