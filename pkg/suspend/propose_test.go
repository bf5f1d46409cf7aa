package suspend_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// text is what would be stopped or started, and what stays as it is.
func text(p plan.PlannedSuspension) string {
	var all []string
	for _, r := range p.Resources {
		all = append(all, r.ID+" "+r.Was)
	}
	for _, r := range p.Stay {
		all = append(all, r.ID+": "+r.Why)
	}
	return strings.Join(all, "; ")
}

// What a suspend or a resume would do is what it does.
func TestProposed(t *testing.T) {
	s := &tasks{all: map[string]suspend.TaskService{
		"a": {Desired: 3, Running: 3, Present: 3}, "b": {Desired: 2, Running: 1, Present: 2}, "c": {}, "d": {Present: 1}, "f": {Desired: 1, Running: 1, Present: 1, Fixed: "it is a daemon service"},
	}}
	all := suspend.Services{Stacks: s, TaskServices: s}
	got, err := all.Stoppable(t.Context(), project.Target{}, "id")
	if want := "a 3; b 2; c: it does not run; d: it does not run; f: it is a daemon service"; err != nil || text(got) != want {
		t.Errorf("would stop %s, want %s: %v", text(got), want, err)
	}
	if first := got.Resources[0]; first.Kind != "ECS service" || first.Type != serviceType || first.Is != "of 3 desired tasks with 3 running" {
		t.Errorf("the first is %+v", first)
	}
	var recorded []plan.Stopped
	for _, id := range []string{"a", "b", "c", "d", "f", "gone"} {
		recorded = append(recorded, plan.Stopped{Type: serviceType, ID: id, Was: "3"})
	}
	got, err = all.Startable(t.Context(), project.Target{}, recorded)
	if want := "d 3; c 3; b 3; gone: it does not exist any more; f: it is a daemon service; a: it runs as before"; err != nil || text(got) != want {
		t.Errorf("would start %s, want %s: %v", text(got), want, err)
	}
	if s.called != nil {
		t.Errorf("called %q", s.called)
	}
	if err := all.Start(t.Context(), project.Target{}, recorded); err != nil || fmt.Sprint(s.called) != "[d3 c3 b3]" {
		t.Errorf("started %v: %v", s.called, err)
	}
	if _, err := all.Startable(t.Context(), project.Target{}, []plan.Stopped{{Type: "AWS::Fly::Fly", ID: "a"}}); !fault.Is(err, fault.Broken) {
		t.Errorf("of a newer record: %v", err)
	}
	broken := &services{fails: map[string]error{"find": fault.New(fault.Denied, "no")}}
	if _, err := broken.all().Stoppable(t.Context(), project.Target{}, "id"); !fault.Is(err, fault.Denied) {
		t.Errorf("without permission: %v", err)
	}
}
