package dynamodb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/figure"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// What a poll reads of a run depends on the steps in flight, and not on the size of the
// run. Only a function that has not followed the run before reads all of it.
func TestFollowReadsWhatChanged(t *testing.T) {
	const flight = 100
	for _, size := range []int{1000, 10_000} {
		t.Run(fmt.Sprint(size, " steps"), func(t *testing.T) {
			if *endpoint != "" && size > 1000 {
				t.Skip("the sizes of what is read are those of 1,000 steps, and DynamoDB Local takes long for 10,000")
			}
			w := &wire{}
			table := open(t, w)
			r := realistic(t, table, size)
			over := make([]int, size/2)
			for i := range over {
				over[i] = i
			}
			must(t, table.Select(t.Context(), "one", r.Epoch, over))
			var changes []engine.Change
			for _, n := range over {
				c := changeOf(r, n)
				c.Step.Status, c.Step.Ended = run.Skipped, time.Now()
				changes = append(changes, c)
			}
			must(t, table.Move(t.Context(), changes...))
			cold, requests := w.counted(func() { follow(t, table) })
			inFlight := make([]int, flight)
			for i := range inFlight {
				inFlight[i] = len(over) + i
			}
			must(t, table.Select(t.Context(), "one", r.Epoch, inFlight))
			for _, n := range inFlight {
				must(t, table.Move(t.Context(), changeOf(r, n)))
			}
			warm, warmRequests := w.counted(func() { follow(t, table) })
			t.Logf("of %d steps with %d in flight, the first poll reads %d bytes in %d requests, the next one %d bytes in %d requests", size, flight, cold, requests, warm, warmRequests)
			const most = flight*1000 + 2000
			if warm > most || warmRequests > 2 {
				t.Errorf("a poll reads %d bytes in %d requests, want at most %d in 2", warm, warmRequests, most)
			}
			if size == 10_000 {
				figure.Report(t, "poll/bytes-10000", float64(warm), most)
			}
		})
	}
}

// realistic commits a run of stacks with names, specs and dependencies of a usual length.
func realistic(t *testing.T, table *Table, size int) run.Run {
	t.Helper()
	p := plan.Plan{}
	specs := make(map[string]string)
	for i := range size {
		node := fmt.Sprintf("team-%02d/service-%05d", i%40, i)
		s := plan.Step{ID: node + "/create", Node: node, Where: "111122223333/eu-central-1", Verb: plan.Create}
		if i >= 40 {
			s.After = []int{i - 40, i - 39}
		}
		p.Steps, specs[node] = append(p.Steps, s), fmt.Sprintf("%064x", i)
	}
	r, _, err := table.CreateRun(t.Context(), run.Run{
		Request: run.Request{ID: "one", Project: "shop@prod", Operation: "deploy"}, Version: run.Version,
		Command: run.Continue, State: run.StatePending, Requested: time.Now(),
	})
	must(t, err)
	r.Start(p, specs)
	must(t, table.Commit(t.Context(), r))
	r, err = table.Load(t.Context(), "one")
	must(t, err)
	return r
}

// counted returns how many bytes the answers have that a call gets, and how many
// requests it makes.
func (w *wire) counted(call func()) (bytes, requests int) {
	w.mu.Lock()
	w.received, w.calls = 0, nil
	w.mu.Unlock()
	call()
	for _, n := range w.calls {
		requests += n
	}
	return w.received, requests
}

func follow(t *testing.T, table *Table) run.Run {
	t.Helper()
	r, err := table.Follow(t.Context(), "one")
	must(t, err)
	return r
}

// Several functions poll a run in turn, and new ones begin. However long ago a function has
// followed the run, it finds what the others have changed.
func TestFollowWhatOtherFunctionsChanged(t *testing.T) {
	w := &wire{page: 9}
	tables := []*Table{open(t, w)}
	r := planned(t, tables[0], 60)
	for range 3 {
		tables = append(tables, New(tables[0].client, tables[0].name))
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	one := func() *Table { return tables[rnd.IntN(len(tables))] }
	for begin := 0; begin < len(r.Steps); begin += 3 {
		must(t, one().Select(t.Context(), "one", r.Epoch, []int{begin, begin + 1, begin + 2}))
		for n := begin; n < begin+3; n++ {
			s := &r.Steps[n]
			s.Status, s.Attempt, s.Nonce = run.Running, 1, "n"
			must(t, one().Move(t.Context(), changeOf(r, n)))
			if late := n - rnd.IntN(9); late >= 0 && r.Steps[late].Status == run.Running {
				s := &r.Steps[late]
				s.Status, s.Why = run.Done, "done"
				must(t, one().Move(t.Context(), engine.Change{Run: "one", Epoch: r.Epoch, From: run.Running, Attempt: 1, Step: *s}))
			}
			got := follow(t, one())
			if d := cmp.Diff(r.Steps, got.Steps); d != "" {
				t.Fatalf("after step %d has changed: -want +got\n%s", n, d)
			}
		}
		if rnd.IntN(4) == 0 {
			tables[rnd.IntN(len(tables))] = New(tables[0].client, tables[0].name)
		}
	}
}

// The steps of a run that has ended stay as they are: a function reads them once. Those of a run that ended since it was followed
// are read again, because another function may have ended them.
func TestFollowRunThatHasEnded(t *testing.T) {
	w := &wire{}
	table := open(t, w)
	other := New(table.client, table.name)
	r := realistic(t, table, 300)
	follow(t, table)
	var changes []engine.Change
	for n := range r.Steps {
		c := changeOf(r, n)
		c.Step.Status, c.Step.Ended = run.Skipped, time.Now()
		changes = append(changes, c)
	}
	must(t, other.Move(t.Context(), changes...))
	r.State = run.StateCancelled
	must(t, other.End(t.Context(), r, run.Exit{From: run.StateRunning}))
	for i, most := range []int{1000, 1, 1} {
		var got run.Run
		if _, requests := w.counted(func() { got = follow(t, table) }); requests > most {
			t.Errorf("call %d makes %d requests, want at most %d", i+1, requests, most)
		}
		if got.State != run.StateCancelled || len(got.Steps) != 300 || slices.ContainsFunc(got.Steps, func(s run.Step) bool { return s.Status != run.Skipped }) {
			t.Fatalf("call %d: %s, %d steps", i+1, got.State, len(got.Steps))
		}
	}
}

// A function keeps a limited number of steps: it forgets the runs that it has not
// followed for longest.
func TestFollowManyRuns(t *testing.T) {
	v := views{runs: make(map[string]*view)}
	for i := range 10 {
		v.keep(fmt.Sprint(i), make([]run.Step, mostFollowed/4), 0, nil)
		if _, _, known := v.open("0"); i < 6 && !known {
			t.Errorf("run 0 is forgotten after %d others, though it was followed last", i)
		}
		if i < 6 {
			v.update("0", 0, nil)
		}
	}
	if len(v.runs) != 4 || len(v.order) != 4 {
		t.Errorf("%d runs are kept, of %d steps: %v", len(v.runs), mostFollowed, v.order)
	}
	v.keep("large", make([]run.Step, 2*mostFollowed), 0, nil)
	if len(v.runs) != 0 {
		t.Errorf("%d runs are kept", len(v.runs))
	}
}

// An interrupted client lets something happen after each batch that is read.
type interrupted struct {
	client
	after func()
}

func (i interrupted) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, with ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := i.client.BatchGetItem(ctx, in, with...)
	i.after()
	return out, err
}

// A run that is followed is read before its steps. A poll may write that the run waits on
// condition of the generation that it has read: then it has also read every answer of that
// generation.
func TestFollowReadsRunFirst(t *testing.T) {
	table := open(t, &wire{})
	r := planned(t, table, 2)
	must(t, table.Select(t.Context(), "one", r.Epoch, []int{0}))
	must(t, table.Move(t.Context(), changeOf(r, 0)))
	poll := New(interrupted{table.client, func() {
		_, err := table.RecordCommand(t.Context(), "one", run.GivenCommand{ID: "c", Command: run.Pause, At: time.Now()})
		must(t, err)
	}}, table.name)
	follow(t, poll)
	if got := follow(t, poll); got.Generation != r.Generation {
		t.Errorf("the run has generation %d and the steps are older, want %d", got.Generation, r.Generation)
	}
	if got := follow(t, poll); got.Generation != r.Generation+1 || got.Command != run.Pause {
		t.Errorf("the run has generation %d and the command %s", got.Generation, got.Command)
	}
}
