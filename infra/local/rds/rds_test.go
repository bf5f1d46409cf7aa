package rds_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/rds"
)

// served returns a client of an RDS with the DB instances one and member and the DB cluster all. They belong to the stack that stack names.
func served(t *testing.T, takes time.Duration, stack *string) *sdk.Client {
	t.Helper()
	has := map[string]string{"AWS::RDS::DBInstance one": `{"Engine": "mysql"}`, "AWS::RDS::DBInstance member": `{"DBClusterIdentifier": "all", "DBInstanceClass": "db.r6g.large"}`, "AWS::RDS::DBInstance replica": `{"SourceDBInstanceIdentifier": "source"}`, "AWS::RDS::DBInstance source": `{"Engine": "mysql"}`, "AWS::RDS::DBInstance sql": `{"Engine": "sqlserver-se", "MultiAZ": "true"}`, "AWS::RDS::DBCluster all": `{"Engine": "aurora-mysql"}`,
		"AWS::Neptune::DBCluster graph": `{}`, "AWS::DocDB::DBCluster document": `{}`, "AWS::Neptune::DBInstance node": `{"DBClusterIdentifier": "graph"}`}
	server := httptest.NewServer(&rds.Service{
		Find: func(_ *http.Request, kind, name string) (string, string, bool) {
			properties, ok := has[kind+" "+name]
			return properties, *stack, ok
		},
		Replicas: func(_ *http.Request, name string) []string {
			if name == "source" {
				return []string{"replica"}
			}
			return nil
		},
		Members: func(_ *http.Request, name string) []string {
			return map[string][]string{"all": {"member"}, "graph": {"node"}}[name]
		},
		Place: func(*http.Request) (account, region string) { return "000000000000", "us-east-1" },
		Takes: takes,
	})
	t.Cleanup(server.Close)
	return sdk.New(sdk.Options{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{}, Retryer: aws.NopRetryer{}})
}

func statuses(t *testing.T, c *sdk.Client) (instance, cluster string) {
	t.Helper()
	filter := func(name string, ids ...string) []types.Filter { return []types.Filter{{Name: &name, Values: ids}} }
	one, err := c.DescribeDBInstances(t.Context(), &sdk.DescribeDBInstancesInput{Filters: filter("db-instance-id", "none", "one")})
	all, other := c.DescribeDBClusters(t.Context(), &sdk.DescribeDBClustersInput{Filters: filter("db-cluster-id", "all")})
	if err := errors.Join(err, other); err != nil || len(one.DBInstances) != 1 || len(all.DBClusters) != 1 || *one.DBInstances[0].Engine != "mysql" || *all.DBClusters[0].Engine != "aurora-mysql" {
		t.Fatal(one, all, err)
	}
	return *one.DBInstances[0].DBInstanceStatus, *all.DBClusters[0].Status
}

func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// What is available can be stopped, and what is stopped started. Meanwhile it is stopping or starting, and refuses both.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StopDBInstance.html
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StopDBCluster.html
func TestStopAndStart(t *testing.T) {
	for takes, want := range map[time.Duration][2]string{0: {"stopped", "available"}, time.Hour: {"stopping", ""}} {
		stack := "first"
		c := served(t, takes, &stack)
		one, all := aws.String("one"), aws.String("all")
		start := func() (error, error) {
			_, a := c.StartDBInstance(t.Context(), &sdk.StartDBInstanceInput{DBInstanceIdentifier: one})
			_, b := c.StartDBCluster(t.Context(), &sdk.StartDBClusterInput{DBClusterIdentifier: all})
			return a, b
		}
		stop := func() (error, error) {
			_, a := c.StopDBInstance(t.Context(), &sdk.StopDBInstanceInput{DBInstanceIdentifier: one})
			_, b := c.StopDBCluster(t.Context(), &sdk.StopDBClusterInput{DBClusterIdentifier: all})
			return a, b
		}
		if a, b := start(); code(a) != "InvalidDBInstanceState" || code(b) != "InvalidDBClusterStateFault" {
			t.Errorf("start what is available: %v, %v", a, b)
		}
		if a, b := stop(); a != nil || b != nil {
			t.Errorf("stop: %v, %v", a, b)
		}
		if a, b := statuses(t, c); a != want[0] || b != want[0] {
			t.Errorf("%s after a stop: %s, %s", takes, a, b)
		}
		if a, b := stop(); code(a) != "InvalidDBInstanceState" || code(b) != "InvalidDBClusterStateFault" {
			t.Errorf("stop twice: %v, %v", a, b)
		}
		if a, b := start(); (a == nil) != (want[1] != "") || (b == nil) != (want[1] != "") {
			t.Errorf("%s: start: %v, %v", takes, a, b)
		}
		if a, b := statuses(t, c); want[1] != "" && (a != want[1] || b != want[1]) {
			t.Errorf("%s after a start: %s, %s", takes, a, b)
		}
		stop()
		stack = "second"
		if a, b := statuses(t, c); a != "available" || b != "available" {
			t.Errorf("of another stack: %s, %s", a, b)
		}
	}
}

// A read replica, what has one, and SQL Server in several Availability Zones, cannot be stopped, and a description says what they are.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_StopInstance.html#USER_StopInstance.Limitations
func TestWhatCannotBeStopped(t *testing.T) {
	stack := "first"
	c := served(t, 0, &stack)
	for _, id := range []string{"replica", "source", "sql"} {
		if _, err := c.StopDBInstance(t.Context(), &sdk.StopDBInstanceInput{DBInstanceIdentifier: &id}); code(err) != "InvalidDBInstanceState" {
			t.Errorf("stop %s: %v", id, err)
		}
		out, err := c.DescribeDBInstances(t.Context(), &sdk.DescribeDBInstancesInput{Filters: []types.Filter{{Name: aws.String("db-instance-id"), Values: []string{id}}}})
		if err != nil || len(out.DBInstances) != 1 {
			t.Fatal(out, err)
		}
		is := out.DBInstances[0]
		if aws.ToString(is.DBInstanceStatus) != "available" || (aws.ToString(is.ReadReplicaSourceDBInstanceIdentifier) == "source") != (id == "replica") || (len(is.ReadReplicaDBInstanceIdentifiers) == 1) != (id == "source") || aws.ToBool(is.MultiAZ) != (id == "sql") {
			t.Errorf("%s is %s, a replica of %s, in several zones %v", id, aws.ToString(is.DBInstanceStatus), aws.ToString(is.ReadReplicaSourceDBInstanceIdentifier), aws.ToBool(is.MultiAZ))
		}
	}
}

// What does not exist, an instance of a cluster, and what the emulator cannot do, is refused.
func TestRefusals(t *testing.T) {
	stack := "first"
	c := served(t, 0, &stack)
	_, missing := c.StopDBInstance(t.Context(), &sdk.StopDBInstanceInput{DBInstanceIdentifier: aws.String("none")})
	_, none := c.StartDBCluster(t.Context(), &sdk.StartDBClusterInput{DBClusterIdentifier: aws.String("none")})
	_, member := c.StopDBInstance(t.Context(), &sdk.StopDBInstanceInput{DBInstanceIdentifier: aws.String("member")})
	_, all := c.DescribeDBInstances(t.Context(), &sdk.DescribeDBInstancesInput{})
	_, other := c.DescribeDBProxies(t.Context(), &sdk.DescribeDBProxiesInput{})
	for i, err := range []error{missing, none, member, all, other} {
		if want := []string{"DBInstanceNotFound", "DBClusterNotFoundFault", "InvalidDBClusterStateFault", "InvalidParameterValue", "InvalidAction"}[i]; code(err) != want {
			t.Errorf("%d: %v, want %s", i, err, want)
		}
	}
}

// A DB cluster lists its members, and a DB instance has the class of its template.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DBCluster.html
func TestMembers(t *testing.T) {
	stack := "data"
	c := served(t, 0, &stack)
	filter := func(name, id string) []types.Filter { return []types.Filter{{Name: &name, Values: []string{id}}} }
	all, err := c.DescribeDBClusters(t.Context(), &sdk.DescribeDBClustersInput{Filters: filter("db-cluster-id", "all")})
	if err != nil || len(all.DBClusters) != 1 || len(all.DBClusters[0].DBClusterMembers) != 1 || *all.DBClusters[0].DBClusterMembers[0].DBInstanceIdentifier != "member" {
		t.Fatal(all, err)
	}
	one, err := c.DescribeDBInstances(t.Context(), &sdk.DescribeDBInstancesInput{Filters: filter("db-instance-id", "member")})
	if err != nil || len(one.DBInstances) != 1 || aws.ToString(one.DBInstances[0].DBInstanceClass) != "db.r6g.large" {
		t.Error(one, err)
	}
}

// The clusters of Neptune and DocumentDB are described, stopped and started as those of Aurora, with their engines, which templates do not say.
// https://docs.aws.amazon.com/neptune/latest/apiref/API_DescribeDBClusters.html
// https://docs.aws.amazon.com/documentdb/latest/developerguide/API_DescribeDBClusters.html
func TestOtherEngines(t *testing.T) {
	stack := "first"
	c := served(t, 0, &stack)
	for id, engine := range map[string]string{"graph": "neptune", "document": "docdb"} {
		if _, err := c.StopDBCluster(t.Context(), &sdk.StopDBClusterInput{DBClusterIdentifier: &id}); err != nil {
			t.Error(err)
		}
		out, err := c.DescribeDBClusters(t.Context(), &sdk.DescribeDBClustersInput{Filters: []types.Filter{{Name: aws.String("db-cluster-id"), Values: []string{id}}}})
		if err != nil || len(out.DBClusters) != 1 || aws.ToString(out.DBClusters[0].Engine) != engine || aws.ToString(out.DBClusters[0].Status) != "stopped" {
			t.Errorf("%s: %+v, %v", id, out, err)
		}
	}
	node, err := c.DescribeDBInstances(t.Context(), &sdk.DescribeDBInstancesInput{Filters: []types.Filter{{Name: aws.String("db-instance-id"), Values: []string{"node"}}}})
	if err != nil || len(node.DBInstances) != 1 || aws.ToString(node.DBInstances[0].Engine) != "neptune" || aws.ToString(node.DBInstances[0].DBClusterIdentifier) != "graph" {
		t.Errorf("the instance of the graph is %+v, %v", node, err)
	}
}
