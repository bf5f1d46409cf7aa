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

// wholes are machines of one type, by ID.
type wholes struct {
	kind   string
	all    map[string]suspend.Machine
	err    error
	called []string
}

func (m *wholes) ResourcesByType(context.Context, project.Target, string) (map[string][]string, error) {
	var ids []string
	for id := range m.all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return map[string][]string{m.kind: ids}, nil
}

func (m *wholes) Machines(context.Context, project.Target, []string) (map[string]suspend.Machine, error) {
	return m.all, m.err
}

func (m *wholes) StopMachine(_ context.Context, _ project.Target, id string) error {
	m.called = append(m.called, "stop "+id)
	return nil
}

func (m *wholes) StartMachine(_ context.Context, _ project.Target, id string) error {
	m.called = append(m.called, "start "+id)
	return nil
}

// An instance is stopped if it runs and belongs to no group. In a status that nobody knows, nothing of the stack is changed.
func TestInstances(t *testing.T) {
	m := &wholes{kind: "AWS::EC2::Instance", all: map[string]suspend.Machine{
		"a": {Status: "running"}, "b": {Status: "pending"}, "c": {Status: "stopped"}, "d": {Status: "stopping"}, "member": {Status: "running", Member: true},
		"spot": {Status: "running", Fixed: "it is a Spot Instance"}, "off": {Status: "stopped", Fixed: "it is a Spot Instance"},
	}}
	s := suspend.Services{Stacks: m, Instances: m}
	running, fixed, err := s.Running(t.Context(), project.Target{}, "id")
	if want := []plan.Stopped{{Type: m.kind, ID: "a"}, {Type: m.kind, ID: "b"}}; err != nil || !slices.Equal(running, want) || strings.Join(fixed, ", ") != "EC2 instance spot keeps running: it is a Spot Instance" {
		t.Errorf("running are %v, fixed %q, %v", running, fixed, err)
	}
	of := func(ids ...string) (all []plan.Stopped) {
		for _, id := range ids {
			all = append(all, plan.Stopped{Type: m.kind, ID: id})
		}
		return all
	}
	all := of("a", "b", "c", "d", "spot", "off", "gone")
	if err := s.Stop(t.Context(), project.Target{}, all); err != nil || fmt.Sprint(m.called) != "[stop a stop b]" {
		t.Errorf("called %q: %v", m.called, err)
	}
	m.called = nil
	if err := s.Start(t.Context(), project.Target{}, all); err != nil || fmt.Sprint(m.called) != "[start off start d start c]" {
		t.Errorf("called %q: %v", m.called, err)
	}
	for on, want := range map[bool]string{false: "a b d", true: "b c d off"} {
		waits, gone, err := s.Unsettled(t.Context(), project.Target{}, all, on)
		var names []string
		for _, one := range waits {
			names = append(names, strings.Fields(one)[2])
		}
		if strings.Join(names, " ") != want || len(gone) != 1 || err != nil {
			t.Errorf("on %v: waits %q, gone %q, %v", on, waits, gone, err)
		}
	}
	m.called, m.all["x"] = nil, suspend.Machine{Status: "rebooting"}
	for _, do := range []func(context.Context, project.Target, []plan.Stopped) error{s.Stop, s.Start} {
		if err := do(t.Context(), project.Target{}, of("a", "c", "x")); !fault.Is(err, fault.Busy) || m.called != nil {
			t.Errorf("called %q: %v", m.called, err)
		}
	}
	m.err = fault.New(fault.Throttled, "slow")
	if _, _, err := s.Running(t.Context(), project.Target{}, "id"); !fault.Is(err, fault.Throttled) {
		t.Error(err)
	}
}
