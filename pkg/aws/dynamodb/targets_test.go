package dynamodb

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// What is registered is found again, as it was registered last, and the audit log has each change once.
func TestTargets(t *testing.T) {
	table := open(t, &wire{page: 1})
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var entries []run.AuditEntry
	by := func(what string) run.AuditEntry {
		e := run.AuditEntry{Time: at.Add(time.Duration(len(entries)) * time.Minute), What: what, Who: "ann", From: "192.0.2.1"}
		entries = append(entries, e)
		return e
	}
	eu := project.Access{Target: project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}, Role: "r", Execution: "x", Projects: project.Grants{"shop@*", "*@prod"}}
	us := project.Access{Target: project.Target{Name: "us", Account: "111111111111", Region: "us-west-2"}}
	must(t, table.AddTarget(t.Context(), us, by("put us")))
	must(t, table.AddTarget(t.Context(), project.Access{Target: us.Target, Role: "old"}, by("put us again")))
	must(t, table.AddTarget(t.Context(), us, by("put us as it was")))
	must(t, table.AddTarget(t.Context(), eu, by("put eu")))
	all, err := table.Targets(t.Context())
	if d := cmp.Diff(map[string]project.Access{"eu": eu, "us": us}, all); err != nil || d != "" {
		t.Error(err, d)
	}
	must(t, table.RemoveTarget(t.Context(), "us", by("remove us")))
	must(t, table.RemoveTarget(t.Context(), "us", by("remove us again")))
	if got, err := table.Access(t.Context(), "eu"); err != nil || !cmp.Equal(eu, got) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := table.Access(t.Context(), "us"); !fault.Is(err, fault.Missing) {
		t.Errorf("of one that was removed: %v", err)
	}
	file := by("put access/access.yaml")
	for range 2 { // the event is delivered twice
		must(t, table.RecordChange(t.Context(), "id", file))
	}
	org := project.Access{Target: project.Target{Name: "org", Region: "eu-west-1"}, Role: "arn:aws:iam::*:role/r", Unit: "ou-abcd-12345678", Except: []string{"222222222222"}, ExternalID: "sw-1"}
	must(t, table.AddTarget(t.Context(), org, by("put org")))
	for name, want := range map[string]project.Access{"org": org, "org-111111111111": org.Member("111111111111"), "org-222222222222": org.Member("222222222222"), "eu-111111111111": {}, "no-111111111111": {}} { // also what was left out since
		got, err := table.Access(t.Context(), name)
		if fault.Is(err, fault.Missing) != (want.Name == "") || !cmp.Equal(want, got) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	must(t, table.RemoveTarget(t.Context(), "org", by("remove org")))
	slices.Reverse(entries)
	for _, c := range []struct {
		since, before time.Time
		want          []run.AuditEntry
	}{
		{time.Time{}, time.Time{}, entries},
		{at.Add(4 * time.Minute), time.Time{}, entries[:5]},
		{time.Time{}, at.Add(4 * time.Minute), entries[5:]},
		{at.Add(time.Minute), at.Add(2 * time.Minute), entries[7:8]},
	} {
		got, err := table.AuditOfInstallation(t.Context(), c.since, c.before)
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("since %s, before %s: %v %s", c.since, c.before, err, d)
		}
	}
}
