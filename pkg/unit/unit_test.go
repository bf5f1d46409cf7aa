package unit_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/unit"
)

// An organization has accounts in the unit ou, and others.
type organization struct {
	in, others []project.Account
	lists      int
	fails      error
	above      map[string][]string
}

func (o *organization) Above(_ context.Context, id string) ([]string, error) { return o.above[id], nil }

func (o *organization) Accounts(_ context.Context, id string) (project.UnitAccounts, error) {
	o.lists++
	return project.UnitAccounts{Accounts: o.in, Units: []string{id, "ou-abcd-nested00"}}, o.fails
}

func (o *organization) Account(_ context.Context, id string) (project.Account, error) {
	for _, a := range o.others {
		if a.ID == id {
			return a, nil
		}
	}
	return project.Account{}, fault.New(fault.Missing, "there is no account %s", id)
}

func follower(o *organization) *unit.Follower {
	return &unit.Follower{Organization: o, Registered: func(context.Context) (map[string]project.Access, error) {
		at := project.Target{Region: "eu-west-1"}
		named := func(name, unit string) project.Access {
			at.Name = name
			return project.Access{Target: at, Unit: unit}
		}
		return map[string]project.Access{"org": named("org", "ou-abcd-12345678"), "same": named("same", "ou-abcd-12345678"), "eu": named("eu", ""), "by-hand-111111111111": named("by-hand-111111111111", "")}, nil
	}}
}

func at(name, account string) project.Target {
	return project.Target{Name: name + "-" + account, Account: account, Region: "eu-west-1"}
}

// The accounts of the units that are named, also by one of their accounts, are listed once.
func TestMembers(t *testing.T) {
	o := &organization{in: []project.Account{{ID: "111111111111", State: project.AccountActive}, {ID: "222222222222", State: project.AccountClosed}}}
	f := follower(o)
	got, err := f.Members(t.Context(), false, []string{"eu", "nowhere", "org-111111111111", "org", "by-hand-111111111111"})
	if err != nil || len(got.Units) != 1 || len(got.Closed) != 1 || !strings.Contains(got.Closed["org-222222222222"], "account 222222222222 () is CLOSED: it is closed") || !slices.Equal(got.Units["org"], []project.Target{at("org", "111111111111")}) {
		t.Errorf("got %+v (%v), want the one account of org", got, err)
	}
	if got, err := f.Members(t.Context(), false, []string{"same"}); err != nil || len(got.Units["same"]) != 1 || o.lists != 1 {
		t.Errorf("got %+v (%v) with %d lists, want one", got, err, o.lists)
	}
	o.in = nil
	if got, err := follower(o).Members(t.Context(), false, []string{"org"}); err != nil || got.Units["org"] == nil || len(got.Units["org"]) != 0 || got.Empty["org"] != "unit ou-abcd-12345678 (target org) has no accounts: move one to it, or take the target out of the project" {
		t.Errorf("an empty unit is %+v (%v)", got, err)
	}
	o.in = []project.Account{{ID: "222222222222", State: project.AccountClosed}, {ID: "333333333333", State: project.AccountSuspended}}
	if got, err := follower(o).Members(t.Context(), false, []string{"org"}); err != nil || !strings.Contains(got.Empty["org"], "has no active account that is not left out: 2 closed, suspended or not activated, 0 left out (--except)") {
		t.Errorf("a unit whose accounts are closed is %+v (%v)", got, err)
	}
	o.fails = fault.New(fault.Throttled, "slow down")
	if got, err := follower(o).Members(t.Context(), false, []string{"org"}); !fault.Is(err, fault.Throttled) || got.Units != nil {
		t.Errorf("a list that cannot be read is %+v (%v), want an error", got, err)
	}
	if got, err := follower(o).Members(t.Context(), false, []string{"eu"}); err != nil || len(got.Units) != 0 {
		t.Errorf("a project without units: %+v (%v)", got, err)
	}
}

// Accounts that are closed, or in the organization no more, cannot be used. An account that the list lacks is requested by itself, and if it is in
// the unit after all, nothing is known.
func TestUnreachable(t *testing.T) {
	o := &organization{
		in:     []project.Account{{ID: "111111111111", State: project.AccountActive}, {ID: "222222222222", Name: "old", State: project.AccountClosing}},
		others: []project.Account{{ID: "333333333333", State: project.AccountActive, Unit: "ou-abcd-87654321"}, {ID: "444444444444", State: project.AccountClosed, Unit: "ou-abcd-87654321"}},
	}
	left := []project.Target{
		at("org", "111111111111"), at("org", "222222222222"), at("org", "333333333333"), at("org", "444444444444"), at("org", "555555555555"), at("by-hand", "111111111111"), at("gone", "666666666666"),
		{Name: "default", Account: "000000000000", Region: "us-east-1"}, {Name: "org-777777777777", Account: "888888888888", Region: "eu-west-1"},
	}
	got, err := follower(o).Unreachable(t.Context(), append(left, left...))
	want := map[project.Target]string{
		at("org", "222222222222"): "account 222222222222 (old) is PENDING_CLOSURE", at("org", "444444444444"): "is CLOSED",
		at("org", "555555555555"): "is not in the organization any more: if it is closed for good, delete the records of its stacks with stackwright forget",
	}
	if err != nil || len(got.Closed) != len(want) || len(got.Unknown) > 0 || o.lists != 1 {
		t.Errorf("got %v (%v) with %d lists, want %v", got, err, o.lists, slices.Collect(maps.Keys(want)))
	}
	for target, says := range want {
		if !strings.Contains(got.Closed[target], says) {
			t.Errorf("%s: %q, want %q", target.Name, got.Closed[target], says)
		}
	}
	moved := at("org", "333333333333")
	o.above = map[string][]string{"ou-abcd-nested00": {"ou-abcd-12345678", "r-abcd"}, "ou-abcd-unlisted": {"ou-abcd-nested00", "ou-abcd-12345678", "r-abcd"}}
	for _, in := range []string{"ou-abcd-12345678", "ou-abcd-nested00", "ou-abcd-unlisted"} {
		o.others[0].Unit = in
		got, err := follower(o).Unreachable(t.Context(), left)
		if why := got.Unknown[moved]; err != nil || len(got.Unknown) != 1 || !fault.Is(why, fault.Unavailable) || !strings.Contains(why.Error(), "the list of the accounts of the unit does not have it") {
			t.Errorf("an account that the list lacks is in unit %s: %v (%v), want an error of kind Unavailable", in, got, err)
		}
	}
	o.others[0].Unit, o.fails = "ou-abcd-12345678", fault.New(fault.Missing, "no unit")
	if got, err := follower(o).Unreachable(t.Context(), []project.Target{moved, at("org", "444444444444"), at("org", "555555555555")}); err != nil || len(got.Unknown) > 0 || len(got.Closed) != 2 {
		t.Errorf("without the unit, accounts decide: %+v (%v)", got, err)
	}
	o.fails = nil
	o.lists, o.fails = 0, fault.New(fault.Denied, "no")
	if got, err := follower(o).Unreachable(t.Context(), left); err != nil || len(got.Unknown) != 5 || !fault.Is(got.Unknown[moved], fault.Denied) || len(got.Closed) > 0 {
		t.Errorf("a list that is denied: %v (%v), want errors of kind Denied for the accounts", got, err)
	}
	if got, err := follower(o).Unreachable(t.Context(), left[7:8]); err != nil || len(got.Closed)+len(got.Unknown) > 0 || o.lists != 1 {
		t.Errorf("without stacks in units: %v (%v), and %d lists", got, err, o.lists)
	}
}

// A partial request does not need the units whose accounts cannot be listed, unless that may pass.
func TestMembersOfPartialRequest(t *testing.T) {
	for kind, passes := range map[fault.Kind]bool{fault.Missing: false, fault.Denied: false, fault.Throttled: true, fault.Unavailable: true, fault.Broken: true} {
		o := &organization{fails: fault.New(kind, "no list")}
		if all, err := follower(o).Members(t.Context(), false, []string{"org"}); !fault.Is(err, kind) || all.Units != nil || all.Lost != nil {
			t.Errorf("%s, about all: %+v (%v), want the error", kind, all, err)
		}
		all, err := follower(o).Members(t.Context(), true, []string{"eu", "org-111111111111", "by-hand-111111111111"})
		if passes && (!fault.Is(err, kind) || all.Units != nil) || !passes && (err != nil || len(all.Units) != 1 || all.Units["org"] == nil || len(all.Lost) != 1 || !fault.Is(all.Lost["org"], kind)) {
			t.Errorf("%s, partial: %+v (%v)", kind, all, err)
		}
	}
}
