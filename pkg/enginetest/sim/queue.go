package sim

import "time"

// A happening is a call that the clock makes at a time.
type happening struct {
	at  time.Time
	seq int
	do  func()
}

func (h happening) before(other happening) bool {
	c := h.at.Compare(other.at)
	return c < 0 || c == 0 && h.seq < other.seq
}

// A queue is a binary heap of happenings: the earliest first, and of those with one
// time the one that was added first.
type queue []happening

func (q *queue) push(h happening) {
	all := append(*q, h)
	at := len(all) - 1
	for at > 0 && h.before(all[(at-1)/2]) {
		all[at] = all[(at-1)/2]
		at = (at - 1) / 2
	}
	all[at] = h
	*q = all
}

// pop removes and returns the first happening of a queue that is not empty.
func (q *queue) pop() happening {
	all := *q
	first, last := all[0], all[len(all)-1]
	all[len(all)-1] = happening{} // keep no reference
	all = all[:len(all)-1]
	at := 0
	for next := 1; next < len(all); next = 2*at + 1 {
		if next+1 < len(all) && all[next+1].before(all[next]) {
			next++
		}
		if !all[next].before(last) {
			break
		}
		all[at] = all[next]
		at = next
	}
	if len(all) > 0 {
		all[at] = last
	}
	*q = all
	return first
}
