package plan_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
)

// The resources to skip have the form of AWS's model of CloudFormation, after the name of their stack.
func TestSkipProblems(t *testing.T) {
	good := []string{"db.Table", "data/db@eu.Table", "db.shop-db-Inner-1ABC.Table", "data/*.Table"}
	if p := plan.SkipProblems(good); p != nil {
		t.Errorf("refused: %+v", p)
	}
	for _, bad := range []string{"", "Table", "db.", ".Table", "db.a.b.c", "db.My-Table", "db.Table,db.Other"} {
		if p := plan.SkipProblems([]string{"db.Table", bad}); len(p) != 1 || p[0].Option != plan.OptionSkip {
			t.Errorf("%q: %+v", bad, p)
		}
	}
}

// Only a rollback that is continued and fails because of the same resources is the same failure.
func TestUnrestoredAgain(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first := (*plan.Unrestored)(nil).Again([]string{"A"}, true, noon)
	for _, c := range []struct {
		resources []string
		continued bool
		since     time.Time
		times     int
	}{
		{[]string{"A"}, true, noon, 2},
		{[]string{"A", "B"}, true, noon.Add(time.Hour), 1},
		{[]string{"A"}, false, noon.Add(time.Hour), 1}, // of another update
	} {
		got := first.Again(c.resources, c.continued, noon.Add(time.Hour))
		if !got.Since.Equal(c.since) || got.Times != c.times || !slices.Equal(got.Resources, c.resources) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	r := plan.Record{Node: "db@eu", Unrestored: first}
	want := "repair what A needs, and retry; or leave it as it is, and correct it afterwards: " +
		"stackwright deploy --env prod --skip db@eu.A"
	if got := r.Remedy("prod"); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}
