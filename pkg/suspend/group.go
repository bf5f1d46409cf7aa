package suspend

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Groups are groups of EC2 Auto Scaling.
type Groups interface {
	// Groups reads groups of the account and region of the target by their names. It leaves out those that do not exist.
	Groups(ctx context.Context, in project.Target, names []string) (map[string]Group, error)

	// Resize sets the sizes of a group. The error is of kind Missing if there is none.
	Resize(ctx context.Context, in project.Target, name string, to Size) error
}

// A Size is the sizes of a group.
type Size struct {
	Min     int `json:"min"`
	Max     int `json:"max"`
	Desired int `json:"desired"`
}

// A Group is a group of EC2 Auto Scaling.
type Group struct {
	Size
	Instances int // that it has, in any state
	InService int // of these
	Deleting  bool

	Charged string // what its instances are charged by the hour, without volumes, for price.Charged; empty if that is not known
}

// groupKind is an Auto Scaling group. A group of size 0 has no instances.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/asg-capacity-limits.html
func groupKind() Kind {
	return Kind{Type: "AWS::AutoScaling::AutoScalingGroup", Name: "Auto Scaling group", Switch: groups{}}
}

// groups sets the sizes of groups.
type groups struct{}

// See implements Switch. A group is on if it may have instances, also if it has none now: a policy may add some.
func (groups) See(ctx context.Context, s Services, in project.Target, ids []string) (map[string]Seen, error) {
	found, err := s.Groups.Groups(ctx, in, ids)
	if err != nil {
		return nil, err
	}
	all := make(map[string]Seen, len(found))
	for name, g := range found {
		as, err := json.Marshal(g.Size)
		if err != nil {
			return nil, fault.New(fault.Broken, "sizes of the Auto Scaling group %s: %w", name, err)
		}
		one := Seen{State: On, As: string(as), Says: fmt.Sprintf("of min %d, max %d, desired %d with %d of %d instances in service", g.Min, g.Max, g.Desired, g.InService, g.Instances), Charged: g.Charged}
		switch {
		case g.Deleting:
			continue
		case g.Size == Size{} && g.Instances == 0:
			one.State = Off
		case g.Size == Size{}:
			one.State = Stopping
		case g.InService < g.Desired:
			one.State = Starting
		}
		all[name] = one
	}
	return all, nil
}

// Stop implements Switch.
func (groups) Stop(ctx context.Context, s Services, in project.Target, id string) error {
	return s.Groups.Resize(ctx, in, id, Size{})
}

// Start implements Switch.
func (groups) Start(ctx context.Context, s Services, in project.Target, id, was string) error {
	var to Size
	if err := json.Unmarshal([]byte(was), &to); err != nil {
		return fault.New(fault.Broken, "sizes of the Auto Scaling group %s: %w", id, err)
	}
	return s.Groups.Resize(ctx, in, id, to)
}
