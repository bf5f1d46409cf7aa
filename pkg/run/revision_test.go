package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// source is the configuration of a version.
func source(version string) run.Source {
	return run.Source{Key: "projects/shop/prod.zip", Version: version}
}

// deployed is a run of a version, requested at the given minute.
func deployed(id, operation, version string, minute int, state run.State) run.Run {
	at := time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
	return run.Run{
		Request: run.Request{ID: id, Project: "shop@prod", Operation: operation, Source: source(version), Who: "ann"}, State: state,
		Requested: at, Started: at, Values: "values of " + id,
	}
}

// The history keeps the newest revisions that all stacks were deployed of, each once, and no others.
func TestSuccessfulRevisions(t *testing.T) {
	var l run.Lock
	end := func(r run.Run) {
		l.Owner = run.Writer{Run: r.ID}
		l = l.Leave(r, operation(r), "next").Lock
	}
	for i := range run.MostRevisions + 3 {
		end(deployed(fmt.Sprint("r", i), "deploy", fmt.Sprint("v", i), i, run.StateSucceeded))
	}
	end(deployed("failed", "deploy", "v98", 30, run.StateFailed))
	partial := deployed("partial", "deploy", "v99", 31, run.StateSucceeded)
	partial.Only = []string{"vpc"}
	end(partial)
	end(deployed("again", "deploy", "v20", 32, run.StateSucceeded))
	end(deployed("gone", "destroy", "", 33, run.StateSucceeded))
	var ids []string
	for _, v := range l.Successful {
		ids = append(ids, v.Run)
	}
	if len(ids) != run.MostRevisions || strings.Join(ids[:4], " ") != "again r22 r21 r19" || slices.Contains(ids, "r2") || l.Successful[0].Values != "values of again" {
		t.Errorf("%d: %v, %+v", len(ids), ids, l.Successful[0])
	}
}

// A revision of a run that leaves stacks out is not one of all stacks, however the request says so.
func TestPartialRevision(t *testing.T) {
	for name, s := range map[string]plan.Selection{"only": {Only: []string{"vpc"}}, "exclude": {Exclude: []string{"vpc"}}, "changed since": {ChangedSince: "r1"}} {
		r := deployed("one", "deploy", "v1", 1, run.StateSucceeded)
		r.Selection = s
		if !r.AsRevision().Partial {
			t.Errorf("%s: the revision counts as one of all stacks", name)
		}
	}
	if r := deployed("one", "deploy", "v1", 1, run.StateSucceeded); r.AsRevision().Partial {
		t.Error("the revision of all stacks counts as one of some")
	}
}

// A revision is named by its run, or by what was deployed before it; what names several is refused with these.
func TestRevision(t *testing.T) {
	partial := deployed("abpartial", "deploy", "v5", 5, run.StateSucceeded)
	partial.Only = []string{"vpc"}
	unplanned := deployed("acunplanned", "deploy", "v9", 9, run.StateRefused)
	unplanned.Started = time.Time{}
	runs := []run.Run{ // newest first
		unplanned, deployed("ahgone", "destroy", "v10", 10, run.StateSucceeded), deployed("adplan", "plan", "v8", 8, run.StateSucceeded), deployed("aefailed", "deploy", "v7", 7, run.StateFailed),
		deployed("afback", "rollback", "v3", 6, run.StateSucceeded), partial, deployed("agfour", "deploy", "v4", 4, run.StateSucceeded),
		deployed("abthree", "deploy", "v3", 3, run.StateSucceeded),
	}
	h := run.History{LastSuccessful: source("v3"), Successful: []run.Revision{
		deployed("afback", "rollback", "v3", 6, run.StateSucceeded).AsRevision(), deployed("zzold", "deploy", "v2", 2, run.StateSucceeded).AsRevision(),
	}}
	all := h.Revisions(plan.AllOperations(), runs)
	var ids []string
	for _, v := range all {
		ids = append(ids, v.Run)
	}
	if got := strings.Join(ids, " "); got != "aefailed afback abpartial agfour abthree zzold" {
		t.Errorf("the revisions are %s", got)
	}
	for _, c := range []struct {
		word, want string
		kind       fault.Kind
	}{
		{"current", "afback", ""}, {"previous", "agfour", ""}, {"", "agfour", ""}, {"current~1", "agfour", ""}, {"current~2", "zzold", ""},
		{"current~3", "other revisions that were deployed successfully to all stacks, and changed something, and there are 2", fault.Missing},
		{"abthree", "abthree", ""}, {"abt", "abthree", ""}, {"ABT", "abthree", ""}, {"aefailed", "aefailed", ""}, {"zz", "zzold", ""},
		{"ab", "2 revisions begin with \"ab\": give more of the ID: abpartial (deploy, succeeded, 2026-03-01T12:05:00Z), abthree (", fault.Refused},
		{"acunplanned", "there is no revision", fault.Missing}, {"adplan", "there is no revision", fault.Missing}, {"current~0", "there is no revision", fault.Missing},
		{"current~x", "there is no revision", fault.Missing},
	} {
		got, err := h.Revision("shop@prod", c.word, all)
		if c.kind == "" && (err != nil || got.Run != c.want) || c.kind != "" && (!fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %s, %v; want %s", c.word, got.Run, err, c.want)
		}
	}
	destroyed := run.History{Successful: h.Successful}
	if got, err := destroyed.Revision("shop@prod", "previous", all); err != nil || got.Run != "afback" {
		t.Errorf("once all is destroyed, the previous one is %s, %v", got.Run, err)
	}
	if _, err := destroyed.Revision("shop@prod", "current", all); !fault.Is(err, fault.Missing) || !strings.Contains(err.Error(), "no deploy of all stacks has succeeded") {
		t.Error(err)
	}
	lost := run.History{LastSuccessful: source("v1")}
	if _, err := lost.Revision("shop@prod", "current", all); !fault.Is(err, fault.Missing) || !strings.Contains(err.Error(), "is not recorded any more") {
		t.Error(err)
	}
}

// The previous revision is the one to which a user goes back: after an attempt that has failed, the last one that has succeeded; else the one
// before it that was another one. What has changed nothing is not another one.
func TestPreviousRevision(t *testing.T) {
	for name, c := range map[string]struct {
		ends func(end func(run.Run))
		want string // the run that it finds; "" if there is none
	}{
		"after a failed deploy, the last that succeeded": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(deployed("two", "deploy", "v2", 2, run.StateSucceeded))
			end(deployed("three", "deploy", "v3", 3, run.StateFailed))
			end(deployed("four", "retry", "v3", 4, run.StateRefused))
		}, "two"},
		"after a failed deploy of its own files, the one before": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(deployed("two", "deploy", "v2", 2, run.StateSucceeded))
			end(deployed("three", "deploy", "v2", 3, run.StateFailed))
		}, "one"},
		"after a rollback that followed, the one before": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(deployed("two", "deploy", "v2", 2, run.StateSucceeded))
			end(deployed("three", "deploy", "v3", 3, run.StateFailed))
			end(deployed("back", "rollback", "v2", 4, run.StateSucceeded))
		}, "one"},
		"after a rollback that followed and failed, the last that succeeded": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(deployed("two", "deploy", "v2", 2, run.StateSucceeded))
			end(deployed("three", "deploy", "v3", 3, run.StateFailed))
			end(deployed("back", "rollback", "v2", 4, run.StateFailed))
		}, "two"},
		"after a failed destroy, the last that succeeded": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(deployed("two", "deploy", "v2", 2, run.StateSucceeded))
			gone := deployed("gone", "destroy", "", 3, run.StateFailed)
			gone.Source = run.Source{}
			end(gone)
		}, "two"},
		"after a deploy of some stacks, the last of all": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(deployed("two", "deploy", "v2", 2, run.StateSucceeded))
			some := deployed("three", "deploy", "v3", 3, run.StateSucceeded)
			some.Only = []string{"vpc"}
			end(some)
		}, "two"},
		"while a deploy is in progress, the last that succeeded": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(deployed("two", "deploy", "v2", 2, run.StateSucceeded))
			end(deployed("three", "deploy", "v3", 3, run.StateRunning))
		}, "two"},
		"after one that changed nothing, the one before what it repeats": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(deployed("two", "deploy", "v2", 2, run.StateSucceeded))
			end(nothing(deployed("again", "deploy", "v3", 3, run.StateSucceeded)))
			end(nothing(deployed("more", "deploy", "v4", 4, run.StateSucceeded)))
		}, "one"},
		"before what has changed something, the newest that repeats it": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(nothing(deployed("again", "deploy", "v2", 2, run.StateSucceeded)))
			end(deployed("three", "deploy", "v3", 3, run.StateSucceeded))
		}, "again"},
		"after other settings, the one before": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			settings := nothing(deployed("two", "deploy", "v2", 2, run.StateSucceeded))
			settings.Settings = "others"
			end(settings)
		}, "one"},
		"nothing but repetitions": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(nothing(deployed("again", "deploy", "v2", 2, run.StateSucceeded)))
		}, ""},
		"after a destroy, the last one": {func(end func(run.Run)) {
			end(deployed("one", "deploy", "v1", 1, run.StateSucceeded))
			end(deployed("two", "deploy", "v2", 2, run.StateSucceeded))
			gone := deployed("gone", "destroy", "", 3, run.StateSucceeded)
			gone.Source = run.Source{}
			end(gone)
		}, "two"},
	} {
		var l run.Lock
		var runs []run.Run
		c.ends(func(r run.Run) {
			if r.Settings == "" {
				r.Settings = "same"
			}
			if r.Steps == nil {
				r.Steps = []run.Step{{Step: plan.Step{Node: "vpc", Verb: plan.Update}, Status: run.Done, Attempt: 1}}
			}
			l.Owner = run.Writer{Run: r.ID}
			if r.State.Over() && r.State != run.StateRefused {
				r.Same = l.SameAs(r, operation(r))
				l = l.Leave(r, operation(r), "next").Lock
			}
			if r.State == run.StateRefused {
				r.Started = time.Time{}
			}
			r.Steps = nil // a list of runs has none
			runs = append([]run.Run{r}, runs...)
		})
		got, err := l.Revision("shop@prod", "previous", l.Revisions(plan.AllOperations(), runs))
		if got.Run != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got.Run, err, c.want)
		}
	}
}

// nothing is a run that has changed nothing.
func nothing(r run.Run) run.Run {
	r.Steps = []run.Step{
		{Step: plan.Step{Node: "vpc", Verb: plan.Update}, Status: run.Done, Attempt: 1, Receipt: plan.Receipt{Unchanged: true}},
		{Step: plan.Step{Verb: plan.Barrier}, Status: run.Done, Attempt: 1},
	}
	return r
}
