package workload

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// A graph follows from its seed. Its durations have the distribution that they should
// have, and its critical path is between its longest stack and all its work.
func TestGrid(t *testing.T) {
	g := Grid(100, 50, 1)
	if !reflect.DeepEqual(g, Grid(100, 50, 1)) || reflect.DeepEqual(g, Grid(100, 50, 2)) {
		t.Error("a graph does not follow from its seed")
	}
	var all []time.Duration
	for i, s := range g {
		if n := len(s.Needs); n > MostNeeds || (n == 0) != (i < 100) {
			t.Errorf("stack %d needs %v", i, s.Needs)
		}
		all = append(all, s.Duration)
	}
	slices.Sort(all)
	for share, want := range map[int]time.Duration{2: 40 * time.Second, 12: 2 * time.Minute, 170: 5 * time.Minute} {
		if got := all[len(all)-len(all)/share]; got < want*4/5 || got > want*5/4 {
			t.Errorf("one of %d takes more than %s, want about %s", share, got, want)
		}
	}
	if path := g.CriticalPath(); path < 50*Median || path > 50*all[len(all)-1] {
		t.Errorf("the critical path takes %s", path)
	}
}

func TestLeastTimes(t *testing.T) {
	g := Graph{{Name: "a", Duration: 3}, {Name: "b", Duration: 5}, {Name: "c", Needs: []string{"a", "b"}, Duration: 4}, {Name: "d", Duration: 8}}
	if got := g.CriticalPath(); got != 9 {
		t.Errorf("the critical path takes %d, want 9", got)
	}
	if got := g.Waves(); got != 12 {
		t.Errorf("in waves it takes %d, want 12", got)
	}
	for most, want := range map[int]time.Duration{1: 20, 2: 10, 3: 9} {
		if got := g.Bound(most); got != want {
			t.Errorf("with %d at a time it takes %d, want %d", most, got, want)
		}
	}
}
