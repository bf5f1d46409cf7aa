package cloudformation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// atOncePerPoll is how many detections one poll of a step asks about, and how many it starts: all steps share the budget of requests. The last poll reads
// what all of them have found, because the receipt has no room for it.
const atOncePerPoll = 2

// detections are the drift detections of a stack and of those nested in it. A detection of CloudFormation does not compare the resources of nested
// stacks, so each has its own, which starts when that of its parent has ended. The receipt of the step says how far they are.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-drift.html
type detections struct {
	client TargetClient
	in     project.Target
	do     string // what a poll does, for errors
	all    []detection
}

// A detection is that of one stack.
type detection struct {
	ID     string `json:"id,omitempty"`     // of CloudFormation; empty if it could not start
	Path   string `json:"path,omitempty"`   // the logical IDs of the nested stacks that lead to the stack, as Network/Zones; empty for the step's own
	Over   bool   `json:"over,omitempty"`   // it has ended, and those of the stacks nested directly in its stack have started
	InSync bool   `json:"insync,omitempty"` // there is nothing to read about it
	Why    string `json:"why,omitempty"`    // it could not start

	said *sdk.DescribeStackDriftDetectionStatusOutput // in this poll
}

// maxWhy is how much of a reason is stored.
const maxWhy = 200

// detectionsOf returns the detections in the receipt of a task: the ID of one, or a list as operation writes it.
func detectionsOf(client TargetClient, t action.Task) (*detections, error) {
	a := &detections{client: client, in: t.Location().Target, do: "read the drift of stack " + t.Location().Stack}
	if !strings.HasPrefix(t.Receipt.Operation, "[") {
		a.all = []detection{{ID: t.Receipt.Operation}}
		return a, nil
	}
	if err := json.Unmarshal([]byte(t.Receipt.Operation), &a.all); err != nil {
		return nil, fault.New(fault.Broken, "%s: its receipt: %w", a.do, err)
	}
	return a, nil
}

// operation is what the receipt has from now on. If the step's own stack is still compared, it is that ID, as before.
func (a *detections) operation() (string, error) {
	if len(a.all) == 1 && !a.all[0].Over {
		return a.all[0].ID, nil
	}
	text, err := json.Marshal(a.all)
	if err != nil {
		return "", fault.New(fault.Broken, "%s: its receipt: %w", a.do, err)
	}
	return string(text), nil
}

// advance asks about some of the detections that have not ended, and starts some of those of nested stacks. It reports whether all have ended.
func (a *detections) advance(ctx context.Context) (over bool, err error) {
	polled, started := 0, 0
	for i := 0; i < len(a.all); i++ {
		if a.all[i].Over {
			continue
		}
		if polled++; polled > atOncePerPoll {
			return false, nil
		}
		out, ended, err := a.status(ctx, a.all[i])
		if err == nil && !ended {
			continue
		}
		if a.all[i].Path != "" && fault.Final(err) { // it is deleted, or nobody may read it any more
			a.all[i] = uncompared(a.all[i].Path, err)
			continue
		}
		complete := false
		if err == nil {
			complete, err = a.startInside(ctx, a.all[i].Path, aws.ToString(out.StackId), &started)
		}
		if err != nil && started > 0 { // the next poll meets it again, and now what has started is stored
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if a.all[i].said = out; complete {
			a.all[i].Over, a.all[i].InSync = true, out.StackDriftStatus == types.StackDriftStatusInSync && out.DetectionStatus == types.StackDriftDetectionStatusDetectionComplete
		}
	}
	return !slices.ContainsFunc(a.all, func(one detection) bool { return !one.Over }), nil
}

// status asks about a detection. It reports whether that has ended.
func (a *detections) status(ctx context.Context, one detection) (out *sdk.DescribeStackDriftDetectionStatusOutput, ended bool, err error) {
	out, err = a.client.DescribeStackDriftDetectionStatus(ctx, &sdk.DescribeStackDriftDetectionStatusInput{StackDriftDetectionId: &one.ID})
	if err != nil {
		return nil, false, requestFault(a.do, err)
	}
	switch out.DetectionStatus {
	case types.StackDriftDetectionStatusDetectionComplete, types.StackDriftDetectionStatusDetectionFailed:
		return out, true, nil
	case types.StackDriftDetectionStatusDetectionInProgress:
		return out, false, nil
	}
	return nil, false, fault.New(fault.Broken, "%s: its status %s is unknown to this version", a.do, out.DetectionStatus)
}

// startInside starts the detections of the stacks that are nested directly in a stack with a path. It reports false if it has left some for the next
// poll: because it has started enough, or because one is in progress that somebody else, or a function that has crashed, has started.
func (a *detections) startInside(ctx context.Context, path, stack string, started *int) (complete bool, err error) {
	reader := Reader{Clients: func(context.Context, project.Target) (ReadClient, error) { return a.client, nil }}
	found, err := reader.ResourcesInStack(ctx, a.in, stack)
	if fault.Is(err, fault.Throttled, fault.Unavailable) {
		return false, fmt.Errorf("%s: %w", a.do, err)
	}
	if err != nil { // what is nested there is not known, and the rest is
		a.refused(prefixed(path, "nested stacks"), err)
		return true, nil
	}
	for _, one := range found {
		at := prefixed(path, one.ID)
		if one.Type != nestedType || slices.ContainsFunc(a.all, func(d detection) bool { return d.Path == at }) {
			continue
		}
		if len(a.all) > maxNested {
			a.all = append(a.all, detection{Path: at, Over: true, Why: fmt.Sprintf(tooMany, maxNested)})
			return true, nil
		}
		if *started == atOncePerPoll {
			return false, nil
		}
		out, err := a.client.DetectStackDrift(ctx, &sdk.DetectStackDriftInput{StackName: aws.String(one.PhysicalID)}, once)
		err = requestFault("detect the drift of nested stack "+at, err)
		switch {
		case err == nil:
			*started++
			a.all = append(a.all, detection{ID: aws.ToString(out.StackDriftDetectionId), Path: at})
		case fault.Is(err, fault.Busy):
			return false, nil
		case fault.Is(err, fault.Throttled, fault.Unavailable):
			return false, err
		default: // it cannot be compared, and the others can
			a.refused(at, err)
		}
	}
	return true, nil
}

// refused adds a stack that cannot be compared.
func (a *detections) refused(path string, err error) {
	a.all = append(a.all, uncompared(path, err))
}

// uncompared is the detection of a stack that cannot be compared, with as much of the reason as the receipt has room for.
func uncompared(path string, err error) detection {
	why := err.Error()
	if len(why) > maxWhy {
		why = strings.ToValidUTF8(why[:maxWhy], "") + "…"
	}
	return detection{Path: path, Over: true, Why: why}
}

// prefixed is a path with one more logical ID.
func prefixed(path, id string) string {
	if path == "" {
		return id
	}
	return path + "/" + id
}

// read adds to d what a detection that has ended has found. A nested stack of which it can be read no more is one that cannot be compared.
func (a *detections) read(ctx context.Context, one detection, d *plan.Detection) error {
	before := len(d.Findings)
	err := a.readWhole(ctx, one, d)
	if one.Path == "" || !fault.Final(err) {
		return err
	}
	d.Findings = d.Findings[:before]
	return a.readWhole(ctx, uncompared(one.Path, err), d)
}

// readWhole adds to d what a detection that has ended has found, or some of it, with an error.
func (a *detections) readWhole(ctx context.Context, one detection, d *plan.Detection) error {
	if one.InSync {
		return nil
	}
	if one.ID == "" {
		d.Findings = append(d.Findings, plan.Finding{Kind: plan.DriftUnchecked, Resource: one.Path, Type: nestedType, Why: one.Why})
		return nil
	}
	out := one.said
	if out == nil {
		var err error
		if out, _, err = a.status(ctx, one); err != nil {
			return err
		}
	}
	if out.DetectionStatus == types.StackDriftDetectionStatusDetectionFailed {
		why := aws.ToString(out.DetectionStatusReason)
		if why == "" {
			why = "CloudFormation gives no reason"
		}
		if one.Path != "" {
			why = "nested stack " + one.Path + ": " + why
		}
		if d.Failure != "" {
			d.Failure += "; "
		}
		d.Failure += why
	}
	prefix := ""
	if one.Path != "" {
		prefix = one.Path + "/"
	}
	return a.differing(ctx, aws.ToString(out.StackId), prefix, d)
}
