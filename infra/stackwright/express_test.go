package main

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// The plan, the live state and the summary of a deploy say which stacks are in express mode.
func TestExpressModeIsShown(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(0.05)
	l.edit("stackwright.yaml", "project: pair", "project: pair\ndefaults: { topic: { deployment: express } }")
	l.has(l.must(cli.ExitOK, "plan", l.project), "+ topic  create in express mode")
	l.has(l.must(cli.ExitOK, "plan", l.project, "-o", "json"), `"deployment":"express"`)
	l.has(l.must(cli.ExitOK, "deploy", l.project), "in express mode: 1 stack, whose resources may not be ready")
	shown := l.last(l.must(cli.ExitOK, "status", "-o", "json"))
	modes := make(map[any]any)
	for _, s := range shown["steps"].([]any) {
		step := s.(map[string]any)
		modes[step["step"]] = step["deployment"]
	}
	if modes["topic/create"] != "express" || modes["alone/create"] != nil {
		t.Errorf("the steps are in the modes %v", modes)
	}
	l.edit("stackwright.yaml", "deployment: express", "deployment: standard")
	l.has(l.must(cli.ExitOK, "plan", l.project), "no changes")
}
