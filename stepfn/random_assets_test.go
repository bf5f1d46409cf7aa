package stepfn_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/stackwright/stackwright/pkg/action"
)

// published is an invariant that is checked at each request to CloudFormation.
const published invariant = "published: the assets of a stack are in their buckets before the stack is created or updated"

// assetSeeds is of how many seeds one has stacks with assets.
const assetSeeds = 6

// assets lets stacks of a scenario have assets. They are drawn from random numbers of their own.
func (a *generator) assets(seed uint64) {
	if seed%assetSeeds == 5 && !a.emulated {
		a.publishing = rand.New(rand.NewPCG(seed, 37))
	}
}

// giveAssets gives stacks other assets before the request of a round. Stacks share some.
func (a *generator) giveAssets() {
	if a.publishing == nil {
		return
	}
	for range a.publishing.IntN(3) {
		words := []string{fmt.Sprintf("s%d", a.publishing.IntN(5))}
		for _, k := range a.publishing.Perm(4)[:a.publishing.IntN(4)] {
			words = append(words, fmt.Sprintf("asset%d", k))
		}
		a.add("assets", words...)
	}
}

// hasAssets checks a request to create or update a stack.
func (w *monitor) hasAssets(t action.Task) {
	if t.Request != action.CreateStack && t.Request != action.UpdateStack {
		return
	}
	for _, one := range t.Node.Assets {
		place := fmt.Sprintf("%s %s/%s", t.Node.Target.Where(), one.Bucket, one.Key)
		w.holds(published, w.p.Published[place] > 0, "%s of run %s is requested, and %s was never published", t.Step.ID, t.Run, place)
	}
}
