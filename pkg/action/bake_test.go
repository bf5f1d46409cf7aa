package action_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// alarming are hooks of which some alarms are on, in the target eu.
type alarming struct {
	noHooks
	on    []string
	fails error
	read  []string
}

func (a *alarming) InAlarm(_ context.Context, of string, in project.Target, names []string) ([]string, error) {
	a.read = append(a.read, of+" "+in.Name+" "+strings.Join(names, ","))
	if in.Name != eu.Name {
		return nil, nil
	}
	return a.on, a.fails
}

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// A wave bakes since its targets were changed: by this run, else by an earlier one. It fails as soon as an alarm is on.
func TestBake(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	const ten = project.Timeout(10 * time.Minute)
	us := project.Target{Name: "us", Account: "222222222222", Region: "us-west-2"}
	watched := plan.Baking{For: ten, Since: at(-4), Alarms: []string{"errors", "latency"}, Targets: []project.Target{us, eu}}
	for name, c := range map[string]struct {
		baking  plan.Baking
		changed bool
		now     time.Time
		on      []string
		fails   error
		over    bool
		next    time.Time
		says    string
	}{
		"it begins":                    {baking: plan.Baking{For: ten}, changed: true, now: at(0), next: at(10), says: "bakes until 2030-01-01 12:10:00 UTC"},
		"it goes on":                   {baking: plan.Baking{For: ten}, changed: true, now: at(9), next: at(10), says: "bakes until"},
		"it is over":                   {baking: plan.Baking{For: ten}, changed: true, now: at(10), over: true},
		"changed by an earlier run":    {baking: plan.Baking{For: ten, Since: at(-4)}, now: at(0), next: at(6), says: "bakes until"},
		"changed long ago":             {baking: plan.Baking{For: ten, Since: at(-11)}, now: at(0), over: true},
		"changed by both":              {baking: plan.Baking{For: ten, Since: at(-11)}, changed: true, now: at(0), next: at(10), says: "bakes until"},
		"it does not bake":             {baking: plan.Baking{}, changed: true, now: at(0), over: true},
		"alarms are read each minute":  {baking: watched, changed: true, now: at(0), next: at(1), says: "bakes until"},
		"and at the end":               {baking: watched, changed: true, now: at(9).Add(30 * time.Second), next: at(10), says: "bakes until"},
		"no alarm is on":               {baking: watched, changed: true, now: at(10), over: true},
		"an alarm is on":               {baking: watched, changed: true, now: at(2), on: []string{"latency"}, over: true, says: "in target eu (account 111122223333, region eu-west-1), the state ALARM has latency: no other wave begins"},
		"an alarm is on at the end":    {baking: watched, changed: true, now: at(10), on: []string{"errors", "latency"}, over: true, says: "in target eu (account 111122223333, region eu-west-1), the state ALARM has errors, latency: "},
		"an alarm that cannot be read": {baking: watched, changed: true, now: at(10), fails: io.EOF, says: "target eu: EOF"},
	} {
		arguments, err := plan.NewArguments(plan.BakingVersion, c.baking)
		if err != nil {
			t.Fatal(err)
		}
		h := &alarming{on: c.on, fails: c.fails}
		verb := action.Named(action.All(nil, nil, h, nil, nil)...).Of(plan.Bake)
		task := action.Task{Project: "shop@prod", Step: plan.Step{ID: "bake:net.1", Verb: plan.Bake, Arguments: arguments}, Changed: c.changed, Claimed: noon, Now: c.now}
		if receipt, err := verb.Start(t.Context(), task); err != nil || receipt.Known() {
			t.Errorf("%s: its start answers %+v, %v", name, receipt, err)
		}
		got, err := verb.Poll(t.Context(), task)
		says := got.Why
		if got.Err != nil {
			says = got.Err.Error()
		}
		if err != nil {
			says = err.Error()
		}
		if got.Over != c.over || !got.Next.Equal(c.next) || !strings.HasPrefix(says, c.says) || (got.Err != nil) != (len(c.on) > 0) || (err != nil) != (c.fails != nil) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if read := strings.Join(h.read, "; "); len(c.baking.Targets) > 0 && read != "shop@prod us errors,latency; shop@prod eu errors,latency" {
			t.Errorf("%s: it has read %s", name, read)
		}
	}
}

// A step whose arguments another version has written says so.
func TestBakeOfAnotherVersion(t *testing.T) {
	verb := action.Named(action.All(nil, nil, noHooks{}, nil, nil)...).Of(plan.Bake)
	task := action.Task{Step: plan.Step{Verb: plan.Bake, Arguments: &plan.Arguments{Version: plan.BakingVersion + 1, JSON: "{}"}}}
	if _, err := verb.Poll(t.Context(), task); !fault.Is(err, fault.Broken) {
		t.Errorf("got %v", err)
	}
}
