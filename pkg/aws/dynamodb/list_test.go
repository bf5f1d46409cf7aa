package dynamodb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// A list can continue after any run, even among runs that were requested at the same
// time, and after a run that has expired.
func TestBefore(t *testing.T) {
	table := open(t, &wire{page: 2})
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	create := func(project, id string, requested time.Time) run.Run {
		r, _, err := table.CreateRun(t.Context(), run.Run{Request: run.Request{ID: id, Project: project, Operation: "deploy"}, Version: run.Version, Command: run.Continue, State: run.StatePending, Requested: requested})
		must(t, err)
		return r
	}
	runs := make(map[string]run.Run)
	for i := range 6 {
		id := fmt.Sprintf("r%d", i)
		runs[id] = create("shop@prod", id, noon.Add(time.Duration(i/2)*time.Millisecond))
	}
	create("shop@test", "t0", noon)
	runs["gone"] = run.Run{Request: run.Request{ID: "gone", Project: "shop@prod"}, Requested: noon.Add(3 * time.Millisecond)}
	for _, c := range []struct {
		than string
		most int
		want string
	}{
		{"r5", 0, "r4 r3 r2 r1 r0"}, {"r5", 2, "r4 r3"}, {"r4", 2, "r3 r2"}, {"r3", 1, "r2"}, {"r2", 9, "r1 r0"}, {"r1", 5, "r0"}, {"r0", 5, ""},
		{"gone", 2, "r5 r4"}, {"gone", 0, "r5 r4 r3 r2 r1 r0"},
	} {
		got, err := table.Before(t.Context(), runs[c.than], c.most)
		must(t, err)
		var ids []string
		for _, r := range got {
			ids = append(ids, r.ID)
		}
		if strings.Join(ids, " ") != c.want {
			t.Errorf("%d before %s: %v, want %s", c.most, c.than, ids, c.want)
		}
	}
}
