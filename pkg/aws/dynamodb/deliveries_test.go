package dynamodb

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// One event of a run is delivered to a destination at a time, and none twice. The thread is remembered.
func TestDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := open(t, &wire{page: 1, lost: 3})
		claim := func(event string) (string, bool, error) {
			return table.ClaimDelivery(t.Context(), "r", "ops", event, time.Now().Add(time.Minute))
		}
		wants := func(event, thread string, done bool, kind fault.Kind) {
			t.Helper()
			if th, d, err := claim(event); th != thread || d != done || fault.KindOf(err) != kind {
				t.Fatalf("%s: thread %q, done %v, %v", event, th, d, err)
			}
		}
		wants("a", "", false, "")
		wants("a", "", false, "") // repeated by the same event
		wants("b", "", false, fault.Busy)
		if _, done, err := table.ClaimDelivery(t.Context(), "r", "chat", "b", time.Now().Add(time.Minute)); done || err != nil {
			t.Fatalf("another destination: %v, %v", done, err)
		}
		must(t, table.Delivered(t.Context(), "r", "ops", "a", "17.1"))
		wants("a", "", true, "")
		wants("b", "17.1", false, "")
		must(t, table.ReleaseDelivery(t.Context(), "r", "ops", "a")) // late: b is being delivered
		wants("c", "", false, fault.Busy)
		must(t, table.ReleaseDelivery(t.Context(), "r", "ops", "b"))
		wants("c", "17.1", false, "")
		time.Sleep(time.Minute) // its function has crashed
		wants("b", "17.1", false, "")
		must(t, table.Delivered(t.Context(), "r", "ops", "b", ""))
		wants("c", "17.1", false, "")
	})
}

// Of many that claim at the same time, one gets the claim.
func TestConcurrentDeliveries(t *testing.T) {
	table := open(t, &wire{page: 1})
	var all sync.WaitGroup
	var mu sync.Mutex
	got := 0
	for _, event := range []string{"a", "b", "c", "d", "e", "f"} {
		all.Go(func() {
			_, done, err := table.ClaimDelivery(t.Context(), "r", "ops", event, time.Now().Add(time.Minute))
			mu.Lock()
			defer mu.Unlock()
			if err == nil && !done {
				got++
			} else if !fault.Is(err, fault.Busy) {
				t.Errorf("%s: %v, %v", event, done, err)
			}
		})
	}
	all.Wait()
	if got != 1 {
		t.Errorf("%d have the claim", got)
	}
}
