package stepfn_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/pkg/run"
)

// shopOf is a web shop of nine stacks at a version.
func shopOf(version string) stacks {
	words := "vpc security<vpc db<vpc,security queue images orders<db,queue api<queue,images,orders uploads<images alarms<orders,api,queue"
	w := parseStacks(strings.Fields(words))
	for i := range w {
		w[i].version = version
	}
	return w
}

// Half of all requests that the functions send to AWS, for as long as they live, are throttled or answered with a 5xx,
// before or after they were carried out: nothing fails, and nothing is requested twice.
func TestHalfOfAllRequestsFail(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { halfFails(t, seed) })
		})
	}
}

func halfFails(t *testing.T, seed uint64) {
	var sent, failed atomic.Int64
	unsteady := gateway.RandomFailures(0.5, seed)
	r := newEmulators(t, func(o *cloud.Options) {
		o.Fail = func(q gateway.Request) *gateway.Failure {
			if q.AccessKey != functionKey {
				return nil
			}
			sent.Add(1)
			trouble := unsteady(q)
			if trouble != nil {
				failed.Add(1)
			}
			return trouble
		}
	})
	every := func(verb string) []string {
		var all []string
		for _, s := range shopOf("") {
			all = append(all, s.name+"/"+verb)
		}
		slices.Sort(all)
		return all
	}
	r.Schedules(map[string]string{"nightly": "refresh", "weekly": "deploy"})
	for _, c := range []struct {
		operation, version string
		want               []string
		schedules          int
	}{{"deploy", "v1", every("create"), 2}, {"deploy", "v2", every("update"), 2}, {"destroy", "", every("delete"), 0}} {
		id := r.Submit(c.operation, shopOf(c.version), "")
		if !r.WaitIdle() {
			t.Fatalf("%s %s never ends", c.operation, c.version)
		}
		if got := r.ExecutionStatus(id); got.State != run.StateSucceeded {
			t.Errorf("%s %s: %s %v", c.operation, c.version, got.State, got.Messages)
			for _, s := range got.Steps {
				t.Logf("%-20s %-8s %d %s", s.ID, s.Status, s.Attempt, s.Why)
			}
		}
		if there := r.Scheduled(); len(there) != c.schedules {
			t.Errorf("after %s there are schedules %v", c.operation, there)
		}
		asked := r.Requests()
		if slices.Sort(asked); !slices.Equal(asked, c.want) {
			t.Errorf("%s %s asked for %v", c.operation, c.version, asked)
		}
	}
	if made := r.everStacks(); len(made) != len(shopOf("")) {
		t.Errorf("%d stacks were made", len(made))
	}
	if share := float64(failed.Load()) / float64(sent.Load()); share < 0.45 || share > 0.55 {
		t.Errorf("%d of %d requests failed", failed.Load(), sent.Load())
	}
	t.Logf("%d of %d requests failed", failed.Load(), sent.Load())
}
