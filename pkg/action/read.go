package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// readVerb reads a live stack into its record.
func readVerb(c Cloud) Verb {
	return Verb{Name: plan.Read, Action: read{c}, PollReads: 1, Past: "read"}
}

// read writes the live stack into the record.
type read struct{ Cloud }

// Start does nothing: a poll reads.
func (read) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll reads the stack once no operation is in progress on it. Of a stack that is not as it was deployed, only the
// outputs are taken over: it counts as changed outside Stackwright until a deploy succeeds.
func (a read) Poll(ctx context.Context, t Task) (Progress, error) {
	live, err := t.live(ctx, a)
	switch {
	case err != nil || live.Status.Busy():
		return Progress{}, err
	case live.Status.Gone() && t.Record.Intent:
		return Progress{Over: true, Why: unknown}, nil
	case live.Status.Gone() && t.Record.StackID == "" && t.Record.Awaited():
		return Progress{Over: true, Why: "it is gone: the next deploy creates it again, with the resources that were retained, and from the backups that it was restored from"}, nil
	case live.Status.Gone(), t.Record.StackID != "" && t.Record.StackID != live.StackID:
		return t.forgotten(Progress{Over: true, Why: "it is gone"}), nil
	case t.Record.StackID == "":
		return Progress{Over: true, Why: unknown}, nil
	}
	r := t.Record
	live = r.Known(live)
	r.StackID, r.Outputs, r.Run = live.StackID, live.Outputs, t.Run
	why := "as recorded"
	if !r.Current(live) {
		deployed, err := t.deployed(ctx, a, live)
		switch {
		case err != nil:
			return Progress{}, err
		case r.Proves(live, deployed):
			r.LastUpdated = live.LastUpdated
		default: // the record still says what Stackwright deployed, so the next plan reads what is there
			why = "changed outside Stackwright, or its last operation did not finish: the next deploy updates it"
		}
	}
	if r.Policy != "" { // a stack policy that the project has given
		policy, err := a.StackPolicy(ctx, t.Location())
		switch {
		case fault.Is(err, fault.Missing): // it was deleted since
			return Progress{Soon: true}, nil
		case fault.Is(err, fault.Denied):
			why += ", except for its stack policy, which cannot be read: " + err.Error()
		case err != nil:
			return Progress{}, err
		case r.HasOtherPolicy(policy):
			r.Digest, r.Policy, r.OtherPolicy = "", policy.Digest, true
			why = "its stack policy was changed outside Stackwright: the next deploy sets it again"
		}
	}
	return Progress{Over: true, Why: why, Record: &r}, nil
}

const (
	// unknown says why a read does not change the record.
	unknown = "it is not known yet whether Stackwright made this stack: the next deploy finds out"

	// unended says why nobody can say whether a stack is as recorded.
	unended = "the run of its last operation ended before that: what is deployed is not recorded, and the next deploy updates it"
)
