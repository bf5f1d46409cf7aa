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

// shopOf returns a web shop of nine stacks, all at one version.
func shopOf(version string) stacks {
	words := "vpc security<vpc db<vpc,security queue images orders<db,queue api<queue,images,orders uploads<images alarms<orders,api,queue"
	w := parseStacks(strings.Fields(words))
	for i := range w {
		w[i].version = version
	}
	return w
}

// Half of all requests that the functions send to AWS are throttled or get a 5xx
// status, before or after AWS has carried them out. No step fails, and nothing is
// requested twice.
func TestHalfOfAllRequestsFail(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { halfFails(t, seed) })
		})
	}
}

func halfFails(t *testing.T, seed uint64) {
	var sent, failed atomic.Int64
	failure := gateway.RandomFailures(0.5, seed)
	r := newEmulators(t, func(o *cloud.Options) {
		o.Fail = func(q gateway.Request) *gateway.Failure {
			if q.AccessKey != functionKey {
				return nil
			}
			sent.Add(1)
			f := failure(q)
			if f != nil {
				failed.Add(1)
			}
			return f
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
		if scheduled := r.Scheduled(); len(scheduled) != c.schedules {
			t.Errorf("after %s the schedules are %v, want %d", c.operation, scheduled, c.schedules)
		}
		requests := r.Requests()
		if slices.Sort(requests); !slices.Equal(requests, c.want) {
			t.Errorf("%s %s requested %v, want %v", c.operation, c.version, requests, c.want)
		}
	}
	if created := r.everStacks(); len(created) != len(shopOf("")) {
		t.Errorf("%d stacks were created, want %d", len(created), len(shopOf("")))
	}
	if share := float64(failed.Load()) / float64(sent.Load()); share < 0.45 || share > 0.55 {
		t.Errorf("%d of %d requests failed, want half", failed.Load(), sent.Load())
	}
	t.Logf("%d of %d requests failed", failed.Load(), sent.Load())
}
