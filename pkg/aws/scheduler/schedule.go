// Package scheduler has EventBridge Scheduler ask for what is to be done with
// projects though nobody does.
package scheduler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

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

// A Group is where an installation has its schedules, and whom they call.
type Group struct {
	Name     string
	Function string // ARN of the function start
	Role     string // ARN of the role that may call it
	Dead     string // ARN of the queue for calls that were not taken; may be empty
}

// Schedules are those of an installation. They are engine.Schedules.
type Schedules struct {
	client client
	group  Group
}

// New returns the schedules of a group that is there. It asks for nothing.
func New(c client, g Group) *Schedules { return &Schedules{client: c, group: g} }

// Arrange is engine.Schedules. What is wanted is there before anything goes.
func (s *Schedules) SetSchedules(ctx context.Context, id string, wanted map[string]project.Schedule, now time.Time) error {
	there, err := s.names(ctx, id)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		w := want{call: project.Call{Project: id, Schedule: name, Operation: wanted[name].Operation}, Schedule: wanted[name]}
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

// remove sees to it that there is no schedule of a name.
func (s *Schedules) remove(ctx context.Context, name string) error {
	_, err := s.client.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{Name: &name, GroupName: &s.group.Name})
	if is(err, "ResourceNotFoundException") {
		return nil
	}
	return s.classify("remove schedule "+name, err)
}

// names lists what the schedules of a project are called in the group.
func (s *Schedules) names(ctx context.Context, id string) (map[string]bool, error) {
	all := make(map[string]bool)
	pages := scheduler.NewListSchedulesPaginator(s.client, &scheduler.ListSchedulesInput{GroupName: &s.group.Name, NamePrefix: aws.String(prefix(id))})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, s.classify("list the schedules of "+id, err)
		}
		for _, one := range page.Schedules {
			all[aws.ToString(one.Name)] = true
		}
	}
	return all, nil
}

// ensure makes one schedule what is wanted, whether it is there or not.
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
	if !is(err, "ConflictException") {
		return s.classify(fmt.Sprintf("schedule %s, %s", w.call.Schedule, w.Expression), err)
	}
	made, err := s.get(ctx, w.name()) // by another, or by us before an answer was lost
	switch {
	case err != nil:
		return err
	case made == nil:
		return fault.New(fault.Unavailable, "schedule %s: it was there when it was to be made, and is gone since: somebody else changes it: ask again", w.call.Schedule)
	}
	return s.update(ctx, w, made, now)
}

// get returns a schedule as it is, or nil if there is none.
func (s *Schedules) get(ctx context.Context, name string) (*scheduler.GetScheduleOutput, error) {
	out, err := s.client.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: &name, GroupName: &s.group.Name})
	if is(err, "ResourceNotFoundException") {
		return nil, nil
	}
	return out, s.classify("look at schedule "+name, err)
}

// update makes what there is what is wanted, if it is not. What is past is never
// asked for, lest it comes up at once: it goes, unless it may be on its way.
func (s *Schedules) update(ctx context.Context, w want, there *scheduler.GetScheduleOutput, now time.Time) error {
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
	return s.classify(fmt.Sprintf("schedule %s, %s", w.call.Schedule, w.Expression), err)
}
