package hook

import (
	"context"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// ScalingGroups are groups of EC2 Auto Scaling.
type ScalingGroups interface {
	// SuspendProcesses suspends processes of a group in the account and region of the target; nil stands for all. One that is
	// suspended stays so.
	SuspendProcesses(ctx context.Context, in project.Target, group string, processes []string) error

	// ResumeProcesses resumes them. One that is not suspended goes on.
	ResumeProcesses(ctx context.Context, in project.Target, group string, processes []string) error
}

// scaling changes the processes of a group.
type scaling struct {
	instant
	change func(Services) func(context.Context, project.Target, string, []string) error
}

// suspendType suspends processes of an Auto Scaling group.
func suspendType() Type {
	return scalingType("suspend_scaling", func(s Services) func(context.Context, project.Target, string, []string) error {
		return s.Groups.SuspendProcesses
	})
}

// resumeType resumes them.
func resumeType() Type {
	return scalingType("resume_scaling", func(s Services) func(context.Context, project.Target, string, []string) error {
		return s.Groups.ResumeProcesses
	})
}

// allProcesses stands for all processes of a group.
const allProcesses = "all"

// scalingType is a type that changes the processes of a group.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-suspend-resume-processes.html
func scalingType(name string, change func(Services) func(context.Context, project.Target, string, []string) error) Type {
	const process = `(AddToLoadBalancer|AlarmNotification|AZRebalance|HealthCheck|InstanceRefresh|Launch|ReplaceUnhealthy|ScheduledActions|Terminate)`
	return Type{
		Name: name, What: "the name or the ARN of an Auto Scaling group",
		Form: pattern.New(`^(arn:aws[a-z-]*:autoscaling:[a-z0-9-]+:[0-9]{12}:autoScalingGroup:[-0-9a-f]{1,36}:autoScalingGroupName/)?[!-9;-~]{1,255}$`),
		Keys: []Key{{
			Name: "processes", Plain: true, Form: pattern.New(`^(` + allProcesses + `|` + process + `(,` + process + `)*)$`),
			What: "all, or some of AddToLoadBalancer, AlarmNotification, AZRebalance, HealthCheck, InstanceRefresh, Launch, ReplaceUnhealthy, ScheduledActions and Terminate, with commas",
		}},
		ARN: groupARN, Caller: scaling{change: change},
	}
}

// groupARN is the ARN of a group that is given by its name or ARN. The part that only Auto Scaling knows is a star, as in policies.
func groupARN(in project.Target, on string) string {
	if strings.Contains(on, ":") { // a name has none
		return on
	}
	return "arn:aws:autoscaling:" + in.Region + ":" + in.Account + ":autoScalingGroup:*:autoScalingGroupName/" + on
}

// Call implements Caller.
func (h scaling) Call(ctx context.Context, s Services, c Call) (string, error) {
	part, err := c.inTarget(groupARN(c.Target, c.On()))
	if err != nil {
		return "", err
	}
	_, group, _ := strings.Cut(part, ":autoScalingGroupName/")
	var processes []string
	if p := c.Values["processes"]; p != allProcesses {
		processes = strings.Split(p, ",")
	}
	return "", h.change(s)(ctx, c.Target, group, processes)
}
