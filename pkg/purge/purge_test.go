package purge_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/purge"
	"github.com/stackwright/stackwright/pkg/run"
)

// A backend is a table and a bucket in memory, with a clock. Before each call of purge it calls meanwhile, so that runs start and end
// between any two of them.
type backend struct {
	now       time.Time
	runs      map[string][]run.Run // by project, newest first
	locks     map[string]run.Lock
	records   map[string]map[string]plan.Record
	versions  []purge.Version   // sorted by key, and of a key the newest first
	bodies    map[string]string // by version
	needs     map[string][]string
	recorded  []run.AuditEntry
	n         int
	most      int // versions of a page
	meanwhile func()
}

func newBackend() *backend {
	return &backend{
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), runs: map[string][]run.Run{}, locks: map[string]run.Lock{}, records: map[string]map[string]plan.Record{},
		bodies: map[string]string{}, needs: map[string][]string{}, most: 20, meanwhile: func() {},
	}
}

// sum is a SHA-256 in hex.
func sum(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// put puts an object, and returns its version.
func (b *backend) put(key, body string) string {
	b.n++
	id := fmt.Sprintf("v%04d", b.n)
	for i := range b.versions {
		b.versions[i].Current = b.versions[i].Current && b.versions[i].Key != key
	}
	at := slices.IndexFunc(b.versions, func(v purge.Version) bool { return v.Key >= key })
	if at < 0 {
		at = len(b.versions)
	}
	b.versions = slices.Insert(b.versions, at, purge.Version{Key: key, ID: id, Put: b.now, Bytes: int64(len(body)), Current: true})
	b.bodies[id] = body
	return id
}

// has reports whether a version of an object exists; "" is any.
func (b *backend) has(key, id string) bool {
	return slices.ContainsFunc(b.versions, func(v purge.Version) bool { return v.Key == key && (id == "" || v.ID == id) })
}

// start requests a run of a project, plans it, and leaves it running. The configuration is a new one, unless one is given.
func (b *backend) start(project string, s run.Source, edition int) run.Run {
	name, environment, _ := strings.Cut(project, "@")
	if s == (run.Source{}) {
		key := fmt.Sprintf("revisions/%s/%s/%d.zip", name, environment, edition)
		s = run.Source{Key: key, Version: b.put(key, "configuration")}
		b.put("remote/"+s.Digest()+"/"+sum("address"), "file")
	}
	b.n++
	r := run.Run{Request: run.Request{ID: fmt.Sprintf("r%04d", b.n), Project: project, Operation: "deploy", Source: s}, State: run.StateRunning, Requested: b.now}
	inner := sum(fmt.Sprint("inner", edition))
	outer := fmt.Sprintf("Nested: artifacts/%s/%s", name, inner)
	template := fmt.Sprintf("Code: artifacts/%s/%s", name, sum(outer))
	r.Values = sum(fmt.Sprint("values", edition))
	var keys []string
	for key, body := range map[string]string{
		"artifacts/" + name + "/" + inner: "code", "artifacts/" + name + "/" + sum(outer): outer, "templates/" + sum(template): template,
		"specs/" + sum(template)[:32] + ".jsonl": "spec", "specs/values-" + r.Values + ".json": "values",
	} {
		b.put(key, body)
		keys = append(keys, key)
	}
	b.needs[r.ID] = keys
	b.runs[project] = slices.Insert(b.runs[project], 0, r)
	l := b.locks[project]
	l.Owner = run.Writer{Run: r.ID}
	b.locks[project] = l
	return r
}

// revise lets the lock of a project name a run as a revision that a rollback may deploy again.
func (b *backend) revise(project string, r run.Run) {
	l := b.locks[project]
	l.Successful = []run.Revision{{Run: r.ID, Source: r.Source, Values: r.Values}}
	b.locks[project] = l
}

// end ends the newest run of a project.
func (b *backend) end(project string, s run.State) {
	r := &b.runs[project][0]
	if r.State.Over() {
		return
	}
	r.State, r.Ended = s, b.now
	l := b.locks[project]
	l.Owner, l.LastFull, l.LastAttempted = run.Writer{}, r.Source, run.Attempt{Run: r.ID, Source: r.Source}
	if s == run.StateSucceeded {
		l.LastSuccessful, l.Values = r.Source, r.Values
		record := plan.Record{Node: "a", Digest: "d", Run: r.ID, Revision: r.Source.Version}
		for _, key := range b.needs[r.ID] {
			if digest, is := strings.CutPrefix(key, "templates/"); is {
				record.Template = digest
			}
		}
		b.records[project] = map[string]plan.Record{"a": record}
	}
	b.locks[project] = l
}

// Projects is purge.Table.
func (b *backend) Projects(context.Context) ([]string, error) {
	b.meanwhile()
	return slices.Sorted(maps.Keys(b.runs)), nil
}

// List is purge.Table.
func (b *backend) List(_ context.Context, project string, _ int) ([]run.Run, error) {
	b.meanwhile()
	return slices.Clone(b.runs[project]), nil
}

// Lock is purge.Table.
func (b *backend) Lock(_ context.Context, project string) (run.Lock, error) {
	b.meanwhile()
	return b.locks[project], nil
}

// Records is purge.Table.
func (b *backend) Records(_ context.Context, project string) (map[string]plan.Record, error) {
	b.meanwhile()
	return maps.Clone(b.records[project]), nil
}

// Open is purge.Table.
func (b *backend) Open(context.Context) (all []string, err error) {
	for _, runs := range b.runs {
		for _, r := range runs {
			if !r.State.Over() {
				all = append(all, r.ID)
			}
		}
	}
	return all, nil
}

// Run is purge.Table.
func (b *backend) Run(_ context.Context, id string) (run.Run, error) {
	for _, runs := range b.runs {
		for _, r := range runs {
			if r.ID == id {
				return r, nil
			}
		}
	}
	return run.Run{}, fault.New(fault.Missing, "no run %s", id)
}

// DeleteRun is purge.Table.
func (b *backend) DeleteRun(_ context.Context, r run.Run) error {
	b.meanwhile()
	was, err := b.Run(context.Background(), r.ID)
	if err == nil && !was.State.Over() {
		return fault.New(fault.Stale, "run %s has not ended", r.ID)
	}
	b.runs[r.Project] = slices.DeleteFunc(b.runs[r.Project], func(one run.Run) bool { return one.ID == r.ID })
	return nil
}

// RecordChange is purge.Table.
func (b *backend) RecordChange(_ context.Context, _ string, e run.AuditEntry) error {
	b.recorded = append(b.recorded, e)
	return nil
}

// older is a text that sorts later the older a version is.
func older(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '9' - (r - '0')
		}
		return r
	}, id)
}

// Versions is purge.Bucket.
func (b *backend) Versions(_ context.Context, prefix, after string) (page []purge.Version, next string, err error) {
	b.meanwhile()
	for _, v := range b.versions {
		place := v.Key + " " + older(v.ID)
		if !strings.HasPrefix(v.Key, prefix) || place <= after && after != "" {
			continue
		}
		if len(page) == b.most {
			return page, next, nil
		}
		page, next = append(page, v), place
	}
	return page, "", nil
}

// DeleteVersions is purge.Bucket.
func (b *backend) DeleteVersions(_ context.Context, all []purge.Version) error {
	b.meanwhile()
	for _, v := range all {
		b.versions = slices.DeleteFunc(b.versions, func(one purge.Version) bool { return one.ID == v.ID })
	}
	return nil
}

// Current is purge.Bucket.
func (b *backend) Current(_ context.Context, key string) ([]byte, error) {
	b.meanwhile()
	for _, v := range b.versions {
		if v.Key == key && v.Current {
			return []byte(b.bodies[v.ID]), nil
		}
	}
	return nil, fault.New(fault.Missing, "no object %s", key)
}

// lost lists what is needed and does not exist.
func (b *backend) lost() (all []string) {
	need := func(what, key, version string) {
		if !b.has(key, version) {
			all = append(all, what+" "+key+" "+version)
		}
	}
	configuration := func(what string, s run.Source) {
		if s != (run.Source{}) {
			need(what, s.Key, s.Version)
			need(what, "remote/"+s.Digest()+"/"+sum("address"), "")
		}
	}
	for _, project := range slices.Sorted(maps.Keys(b.runs)) {
		l := b.locks[project]
		configuration("last successful", l.LastSuccessful)
		configuration("last full", l.LastFull)
		if l.Values != "" {
			need("values of", "specs/values-"+l.Values+".json", "")
		}
		for _, v := range l.Successful {
			configuration("revision "+v.Run, v.Source)
			need("values of revision "+v.Run, "specs/values-"+v.Values+".json", "")
		}
		for _, r := range b.runs[project] {
			configuration("run "+r.ID, r.Source)
			if !r.State.Over() {
				for _, key := range b.needs[r.ID] {
					need("open run "+r.ID, key, "")
				}
			}
		}
		for _, record := range b.records[project] {
			for _, key := range b.needs[record.Run] {
				if !strings.HasPrefix(key, "specs/") {
					need("deployed", key, "")
				}
			}
		}
	}
	return all
}

// purge purges until all is done, some at a time.
func (b *backend) purge(t *testing.T, k run.Retention, only bool) (all purge.Freed) {
	t.Helper()
	p := purge.Purge{Table: b, Bucket: b, Now: func() time.Time { return b.now }}
	all.Versions = make(map[string]int)
	for after, calls := "", 0; ; calls++ {
		f, next, err := p.Some(t.Context(), k, only, after, 0)
		if err != nil || calls > 10000 {
			t.Fatalf("after %q: %v", after, err)
		}
		all.Runs, all.Bytes = all.Runs+f.Runs, all.Bytes+f.Bytes
		for folder, n := range f.Versions {
			all.Versions[folder] += n
		}
		if after = next; after == "" {
			return all
		}
	}
}

const day = 24 * time.Hour

var quarter = run.Retention{OlderThan: 90 * day, Keep: 2}

// Whatever runs there were, and whatever starts and ends while a purge works: what is deployed, the last successful configuration, the revisions that the
// lock names, and all that runs need which have not ended, or that are still listed, exists afterwards.
func TestPurgeKeepsWhatIsNeeded(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		b := newBackend()
		projects := []string{"shop@prod", "shop@test", "blog@prod"}
		act := func() {
			project := projects[r.IntN(len(projects))]
			b.now = b.now.Add(time.Duration(r.IntN(40*24)) * time.Hour)
			if len(b.runs[project]) > 0 && !b.runs[project][0].State.Over() {
				b.end(project, []run.State{run.StateSucceeded, run.StateSucceeded, run.StateFailed}[r.IntN(3)])
				return
			}
			again := run.Source{}
			if runs := b.runs[project]; len(runs) > 0 && r.IntN(3) == 0 {
				again = runs[r.IntN(len(runs))].Source
			}
			b.start(project, again, r.IntN(4))
		}
		for range 5 + r.IntN(40) {
			act()
		}
		if runs := b.runs["shop@prod"]; len(runs) > 0 && r.IntN(2) == 0 {
			b.revise("shop@prod", runs[len(runs)-1])
		}
		acts := 20
		b.meanwhile = func() {
			if acts > 0 && r.IntN(8) == 0 {
				acts--
				at := b.now
				if act(); r.IntN(4) > 0 { // mostly a purge takes minutes
					b.now = at.Add(time.Minute)
				}
			}
		}
		b.purge(t, quarter, false)
		b.meanwhile = func() {}
		if lost := b.lost(); len(lost) > 0 {
			t.Fatalf("seed %d: lost are %s", seed, strings.Join(lost[:min(len(lost), 3)], "; "))
		}
		again := b.purge(t, quarter, false)
		if lost := b.lost(); len(lost) > 0 {
			t.Fatalf("seed %d: after another purge, lost are %s", seed, strings.Join(lost[:min(len(lost), 3)], "; "))
		}
		if third := b.purge(t, quarter, false); third.Runs+len(third.Versions) > 0 {
			t.Fatalf("seed %d: %+v, and then %+v are still deleted", seed, again, third)
		}
	}
}

// history is a project that was deployed often, each time from other files, 30 days apart; the newest run has failed.
func history(times int) *backend {
	b := newBackend()
	for n := range times {
		b.start("shop@prod", run.Source{}, n)
		b.end("shop@prod", run.StateSucceeded)
		b.now = b.now.Add(30 * day)
	}
	b.start("shop@prod", run.Source{}, times)
	b.end("shop@prod", run.StateFailed)
	b.now = b.now.Add(day)
	return b
}

// What is old and what nothing names goes: runs, and all that only they needed. A purge that shows what it would delete says the same, and deletes nothing.
func TestPurgeDeletesWhatNothingNames(t *testing.T) {
	b := history(10)
	versions := len(b.versions)
	shown := b.purge(t, quarter, true)
	if len(b.versions) != versions || len(b.runs["shop@prod"]) != 11 {
		t.Error("a purge that only shows has deleted something")
	}
	done := b.purge(t, quarter, false)
	if fmt.Sprint(shown) != fmt.Sprint(done) {
		t.Errorf("%+v are shown, and %+v are deleted", shown, done)
	}
	left := 0
	for _, v := range b.versions {
		left += int(v.Bytes)
	}
	// Of eleven runs, four are younger than 90 days, of which one ended exactly then. Each has its own objects.
	if want := map[string]int{"specs": 16, "templates": 8, "artifacts": 16, "remote": 8, "revisions": 8}; done.Runs != 8 || !maps.Equal(done.Versions, want) || done.Bytes == 0 || left == 0 {
		t.Errorf("%+v, want %v", done, want)
	}
	if lost := b.lost(); len(lost) > 0 {
		t.Errorf("lost are %v", lost)
	}
}

// A purge that does all with one call deletes the same as one that needs many.
func TestPurgeInOneCall(t *testing.T) {
	b := history(10)
	want := b.purge(t, quarter, true)
	p := purge.Purge{Table: b, Bucket: b, Now: func() time.Time { return b.now }}
	got, next, err := p.Some(t.Context(), quarter, false, "", time.Hour)
	if err != nil || next != "" || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, %q, %v, want %+v", got, next, err, want)
	}
}

// Each of these keeps something that a purge would delete otherwise.
func TestPurgeKeeps(t *testing.T) {
	oldest := func(b *backend) run.Run { runs := b.runs["shop@prod"]; return runs[len(runs)-1] }
	needed := func(b *backend, r run.Run, folder string) bool {
		return !slices.ContainsFunc(b.needs[r.ID], func(key string) bool { return strings.HasPrefix(key, folder) && !b.has(key, "") })
	}
	for what, c := range map[string]struct {
		change func(b *backend, old run.Run)
		kept   func(b *backend, old run.Run) bool
	}{
		"a run that has not ended keeps what its plan has put": {
			func(b *backend, _ run.Run) { b.runs["shop@prod"][10].State = run.StateWaiting },
			func(b *backend, old run.Run) bool { return needed(b, old, "") && b.has(old.Source.Key, "") },
		},
		"a clock of S3 that is late": {
			func(b *backend, _ run.Run) {
				b.runs["shop@prod"][10].State, b.runs["shop@prod"][10].Requested = run.StateWaiting, b.runs["shop@prod"][10].Requested.Add(30*time.Minute)
			},
			func(b *backend, old run.Run) bool { return needed(b, old, "") },
		},
		"a revision that the lock names, without its run": {
			func(b *backend, old run.Run) { b.revise("shop@prod", old) },
			func(b *backend, old run.Run) bool {
				return b.has(old.Source.Key, old.Source.Version) && b.has("remote/"+old.Source.Digest()+"/"+sum("address"), "") &&
					b.has("specs/values-"+old.Values+".json", "") && oldest(b).ID != old.ID
			},
		},
		"a revision that a snapshot names": {
			func(b *backend, old run.Run) {
				l := b.locks["shop@prod"]
				l.Snapshots = []run.Snapshot{{Name: "monday", Revision: old.AsRevision()}}
				b.locks["shop@prod"] = l
			},
			func(b *backend, old run.Run) bool {
				return b.has(old.Source.Key, old.Source.Version) && b.has("remote/"+old.Source.Digest()+"/"+sum("address"), "") && b.has("specs/values-"+old.Values+".json", "")
			},
		},
		"a revision that the lock names, although its run was deleted before": {
			func(b *backend, old run.Run) {
				b.revise("shop@prod", old)
				b.runs["shop@prod"] = b.runs["shop@prod"][:10]
			},
			func(b *backend, old run.Run) bool { return b.has(old.Source.Key, old.Source.Version) },
		},
		"the last successful configuration and its values, although the run is gone": {
			func(b *backend, old run.Run) {
				l := b.locks["shop@prod"]
				l.LastSuccessful, l.Values = old.Source, old.Values
				b.locks["shop@prod"], b.runs["shop@prod"] = l, b.runs["shop@prod"][:10]
			},
			func(b *backend, old run.Run) bool {
				return b.has(old.Source.Key, old.Source.Version) && b.has("specs/values-"+old.Values+".json", "")
			},
		},
		"what a recorded stack was deployed from, also what nested templates name": {
			func(b *backend, old run.Run) {
				for _, key := range b.needs[old.ID] {
					if digest, is := strings.CutPrefix(key, "templates/"); is {
						b.records["shop@test"] = map[string]plan.Record{"a": {Node: "a", Digest: "d", Template: digest, Revision: old.Source.Version}}
					}
				}
				b.runs["shop@test"] = nil
			},
			func(b *backend, old run.Run) bool {
				return needed(b, old, "templates/") && needed(b, old, "artifacts/") && b.has(old.Source.Key, old.Source.Version)
			},
		},
		"all artifacts, if it is not known what is deployed": {
			func(b *backend, _ run.Run) {
				b.records["shop@prod"]["b"] = plan.Record{Node: "b", Template: b.records["shop@prod"]["a"].Template} // its last operation has failed
			},
			func(b *backend, old run.Run) bool { return needed(b, old, "artifacts/") },
		},
		"all artifacts, if a deployed template cannot be read": {
			func(b *backend, _ run.Run) {
				b.records["shop@prod"]["b"] = plan.Record{Node: "b", Digest: "d", Template: sum("gone")}
			},
			func(b *backend, old run.Run) bool { return needed(b, old, "artifacts/") },
		},
		"the current version of an upload": {
			func(b *backend, _ run.Run) {
				now := b.now
				b.now = now.Add(-300 * day)
				b.put("projects/shop/prod.zip", "files")
				b.now = now
			},
			func(b *backend, _ run.Run) bool { return b.has("projects/shop/prod.zip", "") },
		},
	} {
		b := history(10)
		old := oldest(b)
		c.change(b, old)
		b.purge(t, quarter, false)
		if !c.kept(b, old) {
			t.Errorf("not kept: %s", what)
		}
	}
}

// The configuration of a run that is requested while a purge works stays, although nothing named it before.
func TestPurgeSeesRunsThatAreRequestedMeanwhile(t *testing.T) {
	b := history(10)
	old := b.runs["shop@prod"][10]
	b.runs["shop@prod"] = b.runs["shop@prod"][:10]
	reads := 0
	b.meanwhile = func() {
		if reads++; reads == 5 { // the purge has read what is named
			b.meanwhile = func() {}
			b.start("shop@prod", old.Source, 0)
		}
	}
	p := purge.Purge{Table: b, Bucket: b, Now: func() time.Time { return b.now }}
	if _, _, err := p.Some(t.Context(), quarter, false, "revisions/", time.Hour); err != nil || !b.has(old.Source.Key, old.Source.Version) {
		t.Errorf("it is deleted, %v", err)
	}
}

// An older version of an upload goes, unless a run names it.
func TestPurgeOfUploads(t *testing.T) {
	b := history(10)
	now := b.now
	b.now = now.Add(-300 * day)
	used, unused := b.put("projects/shop/prod.zip", "a"), b.put("projects/shop/prod.zip", "b")
	b.now = now
	b.put("projects/shop/prod.zip", "c")
	b.runs["shop@prod"][0].Source = run.Source{Key: "projects/shop/prod.zip", Version: used}
	if b.purge(t, quarter, false); !b.has("projects/shop/prod.zip", used) || b.has("projects/shop/prod.zip", unused) {
		t.Error("the version that a run names has to stay, and the other one has to go")
	}
}

// A retention that is not safe, and a place that is none, are refused, and nothing is deleted.
func TestPurgeIsRefused(t *testing.T) {
	b := history(10)
	p := purge.Purge{Table: b, Bucket: b, Now: func() time.Time { return b.now }}
	for _, k := range []run.Retention{{}, {OlderThan: 90 * day}, {OlderThan: time.Hour, Keep: 1}, {OlderThan: purge.Least - 1, Keep: 1}} {
		if _, _, err := p.Some(t.Context(), k, false, "", time.Hour); !fault.Is(err, fault.Invalid) || !fault.Is(p.Begin(t.Context(), k, "ann", ""), fault.Invalid) {
			t.Errorf("%+v: %v", k, err)
		}
	}
	for _, place := range []string{"plans/", "access/", "x", "requests/"} {
		if _, _, err := p.Some(t.Context(), quarter, false, place, time.Hour); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", place, err)
		}
	}
	if len(b.runs["shop@prod"]) != 11 || len(b.recorded) > 0 {
		t.Error("something was deleted, or recorded")
	}
	if err := p.Begin(t.Context(), quarter, "ann", "192.0.2.1"); err != nil || len(b.recorded) != 1 || b.recorded[0].Who != "ann" || !strings.Contains(b.recorded[0].What, "2160h0m0s") {
		t.Errorf("%+v, %v", b.recorded, err)
	}
}
