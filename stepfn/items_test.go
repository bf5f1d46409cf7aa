package stepfn_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// largestItem is the most bytes that an item may have. DynamoDB allows 400 KB.
const largestItem = 100_000

// longName is the name of a stack, as long as a name may be.
func longName(i int) string { return fmt.Sprintf("s%05d-", i) + strings.Repeat("x", 121) }

// shaped returns a view of n stacks that are all deployed: stack i needs those that needs
// lists.
func shaped(n int, needs func(i int) []int) plan.View {
	v := plan.View{
		Desired:  project.Project{Name: "shop", Environment: "default", Nodes: make(map[string]project.Node), MaxDeletions: new(n)},
		Recorded: make(map[string]plan.Record), Live: make(map[string]plan.Live),
	}
	target := project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"}
	for i := range n {
		name := longName(i)
		d := project.Node{Name: name, Stack: name, Target: target, Template: project.Template{Digest: "new", Pinned: true}}
		for _, need := range needs(i) {
			d.Needs = append(d.Needs, longName(need))
		}
		v.Desired.Nodes[name] = d
		v.Recorded[name] = plan.Record{Node: name, Stack: name, StackID: "id of " + name, Target: target, Needs: d.Needs}
		v.Live[name] = plan.Live{StackID: "id of " + name, Status: "UPDATE_COMPLETE"}
	}
	return v
}

// numbers lists the numbers from one to before another.
func numbers(from, to int) []int {
	var all []int
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// No item grows with the project, whatever its shape. The emulator refuses items of more
// than 400 KB, and transactions of more than 100 actions or 4 MB, as DynamoDB does.
func TestLargestItems(t *testing.T) {
	const n = 10_000
	none := func(int) []int { return nil }
	chain := func(i int) []int { return numbers(max(0, i-1), i) }
	star := func(i int) []int { return numbers(0, min(i, 1)) }
	invertedStar := func(i int) []int { return numbers(0, i/(n-1)*i) }
	// without returns the view with all stacks but those that stay no longer desired, and
	// without dependencies on them.
	without := func(v plan.View, stays func(name string) bool) plan.View {
		for name, d := range maps.Clone(v.Desired.Nodes) {
			if d.Needs = nil; stays(name) {
				v.Desired.Nodes[name] = d
			} else {
				delete(v.Desired.Nodes, name)
			}
		}
		return v
	}
	for name, c := range map[string]struct {
		view  plan.View
		steps int
	}{
		"chain":                          {shaped(n, chain), n},
		"star":                           {shaped(n, star), n},
		"inverted star":                  {shaped(n, invertedStar), n},
		"bipartite":                      {shaped(200, func(i int) []int { return numbers(0, i/100*100) }), 200},
		"the hub of a star is deleted":   {without(shaped(n, star), func(name string) bool { return name != longName(0) }), 2 * n},
		"all stacks but one are deleted": {without(shaped(n, none), func(name string) bool { return name == longName(0) }), n + 1},
		"one stack is deleted":           {without(shaped(n, none), func(name string) bool { return name != longName(0) }), n + 1},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := plan.Deploy(c.view)
			if err != nil {
				t.Fatal(err)
			}
			if len(made.Steps) != c.steps {
				t.Errorf("the plan has %d steps, want %d", len(made.Steps), c.steps)
			}
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t)
				want, _, err := r.store.CreateRun(t.Context(), run.Run{Request: run.Request{ID: strings.Repeat("a", 20), Project: "shop@default", Operation: "deploy"}, State: run.StatePending, Requested: time.Now(), Command: run.Continue})
				if err != nil {
					t.Fatal(err)
				}
				want.Start(made, nil)
				if err := r.store.Commit(t.Context(), want); err != nil {
					t.Fatal(err)
				}
				got, bytes := r.loadCounting(want.ID)
				if len(got.Steps) != len(want.Steps) {
					t.Fatalf("%d steps are loaded, want %d", len(got.Steps), len(want.Steps))
				}
				edges := 0
				for i, s := range want.Steps {
					edges += len(s.After)
					if fmt.Sprint(got.Steps[i].After) != fmt.Sprint(s.After) || got.Steps[i].ID != s.ID {
						t.Fatalf("step %d is loaded as %s after %v, want %s after %v", i, got.Steps[i].ID, got.Steps[i].After, s.ID, s.After)
					}
				}
				most := plan.Record{}
				for _, record := range c.view.Recorded {
					if len(record.Needs) >= len(most.Needs) {
						most = record
					}
				}
				s := want.Steps[0]
				s.Status, s.Nonce = run.Running, "nonce"
				if err := r.store.Move(t.Context(), engine.Change{Run: want.ID, Epoch: want.Epoch, Project: want.Project, From: run.Pending, Step: s, Record: &most}); err != nil {
					t.Fatal(err)
				}
				records, err := r.store.Records(t.Context(), want.Project)
				if err != nil || fmt.Sprint(records[most.Node].Needs) != fmt.Sprint(most.Needs) {
					t.Errorf("the record of a stack with %d dependencies has %d: %v", len(most.Needs), len(records[most.Node].Needs), err)
				}
				key, size := r.largestItem()
				t.Logf("%d steps with %d edges, loaded from %d bytes; the largest item is %s with %d bytes", len(want.Steps), edges, bytes, key, size)
				if size > largestItem {
					t.Errorf("item %s has %d bytes, want at most %d", key, size, largestItem)
				}
			})
		})
	}
}

// largestItem returns the sort key and the size of the largest item of the table.
func (r *emulators) largestItem() (key string, largest int) {
	r.Helper()
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(r.cloud.Config()), &dynamodb.ScanInput{TableName: aws.String("stackwright")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		for _, i := range page.Items {
			if size := itemSize(&types.AttributeValueMemberM{Value: i}); size > largest {
				key, largest = i["SK"].(*types.AttributeValueMemberS).Value, size
			}
		}
	}
	return key, largest
}

// itemSize is the size of an attribute as DynamoDB counts it.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func itemSize(a types.AttributeValue) int {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		return len(a.Value)
	case *types.AttributeValueMemberN:
		return len(a.Value)/2 + 2
	case *types.AttributeValueMemberL:
		size := 3
		for _, v := range a.Value {
			size += 1 + itemSize(v)
		}
		return size
	case *types.AttributeValueMemberM:
		size := 3
		for name, v := range a.Value {
			size += 1 + len(name) + itemSize(v)
		}
		return size
	}
	return 1 // true, false or null
}
