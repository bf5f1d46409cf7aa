package term_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/plan"
)

// What is not known, not compared, or charged by use is said beside the amounts, and a text of a template cannot draw.
func TestCost(t *testing.T) {
	usd := func(n price.USD) *price.USD { return &n }
	c := estimated(t, plan.Changes{
		Project: "shop", Environment: "prod", Summary: plan.Summary{Unchanged: 3}, Messages: []string{"a message"},
		Cost: &plan.Cost{Currency: "USD", Basis: plan.CostBasis, Before: 100, After: 90, Difference: -10, Unknown: 2, ByUse: 1, Uncompared: 2},
		Stacks: []plan.StackChange{
			{Stack: "free", Action: plan.ActionCreate},
			{Stack: "db", Action: plan.ActionUpdate, Certainty: plan.Certain, Cost: &plan.StackCost{Region: "eu-west-1", Before: usd(100), After: usd(90), Difference: usd(-10), Resources: []plan.ResourceCost{
				{ID: "Server", Type: "AWS::RDS::DBInstance", Before: usd(100), After: usd(90), Difference: usd(-10), Parts: []string{"db.t3.medium"}, ByUse: "traffic", Assumed: []string{"a", "b"}},
				{ID: "Bucket", Type: "AWS::S3::Bucket", After: usd(0), Difference: usd(0), ByUse: "stored data"},
				{ID: "Odd", Type: "AWS::Odd::Thing", Unknown: []string{"its size is \x1b[31m!Ref Size"}},
			}}},
			{Stack: "web", Action: plan.ActionUpdate, Certainty: plan.Possible, Cost: &plan.StackCost{Region: "eu-west-1", After: usd(7), Resources: []plan.ResourceCost{}, Caveats: []string{"what the stack costs now is not known"}}},
			{Stack: "old", Action: plan.ActionDelete, Certainty: plan.Certain, Cost: &plan.StackCost{Region: "eu-west-1", Before: usd(7), Resources: []plan.ResourceCost{}}},
			{Stack: "lost", Action: plan.ActionDelete, Certainty: plan.Certain, Cost: &plan.StackCost{Region: "eu-west-1", Resources: []plan.ResourceCost{}, Caveats: []string{"what the stack costs now is not known"}}},
			{Stack: "files", Action: plan.ActionCreate, Certainty: plan.Certain, Cost: &plan.StackCost{Region: "eu-west-1", Before: usd(0), After: usd(0), Difference: usd(0), Resources: []plan.ResourceCost{
				{ID: "Bucket", Type: "AWS::S3::Bucket", After: usd(0), Difference: usd(0), ByUse: "stored data"}}}},
		},
	})
	c.Stacks[0].Link, c.Stacks[1].NoLink = "https://example.com/a", "parameter P is not known"
	golden.Same(t, "testdata/cost.txt", strings.Join(term.Cost(c, 0, false), "\n")+"\n")
	left := estimated(t, plan.Changes{Project: "shop", Environment: "prod", Cost: &plan.Cost{After: 5, Difference: 5}})
	if lines := term.Cost(left, 0, false); lines[len(lines)-1] != "+$5.00 a month ($0.00 → $5.00); 0 unchanged, not counted" {
		t.Errorf("%q", lines)
	}
	none := estimated(t, plan.Changes{Project: "shop", Environment: "prod", Summary: plan.Summary{Unchanged: 3}, Cost: &plan.Cost{}})
	if lines := term.Cost(none, 0, false); lines[len(lines)-1] != "the plan changes nothing that has a price; 3 unchanged" {
		t.Errorf("%q", lines)
	}
}

// Nothing is said to cost $0.00 if its price is not known, or if it is not compared.
func TestCostThatIsNotKnown(t *testing.T) {
	usd := func(n price.USD) *price.USD { return &n }
	c := estimated(t, plan.Changes{Project: "shop", Environment: "prod", Cost: &plan.Cost{Unknown: 1, Uncompared: 1}, Stacks: []plan.StackChange{
		{Stack: "odd", Action: plan.ActionCreate, Certainty: plan.Certain, Cost: &plan.StackCost{Region: "eu-west-1", Before: usd(0), Unknown: 1, Resources: []plan.ResourceCost{{ID: "Odd", Type: "AWS::Odd::Thing", Unknown: []string{"no price"}}}}},
		{Stack: "net", Action: plan.ActionUpdate, Certainty: plan.Certain, Cost: &plan.StackCost{Region: "eu-west-1", After: usd(32.85), Resources: []plan.ResourceCost{{ID: "Nat", Type: "AWS::EC2::NatGateway", After: usd(32.85)}}}},
	}})
	text := strings.Join(term.Cost(c, 200, false), "\n")
	for _, want := range []string{"odd  create in eu-west-1: not known; 1 resource without a known price", "net  update in eu-west-1: $32.85 a month afterwards", "      $32.85 afterwards  Nat", "\nnot known; 1 resource without a known price; 1 stack not compared; 0 unchanged, not counted"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "$0.00") || strings.Contains(text, "+$") {
		t.Error(text)
	}
}

// The difference is that of the amounts as they are written.
func TestDifferenceOfCents(t *testing.T) {
	c := plan.Changes{Operation: "plan", Project: "shop", Environment: "prod", Cost: &plan.Cost{Before: 61.684, After: 69.2775, Difference: 7.5935}}
	if text := strings.Join(term.Plan(c, 200, false), "\n"); !strings.Contains(text, "cost: +$7.60 a month, an estimate ($61.68 → $69.28)") {
		t.Error(text)
	}
}

// A plan has a line about its cost if an amount is known, or a price is not known, and none otherwise.
func TestPlanSaysCost(t *testing.T) {
	c := plan.Changes{Operation: "plan", Project: "shop", Environment: "prod", Cost: &plan.Cost{After: 32.85, Difference: 32.85, Unknown: 1}}
	const want = "cost: +$32.85 a month, an estimate ($0.00 → $32.85); 1 resource without a known price"
	if text := strings.Join(term.Plan(c, 200, false), "\n"); !strings.Contains(text, want) {
		t.Error(text)
	}
	if text := term.Markdown(c); !strings.Contains(text, want) {
		t.Error(text)
	}
	c.Cost = &plan.Cost{Unknown: 1, ByUse: 2}
	for _, text := range []string{strings.Join(term.Plan(c, 200, false), "\n"), term.Markdown(c)} {
		if !strings.Contains(text, "cost: not known; 1 resource without a known price; 2 resources charged by use") {
			t.Error(text)
		}
	}
	c.Cost = &plan.Cost{ByUse: 2}
	if text := strings.Join(term.Plan(c, 200, false), "\n") + term.Markdown(c); strings.Contains(text, "cost:") {
		t.Error(text)
	}
}

// estimated is the estimate of a plan that has one.
func estimated(t *testing.T, c plan.Changes) report.Cost {
	t.Helper()
	all, err := report.CostOf(c)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
