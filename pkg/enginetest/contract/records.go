package contract

import (
	"fmt"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// recordLaws are about records, locks and lists.
func recordLaws() []law {
	return []law{
		{"records are a project's own", func(b bench) {
			r := b.commit("one")
			b.put(r, 0, record("vpc"))
			other, err := b.store.Records(b.ctx, "shop@test")
			b.ok(err)
			b.same(len(other), 0)
			b.same(b.records(), map[string]plan.Record{"vpc": record("vpc")})
		}},
		{"some records are those that are there", func(b bench) {
			r := b.commit("one")
			b.put(r, 0, record("vpc"))
			b.put(r, 1, record("db"))
			some, err := b.store.RecordsOf(b.ctx, shop, []string{"db", "none", "db"})
			b.ok(err)
			b.same(some, map[string]plan.Record{"db": record("db")})
			none, err := b.store.RecordsOf(b.ctx, shop, nil)
			b.ok(err)
			b.same(len(none), 0)
		}},
		{"what a caller does to a record afterwards is its own affair", func(b bench) {
			r := b.commit("one")
			rec := record("vpc")
			b.put(r, 0, rec)
			rec.Outputs["Id"] = "x"
			b.records()["vpc"].Needs[0] = "x"
			b.same(b.records()["vpc"], record("vpc"))
		}},
		{"a record has as many dependencies as a project has stacks", func(b bench) {
			names := func(n int) (all []string) {
				for i := range n {
					all = append(all, fmt.Sprintf("s%0127d", i))
				}
				return all
			}
			r := b.commit("one")
			rec := record("vpc")
			b.put(r, 1, record("db"))
			for i, n := range []int{20_000, 10_000, 2, 600} { // also old and new dependencies together
				rec.Needs = names(n)
				c := moving(r, b.step("one", 0), run.Running)
				c.Step.Nonce, c.Record = fmt.Sprint(i), &rec
				b.ok(b.store.Move(b.ctx, c))
				b.same(b.records(), map[string]plan.Record{"vpc": rec, "db": record("db")})
				some, err := b.store.RecordsOf(b.ctx, shop, []string{"vpc"})
				b.ok(err)
				b.same(some, map[string]plan.Record{"vpc": rec})
			}
			moved := rec
			moved.Node, moved.FormerName = moved.StackID, "vpc"
			b.ok(b.store.Rename(b.ctx, b.create("two"), []plan.Record{moved}))
			b.same(b.records(), map[string]plan.Record{moved.StackID: moved, "db": record("db")})
			back := moved
			back.Node, back.FormerName = "vpc", moved.StackID
			b.ok(b.store.Rename(b.ctx, b.run("two"), []plan.Record{back}))
			c := moving(r, b.step("one", 0), run.Done)
			c.Forget = true
			b.ok(b.store.Move(b.ctx, c))
			b.same(b.records(), map[string]plan.Record{"db": record("db")})
			rec.Needs = nil
			b.put(r, 1, rec)
			b.same(b.records()["vpc"], rec)
		}},
		{"a stack is adopted by one project", func(b bench) {
			one, two := b.commit("one"), b.commit("two")
			adopt := func(r run.Run, project string) error {
				rec := record("vpc")
				c := moving(r, b.step(r.ID, 0), run.Running)
				c.Project, c.Record, c.Adopts, c.Step.Nonce = project, &rec, "id-vpc", r.ID+project
				return b.store.Move(b.ctx, c)
			}
			b.ok(adopt(one, shop))
			before := b.step("two", 0)
			b.is(adopt(two, "shop@test"), fault.Taken)
			b.same(b.step("two", 0), before)
			others, err := b.store.Records(b.ctx, "shop@test")
			b.ok(err)
			b.same(len(others), 0)
			b.ok(adopt(one, shop)) // repeated
			forget := moving(one, b.step("one", 0), run.Done)
			forget.Forget, forget.Frees = true, "id-vpc"
			b.ok(b.store.Move(b.ctx, forget))
			b.ok(adopt(two, "shop@test"))
			others, err = b.store.Records(b.ctx, "shop@test")
			b.ok(err)
			b.same(len(others), 1)
		}},
		{"a project that records another stack no longer owns the one that it had adopted", func(b bench) {
			one, two := b.commit("one"), b.commit("two")
			adopt := moving(one, b.step("one", 0), run.Running)
			adopt.Adopts = "id-vpc"
			b.ok(b.store.Move(b.ctx, adopt))
			rec := record("vpc")
			other := moving(one, b.step("one", 0), run.Done)
			other.Record, other.Frees = &rec, "id-vpc"
			b.ok(b.store.Move(b.ctx, other))
			b.same(b.records()["vpc"], rec)
			taken := moving(two, b.step("two", 0), run.Running)
			taken.Project, taken.Adopts = "shop@test", "id-vpc"
			b.ok(b.store.Move(b.ctx, taken))
		}},
		{"a project is listed from its first run on", func(b bench) {
			all, err := b.store.Projects(b.ctx)
			b.ok(err)
			b.same(len(all), 0)
			b.commit("one")
			all, err = b.store.Projects(b.ctx)
			b.ok(err)
			b.same(all, []string{shop})
		}},
		{"of two projects that adopt one stack at once, one wins", func(b bench) {
			runs := []run.Run{b.commit("one"), b.commit("two"), b.commit("three")}
			errs := make([]error, len(runs))
			var group sync.WaitGroup
			for i, r := range runs {
				rec := record("vpc")
				c := moving(r, b.step(r.ID, 0), run.Running)
				c.Project, c.Record, c.Adopts, c.Step.Nonce = fmt.Sprint("shop@", i), &rec, "id-vpc", r.ID
				group.Go(func() { errs[i] = b.store.Move(b.ctx, c) })
			}
			group.Wait()
			won := 0
			for i, err := range errs {
				records, lost := b.store.Records(b.ctx, fmt.Sprint("shop@", i))
				b.ok(lost)
				if err == nil {
					won++
				} else {
					b.is(err, fault.Taken)
				}
				b.same(len(records) == 1, err == nil)
			}
			b.same(won, 1)
		}},
		{"a record moves to its new name", func(b bench) {
			r := b.commit("one")
			b.put(r, 0, record("vpc"))
			b.put(r, 1, record("db"))
			moved := record("vpc")
			moved.Node, moved.FormerName = moved.StackID, "vpc"
			gone := record("web")
			gone.Node, gone.FormerName = gone.StackID, "web"
			want := map[string]plan.Record{moved.StackID: moved, "db": record("db")}
			next := b.create("two")
			b.ok(b.store.Rename(b.ctx, next, []plan.Record{moved, gone}))
			b.same(b.records(), want)
			b.ok(b.store.Rename(b.ctx, next, []plan.Record{moved, gone}))
			b.same(b.records(), want)
		}},
		{"no record moves for an old epoch", func(b bench) {
			r := b.commit("one")
			b.put(r, 0, record("vpc"))
			next := b.create("two")
			b.ok(b.raise("two", next.Epoch))
			moved := record("vpc")
			moved.Node, moved.FormerName = moved.StackID, "vpc"
			b.is(b.store.Rename(b.ctx, next, []plan.Record{moved}), fault.Stale)
			b.same(b.records(), map[string]plan.Record{"vpc": record("vpc")})
		}},
		{"no record moves for a plan that is committed", func(b bench) {
			r := b.commit("one")
			b.put(r, 0, record("vpc"))
			moved := record("vpc")
			moved.Node, moved.FormerName = moved.StackID, "vpc"
			late := r
			late.State = run.StatePending
			b.is(b.store.Rename(b.ctx, late, []plan.Record{moved}), fault.Stale)
			b.same(b.records(), map[string]plan.Record{"vpc": record("vpc")})
		}},
		{"records move for a plan that was approved after its commit", func(b bench) {
			r := b.commit("one")
			b.put(r, 0, record("vpc"))
			moved := record("vpc")
			moved.Node, moved.FormerName = moved.StackID, "vpc"
			b.ok(b.store.Rename(b.ctx, r, []plan.Record{moved}))
			b.same(b.records(), map[string]plan.Record{moved.StackID: moved})
		}},
		{"a record that has taken another's name does not move for it", func(b bench) {
			r := b.commit("one")
			b.put(r, 0, record("vpc"))
			next := b.create("two")
			for _, late := range []func(*plan.Record){
				func(r *plan.Record) { r.StackID += "-old" },
				func(r *plan.Record) { r.StackID = "" },
				func(r *plan.Record) { r.Stack += "-old" },
			} {
				moved := record("vpc")
				late(&moved)
				moved.Node, moved.FormerName = "old", "vpc"
				b.ok(b.store.Rename(b.ctx, next, []plan.Record{moved}))
				b.same(b.records(), map[string]plan.Record{"vpc": record("vpc")})
			}
		}},
		{"many records move together", func(b bench) {
			r := b.create("one")
			p := plan.Plan{}
			var moved []plan.Record
			want := map[string]plan.Record{}
			for i := range 60 {
				name := fmt.Sprintf("n%02d", i)
				p.Steps = append(p.Steps, plan.Step{ID: name + "/read", Node: name, Verb: plan.Read})
				rec := record(name)
				rec.Node, rec.FormerName = rec.StackID, name
				moved = append(moved, rec)
				want[rec.Node] = rec
			}
			r.Start(p, nil)
			b.ok(b.store.Commit(b.ctx, r))
			for i := range 60 {
				b.put(r, i, record(fmt.Sprintf("n%02d", i)))
			}
			b.ok(b.store.Rename(b.ctx, b.create("two"), moved))
			b.same(b.records(), want)
		}},
		{"the newest runs are listed first", func(b bench) {
			for i, id := range []string{"b", "c", "a"} {
				r := requested(id)
				r.Requested = noon.Add(time.Duration([]int{1, 10, 2}[i]) * 10 * time.Millisecond)
				_, _, err := b.store.CreateRun(b.ctx, r)
				b.ok(err)
			}
			other := requested("other")
			other.Project = "shop@test"
			_, _, err := b.store.CreateRun(b.ctx, other)
			b.ok(err)
			b.same(b.list(0), []string{"c", "a", "b"})
			b.same(b.list(2), []string{"c", "a"})
			b.same(b.list(9), []string{"c", "a", "b"})
		}},
		{"a list shows runs as they are by now", func(b bench) {
			want := b.commit("one")
			want.State, want.Ended = run.StateSucceeded, noon.Add(time.Hour)
			b.ok(b.end(want))
			want.Steps = nil
			runs, err := b.store.List(b.ctx, shop, 0)
			b.ok(err)
			b.same(runs, []run.Run{want})
		}},
		{"runs requested at the same time are all listed", func(b bench) {
			b.create("one")
			b.create("two")
			b.same(b.list(0), []string{"two", "one"})
		}},
	}
}

// list names the runs of the project, newest first.
func (b bench) list(most int) []string {
	b.Helper()
	runs, err := b.store.List(b.ctx, shop, most)
	b.ok(err)
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// racers is how many try the same thing at the same time.
const racers = 8

// race runs do at the same time for each racer, and returns their errors.
func race(do func(racer int) error) []error {
	errs := make([]error, racers)
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range racers {
		all.Go(func() {
			<-begin
			errs[i] = do(i)
		})
	}
	close(begin)
	all.Wait()
	return errs
}

// won counts the racers that succeeded. The others must be Stale.
func (b bench) won(errs []error) (won int) {
	b.Helper()
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		b.is(err, fault.Stale)
	}
	return won
}

// raceLaws are about many functions at the same time.
func raceLaws() []law {
	return []law{
		{"of many claimers one has the step", func(b bench) {
			r := b.commit("one")
			errs := race(func(i int) error {
				rec := record("vpc")
				rec.Token = fmt.Sprint("n", i)
				c := claiming(r, 0, rec.Token)
				c.Record = &rec
				return b.store.Move(b.ctx, c)
			})
			b.same(b.won(errs), 1)
			s := b.step("one", 0)
			b.same(errs[int(s.Nonce[1]-'0')], nil)
			b.same(b.records()["vpc"].Token, s.Nonce)
			b.same(s.Attempt, 1)
		}},
		{"of many who raise a epoch one does", func(b bench) {
			b.commit("one")
			b.same(b.won(race(func(int) error { return b.raise("one", 1) })), 1)
			b.same(b.run("one").Epoch, 2)
		}},
		{"of many who ask for a run one gets a fresh one", func(b bench) {
			var mu sync.Mutex
			fresh := 0
			for _, err := range race(func(int) error {
				_, isFresh, err := b.store.CreateRun(b.ctx, requested("one"))
				mu.Lock()
				defer mu.Unlock()
				if isFresh {
					fresh++
				}
				return err
			}) {
				b.ok(err)
			}
			b.same(fresh, 1)
			b.same(b.list(0), []string{"one"})
		}},
		{"every command raises the generation", func(b bench) {
			b.commit("one")
			for _, err := range race(func(i int) error {
				_, err := b.command("one", run.Pause, fmt.Sprint("person", i))
				return err
			}) {
				b.ok(err)
			}
			b.same(b.run("one").Generation, racers)
		}},
		{"of an end and a command at the same time one is recorded", func(b bench) {
			r := b.commit("one")
			r.State = run.StateSucceeded
			errs := race(func(i int) error {
				if i == 0 {
					return b.end(r)
				}
				_, err := b.command("one", run.Cancel, "bob")
				return err
			})
			ended := b.run("one")
			b.same(ended.State.Over(), errs[0] == nil)
			b.same(ended.Generation > 0, errs[0] != nil)
		}},
		{"planners of one epoch leave one whole plan", func(b bench) {
			r := b.create("one")
			errs := race(func(i int) error {
				mine, p := r, plan.Plan{}
				for n := range 30 + i {
					p.Steps = append(p.Steps, plan.Step{ID: fmt.Sprintf("n%d-%d/read", i, n), Node: fmt.Sprint(i), Verb: plan.Read})
				}
				mine.Start(p, nil)
				return b.store.Commit(b.ctx, mine)
			})
			got := b.load("one")
			if won := b.won(errs); won > 1 || won == 1 && got.State != run.StateRunning || won == 0 && got.State != run.StatePending {
				b.Fatalf("%d planners won, the run is %s", won, got.State)
			}
			for _, s := range got.Steps {
				b.same(s.Node, got.Steps[0].Node)
			}
			if len(got.Steps) > 0 {
				b.same(fmt.Sprint(len(got.Steps)-30), got.Steps[0].Node)
			}
		}},
	}
}
