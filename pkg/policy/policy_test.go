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
