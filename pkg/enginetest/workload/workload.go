// Package workload makes the graphs of stacks that benchmarks and tests of speed deploy.
// The same seed gives the same graph.
package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// How long the operations of stacks take: the logarithm of a duration has a normal
// distribution. Half of the operations take more than 40 seconds, one of 12 more than two
// minutes and one of 170 more than five minutes.
const (
	Median = 40 * time.Second
	Sigma  = 0.8
)

// MostNeeds is how many stacks of the row above a stack depends on, at most. The number
// is uniform, at least 1.
const MostNeeds = 3

// A Stack is one stack of a graph.
type Stack struct {
	Name     string
	Needs    []string // names of stacks before it in the graph, sorted
	Duration time.Duration
}

// A Graph lists stacks. Each comes after the stacks that it depends on.
type Graph []Stack

// Grid returns stacks in rows. Each stack depends on up to MostNeeds stacks of the row
// before.
func Grid(wide, rows int, seed uint64) Graph { return grid(wide, rows, seed, lognormal) }

// EvenGrid is a Grid in which no operation takes much longer than another: between 30
// and 89 seconds.
func EvenGrid(wide, rows int, seed uint64) Graph {
	return grid(wide, rows, seed, func(rng *rand.Rand) time.Duration {
		return 30*time.Second + time.Duration(rng.Int64N(int64(59*time.Second))).Truncate(time.Millisecond)
	})
}

func grid(wide, rows int, seed uint64, duration func(*rand.Rand) time.Duration) Graph {
	rng := rand.New(rand.NewPCG(seed, 1))
	var g Graph
	for i := range wide * rows {
		s := Stack{Name: fmt.Sprintf("s%05d", i), Duration: duration(rng)}
		if row := i / wide; row > 0 {
			for range 1 + rng.IntN(MostNeeds) {
				s.Needs = append(s.Needs, g[(row-1)*wide+rng.IntN(wide)].Name)
			}
			slices.Sort(s.Needs)
			s.Needs = slices.Compact(s.Needs)
		}
		g = append(g, s)
	}
	return g
}

func lognormal(rng *rand.Rand) time.Duration {
	return time.Duration(float64(Median) * math.Exp(Sigma*rng.NormFloat64())).Truncate(time.Millisecond)
}

// CriticalPath is the duration of the longest chain of stacks.
func (g Graph) CriticalPath() time.Duration {
	var longest time.Duration
	until := make(map[string]time.Duration, len(g))
	for _, s := range g {
		var after time.Duration
		for _, name := range s.Needs {
			after = max(after, until[name])
		}
		until[s.Name] = after + s.Duration
		longest = max(longest, until[s.Name])
	}
	return longest
}

// Waves is how long a deploy takes that waits for all stacks of a level before it starts
// the next. A stack is one level after the last of its dependencies.
func (g Graph) Waves() time.Duration {
	level := make(map[string]int, len(g))
	var longest []time.Duration // of each level
	for _, s := range g {
		for _, name := range s.Needs {
			level[s.Name] = max(level[s.Name], level[name]+1)
		}
		if level[s.Name] == len(longest) {
			longest = append(longest, 0)
		}
		longest[level[s.Name]] = max(longest[level[s.Name]], s.Duration)
	}
	var sum time.Duration
	for _, d := range longest {
		sum += d
	}
	return sum
}

// Bound is the least time that a deploy can take if most stacks are in progress at a
// time: the critical path, or the work divided by most.
func (g Graph) Bound(most int) time.Duration {
	var work time.Duration
	for _, s := range g {
		work += s.Duration
	}
	return max(g.CriticalPath(), work/time.Duration(most))
}
