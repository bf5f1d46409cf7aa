// Package rds stops, starts and backs up DB instances of RDS and DB clusters.
package rds

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// A Client is the part of the SDK's RDS client that is used here. It sends each request once.
type Client interface {
	describer
	StopDBInstance(context.Context, *sdk.StopDBInstanceInput, ...func(*sdk.Options)) (*sdk.StopDBInstanceOutput, error)
	StartDBInstance(context.Context, *sdk.StartDBInstanceInput, ...func(*sdk.Options)) (*sdk.StartDBInstanceOutput, error)
	StopDBCluster(context.Context, *sdk.StopDBClusterInput, ...func(*sdk.Options)) (*sdk.StopDBClusterOutput, error)
	StartDBCluster(context.Context, *sdk.StartDBClusterInput, ...func(*sdk.Options)) (*sdk.StartDBClusterOutput, error)
}

// A describer describes databases.
type describer interface {
	DescribeDBInstances(context.Context, *sdk.DescribeDBInstancesInput, ...func(*sdk.Options)) (*sdk.DescribeDBInstancesOutput, error)
	DescribeDBClusters(context.Context, *sdk.DescribeDBClustersInput, ...func(*sdk.Options)) (*sdk.DescribeDBClustersOutput, error)
}

// Databases are the DB instances, or the DB clusters, in all targets. It is a suspend.Machines.
type Databases struct {
	clients func(context.Context, project.Target) (Client, error)
	kind    kind
}

// A kind is the requests about instances, or about clusters.
type kind struct {
	what  string // in messages
	part  string // of the ARN
	see   func(context.Context, Client, []string) (map[string]suspend.Machine, error)
	stop  func(context.Context, Client, string) error
	start func(context.Context, Client, string) error
}

// Instances returns the DB instances that the given clients reach.
func Instances(clients func(context.Context, project.Target) (Client, error)) *Databases {
	return &Databases{clients, kind{"DB instance", ":db:", seenInstances, stopInstance, startInstance}}
}

// Clusters returns the DB clusters that the given clients reach: those of Aurora, RDS, Neptune and DocumentDB.
func Clusters(clients func(context.Context, project.Target) (Client, error)) *Databases {
	return &Databases{clients, kind{"DB cluster", ":cluster:", seenClusters, stopCluster, startCluster}}
}

// Machines implements suspend.Machines.
func (d *Databases) Machines(ctx context.Context, in project.Target, ids []string) (map[string]suspend.Machine, error) {
	client, err := d.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	return d.kind.see(ctx, client, ids)
}

// StopMachine implements suspend.Machines.
func (d *Databases) StopMachine(ctx context.Context, in project.Target, id string) error {
	return d.change(ctx, in, "stop", id, d.kind.stop)
}

// StartMachine implements suspend.Machines.
func (d *Databases) StartMachine(ctx context.Context, in project.Target, id string) error {
	return d.change(ctx, in, "start", id, d.kind.start)
}

// change sends one request about a database.
func (d *Databases) change(ctx context.Context, in project.Target, do, id string, send func(context.Context, Client, string) error) error {
	client, err := d.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	return refused(do+" the "+d.kind.what+" "+id, "arn:aws:rds:"+in.Region+":"+in.Account+d.kind.part+id, send(ctx, client, id))
}

// atOnce is how many databases a request asks for: a page has at least as many.
const atOnce = 20

// instances describes the DB instances of some identifiers. It leaves out those that do not exist.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBInstances.html
func instances(ctx context.Context, c describer, ids []string) (all []types.DBInstance, err error) {
	for some := range slices.Chunk(ids, atOnce) {
		out, err := c.DescribeDBInstances(ctx, &sdk.DescribeDBInstancesInput{Filters: []types.Filter{{Name: aws.String("db-instance-id"), Values: some}}})
		if err != nil {
			return nil, refused("describe DB instances", "*", err)
		}
		all = append(all, out.DBInstances...)
	}
	return all, nil
}

// clusters describes the DB clusters of some identifiers. It leaves out those that do not exist.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBClusters.html
func clusters(ctx context.Context, c describer, ids []string) (all []types.DBCluster, err error) {
	for some := range slices.Chunk(ids, atOnce) {
		out, err := c.DescribeDBClusters(ctx, &sdk.DescribeDBClustersInput{Filters: []types.Filter{{Name: aws.String("db-cluster-id"), Values: some}}})
		if err != nil {
			return nil, refused("describe DB clusters", "*", err)
		}
		all = append(all, out.DBClusters...)
	}
	return all, nil
}

func seenInstances(ctx context.Context, client Client, ids []string) (map[string]suspend.Machine, error) {
	found, err := instances(ctx, client, ids)
	all := make(map[string]suspend.Machine)
	for _, one := range found {
		if id := named(ids, one.DBInstanceIdentifier); id != "" {
			all[id] = suspend.Machine{Status: aws.ToString(one.DBInstanceStatus), Member: aws.ToString(one.DBClusterIdentifier) != "", Fixed: instanceFixed(one), Charged: charged(one)}
		}
	}
	return all, err
}

// charged is what a DB instance is charged by the hour.
func charged(i types.DBInstance) string {
	return price.Database(aws.ToString(i.Engine), aws.ToString(i.LicenseModel), aws.ToString(i.DBInstanceClass), aws.ToBool(i.MultiAZ))
}

// named returns the one of some identifiers that RDS means, which writes all in lower case; "" if there is none.
func named(ids []string, id *string) string {
	if i := slices.IndexFunc(ids, func(one string) bool { return strings.EqualFold(one, aws.ToString(id)) }); i >= 0 {
		return ids[i]
	}
	return ""
}

// instanceFixed says why a DB instance cannot be stopped.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_StopInstance.html#USER_StopInstance.Limitations
func instanceFixed(i types.DBInstance) string {
	switch engine := aws.ToString(i.Engine); {
	case len(i.ReadReplicaDBInstanceIdentifiers)+len(i.ReadReplicaDBClusterIdentifiers) > 0:
		return "it has a read replica"
	case aws.ToString(i.ReadReplicaSourceDBInstanceIdentifier)+aws.ToString(i.ReadReplicaSourceDBClusterIdentifier) != "":
		return "it is a read replica"
	case strings.HasPrefix(engine, "sqlserver") && aws.ToBool(i.MultiAZ):
		return "it is an SQL Server in several Availability Zones"
	case strings.HasPrefix(engine, "custom-"):
		return "it is of RDS Custom"
	}
	return ""
}

func seenClusters(ctx context.Context, client Client, ids []string) (map[string]suspend.Machine, error) {
	found, err := clusters(ctx, client, ids)
	if err != nil {
		return nil, err
	}
	// Only the estimate of what a suspend saves needs the instances. If they cannot be read, their price is not known, and the suspend goes on.
	members, err := instancesOf(ctx, client, found)
	if err != nil {
		members = nil
	}
	all := make(map[string]suspend.Machine)
	for _, one := range found {
		if id := named(ids, one.DBClusterIdentifier); id != "" {
			all[id] = suspend.Machine{Status: aws.ToString(one.Status), Fixed: clusterFixed(one), Charged: chargedCluster(one, members)}
		}
	}
	return all, nil
}

// running is the status of a cluster that is charged.
const running = "available"

// instancesOf reads the DB instances of clusters that are available, by their identifiers.
func instancesOf(ctx context.Context, client describer, clusters []types.DBCluster) (map[string]types.DBInstance, error) {
	var ids []string
	for _, c := range clusters {
		for _, m := range c.DBClusterMembers {
			if aws.ToString(c.Status) == running {
				ids = append(ids, aws.ToString(m.DBInstanceIdentifier))
			}
		}
	}
	found, err := instances(ctx, client, ids)
	all := make(map[string]types.DBInstance)
	for _, one := range found {
		all[aws.ToString(one.DBInstanceIdentifier)] = one
	}
	return all, err
}

// chargedCluster is what the DB instances of a cluster are charged by the hour; empty if the price of one is not known.
// https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Concepts.Aurora_Fea_Regions_DB-eng.Feature.storage-type.html
func chargedCluster(c types.DBCluster, members map[string]types.DBInstance) string {
	if aws.ToString(c.Status) != running || aws.ToString(c.StorageType) == "aurora-iopt1" {
		return ""
	}
	if len(c.DBClusterMembers) == 0 {
		return price.Nothing
	}
	var all []string
	for _, m := range c.DBClusterMembers {
		all = append(all, charged(members[aws.ToString(m.DBInstanceIdentifier)]))
	}
	return price.JoinCharges(all...)
}

// stoppable reports whether DB clusters of an engine can be stopped: those of Aurora, Neptune and DocumentDB, which the API of RDS is for, too.
// https://docs.aws.amazon.com/neptune/latest/userguide/manage-console-stop-start.html
// https://docs.aws.amazon.com/documentdb/latest/developerguide/db-cluster-stop-start.html
func stoppable(engine string) bool {
	return strings.HasPrefix(engine, "aurora") || engine == "neptune" || engine == "docdb"
}

// clusterFixed says why a DB cluster cannot be stopped.
// https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-cluster-stop-start.html#aurora-cluster-stop-limitations
func clusterFixed(c types.DBCluster) string {
	switch mode := aws.ToString(c.EngineMode); {
	case !stoppable(aws.ToString(c.Engine)):
		return "it is no cluster of Aurora, Neptune or DocumentDB"
	case mode != "" && mode != "provisioned":
		return "its engine mode is " + mode
	case aws.ToString(c.GlobalClusterIdentifier) != "":
		return "it belongs to a global database"
	case aws.ToString(c.ReplicationSourceIdentifier) != "":
		return "it is a read replica"
	case len(c.ReadReplicaIdentifiers) > 0:
		return "it has a read replica"
	}
	return ""
}

// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StopDBInstance.html
func stopInstance(ctx context.Context, c Client, id string) error {
	_, err := c.StopDBInstance(ctx, &sdk.StopDBInstanceInput{DBInstanceIdentifier: &id})
	return err
}

// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StartDBInstance.html
func startInstance(ctx context.Context, c Client, id string) error {
	_, err := c.StartDBInstance(ctx, &sdk.StartDBInstanceInput{DBInstanceIdentifier: &id})
	return err
}

// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StopDBCluster.html
func stopCluster(ctx context.Context, c Client, id string) error {
	_, err := c.StopDBCluster(ctx, &sdk.StopDBClusterInput{DBClusterIdentifier: &id})
	return err
}

// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StartDBCluster.html
func startCluster(ctx context.Context, c Client, id string) error {
	_, err := c.StartDBCluster(ctx, &sdk.StartDBClusterInput{DBClusterIdentifier: &id})
	return err
}

// refused returns the fault of a request. A database that is neither available nor stopped refuses both requests until its operation is over.
func refused(do, arn string, err error) error {
	return awserr.Fault(do, arn, err, awserr.Kinds{
		"InvalidDBInstanceState": fault.Busy, "InvalidDBClusterStateFault": fault.Busy,
		"DBInstanceNotFound": fault.Missing, "DBClusterNotFoundFault": fault.Missing, awserr.Other: fault.Refused,
	})
}
