package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/wire"
)

// shopping is the run that events/start.upload.json starts.
const shopping = "ss3pvqdeong2exw6qsxx"

// The answer to each event file, as a regular expression, and what the function logs.
// Every event file has an entry.
var replies = map[string]struct {
	code        int
	answer, log string
}{
	"start.upload.json":           {cli.ExitOK, `{}`, `"msg":"start".*"run":"` + shopping + `","operation":"deploy","project":"shop@prod"`},
	"start.request.json":          {cli.ExitOK, `{}`, `"msg":"start".*"operation":"plan","project":"shop@prod"}`},
	"start.execution-failed.json": {cli.ExitOK, `{}`, `"msg":"recover".*"run":"` + shopping + `","epoch":1}`},
	"start.sweep.json":            {cli.ExitOK, `{}`, `"msg":"sweep"`},
	"start.schedule.json":         {cli.ExitOK, `{}`, `"msg":"start".*"operation":"refresh","project":"shop@prod"}`},
	"start.wrong-key.json":        {cli.ExitOK, `{}`, `"msg":"start".*"operation":"unknown","project":"shop@default"}`},
	"plan.run.json":               {cli.ExitOK, `{"run":"` + shopping + `","epoch":1,"state":"ready","ready":\[0\],"past":0,"wait":60}`, `"msg":"plan".*"ready":1}`},
	"execute-step.step.json":      {cli.ExitOK, `{"run":"` + shopping + `","epoch":1,"state":"watch","ready":\[\],"past":5,"wait":5}`, `"msg":"execute","run":"` + shopping + `","epoch":1,"steps":\[0\]}`},
	"wait-status.poll.json":       {cli.ExitOK, `{}`, `"msg":"poll","run":"` + shopping + `","epoch":1,"wait":60}`},
	"stack-event.complete.json":   {cli.ExitOK, `{}`, `"msg":"event".*"token":"sw-` + shopping + `-0-1-[0-9a-f]{32}","status":"CREATE_COMPLETE"}`},
	"stack-event.theirs.json":     {cli.ExitOK, `{}`, `"msg":"event".*"token":"Console-`},
	"notify.run.json":             {cli.ExitOK, `{}`, `"msg":"notify","event":"5b1f0b7c-6c2e-4c57-9d0a-000000000008","run":"` + shopping + `","state":"failed"}`},
	"api.start.json":              {cli.ExitOK, `{"statusCode":202,.*\\"operation\\":\\"plan\\",\\"state\\":\\"pending\\".*}`, `"msg":"api".*"status":202,"location":"/projects/shop/prod/runs/`},
	"api.list.json":               {cli.ExitOK, `{"statusCode":200,.*{\\"runs\\":\[{\\"run\\":\\"` + shopping + `\\".*}`, `"status":200`},
	"api.show.json":               {cli.ExitOK, `{"statusCode":200,.*\\"step\\":\\"topic/create\\".*}`, `"status":200`},
	"api.cancel.json":             {cli.ExitOK, `{"statusCode":202,.*\\"command\\":\\"cancel\\".*}`, `"status":202`},
	"api.unsigned.json":           {cli.ExitOK, `{"statusCode":403,.*the request has no identity.*}`, `"status":403`},
}

// eventFiles lists the event files.
func eventFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../events/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no event files: %v", err)
	}
	return files
}

// functionOf returns the function that an event file is for.
func functionOf(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return name
}

// Every event file is for a function and has its answer here, every answer has a
// file, and every function has an event.
func TestEventFilesAreComplete(t *testing.T) {
	t.Parallel()
	var there []string
	has := make(map[string]bool)
	for _, f := range eventFiles(t) {
		name := filepath.Base(f)
		there = append(there, name)
		has[functionOf(name)] = true
		if _, ok := replies[name]; !ok {
			t.Errorf("no answer is expected for %s: add it to replies", name)
		}
	}
	for name := range replies {
		if !slices.Contains(there, name) {
			t.Errorf("there is no %s", name)
		}
	}
	for _, function := range wire.Names() {
		if !has[function] {
			t.Errorf("there is no event for %s", function)
		}
	}
}

// An event file has only fields that its function reads.
func TestEventFilesAreDecoded(t *testing.T) {
	t.Parallel()
	for _, f := range eventFiles(t) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		function := functionOf(f)
		takes := map[string]any{
			"start": &events.EventBridgeEvent{}, "stack-event": &events.EventBridgeEvent{}, "notify": &events.EventBridgeEvent{}, "api": &events.APIGatewayV2HTTPRequest{},
			"plan": &engine.ExecutionInput{}, "execute-step": &engine.StartInput{}, "wait-status": &engine.PollInput{},
		}[function]
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.DisallowUnknownFields()
		if err := d.Decode(takes); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// The binary of the function gives the expected answer to each event.
func TestInvoke(t *testing.T) {
	files := eventFiles(t)
	for i, f := range files {
		path, err := filepath.Abs(f)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = path
	}
	l := newLaptop(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, path := range files {
		want := replies[filepath.Base(path)]
		r := l.run("invoke", path)
		if r.code != want.code || !regexp.MustCompile(`^`+want.answer+`\n$`).MatchString(r.out) || !regexp.MustCompile(want.log).MatchString(r.err) {
			t.Errorf("%s ended with %d\n%s%s", path, r.code, r.out, r.err)
		}
	}
}

// A file that is no event file is refused with the usage.
func TestInvokeNobody(t *testing.T) {
	l := newLaptop(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for file, want := range map[string]string{
		"nobody.upload.json": "is for no function: call it FUNCTION.WHAT.json",
		"start.json":         "is for no function",
		"start.none.json":    "read the event",
	} {
		r := l.run("invoke", file)
		if r.code == cli.ExitOK || r.out != "" {
			t.Errorf("%s ended with %d: %s", file, r.code, r.out)
		}
		l.has(r.err, want)
	}
}
