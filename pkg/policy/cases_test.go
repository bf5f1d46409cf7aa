package policy_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/policy"
)

const replaced = `policies:
  nothing-is-replaced: { deny: resource.replacement == "always", message: no }
  known: { deny: 'stack.parameters[5].name == "x"', message: no }
`

// A test with a value that no plan has is refused: a policy that asks for it would hold for every plan.
func TestCaseWithImpossiblePlanIsRefused(t *testing.T) {
	of := read(t, "p.yaml", replaced)
	for body, want := range map[string]string{
		"stacks: [{stack: web, action: recreate}]":                            "p.yaml:2:5: test t: stack web: action: no plan has \"recreate\": did you mean create?",
		"stacks: [{stack: web, action: modify}]":                              "p.yaml:2:5: test t: stack web: action: no plan has \"modify\": available: create, update, replace, delete, adopt, import, forget, revert, suspend, resume, level, retain, hooks",
		"stacks: [{stack: web, certainty: sure}]":                             "p.yaml:2:5: test t: stack web: certainty: no plan has \"sure\": available: certain, possible",
		"stacks: [{stack: web, resources: [{id: A, action: update}]}]":        "p.yaml:2:5: test t: stack web: resource A: action: no plan has \"update\": available: add, modify, remove, replace, import, move, dynamic, unchanged",
		"stacks: [{stack: web, resources: [{id: A, replacement: true-ish}]}]": "p.yaml:2:5: test t: stack web: resource A: replacement: no plan has \"true-ish\": available: never, conditional, always",
		"operation: deploi": "p.yaml:2:5: test t: plan: operation: no plan has \"deploi\": did you mean deploy?",
		"stacks: [{stack: web, resources: [{id: A, action: replace}], action: import}]": "",
	} {
		_, err := policy.ReadCases("p.yaml", []byte("tests:\n  - name: t\n    plan: {"+body+"}\n"), of)
		if got := strings.Join(fault.Messages(err), "\n"); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", body, got, want)
		}
	}
}

// A policy whose expression cannot be evaluated has not found the violation that a test expects: the test fails, and
// says why.
func TestExpectedViolationIsNoErrorOfTheExpression(t *testing.T) {
	of := read(t, "p.yaml", replaced)
	set, err := policy.Compile(of)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := policy.ReadCases("p.yaml", []byte(`tests:
  - name: t
    plan: {stacks: [{stack: web, action: update}]}
    expect: [{policy: known, stack: web}]
`), of)
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Test(t.Context(), cases[0])
	if err != nil || r.OK || len(r.Missing) != 1 || len(r.Unexpected) != 1 || !strings.Contains(r.Unexpected[0].Message, "cannot be evaluated") {
		t.Errorf("got %+v, %v", r, err)
	}
}
