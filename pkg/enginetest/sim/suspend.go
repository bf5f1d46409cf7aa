package sim

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// FirstSize is the size of each Auto Scaling group until a request sets another one.
var FirstSize = suspend.Size{Min: 1, Max: 4, Desired: 2}

// Size returns the size of a group.
func (c *Cloud) Size(group string) suspend.Size {
	if size, set := c.Sizes[group]; set {
		return size
	}
	return FirstSize
}

// hasGroup reports whether a live stack has a group.
func (c *Cloud) hasGroup(name string) bool {
	for _, st := range c.live {
		if slices.Contains(GroupsOf(st.name, versionOf(st.now.template)), name) {
			return true
		}
	}
	return false
}

// crashingSwitches is what stops and starts resources: each call takes time, and may fail or crash the function.
type crashingSwitches struct{ *Backend }

// ResourcesByType implements suspend.Stacks. Stacks have Auto Scaling groups of which their versions decide.
func (m crashingSwitches) ResourcesByType(ctx context.Context, in project.Target, stack string) (map[string][]string, error) {
	return got(m.Backend, ctx, "Switch.Find", stack, func() (map[string][]string, error) {
		st := m.Cloud.find(plan.Location{StackID: stack, Target: in})
		if st == nil || m.Cloud.live[st.name] != st {
			return nil, nil
		}
		all := map[string][]string{"AWS::AutoScaling::AutoScalingGroup": GroupsOf(st.name, versionOf(st.now.template))}
		if both := DatabasesOf(st.name, versionOf(st.now.template)); both != nil {
			all["AWS::RDS::DBInstance"], all["AWS::RDS::DBCluster"] = both[:1], both[1:]
		}
		if services := ServicesOf(st.name, versionOf(st.now.template)); services != nil {
			all["AWS::ECS::Service"] = services
		}
		for kind, id := range MachinesOf(st.name, versionOf(st.now.template)) {
			all[kind] = []string{id}
		}
		return all, nil
	})
}

// Groups implements suspend.Groups.
func (m crashingSwitches) Groups(ctx context.Context, _ project.Target, names []string) (map[string]suspend.Group, error) {
	return got(m.Backend, ctx, "Switch.See", names[0], func() (map[string]suspend.Group, error) {
		all := make(map[string]suspend.Group)
		for _, name := range names {
			if size := m.Cloud.Size(name); m.Cloud.hasGroup(name) {
				all[name] = suspend.Group{Size: size, Instances: size.Desired, InService: size.Desired}
			}
		}
		return all, nil
	})
}

// Resize implements suspend.Groups.
func (m crashingSwitches) Resize(ctx context.Context, _ project.Target, name string, to suspend.Size) error {
	return m.do(ctx, "Switch.Resize", name, func() error {
		if !m.Cloud.hasGroup(name) {
			return fault.New(fault.Missing, "there is no Auto Scaling group %s", name)
		}
		m.Cloud.Sizes[name] = to
		if m.Cloud.Resized != nil {
			m.Cloud.Resized(name, to)
		}
		return nil
	})
}

// FirstTasks is how many tasks each ECS service has until a request sets another number.
const FirstTasks = 3

// TaskCPU and TaskMemory are the size of each task, which runs on Fargate, in 1024ths of a vCPU and of a GB.
const (
	TaskCPU    = 256
	TaskMemory = 512
)

// InstanceType is the type of each EC2 instance, which is of Linux.
const InstanceType = "t3.micro"

// TasksOf returns how many tasks an ECS service has.
func (c *Cloud) TasksOf(arn string) int {
	if n, set := c.Tasks[arn]; set {
		return n
	}
	return FirstTasks
}

// hasService reports whether a live stack has an ECS service.
func (c *Cloud) hasService(arn string) bool {
	for _, st := range c.live {
		if slices.Contains(ServicesOf(st.name, versionOf(st.now.template)), arn) {
			return true
		}
	}
	return false
}

// TaskServices implements suspend.TaskServices.
func (m crashingSwitches) TaskServices(ctx context.Context, _ project.Target, arns []string) (map[string]suspend.TaskService, error) {
	return got(m.Backend, ctx, "Switch.See", arns[0], func() (map[string]suspend.TaskService, error) {
		all := make(map[string]suspend.TaskService)
		for _, arn := range arns {
			if n := m.Cloud.TasksOf(arn); m.Cloud.hasService(arn) {
				all[arn] = suspend.TaskService{Desired: n, Running: n, Present: n, Charged: chargedTasks(n)}
			}
		}
		return all, nil
	})
}

// chargedTasks is what tasks are charged by the hour.
func chargedTasks(n int) string {
	if n == 0 {
		return price.Nothing
	}
	return price.JoinCharges(price.FlatCharge(float64(n)*TaskCPU/1024, "fargate-vcpu"), price.FlatCharge(float64(n)*TaskMemory/1024, "fargate-gb"))
}

// Scale implements suspend.TaskServices.
func (m crashingSwitches) Scale(ctx context.Context, _ project.Target, arn string, desired int) error {
	return m.do(ctx, "Switch.Resize", arn[strings.LastIndexByte(arn, '/')+1:], func() error {
		if !m.Cloud.hasService(arn) {
			return fault.New(fault.Missing, "there is no ECS service %s", arn)
		}
		m.Cloud.Tasks[arn] = desired
		if m.Cloud.Scaled != nil {
			m.Cloud.Scaled(arn, desired)
		}
		return nil
	})
}

// switchingTime is how long it takes to stop or start a database.
const switchingTime = 4 * time.Minute

// A database is what requests have made of a database.
type database struct {
	off  bool
	over time.Time // when it is stopped or started
}

// DatabaseStatus returns the status of a database that exists, as RDS calls it.
func (c *Cloud) DatabaseStatus(name string) string {
	d := c.databases[name]
	switch over := !c.clock.Now().Before(d.over); {
	case d.off && over:
		return "stopped"
	case d.off:
		return "stopping"
	case over:
		return "available"
	}
	return "starting"
}

// hasDatabase reports whether a live stack has a database, or another thing that is stopped as a whole.
func (c *Cloud) hasDatabase(name string) bool {
	for _, st := range c.live {
		if slices.Contains(DatabasesOf(st.name, versionOf(st.now.template)), name) || slices.Contains(slices.Collect(maps.Values(MachinesOf(st.name, versionOf(st.now.template)))), name) {
			return true
		}
	}
	return false
}

// Databases reads databases, and other things that are stopped as a whole.
func (m crashingSwitches) Databases(ctx context.Context, _ project.Target, names []string) (map[string]suspend.Machine, error) {
	return got(m.Backend, ctx, "Switch.See", names[0], func() (map[string]suspend.Machine, error) {
		all := make(map[string]suspend.Machine)
		for _, name := range names {
			if m.Cloud.hasDatabase(name) {
				all[name] = suspend.Machine{Status: m.Cloud.DatabaseStatus(name)}
			}
		}
		return all, nil
	})
}

// switchDatabase stops or starts a database that is in the other status.
func (m crashingSwitches) switchDatabase(ctx context.Context, name string, off bool) error {
	return m.do(ctx, "Switch.Resize", name, func() error {
		switch status := m.Cloud.DatabaseStatus(name); {
		case !m.Cloud.hasDatabase(name):
			return fault.New(fault.Missing, "there is no database %s", name)
		case status != map[bool]string{true: "available", false: "stopped"}[off]:
			return fault.New(fault.Busy, "database %s is %s", name, status)
		}
		m.Cloud.databases[name] = database{off, m.Now().Add(switchingTime)}
		if m.Cloud.Switched != nil {
			m.Cloud.Switched(name)
		}
		return nil
	})
}

// Switches stop and start resources: each call takes time, and may fail or crash the function.
func (b *Backend) Switches() suspend.Services {
	s := crashingSwitches{b}
	return suspend.Services{
		Stacks: s, TaskServices: s, Groups: s, Databases: crashingMachines{crashingSwitches: s}, Clusters: crashingMachines{crashingSwitches: s},
		Instances:  crashingMachines{s, map[string]string{"available": "running", "starting": "pending"}, price.Charge(1, price.EC2, "linux", InstanceType)},
		Warehouses: crashingMachines{s, map[string]string{"stopped": "paused", "stopping": "pausing", "starting": "resuming"}, ""},
		Notebooks:  crashingMachines{s, map[string]string{"available": "InService", "stopped": "Stopped", "stopping": "Stopping", "starting": "Pending"}, ""},
	}
}

// crashingMachines are databases, or things whose service has other words for some statuses.
type crashingMachines struct {
	crashingSwitches
	words   map[string]string
	charged string // each by the hour; empty if that is not known
}

// Machines implements suspend.Machines.
func (m crashingMachines) Machines(ctx context.Context, in project.Target, ids []string) (map[string]suspend.Machine, error) {
	found, err := m.Databases(ctx, in, ids)
	all := make(map[string]suspend.Machine, len(found))
	for id, d := range found {
		all[id] = suspend.Machine{Status: cmp.Or(m.words[d.Status], d.Status), Charged: m.charged}
	}
	return all, err
}

// StopMachine implements suspend.Machines.
func (m crashingMachines) StopMachine(ctx context.Context, in project.Target, id string) error {
	return m.switchDatabase(ctx, id, true)
}

// StartMachine implements suspend.Machines.
func (m crashingMachines) StartMachine(ctx context.Context, in project.Target, id string) error {
	return m.switchDatabase(ctx, id, false)
}
