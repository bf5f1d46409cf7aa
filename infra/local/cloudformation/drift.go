package cloudformation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	schema "github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Drift is what somebody changes in a resource without CloudFormation.
type Drift struct {
	Properties map[string]any `json:"properties,omitempty"` // the new values, by the names of properties; null removes one
	Deleted    bool           `json:"deleted,omitempty"`    // the resource is deleted
}

// detection is a drift detection of a stack.
type detection struct {
	ID             string
	Started, Ready time.Time
	Resources      []resourceDrift // those that CloudFormation has compared
}

// resourceDrift is what a detection says about one resource. Values of NoEcho parameters are masked in it.
type resourceDrift struct {
	Logical, Type, Physical string
	Status                  types.StackResourceDriftStatus
	Expected, Actual        string
	Differences             []propertyDifference
}

type propertyDifference struct {
	Path, Expected, Actual string
	Kind                   types.DifferenceType
}

// maxDetections is how many detections of a stack can be described.
const maxDetections = 20

// change changes the resource of a fault in all stacks that it matches, as somebody would who does not use CloudFormation.
func (s *Service) change(f Fault) error {
	found := false
	for _, st := range s.stacksInside() {
		r := st.existing()[f.Resource]
		if !f.matches(st.Name) || r == nil {
			continue
		}
		found = true
		if err := r.drift(*f.Drift); err != nil {
			return err
		}
		s.keepDetections(st)
	}
	if !found {
		return fmt.Errorf("drift of stack %q: no stack of that name has a resource %q", f.Stack, f.Resource)
	}
	return nil
}

// drift changes the actual state of a resource.
func (r *resource) drift(by Drift) error {
	actual := properties(r.observed())
	if actual == nil {
		actual = map[string]any{}
	}
	for name, value := range by.Properties {
		if actual[name] = value; value == nil {
			delete(actual, name)
		}
	}
	text, err := compactJSON(actual)
	if err != nil {
		return err
	}
	if r.Outside, r.Missing = text, by.Deleted; text == r.Properties {
		r.Outside = ""
	}
	return nil
}

// observed are the actual properties of a resource, as JSON.
func (r *resource) observed() string {
	if r.Outside != "" {
		return r.Outside
	}
	return r.Properties
}

// drifted reports whether somebody has changed or deleted the resource without CloudFormation.
func (r *resource) drifted() bool { return r.Missing || r.Outside != "" }

// notFound is why an update of the resource fails; "" if somebody has not deleted it. An update does not create a resource again.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html
func (r *resource) notFound() string {
	if !r.Missing {
		return ""
	}
	return "Resource handler returned message: \"Resource of type '" + r.Type + "' with identifier '" + r.Physical + "' was not found.\" (HandlerErrorCode: NotFound)"
}

// keepDrift gives will, which replaces nothing, the actual state of the resource is: an update changes only the properties that the two
// versions of the template have differently.
func (r *resource) keepDrift(is *resource) error {
	if !is.drifted() {
		return nil
	}
	by := Drift{Properties: map[string]any{}, Deleted: is.Missing}
	was, will, actual := properties(is.Properties), properties(r.Properties), properties(is.observed())
	for _, name := range union(was, actual) {
		if template.Compact(was[name]) == template.Compact(will[name]) {
			by.Properties[name] = actual[name]
		}
	}
	return r.drift(by)
}

// detectStackDrift compares the resources of a stack with its template, but for its nested stacks: each has a detection of its own.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-drift.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DetectStackDrift.html
func (s *Service) detectStackDrift(_ context.Context, in *cfn.DetectStackDriftInput) (*cfn.DetectStackDriftOutput, error) {
	out := &cfn.DetectStackDriftOutput{}
	return out, s.locked(func() error {
		st, err := s.describedStack(in.StackName)
		switch {
		case err != nil:
			return err
		case !detectable(st.Status):
			return invalid("Stack:%s is in %s state and its drift can not be detected.", st.ID, st.Status)
		}
		now := time.Now()
		for _, d := range st.Detections {
			if now.Before(d.Ready) {
				return invalid("Drift detection is already in progress for stack [%s]", st.ID)
			}
		}
		d := detection{ID: derived(st, "drift", len(st.Events)+int(now.Sub(st.Created))), Started: now, Ready: now.Add(s.duration(st) / 2)}
		here := st.existing()
		for _, name := range sorted(here) {
			chosen := len(in.LogicalResourceIds) == 0 || slices.Contains(in.LogicalResourceIds, name)
			if _, known := schema.Named(here[name].Type); known && chosen && here[name].Type != nestedType {
				d.Resources = append(d.Resources, compared(here[name], st.Now.Parameters))
			}
		}
		st.Detections = append(st.Detections, d)
		st.Detections = st.Detections[max(0, len(st.Detections)-maxDetections):]
		s.keepDetections(st)
		out.StackDriftDetectionId = &d.ID
		return nil
	})
}

// detectable reports whether the drift of a stack with this status can be detected.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/detect-drift-stack.html
func detectable(status types.StackStatus) bool {
	switch status {
	case types.StackStatusCreateComplete, types.StackStatusUpdateComplete, types.StackStatusUpdateRollbackComplete, types.StackStatusUpdateRollbackFailed,
		types.StackStatusImportComplete, types.StackStatusImportRollbackComplete:
		return true
	}
	return false
}

// compared compares a resource with its template. Properties that the template does not have are not compared.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-drift.html
func compared(r *resource, parameters []parameter) resourceDrift {
	d := resourceDrift{Logical: r.Logical, Type: r.Type, Physical: r.Physical, Status: types.StackResourceDriftStatusInSync}
	if r.Missing {
		d.Status = types.StackResourceDriftStatusDeleted
		return d
	}
	d.Expected, d.Actual = mask(parameters, r.Properties), mask(parameters, r.observed())
	t, _ := schema.Named(r.Type)
	for _, v := range propertyChanges(t, r.Properties, r.observed()) {
		p := propertyDifference{Path: "/" + strings.Join(v.path, "/"), Expected: driftText(parameters, v.before), Actual: driftText(parameters, v.after), Kind: types.DifferenceTypeNotEqual}
		switch {
		case v.before == nil && !inList(properties(r.Properties), v.path):
			continue
		case v.before == nil:
			p.Kind = types.DifferenceTypeAdd
		case v.after == nil:
			p.Kind = types.DifferenceTypeRemove
		}
		d.Status = types.StackResourceDriftStatusModified
		d.Differences = append(d.Differences, p)
	}
	return d
}

// driftText is a value as a detection shows it: one that is not there is null.
func driftText(parameters []parameter, v any) string {
	if v == nil {
		return "null"
	}
	return shownText(parameters, v)
}

// inList reports whether a path ends in a list.
func inList(properties map[string]any, path []string) bool {
	_, list := at(properties, path[:len(path)-1]).([]any)
	return list
}

// drifted is how many resources of the detection differ.
func (d detection) drifted() int32 {
	n := int32(0)
	for _, r := range d.Resources {
		if r.Status != types.StackResourceDriftStatusInSync {
			n++
		}
	}
	return n
}

// status is what the detection says about the stack.
func (d detection) status() types.StackDriftStatus {
	if d.drifted() > 0 {
		return types.StackDriftStatusDrifted
	}
	return types.StackDriftStatusInSync
}

// detected is the last detection that has ended; nil if there is none.
func (st *stack) detected() *detection {
	for i := len(st.Detections) - 1; i >= 0; i-- {
		if !time.Now().Before(st.Detections[i].Ready) {
			return &st.Detections[i]
		}
	}
	return nil
}

// driftInformation is what DescribeStacks says of the drift of a stack.
func (st *stack) driftInformation() *types.StackDriftInformation {
	d := st.detected()
	if d == nil {
		return &types.StackDriftInformation{StackDriftStatus: types.StackDriftStatusNotChecked}
	}
	return &types.StackDriftInformation{StackDriftStatus: d.status(), LastCheckTimestamp: aws.Time(d.Started)}
}

func (s *Service) describeStackDriftDetectionStatus(_ context.Context, in *cfn.DescribeStackDriftDetectionStatusInput) (*cfn.DescribeStackDriftDetectionStatusOutput, error) {
	out := &cfn.DescribeStackDriftDetectionStatusOutput{}
	return out, s.locked(func() error {
		for _, st := range append(s.stacksInside(), s.stacks...) { // also those of deleted stacks
			for _, d := range st.Detections {
				if d.ID != aws.ToString(in.StackDriftDetectionId) {
					continue
				}
				out.StackId, out.StackDriftDetectionId, out.Timestamp = &st.ID, &d.ID, aws.Time(d.Started)
				if out.DetectionStatus = types.StackDriftDetectionStatusDetectionInProgress; time.Now().Before(d.Ready) {
					return nil
				}
				out.DetectionStatus, out.StackDriftStatus = types.StackDriftDetectionStatusDetectionComplete, d.status()
				out.DriftedStackResourceCount = aws.Int32(d.drifted())
				return nil
			}
		}
		return invalid("No drift detection found for id %s", aws.ToString(in.StackDriftDetectionId))
	})
}

func (s *Service) describeStackResourceDrifts(_ context.Context, in *cfn.DescribeStackResourceDriftsInput) (*cfn.DescribeStackResourceDriftsOutput, error) {
	out := &cfn.DescribeStackResourceDriftsOutput{StackResourceDrifts: []types.StackResourceDrift{}}
	return out, s.locked(func() error {
		st, err := s.describedStack(in.StackName)
		if err != nil {
			return err
		}
		d := st.detected()
		if d == nil {
			return nil
		}
		all := slices.DeleteFunc(slices.Clone(d.Resources), func(r resourceDrift) bool {
			return len(in.StackResourceDriftStatusFilters) > 0 && !slices.Contains(in.StackResourceDriftStatusFilters, r.Status)
		})
		size := int(aws.ToInt32(in.MaxResults))
		if size == 0 {
			size = 100
		}
		some, next, err := page(all, in.NextToken, size)
		for _, r := range some {
			out.StackResourceDrifts = append(out.StackResourceDrifts, r.describe(st, d.Started))
		}
		out.NextToken = next
		return err
	})
}

func (r resourceDrift) describe(st *stack, at time.Time) types.StackResourceDrift {
	d := types.StackResourceDrift{
		StackId: &st.ID, LogicalResourceId: aws.String(r.Logical), PhysicalResourceId: optional(r.Physical), ResourceType: aws.String(r.Type),
		StackResourceDriftStatus: r.Status, Timestamp: aws.Time(at), ExpectedProperties: optional(r.Expected), ActualProperties: optional(r.Actual),
		PropertyDifferences: []types.PropertyDifference{},
	}
	for _, p := range r.Differences {
		d.PropertyDifferences = append(d.PropertyDifferences, types.PropertyDifference{PropertyPath: aws.String(p.Path), ExpectedValue: aws.String(p.Expected), ActualValue: aws.String(p.Actual), DifferenceType: p.Kind})
	}
	return d
}
