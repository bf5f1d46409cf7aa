package cloudformation

import "time"

// burst is how many seconds' worth of requests are answered at once.
const burst = 10

// A leak is how many requests of an operation were answered of late, at a time.
type leakyBucket struct {
	answered float64
	at       time.Time
}

// crowded reports whether a request is one too many at a rate. If it is not, it
// is counted.
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
