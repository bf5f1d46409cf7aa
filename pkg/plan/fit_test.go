package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A document that is too large loses details and no resource that is replaced, loses data or is refused,
// and says what is missing. The caller's document stays as it is.
func TestFit(t *testing.T) {
	long := strings.Repeat("x", 100)
	all := plan.Changes{Stacks: []plan.StackChange{}, Messages: []string{"before"}, Steps: []plan.PlannedStep{}, Basis: []plan.Basis{{Files: long}}}
	for i := range 20 {
		s := plan.StackChange{Stack: fmt.Sprintf("s%d", i), Reasons: []string{}, UnknownDataLoss: true, Caveats: []string{"Nested has resources of its own"}, Parameters: []plan.ValueChange{{Name: "P", Before: &long, After: &long}}}
		properties := []plan.PropertyChange{{Path: "A", Before: &long, After: &long}, {Path: "B", Before: &long, After: &long}}
		s.Resources = []plan.ResourceChange{
			{ID: "Changed", Action: difference.Modify, Replacement: resource.Never, Properties: properties},
			{ID: "Replaced", Action: difference.Replace, Replacement: resource.Always, Properties: properties},
			{ID: "Perhaps", Action: difference.Modify, Replacement: resource.Conditional, Properties: properties},
			{ID: "Deleted", Action: difference.Remove, Loses: "a table", DataLoss: true},
			{ID: "Conditional", Action: difference.Dynamic, Possible: true, Replacement: resource.Never, Loses: "a table", PossibleDataLoss: true},
			{ID: "Refused", Action: difference.Modify, Replacement: resource.Never, Refused: "the type changes"},
			{ID: "Nested", Action: difference.Remove, Type: "AWS::CloudFormation::Stack"},
			{ID: "Gone", Action: difference.Remove},
		}
		all.Stacks = append(all.Stacks, s)
		all.Steps = append(all.Steps, plan.PlannedStep{Step: s.Stack + long, After: []string{}})
		all.Basis = append(all.Basis, plan.Basis{Stack: s.Stack, Files: long})
	}
	whole, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for most := len(whole); ; most -= 500 {
		got, err := all.Fit(most)
		if err != nil {
			if !fault.Is(err, fault.Refused) || len(seen) != 7 {
				t.Errorf("%d bytes: %v, after %d forms", most, err, len(seen))
			}
			break
		}
		text, err := json.Marshal(got)
		if err != nil || len(text) > most {
			t.Fatalf("%d bytes of at most %d: %v", len(text), most, err)
		}
		seen[strings.Join(got.Messages, "\n")] = true
		if says := len(got.Messages) == 2; says == (most == len(whole)) {
			t.Errorf("%d bytes: it says %q", most, got.Messages)
		}
		for _, s := range got.Stacks {
			if !s.UnknownDataLoss || len(s.Caveats) != 1 {
				t.Errorf("%d bytes: %s does not say that its loss is not known, and why", most, s.Stack)
			}
			for _, id := range []string{"Replaced", "Perhaps", "Deleted", "Conditional", "Refused"} {
				if !slices.ContainsFunc(s.Resources, func(r plan.ResourceChange) bool { return r.ID == id }) {
					t.Errorf("%d bytes: %s of %s is missing", most, id, s.Stack)
				}
			}
		}
	}
	if again, err := json.Marshal(all); err != nil || string(again) != string(whole) {
		t.Errorf("Fit has changed the document of its caller: %v", err)
	}
}
