package contract

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// A Ground is an account and region that a test controls, with resources that a suspended stack stops.
type Ground interface {
	// Services are under test.
	Services() suspend.Services

	// Target is where they are.
	Target() project.Target

	// Up creates a stack, and returns how suspend.Stacks names it. Of version GroupsVersion it has two Auto Scaling groups of the sizes 1,
	// 4 and 2, of version DatabasesVersion a DB instance that is in no cluster, and a DB cluster of Aurora, and of version ComputeVersion an
	// ECS service of 3 tasks, an EC2 instance, a DB cluster of Neptune and of DocumentDB,
	// a cluster of Redshift, and a notebook instance of SageMaker. Of version NestedVersion, a stack nested in it has an ECS service.
	Up(stack, version string) string

	// Down deletes it.
	Down(stack string)

	// Pass lets time pass.
	Pass(time.Duration)
}

// The versions of stacks.
const (
	GroupsVersion    = "g1"
	DatabasesVersion = "d1"
	ComputeVersion   = "c1"
	NestedVersion    = "n1"
)

// patience is after how long a database is stopped or started at the latest.
const patience = 10 * time.Minute

// Suspend tests services against the contracts of package suspend. on opens an empty ground.
func Suspend(t *testing.T, on func(t *testing.T, holds func(*testing.T, Ground))) {
	for name, law := range SuspendLaws() {
		t.Run(name, func(t *testing.T) { on(t, func(t *testing.T, g Ground) { law(t, g) }) })
	}
}

// SuspendLaws are the contracts of package suspend, by name. Each is for an empty ground.
func SuspendLaws() map[string]func(testing.TB, Ground) {
	all := make(map[string]func(testing.TB, Ground))
	for name, law := range suspendLaws {
		all[name] = func(t testing.TB, g Ground) { law(ground{t, g}) }
	}
	return all
}

// A ground is a Ground under test.
type ground struct {
	testing.TB
	Ground
}

// The types of the resources.
const (
	groupType     = "AWS::AutoScaling::AutoScalingGroup"
	databaseType  = "AWS::RDS::DBInstance"
	clusterType   = "AWS::RDS::DBCluster"
	serviceType   = "AWS::ECS::Service"
	instanceType  = "AWS::EC2::Instance"
	graphType     = "AWS::Neptune::DBCluster"
	documentType  = "AWS::DocDB::DBCluster"
	warehouseType = "AWS::Redshift::Cluster"
	notebookType  = "AWS::SageMaker::NotebookInstance"
)

var suspendLaws = map[string]func(ground){
	// "Returns descriptions of all resources of the specified stack."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStackResources.html
	"a stack lists the physical IDs of its resources by type, until it is deleted": func(g ground) {
		one, two, three := g.Up("web", GroupsVersion), g.Up("data", DatabasesVersion), g.Up("api", ComputeVersion)
		for stack, want := range map[string]map[string]int{one: {groupType: 2}, two: {databaseType: 1, clusterType: 1}, three: {serviceType: 1, instanceType: 1, graphType: 1, documentType: 1, warehouseType: 1, notebookType: 1}} {
			got := g.resources(stack)
			for _, kind := range []string{groupType, databaseType, clusterType, serviceType, instanceType, graphType, documentType, warehouseType, notebookType} {
				if ids := got[kind]; len(ids) != want[kind] || !slices.IsSorted(ids) || slices.Contains(ids, "") {
					g.Errorf("%s has %q of type %s, want %d", stack, ids, kind, want[kind])
				}
			}
		}
		g.Down("web")
		if got := g.resources(one); len(got) > 0 {
			g.Errorf("the deleted stack has %v", got)
		}
	},
	// "Nested stacks are stacks created as part of other stacks."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-nested-stacks.html
	"what a nested stack has is found in the stack around it, and is stopped with it": func(g ground) {
		stack := g.Up("outer", NestedVersion)
		arn, s := g.first(stack, serviceType), g.Services()
		before, fixed, err := s.Running(g.Context(), g.Target(), stack)
		if err != nil || len(fixed) > 0 || len(before) != 1 || before[0].ID != arn {
			g.Fatalf("running are %+v, fixed %q: %v", before, fixed, err)
		}
		if err := s.Stop(g.Context(), g.Target(), before); err != nil {
			g.Fatal(err)
		}
		g.Pass(patience)
		if after, _, err := s.Running(g.Context(), g.Target(), stack); err != nil || len(after) > 0 {
			g.Errorf("running are %+v: %v", after, err)
		}
	},
	// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeAutoScalingGroups.html
	// "Filters: db-instance-id", "db-cluster-id"
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBInstances.html
	"what does not exist is left out": func(g ground) {
		name := g.first(g.Up("web", GroupsVersion), groupType)
		g.Up("data", DatabasesVersion)
		s, in := g.Services(), g.Target()
		groups, a := s.Groups.Groups(g.Context(), in, []string{name, "nobody"})
		instances, b := s.Databases.Machines(g.Context(), in, []string{"nobody"})
		clusters, c := s.Clusters.Machines(g.Context(), in, []string{"nobody"})
		if a != nil || b != nil || c != nil || len(groups) != 1 || len(instances)+len(clusters) > 0 {
			g.Errorf("found %v, %v, %v: %v, %v, %v", groups, instances, clusters, a, b, c)
		}
		arn := g.first(g.Up("api", ComputeVersion), serviceType)
		services, err := s.TaskServices.TaskServices(g.Context(), in, []string{arn, arn + "-2", strings.Replace(arn, "/cluster/", "/nobody/", 1)})
		if _, found := services[arn]; err != nil || len(services) != 1 || !found {
			g.Errorf("found %v: %v", services, err)
		}
	},
	// A group keeps as many instances as its desired capacity, which lies between the other two sizes.
	// https://docs.aws.amazon.com/autoscaling/ec2/userguide/asg-capacity-limits.html
	"a group of size 0 has no instances, and has as many as before with the sizes from before": func(g ground) {
		name := g.first(g.Up("web", GroupsVersion), groupType)
		first := suspend.Size{Min: 1, Max: 4, Desired: 2}
		for _, size := range []suspend.Size{first, {}, first} {
			if err := g.Services().Groups.Resize(g.Context(), g.Target(), name, size); err != nil {
				g.Fatal(err)
			}
			g.Pass(patience)
			found, err := g.Services().Groups.Groups(g.Context(), g.Target(), []string{name})
			got := found[name]
			got.Charged = "" // the grounds have instances of different types
			if want := (suspend.Group{Size: size, Instances: size.Desired, InService: size.Desired}); err != nil || got != want {
				g.Errorf("the group is %+v, want %+v: %v", got, want, err)
			}
		}
	},
	// Auto Scaling says it with a ValidationError, which is Refused.
	// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/CommonErrors.html
	"a group that does not exist has no sizes": func(g ground) {
		if err := g.Services().Groups.Resize(g.Context(), g.Target(), "nobody", suspend.Size{}); !fault.Is(err, fault.Missing, fault.Refused) {
			g.Error(err)
		}
	},
	// "The number of instantiations of the task to place and keep running in your service."
	// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_UpdateService.html
	"an ECS service of 0 desired tasks has none, and has as many as before with the number from before": func(g ground) {
		arn := g.first(g.Up("api", ComputeVersion), serviceType)
		for _, n := range []int{3, 0, 3} {
			if err := g.Services().TaskServices.Scale(g.Context(), g.Target(), arn, n); err != nil {
				g.Fatal(err)
			}
			g.Pass(patience)
			found, err := g.Services().TaskServices.TaskServices(g.Context(), g.Target(), []string{arn})
			got := found[arn]
			got.Charged = "" // the grounds have tasks of different sizes
			if want := (suspend.TaskService{Desired: n, Running: n, Present: n}); err != nil || got != want {
				g.Errorf("the service is %+v, want %+v: %v", got, want, err)
			}
		}
	},
	// "ServiceNotFoundException", "ClusterNotFoundException"
	// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_UpdateService.html
	"an ECS service that does not exist has no tasks": func(g ground) {
		arn := g.first(g.Up("api", ComputeVersion), serviceType)
		for _, nobody := range []string{arn + "-2", strings.Replace(arn, "/cluster/", "/nobody/", 1)} {
			if err := g.Services().TaskServices.Scale(g.Context(), g.Target(), nobody, 1); !fault.Is(err, fault.Missing) {
				g.Error(nobody, err)
			}
		}
	},
	// "InvalidDBInstanceState: The DB instance isn't in a valid state."
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StopDBInstance.html
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StartDBInstance.html
	"a DB instance that is available can be stopped, and one that is stopped started": func(g ground) {
		g.switches(databaseType, DatabasesVersion, g.Services().Databases)
	},
	// "InvalidDBClusterStateFault: The requested operation can't be performed while the cluster is in this state."
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StopDBCluster.html
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StartDBCluster.html
	"a DB cluster that is available can be stopped, and one that is stopped started": func(g ground) {
		g.switches(clusterType, DatabasesVersion, g.Services().Clusters)
	},
	// "To stop a Neptune cluster": the same operations of the API of RDS.
	// https://docs.aws.amazon.com/neptune/latest/userguide/manage-console-stop-start.html
	// https://docs.aws.amazon.com/neptune/latest/apiref/API_StopDBCluster.html
	"a DB cluster of Neptune that is available can be stopped, and one that is stopped started": func(g ground) {
		g.switches(graphType, ComputeVersion, g.Services().Clusters)
	},
	// "InvalidDBClusterStateFault: The cluster isn't in a valid state."
	// https://docs.aws.amazon.com/documentdb/latest/developerguide/db-cluster-stop-start.html
	// https://docs.aws.amazon.com/documentdb/latest/developerguide/API_StopDBCluster.html
	"a DB cluster of DocumentDB that is available can be stopped, and one that is stopped started": func(g ground) {
		g.switches(documentType, ComputeVersion, g.Services().Clusters)
	},
	// "You can use the Stop and Start actions"
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StopInstances.html
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StartInstances.html
	"an EC2 instance that runs can be stopped, and one that is stopped started": func(g ground) {
		g.switchesMachine(instanceType, g.Services().Instances)
	},
	// "InvalidInstanceID.NotFound: The specified instance does not exist."
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
	"an EC2 instance that does not exist is neither stopped nor started": func(g ground) {
		g.isMissing(g.Services().Instances, "i-0123456789abcdef0")
	},
	// "You can pause the cluster and later resume it."
	// https://docs.aws.amazon.com/redshift/latest/mgmt/rs-mgmt-pause-resume-cluster.html
	"a Redshift cluster that is available can be paused, and one that is paused resumed": func(g ground) {
		g.switchesMachine(warehouseType, g.Services().Warehouses)
	},
	// "ClusterNotFound: The ClusterIdentifier parameter does not refer to an existing cluster."
	// https://docs.aws.amazon.com/redshift/latest/APIReference/API_PauseCluster.html
	"a Redshift cluster that does not exist is neither paused nor resumed": func(g ground) {
		g.isMissing(g.Services().Warehouses, "nobody")
	},
	// "SageMaker stops charging you for the ML compute instance when you call StopNotebookInstance."
	// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StopNotebookInstance.html
	// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StartNotebookInstance.html
	"a SageMaker notebook instance that is in service can be stopped, and one that is stopped started": func(g ground) {
		g.switchesMachine(notebookType, g.Services().Notebooks)
	},
	// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeNotebookInstance.html
	"a SageMaker notebook instance that does not exist is neither stopped nor started": func(g ground) {
		g.isMissing(g.Services().Notebooks, "nobody")
	},
	// "DBInstanceNotFound", "DBClusterNotFoundFault"
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StopDBInstance.html
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StopDBCluster.html
	"a database that does not exist is neither stopped nor started": func(g ground) {
		g.isMissing(g.Services().Databases, "nobody")
		g.isMissing(g.Services().Clusters, "nobody")
	},
	"what a suspend has stopped, a resume starts as it was": func(g ground) {
		s, in := g.Services(), g.Target()
		for _, stack := range []string{g.Up("web", GroupsVersion), g.Up("data", DatabasesVersion), g.Up("api", ComputeVersion)} {
			before, fixed, err := s.Running(g.Context(), in, stack)
			if err != nil || len(before) < 1 || len(fixed) > 0 {
				g.Fatalf("%s has running %+v and fixed %q: %v", stack, before, fixed, err)
			}
			for on, do := range []func() error{
				func() error { return s.Stop(g.Context(), in, before) },
				func() error { return s.Start(g.Context(), in, before) },
			} {
				if err := do(); err != nil {
					g.Fatal(err)
				}
				g.Pass(patience)
				if left, gone, err := s.Unsettled(g.Context(), in, before, on == 1); err != nil || len(left)+len(gone) > 0 {
					g.Errorf("unsettled are %q, gone %q: %v", left, gone, err)
				}
				want := [][]plan.Stopped{nil, before}[on]
				if after, _, err := s.Running(g.Context(), in, stack); err != nil || !slices.EqualFunc(after, want, sameButPrice) {
					g.Errorf("running are %+v, want %+v: %v", after, want, err)
				}
			}
		}
	},
}

// sameButPrice compares what is stopped without what it was charged: a group that starts may have fewer instances at first.
func sameButPrice(a, b plan.Stopped) bool {
	a.Charged, b.Charged = "", ""
	return a == b
}

// A change stops or starts a database.
type change func(context.Context, project.Target, string) error

// switches stops and starts the database of a type that a stack of a version has, and tries each twice.
func (g ground) switches(kind, version string, m suspend.Machines) {
	id := g.first(g.Up("data", version), kind)
	has := func(want string) {
		g.Helper()
		g.Pass(patience)
		found, err := m.Machines(g.Context(), g.Target(), []string{id})
		got := found[id]
		got.Charged = ""
		if err != nil || got != (suspend.Machine{Status: want}) {
			g.Errorf("%s is %+v, want it %s: %v", id, got, want, err)
		}
	}
	has("available")
	if err := m.StartMachine(g.Context(), g.Target(), id); !fault.Is(err, fault.Busy) {
		g.Errorf("start what is available: %v", err)
	}
	for _, c := range []struct {
		do     change
		status string
	}{{m.StopMachine, "stopped"}, {m.StartMachine, "available"}} {
		if err := c.do(g.Context(), g.Target(), id); err != nil {
			g.Fatal(err)
		}
		if err := c.do(g.Context(), g.Target(), id); !fault.Is(err, fault.Busy) {
			g.Errorf("twice: %v", err)
		}
		has(c.status)
	}
}

// switchesMachine stops and starts what the stack api has of a type.
func (g ground) switchesMachine(kind string, m suspend.Machines) {
	g.Helper()
	id := g.first(g.Up("api", ComputeVersion), kind)
	k, _ := suspend.Named(kind)
	has := func(want suspend.State) {
		g.Helper()
		g.Pass(patience)
		seen, err := k.See(g.Context(), g.Services(), g.Target(), []string{id})
		if err != nil || seen[id].State != want {
			g.Errorf("%s is %+v, want it %s: %v", id, seen[id], want, err)
		}
	}
	has(suspend.On)
	for _, c := range []struct {
		do    change
		state suspend.State
	}{{m.StopMachine, suspend.Off}, {m.StartMachine, suspend.On}} {
		if err := c.do(g.Context(), g.Target(), id); err != nil {
			g.Fatal(err)
		}
		has(c.state)
	}
}

// isMissing tries to read, to stop and to start what does not exist.
func (g ground) isMissing(m suspend.Machines, id string) {
	g.Helper()
	if found, err := m.Machines(g.Context(), g.Target(), []string{id}); err != nil || len(found) > 0 {
		g.Errorf("found %v: %v", found, err)
	}
	for _, do := range []change{m.StopMachine, m.StartMachine} {
		if err := do(g.Context(), g.Target(), id); !fault.Is(err, fault.Missing) {
			g.Error(err)
		}
	}
}

// resources are those of a stack.
func (g ground) resources(stack string) map[string][]string {
	g.Helper()
	all, err := g.Services().Stacks.ResourcesByType(g.Context(), g.Target(), stack)
	if err != nil {
		g.Fatal(err)
	}
	return all
}

// first is the first resource of a type that a stack has.
func (g ground) first(stack, kind string) string {
	g.Helper()
	ids := g.resources(stack)[kind]
	if len(ids) == 0 {
		g.Fatalf("%s has no %s", stack, kind)
	}
	return ids[0]
}
