package stepfn_test

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var soak = flag.Duration("soak", 0, "how long to play random scenarios of new seeds; make soak sets it")

// memoryPerEmulated is the number of random scenarios in memory for each one on the
// emulators.
const memoryPerEmulated = 20

// TestSoak plays random scenarios of new seeds until the time is over or one fails.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("make soak runs it")
	}
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixMilli())
	}
	all := &tally{first: first, next: first, started: time.Now(), count: newCount()}
	workers := runtime.GOMAXPROCS(0)
	t.Run("workers", func(t *testing.T) {
		for worker := range workers {
			t.Run(fmt.Sprint("worker", worker), func(t *testing.T) {
				t.Parallel()
				for time.Since(all.started) < *soak && !all.failed {
					all.play(t)
				}
			})
		}
	})
	fmt.Println(all)
}

// A tally counts what all workers have played.
type tally struct {
	mu               sync.Mutex
	first, next      uint64 // seeds
	started          time.Time
	memory, emulated int                            // random scenarios
	faulty           struct{ memory, emulated int } // the number of these that had faults or outside changes
	count
	failed bool
}

// play plays the next random scenario.
func (a *tally) play(t *testing.T) {
	a.mu.Lock()
	n := a.next
	a.next++
	a.mu.Unlock()
	on := randomInMemory
	if n%(memoryPerEmulated+1) == 0 {
		on = randomOnEmulators
	}
	counted := on.check(t, writeScript(n, on.emulated), fmt.Sprint("seed ", n))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = a.failed || t.Failed()
	played, faulty := &a.memory, &a.faulty.memory
	if on.emulated {
		played, faulty = &a.emulated, &a.faulty.emulated
	}
	*played++
	if len(counted.injected) > 0 {
		*faulty++
	}
	a.add(counted)
}

func (a *tally) String() string {
	return fmt.Sprintf("played the seeds %d to %d in %s:\n    %d random scenarios in memory, %d of them with faults\n    %d on the emulators, %d of them with faults\nfaults:%s\nrequests:%s\ninvariants checked:%s",
		a.first, a.next-1, time.Since(a.started).Round(time.Second), a.memory, a.faulty.memory, a.emulated, a.faulty.emulated, counts(a.injected), counts(a.used), counts(a.checked))
}

// counts lists counters by name.
func counts(of map[string]int) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&b, "\n    %-20s %d", k, of[k])
	}
	return b.String()
}
