package run_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// operation is the row of a run's operation.
func operation(r run.Run) plan.Operation {
	return plan.AllOperations().Of(r.Operation)
}

// writers reads a queue: upload:a is an upload, and nightly:b of the schedule
// nightly. The operation of a schedule is deploy, unless its name ends on "-destroy".
func writers(queue string) []run.Run {
	var all []run.Run
	for _, word := range strings.Fields(queue) {
		r := run.Run{Request: run.Request{ID: word, Operation: "deploy"}}
		if by, id, colon := strings.Cut(word, ":"); colon {
			r.ID, r.Upload = id, by == "upload"
			if !r.Upload {
				r.Schedule = by
			}
			if strings.HasSuffix(by, "-destroy") {
				r.Operation = "destroy"
			}
		}
		all = append(all, r)
	}
	return all
}

// A run that requests the lock is added to the end of the queue, replaces others, or
// is not added because its schedule has a run there already.
func TestEnter(t *testing.T) {
	for _, c := range []struct{ queue, comes, then, stops, replaces, duplicate string }{
		{queue: "", comes: "nightly:n", then: "n"},
		{queue: "nightly:n", comes: "nightly:n", then: "n"},
		{queue: "a nightly:n", comes: "nightly:n", then: "a n"},
		{queue: "a b", comes: "nightly:n", then: "a b n"},
		{queue: "upload:u", comes: "nightly:n", then: "u n"},
		{queue: "a upload:u", comes: "nightly:n", then: "a u n"},
		{queue: "nightly:m", comes: "nightly:n", then: "m", duplicate: "m"},
		{queue: "a b nightly:m", comes: "nightly:n", then: "a b m", duplicate: "m"},
		{queue: "nightly:m", comes: "weekly:n", then: "m n"},
		{queue: "nightly-destroy:m", comes: "nightly-destroy:n", then: "m", duplicate: "m"},
		{queue: "nightly:n", comes: "a", then: "n a"},
		{queue: "nightly:n", comes: "upload:u", then: "n u", stops: "n"},
		{queue: "a nightly:n b", comes: "upload:u", then: "a u b", replaces: "n"},
		{queue: "a upload:v b weekly:w", comes: "upload:u", then: "a u b", replaces: "v w"},
		{queue: "nightly-destroy:n", comes: "upload:u", then: "n u"},
		{queue: "a nightly-destroy:n", comes: "upload:u", then: "a n u"},
	} {
		var l run.Lock
		for _, r := range writers(c.queue) {
			l = l.Enter(r, operation(r)).Lock
		}
		comes := writers(c.comes)[0]
		e := l.Enter(comes, operation(comes))
		then := e.Lock.Owner.Run
		for _, w := range e.Lock.Waiting {
			then += " " + w.Run
		}
		if then != c.then || e.StopOwner != c.stops || strings.Join(e.Superseded, " ") != c.replaces || e.Duplicate != c.duplicate {
			t.Errorf("%s enters %q: then the queue is %q, it stops %q, replaces %q, is a duplicate of %q", c.comes, c.queue, then, e.StopOwner, e.Superseded, e.Duplicate)
		}
		if first, _, _ := strings.Cut(c.then, " "); e.Owns != strings.HasSuffix(c.comes, first) {
			t.Errorf("%s enters %q and owns the lock: %v", c.comes, c.queue, e.Owns)
		}
	}
}

// A schedule deploys nothing after a run that a user cancelled, until something is
// deployed.
func TestLeaveKeepsWhatWasCancelled(t *testing.T) {
	good := run.Source{Version: "good"}
	for what, c := range map[string]struct {
		run  run.Run
		want string
	}{
		"a deploy":                           {run.Run{Request: run.Request{Operation: "deploy"}, State: run.StateCancelled}, "one"},
		"one that is rolled back":            {run.Run{Request: run.Request{Operation: "deploy"}, State: run.StateCancelled, Command: run.CancelAndRollBack}, ""},
		"one that went on":                   {run.Run{Request: run.Request{Operation: "deploy"}, State: run.StateFailed}, ""},
		"one that was superseded":            {run.Run{Request: run.Request{Operation: "deploy"}, State: run.StateSuperseded}, ""},
		"a schedule's, for once":             {run.Run{Request: run.Request{Operation: "deploy", Schedule: "nightly"}, State: run.StateCancelled}, "before"},
		"a schedule's that went on":          {run.Run{Request: run.Request{Operation: "deploy", Schedule: "nightly"}, State: run.StateSucceeded}, ""},
		"of some stacks":                     {run.Run{Request: run.Request{Operation: "deploy", Options: run.Options{Selection: plan.Selection{Only: []string{"a"}}}}, State: run.StateSucceeded}, "before"},
		"a refresh":                          {run.Run{Request: run.Request{Operation: "refresh"}, State: run.StateSucceeded}, "before"},
		"a destroy":                          {run.Run{Request: run.Request{Operation: "destroy"}, State: run.StateCancelled}, "one"},
		"a rollback that a person cancelled": {run.Run{Request: run.Request{Operation: "rollback"}, State: run.StateCancelled}, "one"},
	} {
		c.run.ID, c.run.Started = "one", now
		l := run.Lock{Owner: run.Writer{Run: "one"}, History: run.History{CancelledBy: "before", LastSuccessful: good}}
		if got := l.Leave(c.run, operation(c.run), "next").Lock.CancelledBy; got != c.want {
			t.Errorf("%s leaves %q, want %q", what, got, c.want)
		}
	}
}

// A schedule deploys what the last deploy of all stacks deployed, however that ended,
// unless a user destroyed the stacks since.
func TestLeaveKeepsWhatSchedulesDeploy(t *testing.T) {
	was, is := run.Source{Version: "was"}, run.Source{Version: "is"}
	for what, c := range map[string]struct {
		run  run.Run
		want run.Source
	}{
		"a deploy":                {run.Run{Request: run.Request{Operation: "deploy"}, State: run.StateSucceeded}, is},
		"one that failed":         {run.Run{Request: run.Request{Operation: "deploy"}, State: run.StateFailed}, is},
		"one that was superseded": {run.Run{Request: run.Request{Operation: "deploy"}, State: run.StateSuperseded}, is},
		"a rollback":              {run.Run{Request: run.Request{Operation: "rollback"}, State: run.StateSucceeded}, is},
		"a schedule's":            {run.Run{Request: run.Request{Operation: "deploy", Schedule: "nightly"}, State: run.StateSucceeded}, is},
		"of some stacks":          {run.Run{Request: run.Request{Operation: "deploy", Options: run.Options{Selection: plan.Selection{Only: []string{"a"}}}}, State: run.StateSucceeded}, was},
		"a refresh":               {run.Run{Request: run.Request{Operation: "refresh"}, State: run.StateSucceeded}, was},
		"a destroy":               {run.Run{Request: run.Request{Operation: "destroy"}, State: run.StateSucceeded}, run.Source{}},
		"a destroy that failed":   {run.Run{Request: run.Request{Operation: "destroy"}, State: run.StateFailed}, run.Source{}},
		"a schedule's destroy":    {run.Run{Request: run.Request{Operation: "destroy", Schedule: "evening"}, State: run.StateSucceeded}, was},
		"a destroy of some":       {run.Run{Request: run.Request{Operation: "destroy", Options: run.Options{Selection: plan.Selection{Only: []string{"a"}}}}, State: run.StateSucceeded}, was},
	} {
		c.run.ID, c.run.Source, c.run.Started = "one", is, now
		l := run.Lock{Owner: run.Writer{Run: "one"}, History: run.History{LastFull: was}}
		if got := l.Leave(c.run, operation(c.run), "next").Lock.LastFull; got != c.want {
			t.Errorf("%s leaves %v, want %v", what, got, c.want)
		}
		c.run.Started = time.Time{}
		if got := l.Leave(c.run, operation(c.run), "next").Lock.LastFull; got != was {
			t.Errorf("%s that never began leaves %v", what, got)
		}
		l.Owner.Run = "another"
		if got := l.Leave(c.run, operation(c.run), "next").Lock.LastFull; got != was {
			t.Errorf("%s that never had the lock leaves %v", what, got)
		}
	}
}

// A rollback restores the values outside the project that the last successful deploy of all stacks has read.
func TestLeaveKeepsValues(t *testing.T) {
	for what, c := range map[string]struct {
		run  run.Run
		want string
	}{
		"a deploy":          {run.Run{Request: run.Request{Operation: "deploy"}, State: run.StateSucceeded}, "is"},
		"one that failed":   {run.Run{Request: run.Request{Operation: "deploy"}, State: run.StateFailed}, "was"},
		"a rollback":        {run.Run{Request: run.Request{Operation: "rollback"}, State: run.StateSucceeded}, "is"},
		"of some stacks":    {run.Run{Request: run.Request{Operation: "deploy", Options: run.Options{Selection: plan.Selection{Only: []string{"a"}}}}, State: run.StateSucceeded}, "was"},
		"a destroy":         {run.Run{Request: run.Request{Operation: "destroy"}, State: run.StateSucceeded}, ""},
		"a destroy of some": {run.Run{Request: run.Request{Operation: "destroy", Options: run.Options{Selection: plan.Selection{Only: []string{"a"}}}}, State: run.StateSucceeded}, "was"},
		"a plan":            {run.Run{Request: run.Request{Operation: "plan"}, State: run.StateSucceeded}, "was"},
	} {
		c.run.ID, c.run.Started, c.run.Values = "one", now, "is"
		l := run.Lock{Owner: run.Writer{Run: "one"}, History: run.History{LastSuccessful: run.Source{Version: "was"}, Values: "was"}}
		if got := l.Leave(c.run, operation(c.run), "next").Lock.Values; got != c.want {
			t.Errorf("%s leaves %q, want %q", what, got, c.want)
		}
	}
}

// The queue of a project has a limit. A run that is queued already, and an upload that
// replaces another one, do not exceed it.
func TestFullQueue(t *testing.T) {
	l := run.Lock{Owner: run.Writer{Run: "owner"}, Waiting: []run.Writer{{Run: "upload", Upload: true}}}
	for i := range run.MaxQueued - 1 {
		l.Waiting = append(l.Waiting, run.Writer{Run: fmt.Sprint("run", i)})
	}
	destroy := plan.AllOperations().Of("destroy")
	for _, c := range []struct {
		r    run.Run
		full bool
	}{
		{run.Run{Request: run.Request{ID: "new"}}, true},
		{run.Run{Request: run.Request{ID: "run7"}}, false},
		{run.Run{Request: run.Request{ID: "newer", Upload: true}}, false},
	} {
		e := l.Enter(c.r, destroy)
		if e.Full != c.full || e.Owns || len(e.Lock.Waiting) != run.MaxQueued {
			t.Errorf("%s: full %t, and %d runs are queued; want %t and %d", c.r.ID, e.Full, len(e.Lock.Waiting), c.full, run.MaxQueued)
		}
	}
}

// Files without a project file do not replace those with one while there is something to
// lose: recorded stacks, or schedules. Destroys have no files and change nothing about that.
func TestLostFile(t *testing.T) {
	with, without := run.Source{Version: "with"}, run.Source{Version: "without"}
	ends := func(h run.History, name string, s run.Source, plain project.Kind) run.History {
		r := run.Run{Request: run.Request{ID: "one", Operation: name, Source: s}, State: run.StateSucceeded, Started: now, Kind: plain}
		l := run.Lock{Owner: run.Writer{Run: "one"}, History: h}
		return l.Leave(r, operation(r), "next").Lock.History
	}
	deployed, plain := ends(run.History{}, "deploy", with, project.WithFile), ends(run.History{}, "deploy", without, project.Templates)
	partial := run.History{LastAttempted: run.Attempt{Run: "one"}}
	for what, c := range map[string]struct {
		history  run.History
		recorded int
		refused  bool
	}{
		"a new project":                                      {run.History{}, 0, false},
		"a deployed project":                                 {deployed, 2, true},
		"a project whose schedules deploy it again":          {deployed, 0, true},
		"a project of which some stacks were deployed":       {partial, 1, true},
		"a project that was destroyed":                       {ends(deployed, "destroy", run.Source{}, project.WithFile), 0, false},
		"a project that was not destroyed to the end":        {ends(deployed, "destroy", run.Source{}, project.WithFile), 1, true},
		"a project without a file":                           {plain, 2, false},
		"a part of it that was not destroyed":                {ends(plain, "destroy", run.Source{}, project.WithFile), 1, false},
		"what a first rollback left of it":                   {ends(plain, "rollback", run.Source{}, project.WithFile), 1, false},
		"stacks that templates adopted":                      {ends(run.History{}, "adopt", without, project.Templates), 2, false},
		"templates, and a stack that a project file adopted": {ends(plain, "adopt", with, project.WithFile), 1, true},
		"a project that got a file":                          {ends(plain, "deploy", with, project.WithFile), 2, true},
		"a project that got a file and was rolled back":      {ends(ends(plain, "deploy", with, project.WithFile), "rollback", without, project.Templates), 2, false},
		"a project whose last run cannot be read any more":   {run.Lock{Owner: run.Writer{Run: "one"}, History: plain}.Without("one").History, 2, true},
	} {
		p := project.Project{Name: "shop", Environment: "default", Kind: project.Templates}
		if err := c.history.LostFile(p, c.recorded); (err != nil) != c.refused {
			t.Errorf("%s: %v", what, err)
		}
		p.Kind = project.WithFile
		if err := c.history.LostFile(p, c.recorded); err != nil {
			t.Errorf("%s, and files with a project file: %v", what, err)
		}
		p.Kind = project.Sceptre
		if err := c.history.LostFile(p, c.recorded); (err != nil) != (c.recorded > 0 || c.history.LastFull != run.Source{}) {
			t.Errorf("%s, and a Sceptre project: %v", what, err)
		}
	}
}
