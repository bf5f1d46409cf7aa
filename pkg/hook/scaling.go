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

// suspending suspends processes of a group, or of each group of a stack.
type suspending struct{ instant }

// resuming resumes them.
type resuming struct{ instant }

// suspendType suspends processes of an Auto Scaling group.
func suspendType() Type { return scalingType("suspend_scaling", suspending{}) }

// resumeType resumes them.
func resumeType() Type { return scalingType("resume_scaling", resuming{}) }

// allProcesses stands for all processes of a group.
const allProcesses = "all"

// scalingType is a type that changes the processes of a group.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-suspend-resume-processes.html
func scalingType(name string, caller Caller) Type {
	const process = `(AddToLoadBalancer|AlarmNotification|AZRebalance|HealthCheck|InstanceRefresh|Launch|ReplaceUnhealthy|ScheduledActions|Terminate)`
	return Type{
		Name: name, What: "the name or the ARN of an Auto Scaling group, or " + OfStack + " for all groups of the stack", Resource: "AWS::AutoScaling::AutoScalingGroup",
		Form: pattern.New(`^(arn:aws[a-z-]*:autoscaling:[a-z0-9-]+:[0-9]{12}:autoScalingGroup:[-0-9a-f]{1,36}:autoScalingGroupName/)?[!-9;-~]{1,255}$`),
		Keys: []Key{{
			Name: "processes", Plain: true, Form: pattern.New(`^(` + allProcesses + `|` + process + `(,` + process + `)*)$`),
			What: "all, or some of AddToLoadBalancer, AlarmNotification, AZRebalance, HealthCheck, InstanceRefresh, Launch, ReplaceUnhealthy, ScheduledActions and Terminate, with commas",
		}},
		ARN: groupARN, Caller: caller,
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
func (suspending) Call(ctx context.Context, s Services, c Call) (string, error) {
	group, processes, err := scaled(c)
	if err != nil {
		return "", err
	}
	return "", s.Groups.SuspendProcesses(ctx, c.Target, group, processes)
}

// Call implements Caller.
func (resuming) Call(ctx context.Context, s Services, c Call) (string, error) {
	group, processes, err := scaled(c)
	if err != nil {
		return "", err
	}
	return "", s.Groups.ResumeProcesses(ctx, c.Target, group, processes)
}

// scaled is the group of a call by its name, and its processes; nil stands for all.
func scaled(c Call) (group string, processes []string, err error) {
	part, err := c.inTarget(groupARN(c.Target, c.On()))
	if err != nil {
		return "", nil, err
	}
	_, group, _ = strings.Cut(part, ":autoScalingGroupName/")
	if p := c.Values["processes"]; p != allProcesses {
		processes = strings.Split(p, ",")
	}
	return group, processes, nil
}
