package stepfn_test

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// An ephemeral is a backend whose environment may expire.
type ephemeral interface {
	TTL(d time.Duration)                     // in project files from now on; 0 is for ever
	Newest(operation string) string          // the newest run of an operation
	Lifetime() (project.Lifetime, time.Time) // of the environment, and the time
}

func (s *scenario) ttl(st statement) { s.TTL(seconds(st.args[0])) }

// extend requests that the environment lives longer.
func (s *scenario) extend(st statement) {
	o := options{lives: seconds(st.args[0])}
	if st.word.name == "extend-until" {
		_, now := s.Lifetime()
		o = options{until: now.Add(o.lives).Truncate(time.Second)}
	}
	s.id = s.Submit("extend", s.stacks, "", o)
	s.outcome(st)
}

// warn makes the newest warning the current run.
func (s *scenario) warn(st statement) { s.becomes(plan.WarnName, st) }

// newest makes a run that Stackwright has requested the current one.
func (s *scenario) newest(st statement) { s.becomes(st.args[0], st) }

func (s *scenario) becomes(operation string, st statement) {
	if ends[st.outcome] {
		s.WaitIdle()
	}
	if s.id = s.Newest(operation); s.id == "" {
		s.Errorf("%s: there is no %s", st.at, operation)
	}
	s.outcome(st)
}

func (s *scenario) lives(st statement) {
	l, now := s.Lifetime()
	switch {
	case len(st.args) == 0:
		s.expect(l.Expires.Format(time.RFC3339), time.Time{}.Format(time.RFC3339))
	case l.Expires.Sub(now).Seconds() > seconds(st.args[0]).Seconds()+600 || l.Expires.Sub(now).Seconds() < seconds(st.args[0]).Seconds()-600:
		s.mismatchf("it lives for %s", l.Expires.Sub(now))
	}
}

func (p *memoryBackend) TTL(d time.Duration) { p.ttl = project.TTL(d) }

func (p *memoryBackend) Newest(operation string) string {
	all, err := p.Store.List(context.Background(), p.id(), 0)
	if err != nil {
		p.Fatal(err)
	}
	return newestOf(all, operation)
}

func (p *memoryBackend) Lifetime() (project.Lifetime, time.Time) {
	return p.lifetimeOf(p.id()), p.Now()
}

// lifetimeOf is the lifetime of a project and environment.
func (p *memoryBackend) lifetimeOf(id string) project.Lifetime {
	l, err := p.Store.Lifetime(context.Background(), id)
	if err != nil {
		p.Fatal(err)
	}
	return l
}

func (r *emulators) TTL(d time.Duration) {
	ttl := "never"
	if d > 0 {
		ttl = project.TTL(d).String()
	}
	r.setKey("environments", "{ default: { ttl: "+ttl+" } }")
}

func (r *emulators) Newest(operation string) string {
	all, err := r.store.List(r.Context(), r.id(), 0)
	if err != nil {
		r.Fatal(err)
	}
	return newestOf(all, operation)
}

func (r *emulators) Lifetime() (project.Lifetime, time.Time) {
	l, err := r.store.Lifetime(r.Context(), r.id())
	if err != nil {
		r.Fatal(err)
	}
	return l, time.Now()
}

// newestOf returns the newest run of an operation; runs are newest first.
func newestOf(all []run.Run, operation string) string {
	for _, r := range all {
		if r.Operation == operation {
			return r.ID
		}
	}
	return ""
}
