package policy_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/project"
)

// Any text as the expression of a policy is refused with its place, or it is checked within its
// limits, with the same violations both times, each of which names the policy and its level.
func FuzzPolicy(f *testing.F) {
	for _, text := range []string{
		`stack.action == "delete"`, `resource.type.matches("^AWS::(S3|RDS)::") && has(resource.desired.Size)`, `plan.stacks.exists(s, s.data_loss)`,
		`"Owner" in stack.desired.tags && size(stack.desired.tags["Owner"]) > 3`, `time.getHours("Europe/Berlin") < 6 || principal.startsWith("arn:")`,
		`[1,2,3].all(a, [1,2,3].map(b, a * b).exists(c, c / (a - 1) > 2))`, `resource.desired["Size"] + 1 == 8 || resource.desired.List[0] == resource.desired.Nested.a`,
		`duration("1h") + time > timestamp("2026-01-01T00:00:00Z")`, `string(resource.desired) == ""`, `{"a": [b"x", 1u, 1.5, null]} == {}`, `target.region != stack.target`,
	} {
		f.Add(text, "value", 3)
	}
	f.Fuzz(func(t *testing.T, when, text string, number int) {
		all := []project.Policy{{Name: "p", Level: project.Warn, When: when, Message: "m", File: "f.yaml", Line: 2, Column: 5, Exact: true}}
		set, err := policy.Compile(all)
		if err != nil {
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "f.yaml:2:") || len(err.Error()) > 20_000 {
				t.Errorf("%v", err)
			}
			return
		}
		resource := plan.ResourceChange{ID: "R", Type: "AWS::S3::Bucket", Action: difference.Add}
		c := plan.Changes{Operation: text, Stacks: []plan.StackChange{
			{Stack: text, Action: plan.ActionUpdate, Resources: []plan.ResourceChange{resource}}, {Stack: "other", Action: plan.ActionDelete, DataLoss: true},
		}}
		facts := plan.Facts{Project: text, Principal: text, Time: time.Unix(int64(number), 0)}
		found, err := set.Check(t.Context(), facts, c)
		if err != nil {
			t.Fatalf("check %q: %v", when, err)
		}
		for _, v := range found {
			if v.Policy != "p" || v.Level != project.Warn || v.Message == "" || strings.Contains(v.Message, "internal error") {
				t.Errorf("%q: %+v", when, v)
			}
		}
		again, err := set.Check(t.Context(), facts, c)
		if err != nil || !reflect.DeepEqual(found, again) {
			t.Errorf("%q: %v, and then %v, %v", when, found, again, err)
		}
		example := policy.Case{Name: "c", Facts: facts, Plan: c, Stacks: []policy.Stack{{
			StackChange: c.Stacks[0], Desired: plan.Desired{Tags: map[string]string{text: text}},
			Resources: []policy.Resource{{ResourceChange: resource, Desired: map[string]any{"Size": int64(number), "List": []any{text}, "Nested": map[string]any{"a": text, "b": true}}}},
		}}}
		if r, err := set.Test(t.Context(), example); err != nil || len(r.Unexpected) > 4 {
			t.Errorf("%q: %+v, %v", when, r, err)
		}
	})
}
