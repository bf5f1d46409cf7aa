package scheduler

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Kept is a schedule as it is in the group.
type Kept struct {
	project.Call
	Expression string
	Zone       string
	Start      time.Time // of rate(…): a time at which it comes up
	Off        bool      // somebody has disabled it
}

// List returns the schedules of a project, sorted by name.
func (s *Schedules) List(ctx context.Context, id string) ([]Kept, error) {
	there, err := s.names(ctx, id)
	if err != nil {
		return nil, err
	}
	var all []Kept
	for _, name := range slices.Sorted(maps.Keys(there)) {
		out, err := s.get(ctx, name)
		if err != nil {
			return nil, err
		}
		if out == nil { // it has gone meanwhile
			continue
		}
		k := Kept{
			Expression: aws.ToString(out.ScheduleExpression), Zone: aws.ToString(out.ScheduleExpressionTimezone),
			Start: aws.ToTime(out.StartDate), Off: out.State == types.ScheduleStateDisabled,
		}
		event := struct{ Detail *project.Call }{&k.Call}
		if out.Target != nil {
			err = json.Unmarshal([]byte(aws.ToString(out.Target.Input)), &event)
		}
		if err != nil || k.Project != id {
			return nil, fault.New(fault.Broken, "schedule %s is none of ours: remove it, or give it another name", name)
		}
		all = append(all, k)
	}
	return all, nil
}
