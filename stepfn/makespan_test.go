package stepfn_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/events"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/pkg/enginetest/figure"
	"github.com/stackwright/stackwright/pkg/enginetest/workload"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/run"
)

// What takes time on AWS, about as long as in us-east-1.
const (
	cloudFormationTime = 150 * time.Millisecond // a request
	dynamoTime         = 12 * time.Millisecond  // a request to DynamoDB
	otherTime          = 20 * time.Millisecond  // a request to S3, Step Functions or another service
	lambdaTime         = 20 * time.Millisecond  // the call of a warm function
	transitionTime     = 40 * time.Millisecond  // an execution enters a state
	eventTime          = 500 * time.Millisecond // until a function receives an event of CloudFormation, at least
	eventSpread        = time.Second            // and at most this much longer
)

// tokenCode is the end of a token, which depends on the random key of its run.
var tokenCode = regexp.MustCompile(`("sw-[a-z0-9]+-[0-9]+-[0-9]+)-[0-9a-f]{32}`)

// latencies gives the emulators the latencies of AWS. lost says which events of
// CloudFormation are lost. Delays of events follow from the events, so that the order of
// deliveries does not change them.
func latencies(lost func(about uint64) bool) func(*cloud.Options) {
	return func(o *cloud.Options) {
		o.Transition = transitionTime
		o.Latency = func(q *http.Request) time.Duration {
			switch call, _ := gateway.Identify(q); call.Service {
			case "cloudformation":
				return cloudFormationTime
			case "dynamodb":
				return dynamoTime
			}
			return otherTime
		}
		functions := o.Functions
		o.Functions = func(c *cloud.Cloud) (cloud.Invoker, error) {
			f, err := functions(c)
			return slowFunctions{f}, err
		}
		disturb := o.Disturb
		o.Disturb = func(e events.Event, function string) []time.Duration {
			if e.Source != "aws.cloudformation" {
				return disturb(e, function)
			}
			h := fnv.New64a()
			h.Write(tokenCode.ReplaceAll(e.Detail, []byte("$1")))
			about := h.Sum64()
			if lost(about) {
				return nil
			}
			return []time.Duration{eventTime + time.Duration(rand.New(rand.NewPCG(about, 1)).Int64N(int64(eventSpread)))}
		}
	}
}

// A slowFunctions calls functions with the latency of Lambda.
type slowFunctions struct{ cloud.Invoker }

func (f slowFunctions) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	time.Sleep(lambdaTime)
	return f.Invoker.Invoke(ctx, function, payload)
}

// Which events are lost.
func noneLost(uint64) bool { return false }
func all(uint64) bool      { return true }

// everySecond loses every second event, in four ways: one way alone may lose the
// events that matter most, or none of them.
func everySecond() []func(uint64) bool {
	var ways []func(uint64) bool
	for bit := range 4 {
		ways = append(ways, func(about uint64) bool { return about>>bit%2 == 0 })
	}
	return ways
}

// stacksOf returns the stacks of a graph.
func stacksOf(g workload.Graph) stacks {
	var w stacks
	for _, s := range g {
		made := stack{name: s.Name, version: "v1", physical: physicalName(s.Name)}
		for _, name := range s.Needs {
			made.needs = append(made.needs, need{name: name, output: "Name"})
		}
		w = append(w, made)
	}
	return w
}

// opened are limits that no test exceeds.
var opened = budget.Limits{Reads: 1000, Writes: 1000}

// A deploy takes hardly longer than the longest chain of its stacks: from the upload
// until the run has ended, through the real functions and adapters, with the latencies
// of AWS. Wide graphs have opened budgets: else the budgets are what takes time.
func TestMakespan(t *testing.T) {
	for _, c := range []struct {
		row    string
		graph  workload.Graph
		limits budget.Limits
		lost   []func(uint64) bool // ways to lose events; the mean of their makespans counts
		most   float64             // of the makespan divided by the critical path, today: lower it when a change makes runs faster
		costly bool                // only make bench measures it
		fewer  workload.Graph      // unless make bench measures it, this is deployed instead
	}{
		{"4x5", workload.Grid(4, 5, 1), budget.CloudFormation(), []func(uint64) bool{noneLost}, 1.035, false, nil},
		{"8x10", workload.Grid(8, 10, 1), budget.CloudFormation(), []func(uint64) bool{noneLost}, 1.03, false, nil},
		{"20x10", workload.Grid(20, 10, 1), budget.CloudFormation(), []func(uint64) bool{noneLost}, 1.02, false, nil},
		{"500x2", workload.Grid(500, 2, 1), opened, []func(uint64) bool{noneLost}, 1.05, raced, workload.Grid(150, 2, 1)},
		{"500x2 even", workload.EvenGrid(500, 2, 1), opened, []func(uint64) bool{noneLost}, 1.15, true, nil},
		{"8x10 every second event lost", workload.Grid(8, 10, 1), budget.CloudFormation(), everySecond(), 1.09, false, nil},
		{"8x10 all events lost", workload.Grid(8, 10, 1), budget.CloudFormation(), []func(uint64) bool{all}, 1.20, false, nil},
	} {
		t.Run(c.row, func(t *testing.T) {
			if c.costly && !figure.Collected() {
				t.Skip("make bench measures it")
			}
			fewer := c.fewer != nil && !figure.Collected()
			if fewer {
				c.graph = c.fewer
			}
			var sum float64
			for _, lost := range c.lost {
				synctest.Test(t, func(t *testing.T) { sum += makespan(t, c.graph, c.limits, lost) })
			}
			ratio := sum / float64(len(c.lost))
			if !fewer {
				figure.Report(t, "makespan/"+c.row, ratio, c.most)
			} else if ratio > c.most {
				t.Errorf("%d stacks take %.4g times the critical path, want at most %.4g", len(c.graph), ratio, c.most)
			}
		})
	}
}

// makespan returns the makespan of a deploy divided by its critical path.
func makespan(t *testing.T, g workload.Graph, limits budget.Limits, lost func(uint64) bool) float64 {
	r := newEmulatorsWithLimits(t, limits, latencies(lost))
	for _, s := range g {
		r.Slow(s.Name, s.Duration)
	}
	id := r.Submit("deploy", stacksOf(g), "")
	r.waitEnded(id)
	got := r.ExecutionStatus(id)
	if got.State != run.StateSucceeded {
		t.Fatalf("%s %v", got.State, got.Messages)
	}
	took, path := got.Ended.Sub(got.Requested), g.CriticalPath()
	t.Logf("%s for a critical path of %s; %s", took, path, r.calls())
	r.logGaps(g)
	return took.Seconds() / path.Seconds()
}

// logGaps logs how long stacks wait after the last of their dependencies has ended.
func (r *emulators) logGaps(g workload.Graph) {
	began, ended := make(map[string]time.Time), make(map[string]time.Time)
	var gaps []time.Duration
	var sum time.Duration
	for _, s := range g {
		name := physicalName(s.Name)
		out, err := r.outside.DescribeStackEvents(r.Context(), &cloudformation.DescribeStackEventsInput{StackName: &name})
		if err != nil {
			r.Fatal(err)
		}
		began[s.Name], ended[s.Name] = aws.ToTime(out.StackEvents[len(out.StackEvents)-1].Timestamp), aws.ToTime(out.StackEvents[0].Timestamp)
		var ready time.Time
		for _, need := range s.Needs {
			if ended[need].After(ready) {
				ready = ended[need]
			}
		}
		if len(s.Needs) > 0 {
			gaps = append(gaps, began[s.Name].Sub(ready))
			sum += gaps[len(gaps)-1]
		}
	}
	slices.Sort(gaps)
	r.Logf("a stack starts %s after its dependencies have ended (median %s, longest %s)",
		(sum / time.Duration(len(gaps))).Round(time.Millisecond), gaps[len(gaps)/2].Round(time.Millisecond), gaps[len(gaps)-1].Round(time.Millisecond))
}

// calls lists how many requests CloudFormation has answered.
func (r *emulators) calls() string {
	all := r.cloud.Stacks.Calls()
	maps.Copy(all, r.cloud.Stacks.Reads())
	return fmt.Sprint(all)
}
