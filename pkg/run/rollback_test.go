package run_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// The message of a run that requested a rollback says that it follows, or why none
// does.
func TestLeaveSaysWhatFollows(t *testing.T) {
	good, other := run.Source{Key: "k", Version: "1"}, run.Source{Key: "k", Version: "2"}
	for what, c := range map[string]struct {
		run     run.Run
		good    run.Source
		waiting []run.Writer
		follows bool
		says    string
	}{
		"failed":              {run: run.Run{Request: run.Request{Options: run.Options{Rollback: true}}, State: run.StateFailed}, good: good, follows: true, says: "rollback next follows"},
		"cancelled and back":  {run: run.Run{State: run.StateCancelled, Command: run.CancelAndRollBack}, good: good, follows: true, says: "rollback next follows"},
		"failed while so":     {run: run.Run{State: run.StateFailed, Command: run.CancelAndRollBack}, good: good, follows: true, says: "rollback next follows"},
		"others wait":         {run: run.Run{Request: run.Request{Options: run.Options{Rollback: true}}, State: run.StateFailed}, good: good, waiting: []run.Writer{{Run: "x"}}, follows: true, says: "rollback next follows"},
		"not requested":       {run: run.Run{State: run.StateFailed}, good: good},
		"only cancelled":      {run: run.Run{Request: run.Request{Options: run.Options{Rollback: true}}, State: run.StateCancelled, Command: run.Cancel}, good: good},
		"succeeded":           {run: run.Run{Request: run.Request{Options: run.Options{Rollback: true}}, State: run.StateSucceeded}, good: good},
		"superseded":          {run: run.Run{Request: run.Request{Options: run.Options{Rollback: true}}, State: run.StateSuperseded, Command: run.Supersede}, good: good},
		"nothing succeeded":   {run: run.Run{Request: run.Request{Options: run.Options{Rollback: true}}, State: run.StateFailed}, follows: true, says: "it deletes the stacks that the deploy created"},
		"the very same":       {run: run.Run{Request: run.Request{Options: run.Options{Rollback: true}}, State: run.StateFailed}, good: other, says: "of the same files"},
		"an upload waits":     {run: run.Run{Request: run.Request{Options: run.Options{Rollback: true}}, State: run.StateFailed}, good: good, waiting: []run.Writer{{Run: "x"}, {Run: "y", Upload: true}}, says: "run y was uploaded since"},
		"a rollback is wrong": {run: run.Run{Request: run.Request{Operation: "rollback"}, State: run.StateCancelled, Command: run.CancelAndRollBack}, good: good, says: "only a deploy is rolled back"},
		"a destroy":           {run: run.Run{Request: run.Request{Operation: "destroy"}, State: run.StateCancelled, Command: run.CancelAndRollBack}, good: good, says: "only a deploy is rolled back"},
	} {
		t.Run(what, func(t *testing.T) {
			r := c.run
			r.ID, r.Source, r.Who, r.Claim, r.Requester = "one", other, "ann", "root", "111122223333"
			if r.Operation == "" {
				r.Operation = "deploy"
			}
			x := run.Lock{Owner: run.Writer{Run: "one"}, History: run.History{LastSuccessful: c.good}, Waiting: c.waiting}.Leave(r, operation(r), "next")
			if (x.Rollback != nil) != c.follows || !strings.Contains(x.Message, c.says) || (c.says == "") != (x.Message == "") {
				t.Errorf("follows: %v, says %q", x.Rollback, x.Message)
			}
			if c.follows && (x.NextOwner != "next" || x.Rollback.Source != c.good || x.Rollback.Who != "ann" || x.Rollback.Claim != "root" || x.Rollback.Requester != "111122223333") {
				t.Errorf("next is %q, %+v", x.NextOwner, x.Rollback)
			}
		})
	}
	if x := (run.Lock{Owner: run.Writer{Run: "another"}, History: run.History{LastSuccessful: good}}).Leave(run.Run{Request: run.Request{ID: "one", Operation: "deploy"}, State: run.StateCancelled, Command: run.CancelAndRollBack}, plan.Operation{Reversible: true}, "next"); x.Rollback != nil || x.Message != "" {
		t.Errorf("of a run that never had the lock: %v %q", x.Rollback, x.Message)
	}
}
