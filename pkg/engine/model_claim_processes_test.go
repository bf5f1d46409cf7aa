package engine_test

// act yields the next action of function i. A function of an old epoch may continue,
// but need not.
func (w claimSetup) act(s claimState, i int, yield func(int, transition[claimState])) {
	p := s.processes[i]
	actor, name := i+3, stepActions[p.next]
	if p.epoch != s.epoch {
		actor, name = environment, "the "+stepProcesses[i]+" "+name
	}
	if p.next == sendRequest || p.next == sendAgain {
		w.send(s, i, func(outcome string, to claimState) {
			yield(actor, transition[claimState]{name: name + ": " + outcome, to: to})
		})
		return
	}
	to, violates := s, ""
	if p.next < firstOfPoll {
		violates = w.start(&to, &to.processes[i])
	} else {
		violates = w.poll(&to, &to.processes[i])
	}
	if to != s || violates != "" {
		yield(actor, transition[claimState]{name: name, to: to, violates: violates})
	}
}

// send yields what can become of a request that function i sends to CloudFormation.
func (w claimSetup) send(s claimState, i int, yield func(outcome string, to claimState)) {
	next := recordAnswer
	if s.processes[i].next == sendAgain {
		next = rereadEvents
	}
	to := s
	to.processes[i].next, to.processes[i].answer = next, to.receive(w)
	yield("CloudFormation answers", to)
	if s.losses == 0 {
		return
	}
	s.losses--
	s.processes[i].next = next
	to = s
	to.processes[i].answer = throttled
	yield("it is throttled", to)
	to.processes[i].answer = unanswered
	yield("it is lost", to)
	if !s.inFlight {
		to.inFlight = true
		yield("it is late, and its sender stops waiting", to)
	}
	to.inFlight = s.inFlight
	to.receive(w)
	yield("its answer is lost", to)
}

// start carries out the next action of a function that starts the step, except
// sending. It says which invariant that violates, if any.
func (w claimSetup) start(s *claimState, p *stepProcess) string {
	current := p.epoch == s.epoch || w.lacks("fence")
	switch p.next {
	case readStep:
		p.next = 0
		if p.epoch == s.epoch && !s.claimed && s.result == opAbsent {
			p.next = claimIt
		}
	case claimIt:
		p.next = 0
		if current && s.result == opAbsent && (!s.claimed || w.lacks("claim")) {
			for i := range s.processes {
				s.processes[i].claimer = false
			}
			s.claimed, s.expired, p.claimer, p.next = true, false, true, sendRequest
			if s.runEnded {
				return "a step of a run that has ended is claimed"
			}
		}
	case recordAnswer:
		w.record(s, p, current)
	}
	return ""
}

// record writes what CloudFormation has answered to the claimer.
func (w claimSetup) record(s *claimState, p *stepProcess, current bool) {
	answer := p.answer
	p.next, p.answer, p.claimer = 0, unanswered, false
	if !current || !s.claimed || s.result != opAbsent {
		return
	}
	switch answer {
	case accepted:
		s.receipt = true
	case knownToken:
		s.result = opFailed
	case throttled:
		s.claimed, s.expired = false, false
	}
}

// poll carries out the next action of a poll, except sending. It says which invariant
// that violates, if any.
func (w claimSetup) poll(s *claimState, p *stepProcess) string {
	current := p.epoch == s.epoch || w.lacks("fence")
	action := p.next
	p.next = loadStep
	switch action {
	case loadStep:
		p.expired = s.expired
		switch {
		case p.epoch != s.epoch || s.result != opAbsent:
			p.next, p.expired = 0, false
		case s.claimed:
			p.next = readEvents
		}
	case readEvents:
		switch {
		case s.shown && s.operation > opRunning:
			p.next = recordOutcome
		case !s.shown && p.expired && !s.receipt:
			p.next = sendAgain
		}
	case rereadEvents:
		answer := p.answer
		p.answer = unanswered
		switch {
		case answer != knownToken:
		case w.lacks("second start") || !s.shown:
			return w.finish(s, p, current, opFailed)
		case s.operation > opRunning:
			p.next = recordOutcome
		}
	case recordOutcome:
		return w.finish(s, p, current, s.operation)
	}
	return ""
}

// finish writes the result of the step. It says which invariant that violates, if
// any.
func (w claimSetup) finish(s *claimState, p *stepProcess, current bool, result uint8) string {
	p.next, p.expired = loadStep, false
	if !current || !s.claimed || s.result != opAbsent {
		return ""
	}
	s.result = result
	if s.runEnded {
		return "a step of a run that has ended is finished"
	}
	return ""
}
