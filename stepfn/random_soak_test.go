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

var soak = flag.Duration("soak", 0, "how long to play fresh random worlds; make soak does it")

// perReal is how many worlds are played in memory for each on the real adapters.
const memoryPerEmulated = 20

// Fresh worlds, for as long as it is told. It ends at the first in which
// something is wrong.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("make soak says how long")
	}
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixMilli())
	}
	all := &tally{first: first, next: first, begun: time.Now(), checked: make(map[string]int), struck: make(map[string]int)}
	lanes := runtime.GOMAXPROCS(0)
	t.Run("lanes", func(t *testing.T) {
		for lane := range lanes {
			t.Run(fmt.Sprint("lane", lane), func(t *testing.T) {
				t.Parallel()
				for time.Since(all.begun) < *soak && !all.failed {
					all.play(t)
				}
			})
		}
	})
	fmt.Println(all)
}

// A tally is what was played, by all lanes.
type tally struct {
	mu               sync.Mutex
	first, next      uint64 // seeds
	begun            time.Time
	memory, emulated int                            // worlds
	faulty           struct{ memory, emulated int } // of these, those in which something went wrong by itself or by people
	checked, struck  map[string]int
	failed           bool
}

// play plays the next world.
func (a *tally) play(t *testing.T) {
	a.mu.Lock()
	n := a.next
	a.next++
	a.mu.Unlock()
	on := randomInMemory
	if n%(memoryPerEmulated+1) == 0 {
		on = randomOnEmulators
	}
	checked, struck := on.judge(t, writeScript(n, on.emulated), fmt.Sprint("seed ", n))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = a.failed || t.Failed()
	played, faulty := &a.memory, &a.faulty.memory
	if on.emulated {
		played, faulty = &a.emulated, &a.faulty.emulated
	}
	*played++
	if len(struck) > 0 {
		*faulty++
	}
	for k, v := range checked {
		a.checked[k] += v
	}
	for k, v := range struck {
		a.struck[k] += v
	}
}

func (a *tally) String() string {
	return fmt.Sprintf("played for %s the seeds %d to %d:\n    %d worlds in memory, %d of them with faults\n    %d worlds on the real adapters, %d of them with faults\nfaults:%s\ninvariants checked:%s",
		time.Since(a.begun).Round(time.Second), a.first, a.next-1, a.memory, a.faulty.memory, a.emulated, a.faulty.emulated, counts(a.struck), counts(a.checked))
}

// counts lists what was counted, sorted.
func counts(of map[string]int) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&b, "\n    %-20s %d", k, of[k])
	}
	return b.String()
}
