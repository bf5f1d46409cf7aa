package report_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

// lists are the runs of projects, newest first.
type lists struct {
	runs map[string][]run.Run
}

// List is report.Lister.
func (l lists) List(ctx context.Context, project string, most int) ([]run.Run, error) {
	return l.Before(ctx, run.Run{Request: run.Request{Project: project}, Requested: time.Unix(1<<40, 0)}, most)
}

// Before is report.Lister.
func (l lists) Before(_ context.Context, than run.Run, most int) ([]run.Run, error) {
	var all []run.Run
	for _, r := range l.runs[than.Project] {
		if len(all) < most && report.Newer(r, than) > 0 {
			all = append(all, r)
		}
	}
	return all, nil
}

// Whatever runs projects have, and wherever the list begins, it is that of all their runs in their order, each once.
func TestNewestRunsOfProjects(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		l := lists{runs: make(map[string][]run.Run)}
		var projects []string
		var all []run.Run
		for p := range 1 + r.IntN(5) {
			id := fmt.Sprintf("p%d@x", p)
			projects = append(projects, id)
			for n := range r.IntN(8) {
				one := run.Run{Request: run.Request{ID: fmt.Sprintf("r%d-%d", p, n), Project: id}, Requested: time.Unix(int64(r.IntN(10)), 0)}
				all, l.runs[id] = append(all, one), append(l.runs[id], one)
			}
			slices.SortFunc(l.runs[id], report.Newer)
		}
		slices.SortFunc(all, report.Newer)
		from, want := run.Run{}, all
		if n := len(all); n > 0 && seed%2 == 0 {
			at := r.IntN(n)
			from, want = all[at], all[at+1:]
			from.Project = "" // the cursor of a list has none
		}
		var got []run.Run
		for one, err := range report.NewestRuns(t.Context(), l, projects, from, 1+r.IntN(3)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, one)
		}
		ids := func(runs []run.Run) (ids []string) {
			for _, r := range runs {
				ids = append(ids, r.ID)
			}
			return ids
		}
		if !slices.Equal(ids(got), ids(want)) {
			t.Errorf("seed %d: %v, want %v", seed, ids(got), ids(want))
		}
	}
}

// A pattern with a star at its end is that of all texts that begin so.
func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{{"", "a", true}, {"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"a*", "b", false}, {"*", "", true}, {"*a", "ba", false}} {
		if report.Matches(c.pattern, c.text) != c.want {
			t.Errorf("%s, %s: %v", c.pattern, c.text, !c.want)
		}
	}
}
