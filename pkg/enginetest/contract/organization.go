package contract

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/unit"
)

// An Organization is an organization whose units and accounts a test controls.
type Organization interface {
	unit.Organization

	// Unit makes a unit in another one, or in the root if that is "", and returns its ID.
	Unit(parent string) string

	// Join makes an active account in a unit, or in the root if that is "", and returns its ID.
	Join(unit string) string

	// Move moves an account to another unit, or to the root if that is "".
	Move(account, unit string)

	// Close begins the closure of an account.
	Close(account string)
}

// Follows tests an implementation of unit.Organization. open returns an organization without units, and only with the management account.
func Follows(t *testing.T, open func(*testing.T) Organization) {
	ids := func(t *testing.T, o Organization, unit string) []string {
		t.Helper()
		found, err := o.Accounts(t.Context(), unit)
		if err != nil {
			t.Fatal(err)
		}
		all := []string{}
		for _, a := range found.Accounts {
			if a.State != project.AccountActive {
				t.Errorf("account %s is %s", a.ID, a.State)
			}
			all = append(all, a.ID)
		}
		if !slices.Contains(found.Units, unit) {
			t.Errorf("the units %v lack %s itself", found.Units, unit)
		}
		return all
	}
	is := func(t *testing.T, o Organization, unit string, want ...string) {
		t.Helper()
		slices.Sort(want)
		if got := ids(t, o, unit); !slices.Equal(got, want) {
			t.Errorf("unit %s has the accounts %v, want %v, sorted", unit, got, want)
		}
	}
	for name, law := range map[string]func(*testing.T, Organization){
		"a unit without accounts has none": func(t *testing.T, o Organization) {
			is(t, o, o.Unit(""))
		},
		"accounts of nested units belong to the unit": func(t *testing.T, o Organization) {
			outer, other := o.Unit(""), o.Unit("")
			inner := o.Unit(o.Unit(outer))
			a, b, _ := o.Join(outer), o.Join(inner), o.Join(other)
			o.Join("")
			is(t, o, outer, a, b)
			is(t, o, inner, b)
		},
		"all pages are read": func(t *testing.T, o Organization) {
			outer := o.Unit("")
			var want []string
			for range 45 {
				want = append(want, o.Join(outer))
			}
			var nested []string
			for range 23 {
				nested = append(nested, o.Unit(outer))
			}
			want = append(want, o.Join(nested[0]), o.Join(nested[22]))
			is(t, o, outer, want...)
		},
		"an account that moves is where it has moved": func(t *testing.T, o Organization) {
			from, to := o.Unit(""), o.Unit("")
			a := o.Join(from)
			o.Move(a, to)
			is(t, o, from)
			is(t, o, to, a)
			if got, err := o.Account(t.Context(), a); err != nil || got.Unit != to || got.ID != a || got.State != project.AccountActive || got.Name == "" {
				t.Errorf("the account is %+v (%v), want it active in %s", got, err, to)
			}
		},
		"a unit is within those above it": func(t *testing.T, o Organization) {
			outer := o.Unit("")
			inner := o.Unit(outer)
			above, err := o.Above(t.Context(), o.Unit(inner))
			if err != nil || len(above) != 3 || above[0] != inner || above[1] != outer {
				t.Errorf("got %v (%v), want %s, %s, and the root", above, err, inner, outer)
			}
		},
		"an account that is closed is not active, and still there": func(t *testing.T, o Organization) {
			in := o.Unit("")
			a := o.Join(in)
			o.Close(a)
			found, err := o.Accounts(t.Context(), in)
			if err != nil || len(found.Accounts) != 1 || found.Accounts[0].State.Closed() == "" {
				t.Fatalf("the accounts are %+v (%v), want %s, not active", found.Accounts, err, a)
			}
			if got, err := o.Account(t.Context(), a); err != nil || got.State != found.Accounts[0].State {
				t.Errorf("the account is %+v (%v), want %s", got, err, found.Accounts[0].State)
			}
		},
		"a unit that does not exist is missing, and not empty": func(t *testing.T, o Organization) {
			o.Unit("")
			if found, err := o.Accounts(t.Context(), "ou-abcd-nowhere0"); !fault.Is(err, fault.Missing) {
				t.Errorf("got %+v (%v), want an error of kind Missing", found, err)
			}
		},
		"an account that does not exist is missing": func(t *testing.T, o Organization) {
			for i := range 2 {
				if a, err := o.Account(t.Context(), fmt.Sprintf("77777777777%d", i)); !fault.Is(err, fault.Missing) {
					t.Errorf("got %+v (%v), want an error of kind Missing", a, err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) { law(t, open(t)) })
	}
}
