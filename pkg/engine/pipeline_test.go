package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// piped is a project whose only environment is promoted to prod, which was deployed with the same files, after an hour. It has an alarm.
func piped(t *testing.T) *fixture {
	h := newFixture(t)
	h.backend.Hooks.SetAlarm("errors", "OK")
	h.pipe("v1", &project.Promotion{From: "default"})
	h.must(h.Start(t.Context(), run.Request{ID: "first", Project: "shop@prod", Operation: "deploy", Source: run.Source{Version: "v1"}, Who: "bob"}))
	if r := h.planAndExecute("first"); r.State != run.StateSucceeded {
		t.Fatalf("the deploy is %s: %q", r.State, r.Messages)
	}
	h.passTime(time.Minute)
	h.backend.Cloud.Set("shop-vpc", "")
	return h
}

// pipe stores a version of the project with the given place in the order.
func (h *fixture) pipe(version string, p *project.Promotion) {
	h.setVersion(version, "vpc")
	made := h.projects[version]
	made.Promotion = p
	h.projects[version] = made
}

// toProd is the place of the environment that is promoted to prod.
func toProd(alarms ...string) *project.Promotion {
	p := &project.Promotion{To: "prod", Soak: project.Timeout(time.Hour)}
	for _, name := range alarms {
		p.Alarms = append(p.Alarms, project.PromotionAlarm{Name: name, Target: project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"}})
	}
	return p
}

// The execution of a promotion waits as long as it may not begin, whatever stopped an earlier one, and then plans it. A command ends it at once.
func TestPromotionWaits(t *testing.T) {
	h := piped(t)
	h.pipe("v2", toProd())
	a := h.requestAndExecute("a", "deploy", "v2")
	id := engine.PromotionOf("a")
	if a.State != run.StateSucceeded || !slices.ContainsFunc(h.started, func(name string) bool { return strings.HasPrefix(name, id+"-1") }) {
		t.Fatalf("the deploy is %s: %q; started are %v", a.State, a.Messages, h.started)
	}
	loop := h.planned(id, 1)
	if rest := int(a.Ended.Add(time.Hour).Sub(h.backend.Now()) / time.Second); loop.State != run.StateSoaking || loop.Wait < rest || loop.Wait > rest+1 {
		t.Errorf("%+v, and %d seconds are left", loop, rest)
	}
	h.must(h.Command(t.Context(), run.Request{ID: "stop", Project: "shop@prod", Operation: "cancel", Of: id, Who: "ann"}))
	if r := h.stored(id); r.Epoch != 2 {
		t.Errorf("after the command the epoch is %d", r.Epoch)
	}
	if loop := h.planned(id, 2); loop.State != run.StateCancelled {
		t.Errorf("%+v", loop)
	}
	if loop := h.planned(id, 1); loop.State != run.StateFencedOff && !loop.State.Over() {
		t.Errorf("the execution that has waited gets %+v", loop)
	}
}

// Alarms that cannot be read are a reason of the refusal, unless another attempt may read them.
func TestPromotionWithUnreadableAlarms(t *testing.T) {
	for kind, refused := range map[fault.Kind]bool{fault.Denied: true, fault.Throttled: false, fault.Unavailable: false} {
		h := piped(t)
		h.pipe("v2", toProd("errors"))
		h.requestAndExecute("a", "deploy", "v2")
		h.passTime(2 * time.Hour)
		h.Alarms = unreadableAlarms{kind}
		loop, err := h.Plan(t.Context(), engine.ExecutionInput{Run: engine.PromotionOf("a"), Epoch: 1})
		if refused != (err == nil && loop.State == run.StateRefused) || !refused && fault.KindOf(err) != kind {
			t.Errorf("%s: %+v, %v", kind, loop, err)
		}
	}
}

// unreadableAlarms are alarms that cannot be read.
type unreadableAlarms struct{ kind fault.Kind }

// States implements revision.Alarms.
func (u unreadableAlarms) States(context.Context, project.Target, []string) ([]project.Alarm, error) {
	return nil, fault.New(u.kind, "the alarms cannot be read")
}

// Raised implements revision.Alarms.
func (u unreadableAlarms) Raised(context.Context, project.Target, string, time.Time) (time.Time, error) {
	return time.Time{}, fault.New(u.kind, "the history cannot be read")
}
