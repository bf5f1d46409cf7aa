package cloudformation

import "time"

// burst is how many seconds' worth of requests are answered at once.
const burst = 10

// A leakyBucket counts the recent requests of an operation.
type leakyBucket struct {
	answered float64
	at       time.Time
}

// exceedsRate reports whether a request exceeds a rate. A request that does not is counted.
func (s *Service) exceedsRate(action string, rate float64, now time.Time) bool {
	l := s.recent[action]
	l.answered, l.at = max(l.answered-rate*now.Sub(l.at).Seconds(), 0), now
	full := l.answered+1 > burst*rate
	if !full {
		l.answered++
	}
	s.recent[action] = l
	return full
}
