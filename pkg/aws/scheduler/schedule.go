// Package scheduler keeps the schedules of projects in EventBridge Scheduler.
package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// client is the part of the SDK's Scheduler client that is used here.
type client interface {
	ListSchedules(context.Context, *scheduler.ListSchedulesInput, ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error)
	GetSchedule(context.Context, *scheduler.GetScheduleInput, ...func(*scheduler.Options)) (*scheduler.GetScheduleOutput, error)
	CreateSchedule(context.Context, *scheduler.CreateScheduleInput, ...func(*scheduler.Options)) (*scheduler.CreateScheduleOutput, error)
	UpdateSchedule(context.Context, *scheduler.UpdateScheduleInput, ...func(*scheduler.Options)) (*scheduler.UpdateScheduleOutput, error)
	DeleteSchedule(context.Context, *scheduler.DeleteScheduleInput, ...func(*scheduler.Options)) (*scheduler.DeleteScheduleOutput, error)
}

// A Group is the schedule group of an installation, and the function that its schedules call.
type Group struct {
	Name     string
	Function string // ARN of the function start
	Role     string // ARN of the role that may call it
	Dead     string // ARN of the dead-letter queue for calls that failed; may be empty
}

// Schedules are the schedules of an installation. They implement engine.Schedules.
type Schedules struct {
	client client
	group  Group
}

// New returns the schedules of an existing group. It sends no request.
func New(c client, g Group) *Schedules { return &Schedules{client: c, group: g} }

// SetSchedules implements engine.Schedules. It creates and updates schedules before
// it deletes any.
func (s *Schedules) SetSchedules(ctx context.Context, id string, wanted map[string]project.Schedule, authors []string, now time.Time) error {
	there, err := s.names(ctx, id)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		w := want{call: wanted[name].Call(id, name, authors), Schedule: wanted[name]}
		if err := s.ensure(ctx, w, there[called(id, name)], now); err != nil {
			return err
		}
		delete(there, called(id, name))
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if err := s.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes a schedule, if it exists.
func (s *Schedules) remove(ctx context.Context, name string) error {
	_, err := s.client.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{Name: &name, GroupName: &s.group.Name})
	if awserr.Is(err, "ResourceNotFoundException") {
		return nil
	}
	return s.fault("delete schedule "+name, err)
}

// names returns the names that the schedules of a project have in the group.
func (s *Schedules) names(ctx context.Context, id string) (map[string]bool, error) {
	all := make(map[string]bool)
	pages := scheduler.NewListSchedulesPaginator(s.client, &scheduler.ListSchedulesInput{GroupName: &s.group.Name, NamePrefix: aws.String(prefix(id))})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, s.fault("list the schedules of "+id, err)
		}
		for _, one := range page.Schedules {
			all[aws.ToString(one.Name)] = true
		}
	}
	return all, nil
}

// ensure creates a schedule, or updates the one that exists.
func (s *Schedules) ensure(ctx context.Context, w want, there bool, now time.Time) error {
	if there {
		is, err := s.get(ctx, w.name())
		if err != nil {
			return err
		}
		if is != nil {
			return s.update(ctx, w, is, now)
		}
	}
	if w.Past(now) {
		return nil
	}
	_, err := s.client.CreateSchedule(ctx, s.creation(w, now))
	if !awserr.Is(err, "ConflictException") {
		return s.fault(fmt.Sprintf("schedule %s, %s", w.call.Schedule, w.Expression), err)
	}
	made, err := s.get(ctx, w.name()) // another call created it, or ours did and its answer was lost
	switch {
	case err != nil:
		return err
	case made == nil:
		return fault.New(fault.Unavailable, "schedule %s existed when it was created, and does not exist any more: another deploy changes it at the same time: try again", w.call.Schedule)
	}
	return s.update(ctx, w, made, now)
}

// get returns a schedule, or nil if it does not exist.
func (s *Schedules) get(ctx context.Context, name string) (*scheduler.GetScheduleOutput, error) {
	out, err := s.client.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: &name, GroupName: &s.group.Name})
	if awserr.Is(err, "ResourceNotFoundException") {
		return nil, nil
	}
	return out, s.fault("read schedule "+name, err)
}

// update changes an existing schedule if it differs. EventBridge Scheduler would
// run a one-time schedule of the past at once: such a schedule is deleted instead,
// unless it is unchanged, because then its call may be under way.
func (s *Schedules) update(ctx context.Context, w want, there *scheduler.GetScheduleOutput, now time.Time) error {
	w.call.Authors = s.authors(w, there, now)
	in := s.change(w, there, now)
	if same(in, there) {
		return nil
	}
	if w.Past(now) {
		if alike(in, there) {
			return nil
		}
		return s.remove(ctx, w.name())
	}
	_, err := s.client.UpdateSchedule(ctx, in)
	return s.fault(fmt.Sprintf("schedule %s, %s", w.call.Schedule, w.Expression), err)
}

// authors are those that w has, and those of the existing schedule if it has some and w differs from it in nothing else.
func (s *Schedules) authors(w want, there *scheduler.GetScheduleOutput, now time.Time) []string {
	if there.Target == nil {
		return w.call.Authors
	}
	before := w
	var is struct{ Detail project.Call }
	if err := json.Unmarshal([]byte(aws.ToString(there.Target.Input)), &is); err != nil { // somebody else has written it
		return w.call.Authors
	}
	before.call.Authors = is.Detail.Authors
	if len(is.Detail.Authors) > 0 && alike(s.change(before, there, now), there) {
		return is.Detail.Authors
	}
	return w.call.Authors
}

// fault returns the fault of a request to EventBridge Scheduler.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/CommonErrors.html
func (s *Schedules) fault(do string, err error) error {
	switch code, message := awserr.Answer(err); code {
	case "ValidationException":
		return fault.New(fault.Invalid, "%s: EventBridge Scheduler refuses it (%s): correct it under schedules in stackwright.yaml", do, message)
	case "ServiceQuotaExceededException":
		return fault.New(fault.Refused, "%s: the account has reached its quota of schedules (%s): raise it in Service Quotas, or delete schedules", do, message)
	case "ResourceNotFoundException":
		return fault.New(fault.Broken, "%s: schedule group %s does not exist: deploy Stackwright, or set STACKWRIGHT_SCHEDULE_GROUP", do, s.group.Name)
	}
	return awserr.Fault(do, "schedule group "+s.group.Name, err, awserr.Kinds{"ConflictException": fault.Unavailable})
}
