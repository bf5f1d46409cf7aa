package suspend

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// TaskServices are services of ECS, each of which keeps a number of tasks running.
type TaskServices interface {
	// TaskServices reads services of the account and region of the target by their ARNs. It leaves out those that do not exist.
	TaskServices(ctx context.Context, in project.Target, arns []string) (map[string]TaskService, error)

	// Scale sets how many tasks a service keeps running. The error is of kind Missing if there is none.
	Scale(ctx context.Context, in project.Target, arn string, desired int) error
}

// A TaskService is a service of ECS.
type TaskService struct {
	Desired int    // tasks
	Running int    // tasks that run
	Present int    // tasks that run, or are about to
	Fixed   string // why it cannot be stopped; "" if it can

	Charged string // what its desired tasks are charged by the hour, for price.Charged; empty if that is not known
}

// serviceKind is a service of ECS. A service of no tasks costs nothing. Tasks on EC2 cost nothing beside their instances.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_UpdateService.html
func serviceKind() Kind {
	return Kind{Type: "AWS::ECS::Service", Name: "ECS service", Switch: taskServices{}}
}

// taskServices sets how many tasks services have.
type taskServices struct{}

// See implements Switch.
func (taskServices) See(ctx context.Context, s Services, in project.Target, ids []string) (map[string]Seen, error) {
	found, err := s.TaskServices.TaskServices(ctx, in, ids)
	if err != nil {
		return nil, err
	}
	all := make(map[string]Seen, len(found))
	for arn, t := range found {
		one := Seen{State: On, As: strconv.Itoa(t.Desired), Says: fmt.Sprintf("of %d desired tasks with %d running", t.Desired, t.Running), Charged: t.Charged}
		switch {
		case t.Fixed != "":
			one = Seen{State: Fixed, Says: t.Fixed}
		case t.Desired == 0 && t.Present == 0:
			one.State = Off
		case t.Desired == 0:
			one.State = Stopping
		case t.Running < t.Desired:
			one.State = Starting
		}
		all[arn] = one
	}
	return all, nil
}

// Stop implements Switch.
func (taskServices) Stop(ctx context.Context, s Services, in project.Target, id string) error {
	return s.TaskServices.Scale(ctx, in, id, 0)
}

// Start implements Switch.
func (taskServices) Start(ctx context.Context, s Services, in project.Target, id, was string) error {
	desired, err := strconv.Atoi(was)
	if err != nil {
		return fault.New(fault.Broken, "desired tasks of the ECS service %s: %w", id, err)
	}
	return s.TaskServices.Scale(ctx, in, id, desired)
}
