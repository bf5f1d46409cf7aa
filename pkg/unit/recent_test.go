package unit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/unit"
)

// A list that is only shown is requested every half minute, and one that cannot be read every five seconds. The number of lists is bounded.
func TestRecent(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := &unit.Recent{Now: func() time.Time { return now }}
	o := &organization{in: []project.Account{{ID: "111111111111", State: project.AccountActive}}}
	list := func(unit string, accounts, lists int) {
		t.Helper()
		if found, err := r.Of(o).Accounts(t.Context(), unit); err != nil || len(found.Accounts) != accounts || o.lists != lists {
			t.Errorf("got %+v (%v) with %d lists, want %d accounts with %d", found, err, o.lists, accounts, lists)
		}
	}
	list("ou-abcd-12345678", 1, 1)
	o.in = nil
	now = now.Add(29 * time.Second)
	list("ou-abcd-12345678", 1, 1)
	list("ou-abcd-87654321", 0, 2)
	now = now.Add(2 * time.Second)
	list("ou-abcd-12345678", 0, 3)
	now, o.fails = now.Add(time.Minute), fault.New(fault.Throttled, "slow down")
	for range 3 {
		if _, err := r.Of(o).Accounts(t.Context(), "ou-abcd-12345678"); !fault.Is(err, fault.Throttled) || o.lists != 4 {
			t.Errorf("got %v with %d lists, want the error of the first", err, o.lists)
		}
	}
	now, o.fails = now.Add(6*time.Second), nil
	list("ou-abcd-12345678", 0, 5)
	for i := range 100 {
		list(fmt.Sprintf("ou-abcd-%08d", i), 0, 6+i)
	}
	list("ou-abcd-12345678", 0, 106)
}
