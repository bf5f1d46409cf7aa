package dynamodb

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A lifetime that cannot be read is an error, and the others are listed all the same: they have their ends.
func TestUnreadableLifetime(t *testing.T) {
	table := open(t, &wire{})
	until := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, id := range []string{"a@x", "b@x", "c@x"} {
		must(t, table.SetLifetime(t.Context(), project.Lifetime{Project: id}.Until(until, "deploy", "ann", until.Add(-time.Hour))))
	}
	must(t, table.require(t.Context(), nil, write{key: lifetimeKey("b@x"), set: values{"ends": "tomorrow"}}))
	all, err := table.Lifetimes(t.Context())
	if len(all) != 2 || all[0].Project != "a@x" || all[1].Project != "c@x" || !fault.Is(err, fault.Broken) {
		t.Errorf("%+v, %v", all, err)
	}
}
