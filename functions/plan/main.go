// Command plan is the function that makes the plan of a run.
package main

import (
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/wire"
)

func main() { wire.Main(wire.PlanBy(policy.Checker{})) }
