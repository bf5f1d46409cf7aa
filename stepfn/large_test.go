package stepfn_test

import (
	"fmt"
	"testing"

	"github.com/stackwright/stackwright/pkg/run"
)

// A run that is long hands over to another execution well before Step
// Functions' history is full, at 25,000 events.
// https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
func TestHandover(t *testing.T) {
	p := newPure(t, 1)
	defer p.Stop()
	var w world
	for i := range 1200 {
		s := stack{name: fmt.Sprintf("s%04d", i), version: "v1", physical: physicalName(fmt.Sprintf("s%04d", i))}
		if i >= 40 {
			s.needs = []need{{name: fmt.Sprintf("s%04d", i-40), output: "Name"}}
		}
		w = append(w, s)
	}
	id := p.Ask("deploy", w, "")
	if !p.Quiet() {
		t.Fatal("it never ends")
	}
	r := p.Standing(id)
	if r.State != run.Succeeded || r.Drive < 2 {
		t.Fatalf("%s after %d executions", r.State, r.Drive)
	}
	for drive := 1; drive <= r.Drive; drive++ {
		x := p.Execution(fmt.Sprintf("%s-%d", id, drive))
		t.Logf("execution %d: %d events, %v", drive, x.History, x.Err)
		if x.History > 20_000 {
			t.Errorf("execution %d had %d events", drive, x.History)
		}
	}
	if asked := p.Asked(); len(asked) != len(w) {
		t.Errorf("%d stacks, %d calls", len(w), len(asked))
	}
}
