package dynamodb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// planned creates and commits a run with so many steps.
func planned(t *testing.T, table *Table, steps int) run.Run {
	t.Helper()
	r, _, err := table.CreateRun(t.Context(), run.Run{
		Request: run.Request{ID: "one", Project: "shop@prod", Operation: "deploy", Who: "ann", Source: run.Source{Key: "projects/shop/prod.zip", Version: "v1"}},
		Version: run.Version, Command: run.Continue, State: run.StatePending, Requested: time.Now(),
	})
	must(t, err)
	r.Start(reads(steps), nil)
	must(t, table.Commit(t.Context(), r))
	r, err = table.Load(t.Context(), "one")
	must(t, err)
	return r
}

// reads returns a plan of so many steps.
func reads(steps int) (p plan.Plan) {
	for i := range steps {
		p.Steps = append(p.Steps, plan.Step{ID: fmt.Sprintf("n%04d/read", i), Node: fmt.Sprintf("n%04d", i), Verb: plan.Read})
	}
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A run may have more steps than fit into one transaction, page or batch.
func TestManySteps(t *testing.T) {
	w := &wire{page: 7}
	table := open(t, w)
	r := planned(t, table, 230)
	if len(r.Steps) != 230 {
		t.Fatalf("%d steps are loaded, of 230", len(r.Steps))
	}
	if got := w.calls["TransactWriteItems"]; got != 1+1+3+1 {
		t.Errorf("%d transactions created and committed the run, want 6", got)
	}
	for i := range r.Steps {
		r.Steps[i].Status, r.Steps[i].Attempt, r.Steps[i].Due = run.Running, 1, time.Now()
		must(t, table.Move(t.Context(), changeOf(r, i)))
	}
	must(t, table.Postpone(t.Context(), "one", r.Epoch, r.Steps))
	got, err := table.Load(t.Context(), "one")
	must(t, err)
	for i, s := range got.Steps {
		if !s.Due.Equal(r.Steps[i].Due) {
			t.Fatalf("step %d is due %s, want %s", i, s.Due, r.Steps[i].Due)
		}
	}
}

// If a function crashed while it wrote the steps of a plan, or writes them late, the run has
// the steps of the newest planner and no others.
func TestOldPlanner(t *testing.T) {
	for name, late := range map[string]bool{"crashed": false, "late": true} {
		t.Run(name, func(t *testing.T) {
			table := open(t, &wire{page: 7})
			r, _, err := table.CreateRun(t.Context(), run.Run{Request: run.Request{ID: "one", Project: "shop@prod"}, Command: run.Continue, State: run.StatePending, Requested: time.Now()})
			must(t, err)
			old := r
			old.Start(reads(250), nil)
			planner, err := table.raisePlanner(t.Context(), r)
			must(t, err)
			if !late {
				must(t, table.writeSteps(t.Context(), old, planner))
			}
			r.Start(reads(3), nil)
			must(t, table.Commit(t.Context(), r))
			must(t, table.Move(t.Context(), changeOf(r, 0)))
			if late {
				if err := table.writeSteps(t.Context(), old, planner); !fault.Is(err, fault.Stale) {
					t.Errorf("the old planner writes its steps: %v", err)
				}
			}
			got, err := table.Load(t.Context(), "one")
			if err != nil || len(got.Steps) != 3 || got.Steps[0].Status != run.Running {
				t.Fatalf("%d steps, %v", len(got.Steps), err)
			}
			if _, _, err := table.step(t.Context(), "one", 3); !fault.Is(err, fault.Missing) {
				t.Errorf("the run has a step of the old planner: %v", err)
			}
		})
	}
}

// A preceded client calls a function before its first transaction of many writes.
type preceded struct {
	client
	call func()
}

func (c *preceded) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if len(in.TransactItems) > 20 {
		c.call()
	}
	return c.client.TransactWriteItems(ctx, in, options...)
}

// The steps that a planner writes after the end of its run expire too.
func TestPlannerOfEndedRun(t *testing.T) {
	table := open(t, &wire{})
	r, _, err := table.CreateRun(t.Context(), run.Run{Request: run.Request{ID: "one", Project: "shop@prod"}, Command: run.Continue, State: run.StatePending, Requested: time.Now()})
	must(t, err)
	ended := r
	ended.State = run.StateCancelled
	other := New(table.client, table.name)
	table.client = &preceded{table.client, sync.OnceFunc(func() {
		must(t, other.End(t.Context(), ended, run.Exit{From: run.StatePending}))
	})}
	r.Start(reads(250), nil)
	if err := table.Commit(t.Context(), r); !fault.Is(err, fault.Stale) {
		t.Errorf("a run that has ended is planned: %v", err)
	}
	if n := expiring(t, table); n != 3+250 { // run, event, place in the list
		t.Errorf("%d items expire, want 253", n)
	}
}

// When the dependencies of a record become fewer, or the record is deleted, none of their
// items stays.
func TestNoPartOfNeedsStays(t *testing.T) {
	table := open(t, &wire{})
	r := planned(t, table, 1)
	var names []string
	for i := range 3 * mostNeeds / 128 {
		names = append(names, fmt.Sprintf("s%0127d", i))
	}
	s := r.Steps[0]
	write := func(needs []string, forget bool, want int) {
		t.Helper()
		next := s
		next.Status, next.Nonce = run.Running, fmt.Sprint(len(needs), forget)
		c := engine.Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: s.Status, Attempt: s.Attempt, Step: next, Forget: forget}
		if !forget {
			c.Record = &plan.Record{Node: s.Node, Stack: "stack", Needs: needs}
		}
		must(t, table.Move(t.Context(), c))
		s = next
		items, err := table.query(t.Context(), prefixed(recordKey(r.Project, "").pk, needsPrefix))
		must(t, err)
		if len(items) != want {
			t.Errorf("%d further items hold %d names, want %d", len(items), len(needs), want)
		}
	}
	write(names, false, 2)
	write(names[:len(names)/2], false, 1)
	write(names[:3], false, 0)
	write(names, false, 2)
	write(nil, true, 0)
	write(names[:3], false, 0)
}

// A plan whose steps are large is written in transactions of at most 4 MB.
func TestLargeSteps(t *testing.T) {
	w := &wire{}
	table := open(t, w)
	r, _, err := table.CreateRun(t.Context(), run.Run{Request: run.Request{ID: "one", Project: "shop@prod"}, State: run.StatePending, Requested: time.Now()})
	must(t, err)
	p := reads(40)
	for i := range p.Steps {
		p.Steps[i].After = make([]int, 12_000)
	}
	r.Start(p, nil)
	must(t, table.Commit(t.Context(), r))
	for _, body := range w.bodies {
		if len(body) > 4<<20 {
			t.Errorf("a transaction has %d bytes", len(body))
		}
	}
}

// A transaction that conflicts with others is sent again, up to mostAttempts times.
func TestContention(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		text string
		want fault.Kind
		most int
	}{
		"conflict":  {"TransactWriteItems", reasons("None", "TransactionConflict"), fault.Throttled, mostAttempts + 1},
		"throttled": {"TransactWriteItems", reasons("ThrottlingError"), fault.Throttled, mostAttempts + 1},
		"in progress": {"TransactWriteItems", `{"__type":"TransactionInProgressException"}`, fault.Unavailable,
			3 * (mostAttempts + 1)}, // the SDK tries each three times
		"conflict and condition": {"TransactWriteItems", reasons("ConditionalCheckFailed", "TransactionConflict"), fault.Throttled, mostAttempts + 1},
		"condition":              {"TransactWriteItems", reasons("ConditionalCheckFailed", "None"), fault.Stale, 1},
		"too large":              {"TransactWriteItems", reasons("ItemCollectionSizeLimitExceeded"), fault.Broken, 1},
		"throughput":             {"TransactWriteItems", `{"__type":"ProvisionedThroughputExceededException"}`, fault.Throttled, 3},
		"throttling":             {"TransactWriteItems", `{"__type":"ThrottlingException"}`, fault.Throttled, 3},
		"denied":                 {"TransactWriteItems", `{"__type":"AccessDeniedException"}`, fault.Denied, 1},
		"no table":               {"TransactWriteItems", `{"__type":"ResourceNotFoundException"}`, fault.Broken, 1},
		"nonsense":               {"TransactWriteItems", `{"__type":"ValidationException"}`, fault.Broken, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{}
				table := open(t, w)
				w.answer = func(op string, _ []byte) (int, string) {
					if op == c.code {
						return http.StatusBadRequest, c.text
					}
					return 0, ""
				}
				_, err := table.Register(t.Context(), "one", 1, engine.PollInput{Token: "token"}, 1, time.Time{})
				if !fault.Is(err, c.want) {
					t.Errorf("want an error of kind %s, got %s: %v", c.want, fault.KindOf(err), err)
				}
				if got := w.calls[c.code]; got != c.most {
					t.Errorf("got %d requests, want %d", got, c.most)
				}
			})
		})
	}
}

// A transaction that is still in progress is sent again with its own token, because it
// may still succeed. One that conflicted wrote nothing, so it is sent with a new token.
func TestTokens(t *testing.T) {
	for answer, want := range map[string]int{`{"__type":"TransactionInProgressException"}`: 1, reasons("TransactionConflict"): mostAttempts + 1} {
		synctest.Test(t, func(t *testing.T) {
			w := &wire{}
			table := open(t, w)
			tokens := make(map[string]bool)
			w.answer = func(op string, body []byte) (int, string) {
				if op != "TransactWriteItems" {
					return 0, ""
				}
				var in struct{ ClientRequestToken string }
				must(t, json.Unmarshal(body, &in))
				tokens[in.ClientRequestToken] = true
				return http.StatusBadRequest, answer
			}
			if _, err := table.Register(t.Context(), "one", 1, engine.PollInput{Token: "token"}, 1, time.Time{}); err == nil {
				t.Error("it succeeded")
			}
			if len(tokens) != want {
				t.Errorf("%s: %d tokens, want %d", answer, len(tokens), want)
			}
		})
	}
}

// If DynamoDB does not know the token of a repeated request, the function that raised
// the epoch finds its own nonce in the run.
func TestLostAnswersWithoutTokens(t *testing.T) {
	w := &wire{forgetful: true}
	table := open(t, w)
	r := planned(t, table, 1)
	w.lost, w.writes = 2, 1 // lose the next answer, and then every second one
	must(t, table.RaiseEpoch(t.Context(), r))
	r.Epoch = 1
	must(t, table.Move(t.Context(), changeOf(r, 0)))
	r, err := table.Load(t.Context(), "one")
	if err != nil || r.Epoch != 1 || r.Steps[0].Attempt != 1 {
		t.Errorf("epoch %d, %v, %v", r.Epoch, r.Steps, err)
	}
}

// If a request gets no answer, nobody knows whether it was carried out.
func TestNoAnswer(t *testing.T) {
	w := &wire{}
	table := open(t, w)
	w.answer = func(string, []byte) (int, string) { return http.StatusServiceUnavailable, "<html>" }
	if _, err := table.Run(t.Context(), "one"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a 503 is %s: %v", fault.KindOf(err), err)
	}
	if err := table.fault("read", errors.New("connection refused")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a broken connection is %s", fault.KindOf(err))
	}
	if err := table.fault("read", smithy.InvalidParamsError{}); !fault.Is(err, fault.Broken) {
		t.Errorf("a request that cannot be sent is %s", fault.KindOf(err))
	}
}

// The items of a run expire after its end, and not before.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := open(t, &wire{})
		r := planned(t, table, 120)
		_, err := table.RecordCommand(t.Context(), "one", run.GivenCommand{ID: "request", Command: run.Pause, Who: "ann", At: time.Now()})
		must(t, err)
		r.Generation = 1
		r.State = run.StateWaiting
		must(t, table.MarkWaiting(t.Context(), r))
		if n := expiring(t, table); n != 0 {
			t.Errorf("%d items of a waiting run expire", n)
		}
		r.State = run.StateCancelled
		must(t, table.End(t.Context(), r, run.Exit{From: run.StateWaiting}))
		if n := expiring(t, table); n != 1+120+3+1 { // run, steps, events, place in the list
			t.Errorf("%d items of a run that has ended expire, want 125", n)
		}
		time.Sleep(retention - time.Second)
		if _, err := table.Load(t.Context(), "one"); err != nil {
			t.Errorf("before its time: %v", err)
		}
		time.Sleep(time.Second)
		if _, err := table.Run(t.Context(), "one"); !fault.Is(err, fault.Missing) {
			t.Errorf("after its time: %v", err)
		}
		if runs, err := table.List(t.Context(), "shop@prod", 0); err != nil || len(runs) != 0 {
			t.Errorf("after its time it is listed: %v, %v", runs, err)
		}
	})
}

// If the items of an ended run cannot be given a time to expire, Tidy does so later.
func TestTidy(t *testing.T) {
	down := false
	table := open(t, &wire{answer: func(op string, _ []byte) (int, string) {
		if down && op == "Query" {
			return http.StatusInternalServerError, "{}"
		}
		return 0, ""
	}})
	r := planned(t, table, 120)
	r.State, down = run.StateCancelled, true
	must(t, table.End(t.Context(), r, run.Exit{From: run.StateRunning}))
	if err := table.Tidy(t.Context()); err == nil {
		t.Error("Tidy reports no error, though nothing can be read")
	}
	down = false
	if n := expiring(t, table); n != 3 { // run, event, place in the list
		t.Errorf("%d items expire, want 3", n)
	}
	must(t, table.Tidy(t.Context()))
	if n := expiring(t, table); n != 3+120 {
		t.Errorf("after Tidy %d items expire, want 123", n)
	}
	left, err := table.query(t.Context(), prefixed(expiringKey("").pk, expiringKey("").sk))
	if err != nil || len(left) > 0 {
		t.Errorf("after Tidy %d runs are left to tidy: %v", len(left), err)
	}
}

// expiring counts the items that expire, of the run and of its project.
func expiring(t *testing.T, table *Table) (n int) {
	t.Helper()
	for _, pk := range []string{"RUN#one", "PROJECT#shop@prod"} {
		items, err := table.query(t.Context(), span{pk: pk, from: "A", to: last})
		must(t, err)
		for _, i := range items {
			if i["expires"] != nil {
				n++
			}
		}
	}
	return n
}

// An item that a newer or an older version wrote is refused at once, in words that say which,
// also if its attributes have other types. A step that needs a record waits for the right
// functions instead.
func TestVersions(t *testing.T) {
	table := open(t, &wire{})
	planned(t, table, 1)
	set := func(k key, version int) {
		t.Helper()
		if _, err := table.write(t.Context(), write{key: k, set: values{"version": version}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []key{stepKey("one", 0), runKey("one")} {
		set(k, run.Version+1)
		if _, err := table.Load(t.Context(), "one"); !fault.Is(err, fault.Broken) {
			t.Errorf("%s of the next version: %v", k.sk, err)
		}
		set(k, run.Version)
	}
	if _, err := table.Load(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	at := key{"PROJECT#shop@prod", recordPrefix + "vpc"}
	for _, w := range storing(at, plan.Record{Node: "vpc"}, 0) {
		if _, err := table.write(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := table.Stacks(t.Context(), "shop@prod"); err != nil || n != 1 {
		t.Errorf("%d stacks, %v", n, err)
	}
	if records, err := table.Records(t.Context(), "shop@prod"); err != nil || len(records) != 1 {
		t.Errorf("records %v, %v", records, err)
	}
	set(at, run.Version+1)
	if _, err := table.Records(t.Context(), "shop@prod"); !fault.Is(err, fault.Broken) || !strings.Contains(err.Error(), "the record of stack vpc is of version 2, which a newer Stackwright wrote") {
		t.Errorf("a record of the next version: %v", err)
	}
	if _, err := table.write(t.Context(), write{key: at, set: values{"outputs": "a text"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Records(t.Context(), "shop@prod"); err == nil || strings.Contains(err.Error(), "unmarshal") {
		t.Errorf("a record of the next version with other types: %v", err)
	}
	if _, err := table.RecordsOf(t.Context(), "shop@prod", []string{"vpc"}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("one record of the next version: %v", err)
	}
	set(at, run.Version)
	if _, err := table.Records(t.Context(), "shop@prod"); !fault.Is(err, fault.Broken) || !strings.Contains(err.Error(), "another version of Stackwright wrote it, or it is damaged") {
		t.Errorf("a record with other types: %v", err)
	}
	set(at, run.Version-2)
	if _, err := table.Records(t.Context(), "shop@prod"); !fault.Is(err, fault.Broken) || !strings.Contains(err.Error(), "which an older Stackwright wrote") {
		t.Errorf("a record of an old version: %v", err)
	}
	if _, err := table.write(t.Context(), write{key: at, put: plan.Record{Node: "vpc", Outputs: map[string]string{"A": "b"}}}); err != nil {
		t.Fatal(err)
	}
	if records, err := table.Records(t.Context(), "shop@prod"); err != nil || records["vpc"].Outputs["A"] != "b" {
		t.Errorf("a record that has no version: %v, %v", records, err)
	}
}

// A pending run without the number of a planner is planned.
func TestCommitOfRunWithoutPlanner(t *testing.T) {
	table := open(t, &wire{})
	r := run.Run{Request: run.Request{ID: "old", Project: "shop@prod", Operation: "deploy"}, State: run.StatePending, Requested: time.Now()}
	if _, err := table.write(t.Context(), write{key: runKey("old"), put: storedRun(r)}); err != nil {
		t.Fatal(err)
	}
	if n, err := table.raisePlanner(t.Context(), r); n != 1 || err != nil {
		t.Errorf("the planner has number %d: %v", n, err)
	}
}

// A run cannot be loaded if one of its steps is missing.
func TestDamage(t *testing.T) {
	for name, gone := range map[string]int{"first": 0, "middle": 1, "last": 2} {
		t.Run(name, func(t *testing.T) {
			table := open(t, &wire{})
			planned(t, table, 3)
			if _, err := table.write(t.Context(), write{key: stepKey("one", gone), delete: true}); err != nil {
				t.Fatal(err)
			}
			if _, err := table.Load(t.Context(), "one"); !fault.Is(err, fault.Broken) {
				t.Errorf("loaded without step %d: %v", gone, err)
			}
		})
	}
}

// People can read the table: its keys and attributes are words.
func TestReadable(t *testing.T) {
	table := open(t, &wire{})
	r := planned(t, table, 1)
	c := changeOf(r, 0)
	c.Step.Receipt, c.Step.Due = plan.Receipt{StackID: "arn"}, time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	c.Record = &plan.Record{Node: "n0000", Stack: "shop-prod-n0000", Target: project.Target{Name: "eu"}, Outputs: map[string]string{"Id": "1"}}
	must(t, table.Move(t.Context(), c))
	projects, err := table.Projects(t.Context())
	must(t, err)
	if diff := cmp.Diff([]string{"shop@prod"}, projects); diff != "" {
		t.Error(diff)
	}
	i, err := table.get(t.Context(), key{"RUN#one", "STEP#00000"})
	must(t, err)
	var step map[string]any
	must(t, decode(i, &step))
	want := map[string]any{
		"PK": "RUN#one", "SK": "STEP#00000", "version": 1.0, "planner_number": 1.0, "id": "n0000/read", "node": "n0000", "verb": "read", "number": 0.0,
		"status": "running", "attempt": 1.0, "nonce": "", "receipt": map[string]any{"stack_id": "arn"}, "why": "", "event": "", "polls": 0.0, "reported": false,
		"due": "2026-03-01T12:00:00.000000005Z", "not_before": nil, "claimed": nil, "tried": nil, "previous": nil, "ended": nil, "forced": false, "result": nil, "cause": nil,
	}
	if diff := cmp.Diff(want, step); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if i, err = table.get(t.Context(), key{"PROJECT#shop@prod", "STACK#n0000"}); err != nil || i.text("stack") != "shop-prod-n0000" {
		t.Errorf("record %v, %v", i, err)
	}
	if i, err = table.get(t.Context(), key{"OPEN", "RUN#one"}); err != nil || i.text("project") != "shop@prod" {
		t.Errorf("open item %v, %v", i, err)
	}
}

// changeOf returns the change that claims a step.
func changeOf(r run.Run, number int) engine.Change {
	s := r.Steps[number]
	s.Status, s.Attempt = run.Running, 1
	return engine.Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Pending, Step: s}
}
