package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
)

// protect turns on the termination protection of live stacks.
func (w fixture) protect(names ...string) {
	for _, name := range names {
		l := w.Live[name]
		l.Protected = true
		w.Live[name] = l
	}
}

// A rollback deletes what the failed run created, however many stacks that are. The
// limit of deletions counts only the others.
func TestRollbackDeletesWhatTheRunCreated(t *testing.T) {
	w := newFixture()
	w.Desired.MaxDeletions = new(1)
	w.deployed(t, "vpc db<vpc")
	w.have("CREATE_COMPLETE", "new more<new older oldest")
	w.set("more", "ROLLBACK_COMPLETE")
	w.Created = map[string]bool{"id-new": true, "id-more": true}
	p, err := plan.Rollback(w.View)
	expect(t, p, err, "2 of the 6 recorded stacks would be deleted permanently (older, oldest), and at most 1 may be: "+
		"if this is intended, write max_deletions: 2 in the project file, or deploy with --max-deletions 2 (options.max_deletions of a request)")
	delete(w.Recorded, "oldest")
	p, err = plan.Rollback(w.View)
	expect(t, p, err, "more/delete\nnew/delete ← more/delete\nolder/delete\n")
	if p, err := plan.Deploy(w.View); err != nil || len(p.Messages) > 0 {
		t.Errorf("a deploy with the same view: %v %v", p.Messages, err)
	}
}

// Without a successful deployment, a rollback deletes what the failed run created,
// and nothing else.
func TestRollbackOfFirstDeploy(t *testing.T) {
	for name, c := range map[string]struct {
		protected, created string
		steps              string
		kept               []string
	}{
		"everything is new": {
			created: "vpc db web",
			steps:   "web/delete\ndb/delete ← web/delete\nvpc/delete ← db/delete\n",
		},
		"a stack was there before":       {created: "db web", steps: "web/delete\ndb/delete ← web/delete\n"},
		"a dependent was there before":   {created: "vpc web", steps: "web/delete\n", kept: []string{"vpc: stack db depends on it"}},
		"a new stack is protected":       {created: "vpc db web", protected: "db", steps: "web/delete\n", kept: []string{"db: it is protected", "vpc: stack db depends on it"}},
		"an older one is protected":      {created: "db web", protected: "vpc", steps: "web/delete\ndb/delete ← web/delete\n"},
		"the run created nothing at all": {steps: "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture()
			w.Desired.MaxDeletions = nil
			w.have("CREATE_COMPLETE", "vpc db<vpc web<db")
			w.protect(strings.Fields(c.protected)...)
			created := make(map[string]bool)
			for _, name := range strings.Fields(c.created) {
				created["id-"+name] = true
			}
			w.Created = created
			p, err := plan.Rollback(w.View)
			expect(t, p, err, c.steps)
			var want []string
			for _, k := range c.kept {
				stack, why, _ := strings.Cut(k, ": ")
				want = append(want, "stack "+stack+" is kept, although the run that is rolled back created it: "+why)
			}
			if !slices.EqualFunc(p.Messages, want, strings.HasPrefix) {
				t.Errorf("kept %q, want %q", p.Messages, want)
			}
		})
	}
}

// A rollback keeps what the failed run created and protected, and restores the rest.
func TestRollbackKeepsProtectedStacks(t *testing.T) {
	w := newFixture()
	w.want("vpc")
	w.have("UPDATE_COMPLETE", "vpc net<vpc db<net web<db")
	w.protect("db")
	w.Created = map[string]bool{"id-net": true, "id-db": true, "id-web": true}
	p, err := plan.Rollback(w.View)
	expect(t, p, err, "vpc/update\nbarrier ← vpc/update\nweb/delete ← barrier\n")
	if len(p.Messages) != 2 {
		t.Errorf("kept %q, want db and net", p.Messages)
	}
	w.Created = map[string]bool{"id-net": true, "id-web": true}
	p, err = plan.Rollback(w.View)
	expect(t, p, err, "stack db: it is protected, and so it is not deleted: deploy it with protect: false first")
}
