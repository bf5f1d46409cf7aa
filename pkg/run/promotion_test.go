package run_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// promotion is one of staging's run of the given version and minute to prod, which has had no run.
func promotion(version string, minute int) run.Promotion {
	v := deployed("rev"+version, "deploy", version, minute, run.StateSucceeded)
	return run.Promotion{From: "shop@staging", To: "shop@prod", Revision: v.AsRevision(), Latest: v, Revisions: []run.Revision{v.AsRevision()}}
}

// has is what prod has: the files of a version, which a run of a minute has deployed.
func (c *promoting) has(version string, minute int) {
	r := deployed("prod"+version, "deploy", version, minute, run.StateSucceeded)
	c.Deployed = append(c.Deployed, r.AsRevision())
	c.Target.LastFull, c.Target.LastSuccessful = r.Source, r.Source
}

// A promoting is a promotion in a test.
type promoting struct{ run.Promotion }

// All reasons against a promotion are named at once, each with what to do.
func TestPromotionRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*promoting)
		want   string
	}{
		"first":      {func(*promoting) {}, ""},
		"same files": {func(c *promoting) { c.has("v2", 30) }, ""},
		"newer files of the other environment": {func(c *promoting) {
			c.has("v1", 30) // it was promoted late
			older := deployed("revv1", "deploy", "v1", 3, run.StateSucceeded)
			c.Revisions = append(c.Revisions, older.AsRevision())
		}, ""},
		"everything at once": {func(c *promoting) {
			c.has("v9", 30)
			c.Revision.State = run.StateFailed
			c.Latest = deployed("newest", "deploy", "v3", 20, run.StateCancelled)
			c.Working = []run.Run{deployed("working", "destroy", "", 25, run.StateRunning)}
		}, `run revv2 of shop@staging has not deployed its files successfully to all stacks (failed): only a revision that has is promoted: stackwright revisions lists them
run working (destroy, running), requested by ann, is not over, and deploys to shop@staging: wait until it has ended, or name the revision with --revision revv2
the newest deploy of shop@staging has not succeeded: run newest (deploy, cancelled), requested by ann: correct it and deploy again, or name the revision before it with --revision revv2
the files of shop@prod are newer than those of run revv2 of shop@staging, which was requested at 2026-03-01T12:10:00Z: run prodv9 (deploy), requested by ann at 2026-03-01T12:30:00Z, has deployed them: promote a newer revision, or go back with --revision revv2`},
		"named": {func(c *promoting) {
			c.Named = true
			c.has("v9", 30)
			c.Latest = deployed("newest", "deploy", "v3", 20, run.StateCancelled)
			c.Working = []run.Run{deployed("working", "destroy", "", 25, run.StateRunning)}
		}, ""},
		"named, and some stacks": {func(c *promoting) { c.Named, c.Revision.Partial = true, true },
			"run revv2 of shop@staging has not deployed its files successfully to all stacks (succeeded, some stacks): only a revision that has is promoted: stackwright revisions lists them"},
		"named, and moves since": {func(c *promoting) {
			c.Named = true
			c.has("v9", 30)
			c.Target.Moves = []run.Move{{Run: "mover", Started: c.Revision.Started.Add(time.Minute)}}
		}, "run mover may have moved resources between stacks since run revv2, and its files would create them again in the stacks where they were, and delete those that there are: deploy these files yourself, with move_from in the other direction"},
		"moves by files that are older": {func(c *promoting) {
			c.has("v1", 30)
			older := deployed("revv1", "deploy", "v1", 3, run.StateSucceeded)
			c.Revisions = append(c.Revisions, older.AsRevision())
			c.Target.Moves = []run.Move{{Run: "mover", Started: c.Revision.Started.Add(time.Minute)}}
		}, ""},
		"of which nobody knows the time": {func(c *promoting) { c.Target.LastFull = source("v7") }, ""},
	} {
		p := promoting{promotion("v2", 10)}
		c.change(&p)
		if got := strings.Join(fault.Messages(p.Refused()), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A promotion says which revision it deploys, and what else there is to know.
func TestPromotionMessages(t *testing.T) {
	p := promoting{promotion("v2", 10)}
	const files = "the files are those of run revv2 of shop@staging (deploy, succeeded), requested by ann at 2026-03-01T12:10:00Z"
	if got := fmt.Sprint(p.Messages()); got != "["+files+"]" {
		t.Error(got)
	}
	p.has("v2", 30)
	if got := p.Messages(); len(got) != 2 || got[1] != "shop@prod was deployed with these files already: there is nothing to do, unless values from outside the project or stacks have changed since" {
		t.Errorf("%q", got)
	}
	p = promoting{promotion("v2", 10)}
	p.Latest = deployed("part", "deploy", "v3", 20, run.StateSucceeded)
	p.Latest.Only = []string{"vpc"}
	p.has("v9", 30)
	want := []string{
		files, "since then, run part (deploy, succeeded) was about some stacks of shop@staging: what it has changed there is not promoted",
		"they are older than the files of shop@prod, which run prodv9 has deployed, requested by ann at 2026-03-01T12:30:00Z",
	}
	if got := strings.Join(p.Messages(), "\n"); got != strings.Join(want, "\n") {
		t.Error(got)
	}
}

// The first writers are the owner and the queue.
func TestFirstWriters(t *testing.T) {
	l := run.Lock{Owner: run.Writer{Run: "a"}, Waiting: []run.Writer{{Run: "b"}, {Run: "c"}}}
	if got := l.First(2); len(got) != 2 || got[0].Run != "a" || got[1].Run != "b" {
		t.Errorf("%v", got)
	}
	if got := (run.Lock{}).First(2); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// A promotion follows a deploy of all stacks that has succeeded, if the files say so, and nothing else. It waits until that has lasted.
func TestPromotionFollows(t *testing.T) {
	next := &project.Promotion{From: "dev", To: "live", Soak: project.Timeout(time.Hour)}
	for name, c := range map[string]struct {
		operation string
		change    func(*run.Run)
		follows   bool
	}{
		"deploy":           {"deploy", func(*run.Run) {}, true},
		"promotion":        {"promote", func(*run.Run) {}, true},
		"last environment": {"deploy", func(r *run.Run) { r.Promotion = &project.Promotion{From: "dev"} }, false},
		"no order":         {"deploy", func(r *run.Run) { r.Promotion = nil }, false},
		"failed":           {"deploy", func(r *run.Run) { r.State = run.StateFailed }, false},
		"some stacks":      {"deploy", func(r *run.Run) { r.Only = []string{"vpc"} }, false},
		"schedule":         {"deploy", func(r *run.Run) { r.Schedule = "nightly" }, false},
		"plan":             {"plan", func(*run.Run) {}, false},
		"rollback":         {"rollback", func(*run.Run) {}, false},
		"older revision":   {"rollback-to", func(*run.Run) {}, false},
		"prune":            {"prune", func(*run.Run) {}, false},
		"adoption":         {"adopt", func(*run.Run) {}, false},
		"destroy":          {"destroy", func(r *run.Run) { r.Source = run.Source{} }, false},
		"refused":          {"deploy", func(r *run.Run) { r.State, r.Started = run.StateRefused, time.Time{} }, false},
	} {
		r := deployed("one", c.operation, "v1", 10, run.StateSucceeded)
		r.Promotion, r.Ended, r.Who, r.Subject = next, r.Started.Add(time.Minute), "ann", "the role of ann"
		c.change(&r)
		x := run.Lock{Owner: run.Writer{Run: "one"}}.Leave(r, operation(r), "next")
		if (x.Promotion != nil) != c.follows {
			t.Errorf("%s: %+v follows", name, x.Promotion)
		}
		if p := x.Promotion; p != nil && (p.Project != "shop@live" || p.PromotedFrom() != "shop@prod" || p.FromRevision != "one" || p.Follows != "one" || p.Subject != r.Subject || p.State != run.StatePending ||
			!p.NotBefore.Equal(r.Ended.Add(time.Hour)) || !p.Soaks(r.Ended) || p.Soaks(p.NotBefore)) {
			t.Errorf("%s: %+v follows", name, p)
		}
	}
}

// An environment that a person has destroyed, or that has expired, is not promoted to by itself any more. A schedule that destroys it deploys it
// again.
func TestDestroyEndsPipeline(t *testing.T) {
	for schedule, wanted := range map[string]bool{"": false, "evening": true} {
		l := run.Lock{History: run.History{Promotion: &project.Promotion{From: "staging"}}}
		r := deployed("gone", "destroy", "", 1, run.StateSucceeded)
		r.Source, r.Schedule, l.Owner = run.Source{}, schedule, run.Writer{Run: "gone"}
		p := run.Promotion{From: "shop@staging", To: r.Project, Target: l.Leave(r, operation(r), "next").Lock.History}
		if err := p.Unwanted("staging"); (err == nil) != wanted {
			t.Errorf("schedule %q: %v", schedule, err)
		}
	}
}

// A promotion that nobody requests needs files of its own environment that say so, and gives up if something newer was deployed to the other one.
func TestPipeline(t *testing.T) {
	p := promotion("v2", 10)
	if err := p.Unwanted("staging"); err == nil || err.Error() != "the files that were last deployed to shop@prod do not say that shop@staging is promoted to it by itself: promote yourself once: stackwright promote --from staging" {
		t.Error(err)
	}
	p.Target.Promotion = &project.Promotion{From: "dev"}
	if p.Unwanted("staging") == nil {
		t.Error("another environment is promoted")
	}
	p.Target.Promotion.From = "staging"
	if err := p.Unwanted("staging"); err != nil {
		t.Error(err)
	}
	if why := p.Overtaken("revv2"); why != "" {
		t.Error(why)
	}
	if why := p.Overtaken("revv1"); why != "run revv2 (deploy), requested by ann, was about shop@staging since" {
		t.Error(why)
	}
	for name, change := range map[string]func(*run.Run){"by a schedule": func(r *run.Run) { r.Schedule = "nightly" }, "some stacks": func(r *run.Run) { r.Exclude = []string{"vpc"} }} {
		q := p
		change(&q.Latest)
		if why := q.Overtaken("revv1"); why != "" { // the same files, and no promotion follows that deploy
			t.Errorf("%s: %s", name, why)
		}
		q.Latest.Source = source("v3")
		if q.Overtaken("revv1") == "" {
			t.Errorf("%s: other files overtake nothing", name)
		}
	}
	p.Latest.State = run.StateFailed
	if why := p.Overtaken("revv1"); why != "" {
		t.Error(why)
	}
	p.Working = []run.Run{deployed("working", "destroy", "", 25, run.StateRunning)}
	if why := p.Overtaken("revv2"); why != "run working (destroy, running), requested by ann, deploys to shop@staging now" {
		t.Error(why)
	}
}

// A promotion that may not begin yet is neither stuck nor old.
func TestSoakingIsNotStuck(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := run.Run{Request: run.Request{ID: "one"}, State: run.StatePending, Requested: begin, NotBefore: begin.Add(72 * time.Hour)}
	if b := run.NewBacklog([]run.Run{r}, begin.Add(71*time.Hour)); len(b.Stuck) > 0 || b.Oldest > 0 || b.Open != 1 {
		t.Errorf("%+v", b)
	}
	if b := run.NewBacklog([]run.Run{r}, begin.Add(97*time.Hour)); len(b.Stuck) != 1 || b.Oldest != 25*time.Hour {
		t.Errorf("%+v", b)
	}
}
