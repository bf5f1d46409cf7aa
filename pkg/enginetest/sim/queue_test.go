package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// What is put at any time comes out in the order of its time, and then in the
// order in which it was put.
func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var q queue
		var put []happening
		check := func() {
			slices.SortFunc(put, func(a, b happening) int {
				if a.before(b) {
					return -1
				}
				return 1
			})
			if got := q.pop(); got.seq != put[0].seq {
				t.Fatalf("%d at %s comes out before %d at %s", got.seq, got.at, put[0].seq, put[0].at)
			}
			put = put[1:]
		}
		for seq := range 1 + rng.IntN(60) {
			h := happening{at: time.Unix(rng.Int64N(20), 0), seq: seq}
			q.push(h)
			put = append(put, h)
			if rng.IntN(3) == 0 {
				check()
			}
		}
		for len(put) > 0 {
			check()
		}
		if len(q) > 0 {
			t.Fatalf("%d are left", len(q))
		}
	}
}
