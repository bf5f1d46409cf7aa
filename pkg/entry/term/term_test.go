package term_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is a number of seconds after noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// step is a pending step: "vpc/create" or "barrier", after the steps of the given numbers.
func step(id string, after ...int) run.Step {
	node, verb, found := strings.Cut(id, "/")
	if !found {
		node, verb = "", id
	}
	return run.Step{Step: plan.Step{ID: id, Node: node, Verb: plan.Verb(verb), After: after}, Status: run.Pending}
}

// then moves a step: claimed and, if it is over, ended at the given seconds.
func then(s run.Step, status run.Status, why string, times ...int) run.Step {
	s.Status, s.Why = status, why
	if cause, skipped := strings.CutPrefix(why, "after "); skipped && status == run.Skipped {
		s.Cause = run.Cause{Kind: run.CauseFailure, Step: cause}
	}
	if len(times) > 0 {
		s.Claimed, s.Attempt = at(times[0]), 1
	}
	if len(times) > 1 {
		s.Ended = at(times[1])
	}
	return s
}

// shop is a deploy in the middle of things.
func shop() run.Run {
	r := run.Run{
		Request: run.Request{ID: "abc", Project: "shop@prod", Operation: "deploy"},
		State:   run.StateRunning, Command: run.Continue, Requested: noon, Started: at(1), Unchanged: 2, Steps: []run.Step{
			then(step("vpc/create"), run.Done, "", 1, 3),
			then(step("db/create", 0), run.Running, "", 3),
			then(step("queue/create"), run.Failed, "CREATE_FAILED: Queue: quota\nexceeded", 1, 4),
			then(step("app/update", 2), run.Skipped, "after queue/create"),
			then(step("web/update", 3), run.Skipped, "after queue/create"),
			step("users/create", 1),
			step("mail/create", 5),
			step("barrier", 4, 6),
		},
	}
	for i := range r.Steps {
		r.Steps[i].Number = i
	}
	r.Steps[3].Ended, r.Steps[4].Ended = at(4), at(4)
	return r
}

// over is the shop at its end.
func over() run.Run {
	r := shop()
	r.State, r.Ended = run.StateFailed, at(75)
	r.Steps[1] = then(r.Steps[1], run.Done, "", 3, 70)
	r.Steps[5] = then(r.Steps[5], run.Done, "", 70, 73)
	r.Steps[6] = then(r.Steps[6], run.Done, "", 73, 75)
	r.Steps[7] = then(r.Steps[7], run.Skipped, "after queue/create")
	r.Steps[7].Ended = at(75)
	return r
}

func next(words ...string) string { return "stackwright " + strings.Join(words, " ") }

func same(t *testing.T, got, want string) {
	t.Helper()
	if d := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// What is cleared leaves its place to others: the next frame is drawn below them.
func TestClear(t *testing.T) {
	var out strings.Builder
	l := &term.Live{Screen: term.Screen{Out: &out}, Size: func() (int, int) { return 80, 24 }, Now: func() time.Time { return at(12) }}
	queued := run.Run{Request: run.Request{ID: "abc", Project: "shop@prod", Operation: "deploy"}, State: run.StateQueued, Requested: noon}
	for _, do := range []func() error{l.Clear, func() error { return l.Show(queued) }, l.Clear, l.Clear} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	out.WriteString("it waits\n")
	if err := l.Show(queued); err != nil {
		t.Fatal(err)
	}
	tree := "deploy shop@prod · queued · 12s · run abc\x1b[K\n"
	same(t, strings.TrimPrefix(out.String(), tree), "\r\x1b[1A\x1b[Jit waits\n"+tree)
}

// What the run was requested to come to is in its first line.
func TestTreeSaysWhatIsRequested(t *testing.T) {
	for want, r := range map[string]run.Run{
		"superseded by run new":         {State: run.StateRunning, Command: run.Supersede, SupersededBy: "new"},
		"cancelling, then rolling back": {State: run.StateRunning, Command: run.CancelAndRollBack},
		"cancelling ·":                  {State: run.StateRunning, Command: run.Cancel},
		"cancelling with force ·":       {State: run.StateRunning, Command: run.Cancel, Forced: true},
		"cancelling with force, then ":  {State: run.StateRunning, Command: run.CancelAndRollBack, Forced: true},
		"queued":                        {State: run.StateQueued, Command: run.Continue},
	} {
		if got := (term.Tree{Run: r, Now: at(1)}).Render(200, 24)[0]; !strings.Contains(got, "· "+want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

func TestTreeShowsFailuresThenWhatRunsThenWhatIsNext(t *testing.T) {
	got := term.Tree{Run: shop(), Now: at(12)}.Render(100, 24)
	same(t, strings.Join(got, "\n"), `
deploy shop@prod · 1 of 8 done, 1 running, 1 failed, 2 skipped · 12s · run abc
├─ ✗ queue    create  CREATE_FAILED: Queue: quota exceeded
│  └─ skipped because of it: app, web
├─ ● db       create  9s
├─ ○ users    create  after db/create
├─ ○ … then 2 more
└─ ✓ 1 done, 2 unchanged · vpc 2s`)
}

// How much time is left is shown for the run and for each step that runs.
func TestTreeShowsTheTimeThatIsLeft(t *testing.T) {
	r := shop()
	r.Deadline, r.Steps[1].Timeout = at(90), project.LeastTimeout
	first := func(now time.Time) string {
		lines := term.Tree{Run: r, Now: now}.Render(100, 24)
		return lines[0] + "\n" + lines[3]
	}
	same(t, first(at(12)), `
deploy shop@prod · 1 of 8 done, 1 running, 1 failed, 2 skipped · 12s, 1m18s left · run abc
├─ ● db       create  9s, 51s left`)
	same(t, first(at(93)), `
deploy shop@prod · 1 of 8 done, 1 running, 1 failed, 2 skipped · 1m33s, overdue by 3s · run abc
├─ ● db       create  1m30s, overdue by 30s`)
}

// A step that may not take any time is reported with when it is overdue.
func TestChangesTellOfDeadlines(t *testing.T) {
	s := then(step("db/update"), run.Running, "", 3)
	s.Timeout = project.LeastTimeout
	c := term.Diff(run.Run{}, run.Run{Request: run.Request{ID: "abc"}, Steps: []run.Step{s}})[1]
	if got := c.String(); got != "12:00:03  running  db/update  (overdue at 12:01:03)" {
		t.Errorf("got %q", got)
	}
	s = then(s, run.Done, "", 3, 9)
	if all := term.Diff(run.Run{}, run.Run{Request: run.Request{ID: "abc"}, Steps: []run.Step{s}}); !all[2].Deadline.IsZero() || all[2].Took != 6*time.Second {
		t.Errorf("got %+v", all[2])
	}
}

// A step that waits for approval is not overdue: it says until when a person may approve.
func TestApprovalIsWaitedFor(t *testing.T) {
	s := then(step("/approve"), run.Running, "", 3)
	s.Timeout, s.Approval = project.DefaultExpiry, &project.Approval{Plan: true}
	r := run.Run{Request: run.Request{ID: "abc", Operation: "deploy", Project: "shop@prod"}, State: run.StateRunning, Started: at(0), Command: run.Continue}
	before := r
	r.Steps = []run.Step{s}
	if got := term.Diff(before, r)[1].String(); strings.Contains(got, "overdue") {
		t.Errorf("got %q", got)
	}
	s.Status, s.Why = run.Waiting, "waits for approval"
	waits := r
	waits.State, waits.Steps = run.StateWaiting, []run.Step{s}
	if got := term.Diff(r, waits)[0].String(); !strings.HasSuffix(got, "(for approval until 2026-03-02 12:00:03)") {
		t.Errorf("got %q", got)
	}
	if got := strings.Join(term.Summary(waits, nil, 0), "\n"); !strings.Contains(got, "waits for approval until 2026-03-02 12:00:03") {
		t.Errorf("got %q", got)
	}
}

func TestTreeKeepsWithinItsWindow(t *testing.T) {
	r := shop()
	for i := range 200 {
		id := fmt.Sprintf("a-stack-with-a-name-%03d/create", i)
		switch i % 4 {
		case 0:
			r.Steps = append(r.Steps, then(step(id), run.Running, "", 5))
		case 1:
			r.Steps = append(r.Steps, then(step(id), run.Failed, "\x1b[2J bad\r\nthing", 5, 6))
		default:
			r.Steps = append(r.Steps, step(id))
		}
	}
	for width := 2; width < 90; width += 7 {
		for height := 1; height < 40; height++ {
			lines := term.Tree{Run: r, Now: at(12)}.Render(width, height)
			if len(lines) > min(height, term.MaxLines) {
				t.Fatalf("%d lines in a window of %d", len(lines), height)
			}
			for _, l := range lines {
				if utf8.RuneCountInString(l) > width || strings.ContainsAny(l, "\x1b\r\n") {
					t.Fatalf("width %d: %q", width, l)
				}
			}
		}
	}
	text := strings.Join(term.Tree{Run: r, Now: at(12)}.Render(100, 24), "\n")
	for _, want := range []string{"more failed", "more running", "more to come", "✗ queue", "● db"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestTreeSaysWhatIsRequestedAndWhatIsPutOff(t *testing.T) {
	r := shop()
	r.Command = run.Pause
	r.Steps[5] = step("users/create", 0)
	r.Steps[5].NotBefore, r.Steps[5].Why = at(20), "stack users is UPDATE_IN_PROGRESS"
	text := strings.Join(term.Tree{Run: r, Now: at(12)}.Render(120, 24), "\n")
	for _, want := range []string{"· pausing ·", "○ users    create  retried in 8s: stack users is UPDATE_IN_PROGRESS"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestTreeIsColouredOnlyOnRequest(t *testing.T) {
	plain := term.Tree{Run: shop(), Now: at(12)}.Render(60, 24)
	painted := term.Tree{Run: shop(), Now: at(12), Colour: true}.Render(60, 24)
	text := strings.Join(painted, "\n")
	if !strings.Contains(text, "\x1b[31m") {
		t.Fatalf("nothing is red in %q", text)
	}
	for _, code := range []string{"0", "1", "2", "31", "32", "33", "36"} {
		text = strings.ReplaceAll(text, "\x1b["+code+"m", "")
	}
	same(t, text, strings.Join(plain, "\n"))
}

func TestScreenDrawsOverWhatItDrew(t *testing.T) {
	var out bytes.Buffer
	s := term.Screen{Out: &out}
	frame := func(want string, lines ...string) {
		t.Helper()
		out.Reset()
		if err := s.Draw(lines); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("drew %q, want %q", out.String(), want)
		}
	}
	frame("a\x1b[K\nb\x1b[K\n", "a", "b")
	frame("", "a", "b")
	frame("\r\x1b[2Ac\x1b[K\n\x1b[J", "c")
	frame("\r\x1b[1A\x1b[J")
	frame("d\x1b[K\n", "d")
}

func TestLiveLeavesOnlyTheSummary(t *testing.T) {
	var out bytes.Buffer
	l := &term.Live{Screen: term.Screen{Out: &out}, Size: func() (int, int) { return 0, 0 }, Now: func() time.Time { return at(12) }, Next: next}
	if err := l.Show(shop()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "✗ queue") || strings.Contains(out.String(), "\x1b[31m") {
		t.Errorf("drew %q", out.String())
	}
	out.Reset()
	if err := l.End(over()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "\r\x1b[8A\x1b[Jdeploy of shop@prod failed in 1m15s") {
		t.Errorf("drew %q", out.String())
	}
}

func TestAbleHonoursTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		term, noColour string
		live, colour   bool
	}{
		{"xterm", "", true, true}, {"", "", true, true}, {"xterm", "1", true, false}, {"dumb", "", false, false},
	} {
		live, colour := term.Able(func(k string) string { return map[string]string{"TERM": c.term, "NO_COLOR": c.noColour}[k] })
		if live != c.live || colour != c.colour {
			t.Errorf("%+v: %v %v", c, live, colour)
		}
	}
}

func TestPlainPrintsALineForEachChange(t *testing.T) {
	var out bytes.Buffer
	v := term.NewPlain(&out, next)
	for _, r := range []run.Run{{Request: run.Request{ID: "abc"}, State: run.StatePending}, shop(), shop(), over()} {
		if err := v.Show(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.End(over()); err != nil {
		t.Fatal(err)
	}
	same(t, out.String(), `
deploy shop@prod: run abc, 8 steps, 2 unchanged
12:00:01  running  vpc/create
12:00:01  running  queue/create
12:00:03  done     vpc/create  (2s)
12:00:03  running  db/create
12:00:04  failed   queue/create  (CREATE_FAILED: Queue: quota exceeded)
12:00:04  skipped  app/update  (after queue/create)
12:00:04  skipped  web/update  (after queue/create)
12:01:10  done     db/create  (1m07s)
12:01:10  running  users/create
12:01:13  done     users/create  (3s)
12:01:13  running  mail/create
12:01:15  done     mail/create  (2s)
12:01:15  skipped  barrier  (after queue/create)
deploy of shop@prod failed in 1m15s: 4 created, 2 unchanged, 1 failed, 3 skipped
  run abc
  queue/create failed: CREATE_FAILED: Queue: quota exceeded
    skipped because of it: app, web, barrier
  no stack was deleted permanently: such deletions wait until all other steps have succeeded
to retry with the same files: stackwright retry abc
after a change of the files: stackwright deploy --env prod`)
}

// A stack of which several steps were skipped is named once.
func TestSummaryNamesSkippedStacksOnce(t *testing.T) {
	r := over()
	r.Steps[4].ID, r.Steps[4].Node = "app/hook:tell", "app"
	got := strings.Join(term.Summary(r, next, 0), "\n")
	if want := "skipped because of it: app, barrier\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// Hooks on failure are not called by a deploy that succeeds, and its summary does not count them.
func TestSummaryDoesNotCountHooksOnFailure(t *testing.T) {
	hook := then(step("hook:tell", 0), run.Skipped, string(run.CauseNoFailure))
	hook.OnFailure, hook.Cause = true, run.Cause{Kind: run.CauseNoFailure}
	r := run.Run{Request: run.Request{ID: "abc", Project: "shop@prod", Operation: "deploy"}, State: run.StateSucceeded, Requested: noon, Ended: at(3),
		Steps: []run.Step{then(step("vpc/create"), run.Done, "", 1, 3), hook}}
	same(t, strings.Join(term.Summary(r, next, 0), "\n"), "deploy of shop@prod succeeded in 3s: 1 created\n  run abc")
}

func TestDiffTellsOfAStepThatWasPutOff(t *testing.T) {
	before, after := shop(), shop()
	after.Steps[5].Claimed, after.Steps[5].Why = at(9), "stack users is busy"
	after.Steps[5].NotBefore = at(24)
	var got []string
	for _, c := range term.Diff(before, after) {
		got = append(got, c.String())
	}
	same(t, strings.Join(got, "\n"), "12:00:09  running  users/create\n12:00:09  pending  users/create  (stack users is busy)")
	if again := term.Diff(after, after); len(again) > 0 {
		t.Errorf("nothing has changed, and yet: %v", again)
	}
}

// Whatever is read in between, the changes of a run are the same ones.
func TestDiffLosesNothingBetweenPolls(t *testing.T) {
	statuses := func(changes ...term.Change) map[string][]run.Status {
		by := make(map[string][]run.Status)
		for _, c := range changes {
			by[c.Step] = append(by[c.Step], c.Status)
		}
		return by
	}
	once := term.Diff(run.Run{}, over())
	twice := append(term.Diff(run.Run{}, shop()), term.Diff(shop(), over())...)
	if d := cmp.Diff(statuses(once...), statuses(twice...)); d != "" {
		t.Error(d)
	}
}

func TestJSONPrintsAnObjectALine(t *testing.T) {
	var out bytes.Buffer
	v := term.NewJSON(&out)
	for _, r := range []run.Run{shop(), over()} {
		if err := v.Show(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.End(over()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("not JSON: %s", l)
		}
	}
	same(t, lines[0], `{"time":"2026-03-01T12:00:01Z","run":"abc","step":"vpc/create","stack":"vpc","verb":"create","status":"pending","why":""}`)
	same(t, lines[len(lines)-2], `{"time":"2026-03-01T12:01:15Z","run":"abc","step":"barrier","stack":"","verb":"barrier","status":"skipped","why":"after queue/create"}`)
	same(t, lines[len(lines)-1], `{"run":"abc","operation":"deploy","state":"failed","steps":8,"seconds":75}`)
}

// A table fits its width, and nothing of it is cut. No word is broken, so that an ARN can be copied.
func TestTableFits(t *testing.T) {
	head := []string{"RUN", "PROJECT", "STATE", "BY"}
	rows := [][]string{
		{"mfrggzdfmztwq2lknnwg", "shop@prod", "superseded by ss3pvqdeong2exw6qsxx", "arn:aws:sts::111111111111:assumed-role/operations/ann.smith@example.com"},
		{"ss3pvqdeong2exw6qsxx", "shop@prod", "succeeded", "ann@laptop"},
	}
	var got strings.Builder
	for _, width := range []int{0, 100, 80, 60} {
		fmt.Fprintf(&got, "== width %d\n%s\n\n", width, strings.Join(term.Table(head, rows, width), "\n"))
	}
	golden.Same(t, "testdata/table.txt", got.String())
	for _, l := range term.Table(head, rows, 80) {
		if utf8.RuneCountInString(l) > 80 {
			t.Errorf("too wide: %s", l)
		}
	}
	for width := range 120 {
		if lines := term.Table(head, rows, width); !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, rows[0][3]) }) {
			t.Errorf("on %d columns the ARN is broken:\n%s", width, strings.Join(lines, "\n"))
		}
	}
}

// On 80 columns the tree shows the run's whole ID and whole reasons.
func TestTreeOn80Columns(t *testing.T) {
	r := shop()
	r.ID = "mfrggzdfmztwq2lknnwg"
	r.Steps[2].Why = "CREATE_FAILED: Queue: Resource handler returned message: Invalid request provided: the queue name may have at most 80 characters (Service: Sqs, Status Code: 400)"
	golden.Same(t, "testdata/tree80.txt", strings.Join(term.Tree{Run: r, Now: at(12)}.Render(79, 24), "\n")+"\n")
}

func TestSummarySaysWhatCameOfIt(t *testing.T) {
	waiting, cancelled := shop(), over()
	quick := run.Run{Request: run.Request{ID: "abc", Operation: "refresh", Project: "shop@prod"}, State: run.StateSucceeded, Requested: noon, Ended: noon.Add(340 * time.Millisecond)}
	waiting.State = run.StateWaiting
	cancelled.State = run.StateCancelled
	cancelled.Steps = []run.Step{then(step("a/create"), run.Done, "", 1, 2), then(step("b/create"), run.Skipped, "cancelled")}
	superseded, queued, late, forced := cancelled, cancelled, cancelled, over()
	superseded.State, superseded.SupersededBy = run.StateSuperseded, "new"
	superseded.Steps = []run.Step{then(step("a/create"), run.Done, "", 1, 2), then(step("b/create"), run.Skipped, "superseded by new")}
	queued.State, queued.SupersededBy, queued.Steps, queued.Unchanged = run.StateSuperseded, "new", nil, 0
	late.State, late.Steps, late.Unchanged, late.Messages = run.StateSuperseded, nil, 0, []string{"a newer upload of projects/shop/prod.zip was requested before this one"}
	forced.State, forced.Steps, forced.Unchanged, forced.Messages = run.StateFailed, nil, 0, []string{"engine error: it crashes"}
	mine := cancelled
	mine.Who, mine.Reason, mine.Command = "ann@laptop", "the new queue", run.Cancel
	mine.Commands = []run.GivenCommand{{Command: run.Cancel, Who: "arn:aws:sts::111111111111:assumed-role/ops/bob", Why: "wrong branch"}}
	theirs := cancelled
	theirs.Who, theirs.Claim = "unknown principal of account 111111111111", "arn:aws:iam::222222222222:user/bob"
	hostile := run.Run{Request: run.Request{ID: "abc", Operation: "\x1b[2Jrefresh", Project: "shop@prod"}, State: run.StateRefused, Messages: []string{"only: there is no stack \x1b[31m\x07x\u202ey"}}
	var got strings.Builder
	for _, c := range []struct {
		name string
		run  run.Run
	}{
		{"refused with control characters in the request", hostile}, {"uploaded under another name", theirs}, {"waiting", waiting}, {"cancelled", cancelled}, {"cancelled by somebody else", mine}, {"superseded", superseded}, {"superseded in the queue", queued}, {"superseded on arrival", late},
		{"ended by force", forced},
		{"refused", run.Run{Request: run.Request{ID: "abc", Operation: "deploy", Project: "shop@prod"}, State: run.StateRefused, Messages: []string{"one thing", "another"}}},
		{"nothing to do", run.Run{Request: run.Request{ID: "abc", Operation: "destroy", Project: "shop@prod"}, State: run.StateSucceeded, Requested: noon, Ended: at(1)}},
		{"quick", quick},
		{"about no stack", run.Run{Request: run.Request{ID: "abc", Operation: "extend", Project: "shop@prod"}, State: run.StateSucceeded, Requested: noon, Ended: at(1), Messages: []string{"shop@prod lives until tomorrow"}}},
	} {
		for _, width := range []int{0, 60} {
			fmt.Fprintf(&got, "== %s, width %d\n%s\n\n", c.name, width, strings.Join(term.Summary(c.run, next, width), "\n"))
		}
	}
	golden.Same(t, "testdata/summary.txt", got.String())
}

// A live view says when the run will probably end, and marks the steps that decide it. It
// forecasts this only every two seconds.
func TestLiveForecast(t *testing.T) {
	vpc, db, web := step("vpc/create"), step("db/create", 0), step("web/create")
	vpc, web = then(vpc, run.Running, "", 0), then(web, run.Running, "", 0)
	for i, s := range []*run.Step{&vpc, &db, &web} {
		s.Number, s.Expected = i, 300
	}
	r := run.Run{
		Request: run.Request{ID: "abc", Project: "shop@prod", Operation: "deploy"}, State: run.StateRunning, Command: run.Continue,
		Requested: noon, Started: noon, Steps: []run.Step{vpc, db, web},
	}
	now := at(60)
	var out bytes.Buffer
	live := &term.Live{Screen: term.Screen{Out: &out}, Size: func() (int, int) { return 120, 24 }, Now: func() time.Time { return now }}
	shows := func(wants ...string) {
		t.Helper()
		out.Reset()
		if err := live.Show(r); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("it does not show %q:\n%s", want, out.String())
			}
		}
	}
	shows("about 9 min to go, last db", "● vpc  create  1m00s  critical path", "○ db   create  after vpc/create  critical path", "● web  create  1m00s\x1b")
	r.Steps[2].Expected, now = 3000, at(61)
	shows("last db")
	now = at(62)
	shows("last web")
}

// asking is a run of which two stacks wait for approval: one has one of two approvals. The other stacks go on.
func asking() run.Run {
	r := run.Run{
		Request: run.Request{ID: "abc", Project: "shop@prod", Operation: "deploy"},
		State:   run.StateRunning, Command: run.Continue, Requested: noon, Started: at(1), Steps: []run.Step{
			then(step("vpc/create"), run.Running, "", 1),
			then(step("db/approve"), run.Waiting, "waits for approval", 2),
			then(step("db/approve:2"), run.Waiting, "waits for approval", 2),
			step("db/create", 0, 1, 2),
			then(step("web/approve"), run.Waiting, "waits for approval", 2),
			step("web/create", 4),
		},
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		s.Number = i
		if s.Status == run.Waiting {
			s.Verb, s.Approval, s.Timeout = plan.Approve, &project.Approval{Approvals: 2}, project.Timeout(time.Hour)
		}
	}
	r.Steps[1].Answer = run.Answer{ID: "one", Yes: true}
	return r
}

// The tree shows what waits for a person, for how long it still waits, and the command that answers it; the summary of a run
// in which nothing else is left to do, both commands.
func TestTreeShowsWhatWaitsForAPerson(t *testing.T) {
	r := asking()
	got := term.Tree{Run: r, Now: at(12), Next: next}.Render(100, 24)
	same(t, strings.Join(got, "\n"), `
deploy shop@prod · 0 of 6 done, 3 waiting, 1 running · 12s · run abc
├─ ? db   approve  waits for approval (1 of 2 given), 59m50s left
├─ ? web  approve  waits for approval, 59m50s left
│  └─ to answer: stackwright approve abc, or reject
├─ ● vpc  create  11s
├─ ○ db   create  after vpc/create, db/approve, db/approve:2
└─ ○ web  create  after web/approve`)
	if got := strings.Join(term.Tree{Run: r, Now: at(12), Next: next}.Render(30, 24), "\n"); !strings.Contains(got, "approve abc,") {
		t.Errorf("a narrow window cuts the command off:\n%s", got)
	}
	if got := strings.Join(term.Tree{Run: r, Now: at(12), Next: next}.Render(100, 6), "\n"); !strings.Contains(got, "to answer") {
		t.Errorf("a low window leaves the command out:\n%s", got)
	}
	r.Steps[4].Why = "waits for approval: approve: replacements, and the update replaces Topic, Queue and Table"
	if got := strings.Join(term.Tree{Run: r, Now: at(12), Next: next}.Render(80, 24), "\n"); !strings.Contains(got, "? web  approve  waits for approval, 59m50s left\n│  └─ waits for approval: approve: replacements, and the update") {
		t.Errorf("a long question leaves no room for the time:\n%s", got)
	}
	r.State, r.Steps[0] = run.StateWaiting, then(r.Steps[0], run.Done, "", 1, 12)
	same(t, strings.Join(term.Summary(r, next, 0), "\n"), `
deploy of shop@prod waits for approval until 2026-03-01 13:00:02 UTC, after 12s: 1 created, 3 waiting, 2 pending
  run abc
  waiting: db/approve, web/approve
to see and approve the changes of db, web: stackwright approve abc
to reject: stackwright reject abc --reason WHY`)
	r.Steps = []run.Step{then(step("approve"), run.Waiting, "waits for approval", 2), step("vpc/create", 0)}
	r.Steps[0].Verb, r.Steps[0].Approval = plan.Approve, &project.Approval{Plan: true}
	if got := strings.Join(term.Summary(r, next, 0), "\n"); !strings.Contains(got, "to see and approve the plan: stackwright approve abc\n") {
		t.Errorf("the whole plan waits:\n%s", got)
	}
}

// A stack that was updated by a change set counts as updated, and a change set that nobody had to approve as nothing else.
func TestUpdatesByChangeSetsAreUpdates(t *testing.T) {
	r := run.Run{Request: run.Request{ID: "abc", Project: "shop@prod", Operation: "deploy"}, State: run.StateSucceeded, Started: at(0), Ended: at(9)}
	unanswered := then(step("db/approve", 2), run.Done, "", 3, 4)
	unanswered.Approval = &project.Approval{}
	answered := unanswered
	answered.Answer = run.Answer{ID: "one", Yes: true}
	for _, s := range []run.Step{step("vpc/update"), step("db/propose", 0), unanswered, answered, step("db/execute", 2)} {
		r.Steps = append(r.Steps, then(s, run.Done, "", 1, 2))
	}
	if got := strings.Join(term.Summary(r, next, 0), "\n"); !strings.Contains(got, ": 2 updated, 1 proposed, 1 approved") {
		t.Errorf("got\n%s", got)
	}
}
