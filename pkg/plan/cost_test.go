package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// What a stack costs is compared before and after: only resources whose price differs are listed, and the sums are of all.
func TestCostOfUpdate(t *testing.T) {
	s := newStacks()
	const before = "Resources:\n  Key: {Type: AWS::KMS::Key}\n  Old: {Type: AWS::EC2::NatGateway}\n  Kept: {Type: AWS::SecretsManager::Secret, DeletionPolicy: Retain}\n  Queue: {Type: AWS::SQS::Queue}\n"
	const after = "Parameters:\n  Size: {Type: Number}\nResources:\n  Key: {Type: AWS::KMS::Key}\n  Queue: {Type: AWS::SQS::Queue}\n  Disk: {Type: AWS::EC2::Volume, Properties: {VolumeType: gp3, Size: !Ref Size}}\n  Role: {Type: AWS::IAM::Role}\n"
	s.node("app", after, "Size=100")
	s.live("app", before, nil, nil)
	c := s.describe(t)
	cost := c.Stacks[0].Cost
	if cost == nil || cost.Before.Dollars() != price.Of(1+32.85+0.4) || cost.After.Dollars() != price.Of(1+0.4+8) || cost.Difference.Dollars() != price.Of(8-32.85) {
		t.Fatalf("%s", asJSON(t, cost))
	}
	var ids []string
	for _, r := range cost.Resources {
		ids = append(ids, r.ID)
	}
	if !slices.Equal(ids, []string{"Disk", "Kept", "Old"}) || *cost.Resources[1].Difference != 0 || !slices.Contains(cost.Resources[1].Assumed, "it stays in AWS, and costs: DeletionPolicy Retain") {
		t.Errorf("%s", asJSON(t, cost))
	}
	if c.Cost == nil || c.Cost.Difference.Dollars() != price.Of(8-32.85) || c.Cost.Unknown != 0 || c.Cost.Uncompared != 0 || !c.Cost.Known() || c.Cost.Currency != "USD" {
		t.Errorf("%s", asJSON(t, c.Cost))
	}
}

// A parameter that takes an output of a stack that changes, and a secret, make a price unknown. What is unknown is counted, and the secret is not shown.
func TestUnknownCost(t *testing.T) {
	s := newStacks()
	s.node("net", "Resources:\n  Nat: {Type: AWS::EC2::NatGateway}\nOutputs:\n  Type: {Value: !GetAtt Nat.Type}\n")
	s.node("app", "Parameters:\n  Type: {Type: String}\n  Secret: {Type: String, NoEcho: true}\nResources:\n  A: {Type: AWS::EC2::Instance, Properties: {InstanceType: !Ref Type}}\n  B: {Type: AWS::EC2::Instance, Properties: {InstanceType: !Ref Secret}}\n  C: {Type: AWS::WorkSpaces::Workspace}\n",
		"Type=net.Type", "Secret=m9")
	c := s.describe(t)
	text := asJSON(t, c)
	if c.Cost.Unknown != 3 || c.Cost.Difference.Dollars() != price.Of(32.85) || strings.Contains(asJSON(t, c.Stacks[1].Cost), "m9") {
		t.Errorf("%s", text)
	}
	for i, why := range []string{"InstanceType is not known: it is !Ref Type (known when net is created)", "InstanceType is not known: it is !Ref Secret (a secret, because of NoEcho)", "Stackwright has no price for this type"} {
		if r := c.Stacks[1].Cost.Resources[i]; !slices.Equal(r.Unknown, []string{why}) || r.After != nil || r.Difference != nil {
			t.Errorf("%s: %q", r.ID, r.Unknown)
		}
	}
}

// If the price of a resource is known before and not afterwards, the sums have neither: it is no saving.
func TestCostThatBecomesUnknown(t *testing.T) {
	s := newStacks()
	const before = "Resources:\n  A: {Type: AWS::EC2::Instance, Properties: {InstanceType: m5.large}}\n  Key: {Type: AWS::KMS::Key}\n"
	s.node("app", strings.Replace(before, "m5.large", "m9.new", 1))
	s.live("app", before, nil, nil)
	c := s.describe(t)
	cost := c.Stacks[0].Cost
	if cost == nil || len(cost.Resources) != 1 || cost.Resources[0].Difference != nil || cost.Resources[0].Before == nil || cost.Resources[0].After != nil || *cost.Difference != 0 || c.Cost.Before != 1 || c.Cost.Unknown != 1 {
		t.Errorf("%s", asJSON(t, c.Stacks[0].Cost))
	}
}

// A stack whose deployed template is not known is not compared: it counts as such, and not as one that costs nothing.
func TestCostOfUncomparedStack(t *testing.T) {
	s := newStacks()
	s.node("app", "Resources:\n  Nat: {Type: AWS::EC2::NatGateway}\n")
	s.live("app", "Resources:\n  Key: {Type: AWS::KMS::Key}\n", nil, nil)
	delete(s.templates, "old of app")
	c := s.describe(t)
	cost := c.Stacks[0].Cost
	if cost == nil || cost.Before != nil || cost.Difference != nil || cost.After.Dollars() != price.Of(32.85) || len(cost.Caveats) != 1 {
		t.Errorf("%s", asJSON(t, cost))
	}
	if c.Cost.Uncompared != 1 || c.Cost.After != 0 || c.Cost.Difference != 0 || c.Cost.Known() || cost.Resources[0].Difference != nil || cost.Resources[0].After.Dollars() != price.Of(32.85) {
		t.Errorf("%s", asJSON(t, c.Cost))
	}
}

// What is only imported costs already: the import adds nothing, and what comes with it adds its price.
func TestCostOfImport(t *testing.T) {
	const text = "Resources:\n  Nat: {Type: AWS::EC2::NatGateway, DeletionPolicy: Retain}\n  Topic: {Type: AWS::SNS::Topic}\n  Key: {Type: AWS::KMS::Key}\n"
	for _, status := range []plan.Status{"", "CREATE_COMPLETE"} {
		f := importingView(t, status, map[string]project.Identifier{"Nat": {"NatGatewayId": "nat-1"}})
		if status == "" {
			delete(f.Recorded, "db")
		}
		n := f.Desired.Nodes["db"]
		n.Target.Region = "eu-west-1"
		f.Desired.Nodes["db"] = n
		found := f.Found["db"]
		found.Desired = parsed(t, text)
		f.Found["db"] = found
		p, err := plan.Deploy(f.View)
		if err != nil {
			t.Fatal(err)
		}
		c := f.Describe(p, func(string) (*template.Template, error) { return parsed(t, text), nil })
		if c.Cost == nil || c.Cost.Before.Dollars() != price.Of(32.85) || c.Cost.Difference.Dollars() != price.Of(1) {
			t.Errorf("%q: %s", status, asJSON(t, c))
		}
	}
}

// What a macro or a loop makes is not known: it is counted, also if it stays as it is.
func TestCostOfMacros(t *testing.T) {
	s := newStacks()
	const text = "Transform: [AWS::LanguageExtensions, Some-Macro]\nParameters:\n  A: {Type: String}\nResources:\n  Key: {Type: AWS::KMS::Key, Properties: {Description: a}}\n  Fn::ForEach::Nats: [N, [A, B], {'Nat${N}': {Type: AWS::EC2::NatGateway}}]\n"
	s.node("app", strings.Replace(text, "Description: a", "Description: b", 1), "A=1")
	s.live("app", text, map[string]string{"A": "1"}, nil)
	s.node("new", text, "A=1")
	c := s.describe(t)
	if c.Cost == nil || c.Cost.Unknown != 4 || c.Stacks[0].Cost == nil || c.Stacks[0].Cost.Unknown != 2 || c.Cost.Difference.Dollars() != price.Of(1) {
		t.Errorf("%s", asJSON(t, c))
	}
}

// A stack of which no price is known has no amount, and not one of 0.
func TestStackWithoutKnownPrice(t *testing.T) {
	s := newStacks()
	s.node("app", "Resources:\n  W: {Type: AWS::WorkSpaces::Workspace}\n  Q: {Type: AWS::SQS::Queue}\n")
	c := s.describe(t)
	if cost := c.Stacks[0].Cost; cost == nil || cost.After != nil || cost.Difference != nil || cost.Unknown != 1 || c.Cost.Unknown != 1 || c.Cost.Uncompared != 0 || c.Cost.Known() {
		t.Errorf("%s", asJSON(t, c))
	}
}

// A deletion saves what the stack costs.
func TestCostOfDeletion(t *testing.T) {
	s := newStacks()
	s.node("app", "Resources:\n  Nat: {Type: AWS::EC2::NatGateway}\n  Queue: {Type: AWS::SQS::Queue}\n")
	s.live("app", "Resources:\n  Nat: {Type: AWS::EC2::NatGateway}\n  Queue: {Type: AWS::SQS::Queue}\n", nil, nil)
	delete(s.Desired.Nodes, "app")
	s.node("other", "Resources:\n  Role: {Type: AWS::IAM::Role}\n")
	c := s.describe(t)
	if c.Cost == nil || c.Cost.Difference.Dollars() != price.Of(-32.85) || c.Cost.After != 0 || c.Cost.ByUse != 2 {
		t.Errorf("%s", asJSON(t, c))
	}
}

// A plan of what is free says that it costs nothing.
func TestFreePlan(t *testing.T) {
	s := newStacks()
	s.node("app", "Resources:\n  Role: {Type: AWS::IAM::Role}\n")
	s.node("other", "Resources:\n  Role: {Type: AWS::IAM::Role}\n  Key: {Type: AWS::KMS::Key}\n")
	s.live("other", "Resources:\n  Key: {Type: AWS::KMS::Key}\n", nil, nil)
	if c := s.describe(t); c.Cost == nil || c.Stacks[0].Cost != nil || len(c.Stacks) != 2 || c.Cost.Differs() {
		t.Errorf("%s", asJSON(t, c))
	}
}

// If there is no room, what each resource costs is left out, and not the sums.
func TestFitLeavesOutCosts(t *testing.T) {
	s := newStacks()
	var b strings.Builder
	b.WriteString("Resources:\n")
	for i := range 300 {
		fmt.Fprintf(&b, "  Nat%d: {Type: AWS::EC2::NatGateway}\n", i)
	}
	s.node("app", b.String())
	c := s.describe(t)
	fit, err := c.Fit(60_000)
	if err != nil || len(fit.Stacks[0].Cost.Resources) != 0 || fit.Stacks[0].Cost.Difference.Dollars() != price.Of(300*32.85) || len(c.Stacks[0].Cost.Resources) != 300 {
		t.Errorf("%v: %s", err, asJSON(t, fit.Stacks[0].Cost))
	}
	small := c
	small.Stacks, small.Cost = nil, nil
	for range 200 {
		small.Stacks = append(small.Stacks, plan.StackChange{Stack: "app", Cost: &plan.StackCost{Region: "eu-west-1", Resources: []plan.ResourceCost{}}})
	}
	small.Cost = c.Cost
	whole, err := json.Marshal(small)
	if err != nil {
		t.Fatal(err)
	}
	fit, err = small.Fit(len(whole) - 3000)
	if err != nil || fit.Stacks[0].Cost != nil || fit.Cost == nil || small.Stacks[0].Cost == nil {
		t.Errorf("%v: %s", err, asJSON(t, fit.Stacks[0]))
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
