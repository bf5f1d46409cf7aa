package stepfn_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	local "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/run"
)

// faultKinds are the faults of a call, by the words for them in scripts.
var faultKinds = map[string]sim.Fault{
	"crash-before": sim.KillBefore, "crash-after": sim.KillAfter, "answer-lost": sim.Lose, "throttled": sim.Throttle, "late-process": sim.Linger,
}

// faults returns the fault of the n-th call in memory, or of the n-th invocation or
// request on the emulators.
func (s script) faults() map[int]string {
	at := make(map[int]string)
	for _, l := range s {
		if l[0] == "fault" && len(l) == 3 {
			at[l.number(1)] = l[2]
		}
	}
	return at
}

// faultPlan prepares the faults that the script lists before its first request.
func (g *player) faultPlan(s script) {
	switch on := g.backend.(type) {
	case *memoryBackend:
		g.faultsInMemory(on, s)
	case *emulators:
		g.faultsOnEmulators(on, s)
	}
}

// dice returns a function that draws random numbers below n. It may be called
// concurrently.
func dice(s script) func(n int) int {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(uint64(s.setting("latency")), 9))
	return func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(max(n, 1))
	}
}

// faultsInMemory injects faults into the calls that functions make in memory.
func (g *player) faultsInMemory(p *memoryBackend, s script) {
	draw, faults := dice(s), s.faults()
	p.accounts, p.limits, p.rollout = s.setting("targets"), s.limits(), s.rollout()
	scripted := p.Faults.Call // the faults of hooks
	p.Faults.Call = func(function, call, about string) sim.Fault {
		if m := scripted(function, call, about); m != sim.None {
			return m
		}
		kind, ok := faults[p.Calls]
		if *replay != "" {
			g.Logf("%s %-12s %-22s %s %s", p.Now().Format("15:04:05.000"), function, call, about, kind)
		}
		if !ok {
			return sim.None
		}
		m := faultKinds[kind]
		if (m == sim.Lose || m == sim.Throttle) && !strings.HasPrefix(call, "Cloud") {
			kind, m = "crash-before", sim.KillBefore // other services throttle nothing and lose no answer in memory: their adapters retry
		}
		if m == sim.Throttle && len(p.Cloud.Limits) > 0 {
			return sim.None // in these scenarios only some accounts throttle
		}
		g.injected[kind]++
		g.proposesLate = g.proposesLate || m == sim.Linger && call == "Cloud.Begin" && (strings.HasSuffix(about, "/propose") || strings.HasSuffix(about, "import"))
		return m
	}
	for _, l := range s {
		switch l[0] {
		case "events":
			p.Faults.Event = g.eventDelays(l[1], draw)
		case "failures-unreported":
			g.injected["failures-unreported"]++
			p.Faults.EventsLost = true
		case "lag":
			g.injected["lag"]++
			p.Lag(time.Duration(l.number(1)) * time.Millisecond)
		case "skewed":
			g.injected["skewed"]++
			minutes := l.number(1)
			p.Faults.Skew = func() time.Duration { return time.Duration(draw(120*minutes)-60*minutes) * time.Second }
		}
	}
}

// eventDelays returns the delays of an event: one for each time that it arrives.
func (g *player) eventDelays(kind string, draw func(int) int) func() []time.Duration {
	return func() []time.Duration {
		switch {
		case kind == "lost":
			g.injected["event lost"]++
			return nil
		case kind == "wild" && draw(6) == 0:
			g.injected["event lost"]++
			return nil
		case kind == "wild" && draw(2) == 0:
			g.injected["event twice and late"]++
			return []time.Duration{time.Duration(draw(60)) * time.Second, time.Duration(draw(4000)) * time.Millisecond}
		}
		return []time.Duration{time.Duration(draw(1500)) * time.Millisecond}
	}
}

// faultsOnEmulators injects faults into invocations of functions and into
// requests to the emulators.
func (g *player) faultsOnEmulators(r *emulators, s script) {
	draw, faults := dice(s), s.faults()
	var mu sync.Mutex // functions run concurrently
	calls, requests := 0, 0
	for _, l := range s.limits() {
		r.setKey("max_parallel", fmt.Sprint(l.Most))
	}
	next := func(n *int, kinds ...string) string {
		mu.Lock()
		defer mu.Unlock()
		*n++
		for _, k := range kinds {
			if faults[*n] == k && !r.steady {
				g.injected[k]++
				return k
			}
		}
		return ""
	}
	r.crash = func(string) sim.Fault { return faultKinds[next(&calls, "crash-before", "crash-after")] }
	r.failing = func(q gateway.Request) *gateway.Failure {
		kind := next(&requests, "answer-lost", "throttled")
		switch {
		case q.Service == "cloudformation" && time.Now().Before(r.outageUntil):
			return &gateway.Failure{Status: http.StatusServiceUnavailable, Fault: gateway.Fault{Code: "ServiceUnavailable", Message: "no route"}}
		case kind == "":
			return nil
		}
		return &gateway.Failure{Status: http.StatusInternalServerError, Fault: gateway.Fault{Code: "InternalServerError", Message: "injected"}, After: kind == "answer-lost"}
	}
	r.cloud.Gateway.Fail(r.failing)
	for _, l := range s {
		switch l[0] {
		case "events":
			late := g.eventDelays(l[1], draw)
			r.events = func() []time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return late()
			}
		case "failures-unreported":
			g.injected["failures-unreported"]++
			r.eventsLost = true
		case "lag":
			g.injected["lag"]++
			r.Lag(time.Duration(l.number(1)) * time.Millisecond)
		case "throttling":
			g.injected["throttling"]++
			r.inject(local.Fault{Throttle: 0.03})
		}
	}
}

// stopFaults stops all faults, and removes the policy.
func (g *player) stopFaults() {
	g.deny(line{"policy", "nothing"})
	g.organizationLine(line{"organization", "answer"})
	switch on := g.backend.(type) {
	case *memoryBackend:
		on.Faults, on.Cloud.Limits = sim.Faults{}, nil
		on.Cloud.Lag = 0
		clear(on.Cloud.Fail)
		clear(on.Cloud.Seconds)
	case *emulators:
		on.crash, on.steady, on.eventsLost = nil, true, false
		on.Events(200 * time.Millisecond)
		if err := on.cloud.Stacks.ClearFaults(); err != nil {
			g.Fatal(err)
		}
	}
}

// skewed reports whether functions have clocks that are wrong.
func (g *player) skewed() bool { return g.injected["skewed"] > 0 }

// outage makes CloudFormation unreachable for a time.
func (g *player) outage(d time.Duration) {
	if r, ok := g.backend.(*emulators); ok {
		r.outageUntil = time.Now().Add(d)
		return
	}
	g.Outage(d)
}

// deliver sends the request of a line, after that of its plan if the script says so.
func (g *player) deliver(l line, w stacks, of string, o []options) string {
	return g.plannedBefore(l[0], func(operation string) string { return g.send(slices.Concat(line{operation}, l[1:]), w, of, o) })
}

// send sends the request of a line: at once, late, or twice.
func (g *player) send(l line, w stacks, of string, o []options) string {
	late := []time.Duration{0}
	if n, ok := l.option("late"); ok {
		g.injected["request late"]++
		late = []time.Duration{time.Duration(n) * time.Second}
	} else if n, ok := l.option("twice"); ok {
		g.injected["request twice"]++
		late = append(late, time.Duration(n)*time.Second)
	}
	if r, ok := g.backend.(*emulators); ok {
		r.uploads = late
		return g.Submit(l[0], w, of, o...)
	}
	p := g.backend.(*memoryBackend)
	q := p.request(l[0], w, of, o...)
	q.ID = engine.RunID("request", p.next())
	if slices.Contains(run.ControlNames(), q.Operation) {
		g.requests(q) // the monitor counts those that make runs
	}
	if w != nil {
		g.sources[q.Source] = w
	}
	for _, d := range late {
		if d == 0 {
			p.Backend.Submit(q)
		} else {
			p.After(d, func() { p.Backend.Submit(q) })
		}
	}
	return q.ID
}

// rollbackOf returns the ID of the rollback that follows a run.
func rollbackOf(id string) string { return engine.RunID(id, "rollback") }
