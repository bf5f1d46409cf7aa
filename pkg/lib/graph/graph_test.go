package graph_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/graph"
)

// parse reads "b<a c<a,b d": b after a, c after a and b, d after nothing.
func parse(text string) *graph.Graph[string] {
	var g graph.Graph[string]
	for _, word := range strings.Fields(text) {
		k, after, _ := strings.Cut(word, "<")
		g.Add(k)
		for a := range strings.SplitSeq(after, ",") {
			if a != "" {
				g.Add(k, a)
			}
		}
	}
	return &g
}

func TestOrder(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"a":                 "a",
		"c b a":             "a b c",
		"a<b b<c c":         "c b a",
		"a<z b":             "z a b",
		"d<b,c b<a c<a a":   "a b c d",
		"a<b a<b b":         "b a",
		"a<a":               "cycle: a → a",
		"a<b b<a":           "cycle: a → b → a",
		"x<a a<b b<c c<a":   "cycle: a → b → c → a",
		"a<b b<c c<d d<b":   "cycle: b → c → d → b",
		"a<b b c<d d<e e<c": "cycle: c → d → e → c",
	} {
		order, err := parse(text).Order()
		got := strings.Join(order, " ")
		if err != nil {
			got = err.Error()
			if _, ok := errors.AsType[*graph.CycleError[string]](err); !ok {
				t.Errorf("%s: %T is no CycleError", text, err)
			}
		}
		if got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

func TestReachAndReverse(t *testing.T) {
	g := parse("d<b,c b<a c<a a e<d x")
	for _, c := range []struct {
		from, want, reversed string
	}{
		{"a", "a", "a b c d e"},
		{"d", "a b c d", "d e"},
		{"b x", "a b x", "b d e x"},
		{"x", "x", "x"},
		{"", "", ""},
		{"unknown", "unknown", "unknown"},
	} {
		from := strings.Fields(c.from)
		if got := words(g.Reach(from...)); got != c.want {
			t.Errorf("reach %s: got %s", c.from, got)
		}
		if got := words(g.Reverse().Reach(from...)); got != c.reversed {
			t.Errorf("reach %s backwards: got %s", c.from, got)
		}
	}
	if got := g.After("d"); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("d is after %v", got)
	}
	if got := g.Reverse().Keys(); !slices.Equal(got, g.Keys()) {
		t.Errorf("reversed, it has %v", got)
	}
}

func words(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), " ") }

// A chain as long as the largest project, and longer, is no trouble.
func TestLongChain(t *testing.T) {
	const n = 100_000
	g := chain(n)
	order, err := g.Order()
	if err != nil || len(order) != n || order[0] != 0 || order[n-1] != n-1 {
		t.Fatalf("%d in order, %v", len(order), err)
	}
	if got := len(g.Reach(n - 1)); got != n {
		t.Errorf("the last reaches %d", got)
	}
	g.Add(0, n-1)
	_, err = g.Order()
	if ring, ok := errors.AsType[*graph.CycleError[int]](err); !ok || len(ring.Cycle) != n+1 {
		t.Error("the ring is not shown whole")
	}
}

// AddAcyclic adds exactly the edges that make no cycle with those before them.
func TestAddAcyclic(t *testing.T) {
	left := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 2 + rng.IntN(8)
		var g, want graph.Graph[int]
		for range rng.IntN(n) {
			later, earlier := 1+rng.IntN(n-1), 0
			earlier = rng.IntN(later)
			g.Add(later, earlier)
			want.Add(later, earlier)
		}
		var edges, added []graph.Edge[int]
		for range rng.IntN(3 * n) {
			e := graph.Edge[int]{Later: rng.IntN(n), Earlier: rng.IntN(n)}
			edges = append(edges, e)
			if want.Reach(e.Earlier)[e.Later] {
				left++
				continue
			}
			want.Add(e.Later, e.Earlier)
			added = append(added, e)
		}
		if got := g.AddAcyclic(edges); !slices.Equal(got, added) {
			t.Fatalf("seed %d: of %v it adds %v, want %v", seed, edges, got, added)
		}
		for _, k := range want.Keys() {
			if !slices.Equal(g.After(k), want.After(k)) {
				t.Fatalf("seed %d: %d comes after %v, want %v", seed, k, g.After(k), want.After(k))
			}
		}
	}
	if left == 0 {
		t.Error("no edge makes a cycle")
	}
}

func chain(n int) *graph.Graph[int] {
	var g graph.Graph[int]
	for i := range n - 1 {
		g.Add(i+1, i)
	}
	return &g
}

// Any graph has either an order in which everything follows what it comes after,
// whatever it was put in, or a ring that is there.
func TestAnyGraph(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(8)
		edges := make([][2]int, rng.IntN(2*n))
		var g, same graph.Graph[int]
		for i := range edges {
			edges[i] = [2]int{rng.IntN(n), rng.IntN(n)}
			g.Add(edges[i][0], edges[i][1])
		}
		for _, i := range rng.Perm(len(edges)) {
			same.Add(edges[i][0], edges[i][1])
		}
		order, err := g.Order()
		again, errAgain := same.Order()
		if fmt.Sprint(order, err) != fmt.Sprint(again, errAgain) {
			t.Fatalf("seed %d: %v %v, then %v %v", seed, order, err, again, errAgain)
		}
		if ring, ok := errors.AsType[*graph.CycleError[int]](err); ok {
			for i, k := range ring.Cycle[1:] {
				if !slices.Contains(edges, [2]int{ring.Cycle[i], k}) {
					t.Fatalf("seed %d: %v is no ring in %v", seed, err, edges)
				}
			}
			continue
		}
		for _, e := range edges {
			if slices.Index(order, e[0]) <= slices.Index(order, e[1]) {
				t.Fatalf("seed %d: %v does not keep %v", seed, order, edges)
			}
		}
	}
}

func BenchmarkOrder(b *testing.B) {
	var wide graph.Graph[int]
	for i := range 10_000 {
		for j := range 10 {
			if i >= 40 {
				wide.Add(i, i-40+j)
			}
		}
	}
	for name, g := range map[string]*graph.Graph[int]{"chain of 10000": chain(10_000), "40 wide of 10000": &wide} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Order(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
