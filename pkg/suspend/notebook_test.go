package suspend_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

const (
	notebookType = "AWS::SageMaker::NotebookInstance"
	endpointType = "AWS::SageMaker::Endpoint"
)

// lab is a stack with notebook instances by their status, and an endpoint.
type lab struct {
	statuses []string
	called   []string
}

func (l *lab) ResourcesByType(context.Context, project.Target, string) (map[string][]string, error) {
	return map[string][]string{notebookType: l.statuses, endpointType: {"guess"}}, nil
}

func (l *lab) Machines(_ context.Context, _ project.Target, ids []string) (map[string]suspend.Machine, error) {
	all := make(map[string]suspend.Machine)
	for _, id := range ids {
		all[id] = suspend.Machine{Status: id, Why: map[string]string{"Failed": "no capacity"}[id]}
	}
	return all, nil
}

func (l *lab) StopMachine(_ context.Context, _ project.Target, id string) error {
	l.called = append(l.called, "stop "+id)
	return nil
}

func (l *lab) StartMachine(_ context.Context, _ project.Target, id string) error {
	l.called = append(l.called, "start "+id)
	return nil
}

// A notebook instance that has failed does not run, and a resume starts it; while one is updated, nothing of the stack is stopped. An endpoint
// keeps running, and the advice says what to do about it.
func TestNotebooks(t *testing.T) {
	l := &lab{statuses: []string{"Failed", "InService", "Pending", "Stopped", "Stopping"}}
	s, in := suspend.Services{Stacks: l, Notebooks: l}, project.Target{}
	running, fixed, err := s.Running(t.Context(), in, "id")
	if err != nil || suspend.Names(running) != "SageMaker notebook instance InService, SageMaker notebook instance Pending" {
		t.Errorf("running are %v: %v", running, err)
	}
	if len(fixed) != 1 || !strings.HasPrefix(fixed[0], "SageMaker endpoint guess keeps running: SageMaker can only delete an endpoint: take its stack out of the project") {
		t.Errorf("fixed are %q", fixed)
	}
	of := func(ids ...string) (all []plan.Stopped) {
		for _, id := range ids {
			all = append(all, plan.Stopped{Type: notebookType, ID: id})
		}
		return all
	}
	if err := s.Stop(t.Context(), in, of("InService", "Updating")); !fault.Is(err, fault.Busy) || l.called != nil {
		t.Errorf("while one is updated: called %q, %v", l.called, err)
	}
	if err := s.Stop(t.Context(), in, running); err != nil {
		t.Error(err)
	}
	if err := s.Start(t.Context(), in, of("Failed", "InService", "Stopped")); err != nil {
		t.Error(err)
	}
	if got := strings.Join(l.called, ", "); got != "stop InService, stop Pending, start Stopped, start Failed" {
		t.Errorf("called %s", got)
	}
	waits, gone, err := s.Unsettled(t.Context(), in, of("Failed", "InService"), true)
	if err != nil || len(gone) > 0 || strings.Join(waits, ", ") != "SageMaker notebook instance Failed is Failed (no capacity)" {
		t.Errorf("waits %q, gone %q: %v", waits, gone, err)
	}
	if p, err := s.Stoppable(t.Context(), in, "id"); err != nil || len(p.Resources) != 2 || len(p.Stay) != 4 || p.Stay[3].Type != endpointType || p.Stay[3].Why == "" {
		t.Errorf("a suspend would stop %+v: %v", p, err)
	}
}

// A cluster of Redshift that is pausing is not paused, and one that is resuming not available. While it is changed, nothing is paused.
func TestWarehouses(t *testing.T) {
	l := &lab{}
	s, in := suspend.Services{Stacks: l, Warehouses: l}, project.Target{}
	var all []plan.Stopped
	for _, status := range []string{"available", "paused", "pausing", "resuming"} {
		all = append(all, plan.Stopped{Type: "AWS::Redshift::Cluster", ID: status})
	}
	for on, want := range map[bool]string{
		false: "Redshift cluster available is available, Redshift cluster pausing is pausing, Redshift cluster resuming is resuming",
		true:  "Redshift cluster paused is paused, Redshift cluster pausing is pausing, Redshift cluster resuming is resuming",
	} {
		if waits, gone, err := s.Unsettled(t.Context(), in, all, on); err != nil || len(gone) > 0 || strings.Join(waits, ", ") != want {
			t.Errorf("on %v: waits %q, want %s: %v", on, waits, want, err)
		}
	}
	if err := s.Stop(t.Context(), in, append(all, plan.Stopped{Type: "AWS::Redshift::Cluster", ID: "resizing"})); !fault.Is(err, fault.Busy) || l.called != nil {
		t.Errorf("while one is resized: called %q, %v", l.called, err)
	}
}

// Nobody stops or starts what cannot be stopped, not even with a wrong record.
func TestEndpoint(t *testing.T) {
	s, all := suspend.Services{}, []plan.Stopped{{Type: endpointType, ID: "guess"}}
	if a, b := s.Stop(t.Context(), project.Target{}, all), s.Start(t.Context(), project.Target{}, all); a != nil || b != nil {
		t.Errorf("%v, %v", a, b)
	}
	k, _ := suspend.Named(endpointType)
	if a, b := k.Stop(t.Context(), s, project.Target{}, "guess"), k.Start(t.Context(), s, project.Target{}, "guess", ""); !fault.Is(a, fault.Broken) || !fault.Is(b, fault.Broken) {
		t.Errorf("%v, %v", a, b)
	}
}
