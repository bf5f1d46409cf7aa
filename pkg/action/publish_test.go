package action_test

import (
	"context"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A publisher gives one answer.
type publisher struct {
	there bool
	err   error
}

func (p publisher) Publish(context.Context, string, project.Target, project.Asset) (bool, error) {
	return p.there, p.err
}

// A step that publishes is over unless the publisher may succeed later.
func TestPublish(t *testing.T) {
	what, err := plan.NewArguments(plan.PublicationVersion, plan.Publication{Asset: project.Asset{Bucket: "b", Key: "k.zip"}, Target: project.Target{Name: "eu"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		publisher
		arguments *plan.Arguments
		over      bool
		failed    bool
		why       string
		err       bool
	}{
		"published":        {arguments: what, over: true, why: "s3://b/k.zip"},
		"published before": {publisher: publisher{there: true}, arguments: what, over: true, why: "s3://b/k.zip was published before"},
		"throttled":        {publisher: publisher{err: fault.New(fault.Throttled, "slow down")}, arguments: what, err: true},
		"unavailable":      {publisher: publisher{err: fault.New(fault.Unavailable, "no answer")}, arguments: what, err: true},
		"denied":           {publisher: publisher{err: fault.New(fault.Denied, "no")}, arguments: what, over: true, failed: true},
		"no arguments":     {over: true, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := action.Named(action.All(nil, c.publisher, nil, nil, nil)...).Of(plan.Publish).Poll(t.Context(), action.Task{Step: plan.Step{Verb: plan.Publish, Arguments: c.arguments}})
			if got.Over != c.over || (got.Err != nil) != c.failed || got.Why != c.why || (err != nil) != c.err || got.Record != nil {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
