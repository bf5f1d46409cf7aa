package scheduler

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// List returns the schedules of a project, sorted by name.
func (s *Schedules) List(ctx context.Context, id string) ([]project.Scheduled, error) {
	there, err := s.names(ctx, id)
	if err != nil {
		return nil, err
	}
	var all []project.Scheduled
	for _, name := range slices.Sorted(maps.Keys(there)) {
		out, err := s.get(ctx, name)
		if err != nil {
			return nil, err
		}
		if out == nil { // it was deleted meanwhile
			continue
		}
		k := project.Scheduled{
			Expression: aws.ToString(out.ScheduleExpression), Zone: aws.ToString(out.ScheduleExpressionTimezone),
			Start: aws.ToTime(out.StartDate), Off: out.State == types.ScheduleStateDisabled,
		}
		event := struct{ Detail *project.Call }{&k.Call}
		if out.Target != nil {
			err = json.Unmarshal([]byte(aws.ToString(out.Target.Input)), &event)
		}
		if err != nil || k.Project != id {
			return nil, fault.New(fault.Broken, "schedule %s was not created by Stackwright but has a name that begins like ours: delete it, or rename it", name)
		}
		all = append(all, k)
	}
	return all, nil
}
