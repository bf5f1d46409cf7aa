package moto

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	sdkrds "github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// The adapter reads of moto's databases which belong to a cluster and which cannot be stopped, and finds them by identifiers in any case.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_StopInstance.html#USER_StopInstance.Limitations
// https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-cluster-stop-start.html#aurora-cluster-stop-limitations
func databases(s *server) {
	client := sdkrds.NewFromConfig(s.config)
	instance := func(id, engine, cluster string, zones bool) {
		in := &sdkrds.CreateDBInstanceInput{DBInstanceIdentifier: &id, Engine: &engine, DBInstanceClass: aws.String("db.t3.micro"), MultiAZ: &zones}
		if cluster != "" {
			in.DBClusterIdentifier = &cluster
		} else {
			in.AllocatedStorage, in.MasterUsername, in.MasterUserPassword = aws.Int32(20), aws.String("admin"), aws.String("password1")
		}
		if _, err := client.CreateDBInstance(s.Context(), in); err != nil {
			s.Fatal(id, err)
		}
	}
	cluster := func(id, engine string) {
		in := &sdkrds.CreateDBClusterInput{DBClusterIdentifier: &id, Engine: &engine, MasterUsername: aws.String("admin"), MasterUserPassword: aws.String("password1")}
		if engine == "mysql" {
			in.AllocatedStorage, in.Iops, in.StorageType, in.DBClusterInstanceClass = aws.Int32(100), aws.Int32(1000), aws.String("io1"), aws.String("db.m5d.large")
		}
		if _, err := client.CreateDBCluster(s.Context(), in); err != nil {
			s.Fatal(id, err)
		}
	}
	cluster("aurora", "aurora-mysql")
	cluster("several", "mysql")
	instance("Plain", "mysql", "", true)
	instance("member", "aurora-mysql", "aurora", false)
	instance("source", "mysql", "", false)
	instance("sql", "sqlserver-se", "", true)
	_, err := client.CreateDBInstanceReadReplica(s.Context(), &sdkrds.CreateDBInstanceReadReplicaInput{DBInstanceIdentifier: aws.String("replica"), SourceDBInstanceIdentifier: aws.String("source"), DBInstanceClass: aws.String("db.t3.micro")})
	if err != nil {
		s.Fatal(err)
	}
	all := services(s.config)
	instances, err := all.Databases.Machines(s.Context(), target, []string{"Plain", "member", "source", "replica", "sql"})
	if err != nil {
		s.Fatal(err)
	}
	clusters, err := all.Clusters.Machines(s.Context(), target, []string{"AURORA", "several"})
	if err != nil {
		s.Fatal(err)
	}
	for id, want := range map[string]suspend.Machine{
		"Plain": {Status: "available", Charged: "2 rds mysql db.t3.micro"}, "member": {Status: "available", Member: true, Charged: "1 rds aurora-mysql db.t3.micro"},
		"source":  {Status: "available", Fixed: "it has a read replica", Charged: "1 rds mysql db.t3.micro"},
		"replica": {Status: "available", Fixed: "it is a read replica", Charged: "1 rds mysql db.t3.micro"}, "sql": {Status: "available", Fixed: "it is an SQL Server in several Availability Zones"},
	} {
		if instances[id] != want {
			s.Errorf("the DB instance %s is %+v, want %+v", id, instances[id], want)
		}
	}
	for id, want := range map[string]suspend.Machine{"AURORA": {Status: "available", Charged: "1 rds aurora-mysql db.t3.micro"}, "several": {Status: "available", Fixed: "it is no cluster of Aurora, Neptune or DocumentDB", Charged: "nothing"}} {
		if clusters[id] != want {
			s.Errorf("the DB cluster %s is %+v, want %+v", id, clusters[id], want)
		}
	}
	// What the adapter says cannot be stopped, moto does not stop either.
	for _, id := range []string{"replica", "sql"} {
		if err := all.Databases.StopMachine(s.Context(), target, id); !fault.Is(err, fault.Busy) {
			s.Errorf("stop %s: %v", id, err)
		}
	}
}
