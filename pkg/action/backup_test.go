package action_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// backups answers as its fields say, and lists the calls.
type backups struct {
	calls []string
	tags  map[string]string
	ready bool
	left  []string
	err   error
}

func (b *backups) BackUp(_ context.Context, d plan.Data, name string, tags map[string]string) (plan.Backup, error) {
	b.calls, b.tags = append(b.calls, "back up "+d.String()+" as "+name), tags
	return plan.Backup{Data: d, ARN: "arn:" + name}, b.err
}

func (b *backups) Ready(_ context.Context, of plan.Backup) (bool, string, error) {
	b.calls = append(b.calls, "read "+of.ARN)
	return b.ready, "creating", b.err
}

func (b *backups) Delete(_ context.Context, all []plan.Backup, name func(plan.Data) string) error {
	for _, one := range all {
		b.calls = append(b.calls, "delete "+one.ARN+" or "+name(one.Data))
	}
	return b.err
}

func (b *backups) Left(context.Context, []plan.Backup, func(plan.Data) string) ([]string, error) {
	return b.left, b.err
}

var database = plan.Data{Node: "db", Resource: "Database", Type: "AWS::RDS::DBInstance", ID: "d", Target: project.Target{Account: "111122223333", Region: "eu-west-1"}}

// backingUp is the task of a step about the backup of a database, claimed some time ago.
func backingUp(t *testing.T, v plan.Verb, ago time.Duration) action.Task {
	t.Helper()
	var arguments any = plan.Backing{Snapshot: "before", Data: database}
	if v == plan.DeleteBackup {
		arguments = plan.BackupDeletion{Snapshot: "before", Backups: []plan.Backup{{Data: database, ARN: "arn:old"}, {Data: database}}}
	}
	read, err := plan.NewArguments(1, arguments)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return action.Task{Run: "run", TokenKey: "key", Project: "shop@prod", Step: plan.Step{ID: "db/" + string(v), Node: "db", Verb: v, Arguments: read, Timeout: project.Timeout(2 * time.Hour)}, Attempt: 1, Claimed: now.Add(-ago), Now: now}
}

// The name of a backup is one that each service allows, is the same for each attempt, and is another one for each run, resource, account and key.
func TestBackupName(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]([a-z0-9]|-[a-z0-9])*$`)
	seen := make(map[string]bool)
	other := database
	other.Resource = "Other"
	there := database
	there.Target.Region = "us-east-1"
	for _, name := range []string{
		plan.BackupName("run", "key", "shop@prod", "before", database), plan.BackupName("run2", "key", "shop@prod", "before", database), plan.BackupName("run", "key2", "shop@prod", "before", database),
		plan.BackupName("run", "key", "shop@prod", "before", other), plan.BackupName("run", "key", "shop@prod", "before", there),
		plan.BackupName("run", "key", strings.Repeat("A-", 40)+"@"+strings.Repeat("b", 64), "_-_", database), plan.BackupName("run", "key", "x@y", strings.Repeat("é", 64), database),
	} {
		if !form.MatchString(name) || len(name) > 63 || seen[name] || !strings.HasPrefix(name, "sw-") {
			t.Errorf("%q (%d letters) is no good name", name, len(name))
		}
		seen[name] = true
	}
	if a, b := plan.BackupName("run", "key", "shop@prod", "before", database), plan.BackupName("run", "key", "shop@prod", "before", database); a != b || !strings.HasPrefix(a, "sw-shop-prod-before-") {
		t.Errorf("%s, %s", a, b)
	}
}

// A start gives the backup its name and tags, and waits at most an hour until the database can be backed up.
func TestBackUpStarts(t *testing.T) {
	b := &backups{}
	verb := action.Named(action.All(nil, nil, nil, nil, b)...).Of(plan.BackUp)
	in := backingUp(t, plan.BackUp, 0)
	name := plan.BackupName("run", "key", "shop@prod", "before", database)
	got, err := verb.Start(t.Context(), in)
	if in.Attempt++; err != nil || got.Backup != "arn:"+name || b.calls[0] != "back up db.Database as "+name || b.tags["stackwright:project"] != "shop@prod" || b.tags["stackwright:snapshot"] != "before" || b.tags["stackwright:stack"] != "db" {
		t.Errorf("%+v, %q, %v, %v", got, b.calls, b.tags, err)
	}
	b.err = fault.New(fault.Busy, "it is modifying")
	for ago, want := range map[time.Duration]fault.Kind{time.Minute: fault.Busy, 2 * time.Hour: fault.Refused} {
		if _, err := verb.Start(t.Context(), backingUp(t, plan.BackUp, ago)); fault.KindOf(err) != want {
			t.Errorf("after %s: %v", ago, err)
		}
	}
	if in.Step.Arguments = nil; verb.Mutates() || verb.Writes() {
		t.Error("a backup changes the stack")
	}
	if _, err := verb.Start(t.Context(), in); !fault.Is(err, fault.Broken) {
		t.Errorf("without arguments: %v", err)
	}
}

// A step is over when the backup is available. If an answer was lost, the request is repeated once the function that has claimed the step cannot be running.
func TestBackUpPolls(t *testing.T) {
	known := plan.Receipt{Backup: "arn:new"}
	for name, c := range map[string]struct {
		b       backups
		receipt plan.Receipt
		ago     time.Duration
		want    string
	}{
		"available":             {backups{ready: true}, known, time.Minute, "over: backup arn:new"},
		"creating":              {backups{}, known, time.Minute, "the backup is creating"},
		"too long":              {backups{}, known, 3 * time.Hour, "over: failed: the backup arn:new is not available after 2h"},
		"failed":                {backups{err: fault.New(fault.Refused, "it is failed")}, known, time.Minute, "over: failed: it is failed"},
		"not shown yet":         {backups{err: fault.New(fault.Missing, "none")}, known, time.Second, ""},
		"deleted":               {backups{err: fault.New(fault.Missing, "none")}, known, 2 * time.Minute, "over: failed: the backup arn:new was deleted while it was made"},
		"no answer yet":         {backups{}, plan.Receipt{}, time.Second, ""},
		"no answer":             {backups{}, plan.Receipt{}, 2 * time.Minute, "repeat"},
		"no answer, not listed": {backups{}, plan.Receipt{}, 90 * time.Second, "AWS has not answered, and may not list yet what it has made"},
		"no answer, listed":     {backups{left: []string{"arn:new"}}, plan.Receipt{}, 90 * time.Second, "repeat"},
		"no answer for an hour": {backups{}, plan.Receipt{}, 2 * time.Hour, "over: failed: AWS has not answered within 1h"},
	} {
		in := backingUp(t, plan.BackUp, c.ago)
		in.Receipt = c.receipt
		p, err := action.Named(action.All(nil, nil, nil, nil, &c.b)...).Of(plan.BackUp).Poll(t.Context(), in)
		got := p.Why
		if p.Err != nil {
			got = "failed: " + p.Err.Error()
		}
		if p.Over {
			got = "over: " + got
		}
		if p.Repeat {
			got = "repeat"
		}
		if err != nil || c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	lost := &backups{err: fault.New(fault.Unavailable, "lost")}
	in := backingUp(t, plan.BackUp, time.Minute)
	in.Receipt = known
	if _, err := action.Named(action.All(nil, nil, nil, nil, lost)...).Of(plan.BackUp).Poll(t.Context(), in); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

// A deletion finds by its name the backup that the run was to make, and is over when none is left.
func TestDeleteBackup(t *testing.T) {
	b := &backups{}
	verb := action.Named(action.All(nil, nil, nil, nil, b)...).Of(plan.DeleteBackup)
	in := backingUp(t, plan.DeleteBackup, time.Minute)
	name := plan.BackupName("run", "key", "shop@prod", "before", database)
	receipt, err := verb.Start(t.Context(), in)
	if want := "delete arn:old or " + name + ", delete  or " + name; err != nil || !receipt.Executed || strings.Join(b.calls, ", ") != want {
		t.Errorf("%q, %v", b.calls, err)
	}
	in.Receipt, b.left = receipt, []string{"arn:old is deleting"}
	if p, err := verb.Poll(t.Context(), in); err != nil || p.Over || p.Why != "waits: arn:old is deleting" {
		t.Errorf("%+v, %v", p, err)
	}
	if got := strings.Join(b.calls[len(b.calls)-1:], ""); got != "delete  or "+name {
		t.Errorf("what was listed late is not deleted: %q", b.calls)
	}
	b.left = nil
	if p, err := verb.Poll(t.Context(), in); err != nil || p.Over || p.Why != "waits: AWS may not list yet what was just made" {
		t.Errorf("%+v, %v", p, err)
	}
	b.left = []string{"arn:old is deleting"}
	in.Claimed = in.Now.Add(-3 * time.Hour)
	if p, err := verb.Poll(t.Context(), in); err != nil || !p.Over || !fault.Is(p.Err, fault.Refused) {
		t.Errorf("%+v, %v", p, err)
	}
	b.left = nil
	if p, err := verb.Poll(t.Context(), in); err != nil || !p.Over || p.Err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	for kind, late := range map[fault.Kind]bool{fault.Busy: true, fault.Denied: true, fault.Throttled: false, fault.Unavailable: false} {
		b.err = fault.New(kind, "it is not known")
		in.Claimed = in.Now.Add(-3 * time.Hour)
		p, err := verb.Poll(t.Context(), in)
		if over := err == nil && p.Over && fault.Is(p.Err, fault.Refused) && strings.Contains(p.Err.Error(), "not over after 2h") && strings.Contains(p.Err.Error(), "it is not known"); over != late || !late && !fault.Is(err, kind) {
			t.Errorf("overdue, %s: %+v, %v", kind, p, err)
		}
		in.Claimed = in.Now.Add(-time.Hour)
		if p, err := verb.Poll(t.Context(), in); p.Over || !fault.Is(err, kind) {
			t.Errorf("in time, %s: %+v, %v", kind, p, err)
		}
	}
	b.err = fault.New(fault.Busy, "it is creating")
	for ago, want := range map[time.Duration]fault.Kind{time.Minute: fault.Busy, 2 * time.Hour: fault.Refused} {
		if _, err := verb.Start(t.Context(), backingUp(t, plan.DeleteBackup, ago)); fault.KindOf(err) != want {
			t.Errorf("after %s: %v", ago, err)
		}
	}
}
