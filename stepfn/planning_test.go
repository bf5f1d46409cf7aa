package stepfn_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/run"
)

// s3Time is how long a request to S3 takes, about.
const s3Time = 30 * time.Millisecond

// planTimeout is the timeout of the function plan and of the state that calls it.
const planTimeout = 300 * time.Second

// longestPlanning is how long the function may plan 10,000 stacks: a third of its timeout.
const longestPlanning = planTimeout / 3

// Stackwright plans 10,000 stacks, each with a template of its own, far within the timeout
// of the function plan. The account has as many other stacks. So a planning that was cut
// off is repeated as a whole. In the second case, with fewer stacks, one write hangs until the state machine
// has given up the call, and another planner has committed. Then the first planner
// continues, and changes nothing.
func TestPlanningTime(t *testing.T) {
	for name, cut := range map[string]bool{"once": false, "cut off once": true} {
		t.Run(name, func(t *testing.T) {
			planned := planned
			if cut {
				planned /= 4
			}
			stacks := grid(planned, 40)
			for i := range stacks {
				stacks[i].version = fmt.Sprint("v", i)
			}
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t)
				var mu sync.Mutex
				var plans []time.Time // when a function began to plan
				var committed time.Time
				calls, batches, late := make(map[string]int), 0, false
				r.crash = func(function string) sim.Fault {
					mu.Lock()
					defer mu.Unlock()
					switch _, name, _ := strings.Cut(function, "function:"); {
					case strings.HasPrefix(name, "plan"):
						plans = append(plans, time.Now())
					case strings.HasPrefix(name, "execute-step"), strings.HasPrefix(name, "wait-status"):
						if committed.IsZero() {
							committed = time.Now()
						}
						return sim.KillBefore
					}
					return sim.None
				}
				r.cloud.Gateway.Fail(func(q gateway.Request) *gateway.Failure {
					mu.Lock()
					took := s3Time
					switch calls[q.Service+" "+q.Operation]++; q.Service {
					case "cloudformation":
						took = cloudFormationTime * time.Duration(planned) / 100 // DescribeStacks: so many pages
					case "dynamodb":
						took = dynamoTime
					}
					hangs := false
					if q.Operation == "TransactWriteItems" && len(plans) == 1 {
						batches++
						hangs = cut && batches == planned/99/2 // a batch of steps
					}
					mu.Unlock()
					time.Sleep(took)
					for waits := hangs; waits; time.Sleep(time.Second) {
						mu.Lock()
						waits, late = committed.IsZero(), true
						mu.Unlock()
					}
					return nil
				})
				id := r.Submit("deploy", stacks, "")
				for over, n := false, 0; !over; {
					r.Pass(time.Second)
					mu.Lock()
					over, n = !committed.IsZero(), len(plans)
					mu.Unlock()
					if n > 2 {
						t.Fatal("the run is planned again and again")
					}
				}
				r.Pass(5 * time.Second) // the late planner ends
				mu.Lock()
				last := plans[len(plans)-1]
				took := committed.Sub(last)
				t.Logf("%s after %d plannings, the last of which took %s: %v", committed.Sub(plans[0]), len(plans), took, calls)
				if want := map[bool]int{false: 1, true: 2}[cut]; len(plans) != want || late != cut {
					t.Errorf("%d functions planned, want %d; the first one was late: %v", len(plans), want, late)
				}
				if took > longestPlanning {
					t.Errorf("the planning took %s, want at most %s of %s", took, longestPlanning, planTimeout)
				}
				mu.Unlock()
				got := r.ExecutionStatus(id)
				if got.State != run.StateRunning || len(got.Steps) != planned {
					t.Errorf("the run is %s with %d steps, want %d", got.State, len(got.Steps), planned)
				}
				r.cloud.Gateway.Fail(nil)
			})
		})
	}
}
