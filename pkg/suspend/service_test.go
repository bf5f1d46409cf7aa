package suspend_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

const serviceType = "AWS::ECS::Service"

// tasks are services of ECS, by ARN.
type tasks struct {
	all    map[string]suspend.TaskService
	called []string
}

func (s *tasks) ResourcesByType(context.Context, project.Target, string) (map[string][]string, error) {
	var arns []string
	for arn := range s.all {
		arns = append(arns, arn)
	}
	slices.Sort(arns)
	return map[string][]string{serviceType: arns}, nil
}

func (s *tasks) TaskServices(context.Context, project.Target, []string) (map[string]suspend.TaskService, error) {
	return s.all, nil
}

func (s *tasks) Scale(_ context.Context, _ project.Target, arn string, desired int) error {
	s.called = append(s.called, fmt.Sprint(arn, desired))
	return nil
}

// An ECS service is on while it has desired tasks, and off when none is left. One that cannot be stopped is named, and nothing of it is changed.
func TestTaskServices(t *testing.T) {
	s := &tasks{all: map[string]suspend.TaskService{
		"a": {Desired: 3, Running: 3, Present: 3}, "b": {Desired: 3, Running: 1, Present: 2}, "c": {}, "d": {Running: 1, Present: 1}, "e": {Present: 1},
		"f": {Desired: 1, Running: 1, Present: 1, Fixed: "it is a daemon service"},
	}}
	all := suspend.Services{Stacks: s, TaskServices: s}
	running, fixed, err := all.Running(t.Context(), project.Target{}, "id")
	want := []plan.Stopped{{Type: serviceType, ID: "a", Was: "3"}, {Type: serviceType, ID: "b", Was: "3"}}
	if err != nil || !slices.Equal(running, want) || strings.Join(fixed, ", ") != "ECS service f keeps running: it is a daemon service" {
		t.Errorf("running are %v, fixed %q, %v", running, fixed, err)
	}
	var recorded []plan.Stopped
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "gone"} {
		recorded = append(recorded, plan.Stopped{Type: serviceType, ID: id, Was: "3"})
	}
	for on, want := range map[bool]string{false: "a b d e", true: "b c d e"} {
		waits, gone, err := all.Unsettled(t.Context(), project.Target{}, recorded, on)
		var names []string
		for _, one := range waits {
			names = append(names, strings.Fields(one)[2])
		}
		if strings.Join(names, " ") != want || strings.Join(gone, " ") != "ECS service gone" || err != nil {
			t.Errorf("on %v: waits %q, gone %q, %v", on, waits, gone, err)
		}
	}
	if err := all.Stop(t.Context(), project.Target{}, recorded); err != nil || fmt.Sprint(s.called) != "[a0 b0]" {
		t.Errorf("stopped %v: %v", s.called, err)
	}
	s.called = nil
	if err := all.Start(t.Context(), project.Target{}, recorded); err != nil || fmt.Sprint(s.called) != "[e3 d3 c3]" {
		t.Errorf("started %v: %v", s.called, err)
	}
	s.called = nil
	err = all.Start(t.Context(), project.Target{}, []plan.Stopped{{Type: serviceType, ID: "c", Was: "many"}})
	if !fault.Is(err, fault.Broken) || s.called != nil {
		t.Errorf("of a damaged record, started %v: %v", s.called, err)
	}
}
