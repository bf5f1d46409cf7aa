package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Case is an example of a plan, and the policies that it violates.
type Case struct {
	Name   string
	Facts  plan.Facts
	Plan   plan.Changes
	Stacks []Stack
	Expect []Expected
	At     string // where it is written
}

// An Expected names a violation. It is about any stack or resource if it names none.
type Expected struct {
	Policy   string `json:"policy"`
	Stack    string `json:"stack,omitempty"`
	Resource string `json:"resource,omitempty"`
}

// A Result is what became of a case.
type Result struct {
	Name       string           `json:"name"`
	At         string           `json:"at"`
	OK         bool             `json:"ok"`
	Missing    []Expected       `json:"missing"`    // violations that are expected and were not found
	Unexpected []plan.Violation `json:"unexpected"` // violations that were found and are not expected
}

// Test checks the plan of a case by the policies.
func (s Set) Test(ctx context.Context, c Case) (Result, error) {
	r := Result{Name: c.Name, At: c.At, Missing: []Expected{}, Unexpected: []plan.Violation{}}
	found, err := s.check(ctx, MaxTotalCost, c.Facts, c.Plan, slices.Values(c.Stacks))
	if err != nil {
		return r, err
	}
	for _, e := range c.Expect {
		if !slices.ContainsFunc(found, e.is) {
			r.Missing = append(r.Missing, e)
		}
	}
	for _, v := range found {
		if !slices.ContainsFunc(c.Expect, func(e Expected) bool { return e.is(v) }) {
			r.Unexpected = append(r.Unexpected, v)
		}
	}
	r.OK = len(r.Missing)+len(r.Unexpected) == 0
	return r, nil
}

// is reports whether v is what was expected. A policy that could not be evaluated has found nothing.
func (e Expected) is(v plan.Violation) bool {
	return !v.Unevaluated && e.Policy == v.Policy && (e.Stack == "" || e.Stack == v.Stack) && (e.Resource == "" || e.Resource == v.Resource)
}

// A written case is a case as it is written in a file.
type written struct {
	Name string `json:"name"`
	plan.Facts
	Plan   writtenPlan `json:"plan"`
	Expect []Expected  `json:"expect"`
}

// A writtenPlan is a plan document, with the desired values of its stacks and resources.
type writtenPlan struct {
	plan.Changes
	Stacks []writtenStack `json:"stacks"`
}

type writtenStack struct {
	Stack
	Account string `json:"account"`
	Region  string `json:"region"`
}

// ReadCases reads the cases of a file: the list under tests:. It returns none if the file has no
// such key.
func ReadCases(file string, body []byte, of []project.Policy) ([]Case, error) {
	root, err := document.Read(file, body)
	if err != nil {
		return nil, fault.As(fault.Invalid, err)
	}
	list, ok := document.Lookup(root, "tests")
	if !ok {
		return nil, nil
	}
	list = document.Resolve(list)
	var wrong document.Errors
	if list.Kind != yaml.SequenceNode {
		wrong.Add(file, list, "tests: expected a list, found %s", document.Kind(list))
	}
	var all []Case
	for _, item := range document.Items(list) {
		c, err := readCase(file, document.Resolve(item), of)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		all = append(all, c)
	}
	if len(wrong) > 0 {
		return nil, fault.As(fault.Invalid, wrong)
	}
	return all, nil
}

// readCase reads one case.
func readCase(file string, n *yaml.Node, of []project.Policy) (Case, *document.Error) {
	var w written
	text, err := json.Marshal(document.Value(n, valueOf))
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		d.DisallowUnknownFields()
		err = d.Decode(&w)
	}
	switch {
	case err != nil:
		return Case{}, document.At(file, n, "tests: this test cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
	case w.Name == "":
		return Case{}, document.At(file, n, "tests: a test has no name: write name: and what it shows")
	}
	c := Case{Name: w.Name, Facts: w.Facts, Plan: w.Plan.Changes, Expect: w.Expect, At: fmt.Sprintf("%s:%d:%d", file, n.Line, n.Column)}
	for _, s := range w.Plan.Stacks {
		s.Desired.Target = project.Target{Name: s.Target, Account: s.Account, Region: s.Region}
		c.Stacks, c.Plan.Stacks = append(c.Stacks, s.Stack), append(c.Plan.Stacks, s.StackChange)
	}
	if err := c.known(); err != nil {
		return c, document.At(file, n, "test %s: %v", w.Name, err)
	}
	for _, e := range w.Expect {
		if !slices.ContainsFunc(of, func(p project.Policy) bool { return p.Name == e.Policy }) {
			var names []string
			for _, p := range of {
				names = append(names, p.Name)
			}
			return c, document.At(file, n, "test %s: expect: there is no policy %q%s", w.Name, e.Policy, suggest.Hint(e.Policy, names))
		}
	}
	return c, nil
}

// known says which value of the case no plan has: a policy that asks for it would hold for every plan.
func (c Case) known() error {
	var operations []string
	for _, o := range plan.AllOperations() {
		operations = append(operations, o.Name)
	}
	if err := oneOf("plan: operation", c.Plan.Operation, operations); err != nil {
		return err
	}
	for _, s := range c.Stacks {
		if err := oneOf("stack "+s.Stack+": action", s.Action, plan.StackActions()); err != nil {
			return err
		}
		if err := oneOf("stack "+s.Stack+": certainty", s.Certainty, []plan.Certainty{plan.Certain, plan.Possible}); err != nil {
			return err
		}
		for _, r := range s.Resources {
			of := "stack " + s.Stack + ": resource " + r.ID + ": "
			if err := oneOf(of+"action", r.Action, append(difference.Actions(), Unchanged)); err != nil {
				return err
			}
			if err := oneOf(of+"replacement", r.Replacement, resource.Replacements()); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneOf refuses a value that is none of all. A case writes only what matters, so it may be empty.
func oneOf[T ~string](what string, value T, all []T) error {
	if value == "" || slices.Contains(all, value) {
		return nil
	}
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	return fault.New(fault.Invalid, "%s: no plan has %q%s", what, value, suggest.Hint(string(value), names))
}

// valueOf is a scalar as JSON has it.
func valueOf(n *yaml.Node) any {
	var v any
	if err := n.Decode(&v); err != nil {
		return n.Value
	}
	return v
}
