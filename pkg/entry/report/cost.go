package report

import (
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/plan"
)

// CostFormat is the number of the format of Cost as JSON. docs/cost.schema.json describes it.
const CostFormat = 1

// A Cost is what a plan adds to what its stacks cost a month: an estimate, with all that it does not know.
type Cost struct {
	Format      int           `json:"format"`
	Run         string        `json:"run"` // that has made the plan
	Project     string        `json:"project"`
	Environment string        `json:"environment"`
	Digest      string        `json:"digest"` // of the plan
	Cost        plan.Cost     `json:"cost"`
	Stacks      []StackCost   `json:"stacks"`    // those whose price differs or may differ, in an order in which they are deployed
	Unchanged   int           `json:"unchanged"` // stacks that the plan does not change: they are not in the amounts
	Prices      []PriceSource `json:"prices"`    // where the prices are from
	Messages    []string      `json:"messages,omitempty"`
}

// A StackCost is what a plan adds to what a stack costs a month. An amount that is missing is not known.
type StackCost struct {
	Stack      string              `json:"stack"`
	Target     string              `json:"target"`
	Action     plan.StackAction    `json:"action"`
	Certainty  plan.Certainty      `json:"certainty"`
	Region     string              `json:"region"`
	Before     *price.USD          `json:"before,omitempty"`
	After      *price.USD          `json:"after,omitempty"`
	Difference *price.USD          `json:"difference,omitempty"`
	Unknown    int                 `json:"unknown"` // resources that differ and have a price which is not known, or not whole
	Resources  []plan.ResourceCost `json:"resources"`
	Caveats    []string            `json:"caveats,omitempty"`
	Link       string              `json:"link,omitempty"`    // to the estimate of CloudFormation, with --link
	NoLink     string              `json:"no_link,omitempty"` // why there is none, with --link
}

// A PriceSource is where prices are from.
type PriceSource struct {
	Source string `json:"source"`
	For    string `json:"for"`
	Date   string `json:"date,omitempty"` // of the newest of them
}

// CostOf is what a plan adds to what its stacks cost. It refuses a plan without an estimate: that is not one that costs nothing.
func CostOf(c plan.Changes) (Cost, error) {
	if c.Cost == nil {
		return Cost{}, fault.New(fault.Refused, "the plan has no estimate, because the installation is older than this program and makes none: update the installation, then repeat the command")
	}
	all := Cost{
		Format: CostFormat, Run: c.Run, Project: c.Project, Environment: c.Environment, Digest: c.Digest, Unchanged: c.Summary.Unchanged, Messages: c.Messages,
		Cost: *c.Cost, Stacks: []StackCost{},
	}
	for _, s := range c.Stacks {
		if s.Cost != nil {
			all.Stacks = append(all.Stacks, StackCost{
				Stack: s.Stack, Target: s.Target, Action: s.Action, Certainty: s.Certainty, Region: s.Cost.Region,
				Before: s.Cost.Before, After: s.Cost.After, Difference: s.Cost.Difference, Unknown: s.Cost.Unknown, Resources: s.Cost.Resources, Caveats: s.Cost.Caveats,
			})
		}
	}
	for _, s := range price.Sources() {
		all.Prices = append(all.Prices, PriceSource{s.Module + " " + s.Version, s.For, s.Date})
	}
	all.Prices = append(all.Prices, PriceSource{Source: "a table kept by hand", For: "all else, from a table kept by hand for " + price.Home})
	return all, nil
}
