package plan_test

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
)

// The first duration of a verb is its average; each later one moves the average a little.
func TestLearn(t *testing.T) {
	var none plan.Durations
	one := none.Learn(plan.Create, 100*time.Second)
	if len(none) != 0 || len(one) != 1 || one[plan.Create] != 100 {
		t.Errorf("the first duration: %v and %v", none, one)
	}
	two := one.Learn(plan.Create, 200*time.Second).Learn(plan.Update, 1499*time.Millisecond)
	if one[plan.Create] != 100 || two[plan.Create] != 130 || two[plan.Update] != 1 {
		t.Errorf("before %v, after %v", one, two)
	}
	for range 20 {
		two = two.Learn(plan.Create, 10*time.Second)
	}
	if got := two[plan.Create]; got < 10 || got > 12 {
		t.Errorf("after twenty durations of 10 seconds the average is %d", got)
	}
}
