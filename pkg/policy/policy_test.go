package policy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/project"
)

// read reads policies as package format does, without its checks.
func read(t *testing.T, file, text string) []project.Policy {
	t.Helper()
	var f struct {
		Policies yaml.Node
	}
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	var all []project.Policy
	for i := 0; i+1 < len(f.Policies.Content); i += 2 {
		p := project.Policy{Name: f.Policies.Content[i].Value, File: file}
		body := f.Policies.Content[i+1].Content
		for j := 0; j+1 < len(body); j += 2 {
			switch key, value := body[j].Value, body[j+1]; key {
			case "message":
				p.Message = value.Value
			default:
				p.Level, p.When, p.Line, p.Column = project.PolicyLevel(key), value.Value, value.Line, value.Column
				p.Exact = value.Style == 0
			}
		}
		all = append(all, p)
	}
	return all
}

// check checks a plan with so many stacks by policies.
func check(t *testing.T, stacks int, text string) []plan.Violation {
	t.Helper()
	set, err := policy.Compile(read(t, "p.yaml", text))
	if err != nil {
		t.Fatal(err)
	}
	var c plan.Changes
	for i := range stacks {
		c.Stacks = append(c.Stacks, plan.StackChange{Stack: fmt.Sprint(i), Action: plan.ActionCreate})
	}
	found, err := set.Check(t.Context(), plan.Facts{}, c)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// At most 1,000 violations are reported. What is hidden keeps its level: warnings never deny a plan, and a denial among
// them does.
func TestHiddenViolationsKeepTheirLevel(t *testing.T) {
	warned := `{ policies: { w: { warn: stack.stack != "", message: m } } }`
	for _, c := range []struct {
		stacks  int
		text    string
		denials int
		last    []string
	}{
		{1000, warned, 0, []string{"policy w warns of stack 999: m (p.yaml:1:26)"}},
		{1002, warned, 0, []string{"violations of policies not shown: 2 more with level warn"}},
		{1001, `{ policies: { w: { warn: stack.stack != "", message: m }, d: { deny: stack.stack == "1000", message: m } } }`, 1, []string{
			"violations of policies not shown: 1 more with level deny",
			"violations of policies not shown: 1 more with level warn",
		}},
		{1500, `{ policies: { d: { deny: stack.stack != "", message: m } } }`, 1001, []string{
			"violations of policies not shown: 500 more with level deny",
		}},
	} {
		found := check(t, c.stacks, c.text)
		var last []string
		for _, v := range found[max(0, len(found)-len(c.last)):] {
			last = append(last, v.String())
		}
		if denials := len(plan.Denials(found)); denials != c.denials || !slices.Equal(last, c.last) {
			t.Errorf("%d stacks: %d denials, last %q; want %d, %q", c.stacks, denials, last, c.denials, c.last)
		}
	}
}

// Checks that take too long are refused, and not repeated: the policies would take as long again. If the function
// itself has no time left, they are repeated.
func TestChecksThatTakeTooLongAreRefused(t *testing.T) {
	all := read(t, "p.yaml", `{ policies: { slow: { warn: 'plan.stacks.exists(s, s.stack.matches("(a*)*b"))', message: m } } }`)
	c := plan.Changes{Stacks: make([]plan.StackChange, 200)}
	_, err := policy.Checker{MaxTime: 1}.Check(t.Context(), all, plan.Facts{}, c)
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "the policies take too long for this plan, at last slow (p.yaml:1:29): ") {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (policy.Checker{}).Check(ended, all, plan.Facts{}, c); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
}

// The policies of a plan cost no more together than the limit, however many stacks it has.
func TestAllChecksTogetherAreBounded(t *testing.T) {
	all := read(t, "p.yaml", `{ policies: { p: { deny: stack.stack != "", message: m } } }`)
	for most, want := range map[uint64]string{200: "", 20: "the policies cost more than 20 steps for this plan, at last p (p.yaml:1:26): "} {
		_, err := policy.Checker{MaxCost: most}.Check(t.Context(), all, plan.Facts{}, plan.Changes{Stacks: make([]plan.StackChange, 20)})
		if (err != nil) != (want != "") || err != nil && (!fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), want)) {
			t.Errorf("at most %d: %v", most, err)
		}
	}
}

// The messages of policies that cannot be used, and of one that would take too long, whole.
func TestBadPolicies(t *testing.T) {
	for name, c := range map[string]struct{ deny, want string }{
		"it does not compile":     {`stack.stack ==`, "p.yaml:1:27: policy rule: deny: line 1, column 15 of the expression: the expression ends too early"},
		"a function is not there": {`stack.stack.lower() == "a"`, "p.yaml:1:27: policy rule: deny: line 1, column 18 of the expression: there is no variable or function lower: available: environment, plan, principal, project, resource, stack, target, time"},
		"an unknown field":        {`stack.actoin == "delete"`, "p.yaml:1:27: policy rule: deny: line 1, column 6 of the expression: Stack has no field actoin: did you mean action?"},
		"an unknown name":         {`stak.action == "delete"`, "p.yaml:1:27: policy rule: deny: line 1, column 1 of the expression: there is no variable or function stak: did you mean stack?"},
		"it is no truth value":    {`stack.action`, "p.yaml:1:27: policy rule: deny: line 1, column 1 of the expression: expected a condition, which is true or false, found a value of type string"},
	} {
		err := policy.Checker{}.Valid(read(t, "p.yaml", "policies: { rule: { deny: '"+c.deny+"', message: m } }"))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	loops := check(t, 100, `{ policies: { rule: { deny: 'plan.stacks.all(a, plan.stacks.all(b, plan.stacks.all(c, a.stack != "x" || b.stack == c.stack)))', message: m } } }`)
	const want = "policy rule denies the plan: its expression costs more than 100000 steps: make it simpler (p.yaml:1:29)"
	if len(loops) != 1 || loops[0].String() != want {
		t.Errorf("got %v, want %s", loops, want)
	}
}
