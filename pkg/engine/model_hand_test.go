package engine_test

// begin asks CloudFormation, and tells all that may come of it.
func (w claimSetup) begin(s claimState, i int, tell func(string, claimState)) {
	next := recordIt
	if s.hands[i].at == beginLate {
		next = hearAgain
	}
	to := s
	to.hands[i].at, to.hands[i].answer = next, to.receives(w)
	tell("it answers", to)
	if s.refusals == 0 {
		return
	}
	s.refusals--
	s.hands[i].at = next
	to = s
	to.hands[i].answer = throttled
	tell("throttled", to)
	to.hands[i].answer = unanswered
	tell("the request is lost", to)
	if !s.wire {
		to.wire = true
		tell("the request is late, and nobody waits for its answer", to)
	}
	to.wire = s.wire
	to.receives(w)
	tell("the answer is lost", to)
}

// start is a step of a function that starts the step.
func (w claimSetup) start(s *claimState, h *hand) string {
	mine := h.epoch == s.epoch || w.lacks("fence")
	switch h.at {
	case readStep:
		h.at = 0
		if h.epoch == s.epoch && !s.claimed && s.ended == nothing {
			h.at = claimIt
		}
	case claimIt:
		h.at = 0
		if mine && s.ended == nothing && (!s.claimed || w.lacks("claim")) {
			for i := range s.hands {
				s.hands[i].works = false
			}
			s.claimed, s.old, h.works, h.at = true, false, true, beginIt
			if s.closed {
				return "a step is begun of a run that is over"
			}
		}
	case recordIt:
		w.receipt(s, h, mine)
	}
	return ""
}

// receipt writes what CloudFormation answered to the claimer.
func (w claimSetup) receipt(s *claimState, h *hand, mine bool) {
	answer := h.answer
	h.at, h.answer, h.works = 0, unanswered, false
	if !mine || !s.claimed || s.ended != nothing {
		return
	}
	switch answer {
	case yes:
		s.noted = true
	case taken:
		s.ended = bad
	case throttled:
		s.claimed, s.old = false, false
	}
}

// poll is a step of a function that polls.
func (w claimSetup) look(s *claimState, h *hand) string {
	mine := h.epoch == s.epoch || w.lacks("fence")
	at := h.at
	h.at = loadStep
	switch at {
	case loadStep:
		h.old = s.old
		switch {
		case h.epoch != s.epoch || s.ended != nothing:
			h.at, h.old = 0, false
		case s.claimed:
			h.at = hear
		}
	case hear:
		switch {
		case s.shown && s.work > live:
			h.at = finishIt
		case !s.shown && h.old && !s.noted:
			h.at = beginLate
		}
	case hearAgain:
		answer := h.answer
		h.answer = unanswered
		switch {
		case answer != taken:
		case w.lacks("hear again") || !s.shown:
			return w.finish(s, h, mine, bad)
		case s.work > live:
			h.at = finishIt
		}
	case finishIt:
		return w.finish(s, h, mine, s.work)
	}
	return ""
}

// finish writes how the step ended.
func (w claimSetup) finish(s *claimState, h *hand, mine bool, how uint8) string {
	h.at, h.old = loadStep, false
	if !mine || !s.claimed || s.ended != nothing {
		return ""
	}
	s.ended = how
	if s.closed {
		return "a step is settled of a run that is over"
	}
	return ""
}
