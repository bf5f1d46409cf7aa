package contract

import (
	"slices"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A BackupGround is a Ground with what backs up the resources of stacks.
type BackupGround interface {
	Ground

	// Backups are under test.
	Backups() backup.Services
}

// Backup tests services against the contracts of package backup. on opens an empty ground.
func Backup(t *testing.T, on func(t *testing.T, holds func(*testing.T, BackupGround))) {
	for name, law := range BackupLaws() {
		t.Run(name, func(t *testing.T) { on(t, func(t *testing.T, g BackupGround) { law(t, g) }) })
	}
}

// BackupLaws are the contracts of package backup, by name. Each is for an empty ground.
func BackupLaws() map[string]func(testing.TB, BackupGround) {
	all := make(map[string]func(testing.TB, BackupGround))
	for name, law := range backupLaws {
		all[name] = func(t testing.TB, g BackupGround) { law(backupGround{t, g}) }
	}
	return all
}

// A backupGround is a BackupGround under test.
type backupGround struct {
	testing.TB
	BackupGround
}

// TablesVersion is the version of a stack that has a table and a global table of DynamoDB.
const TablesVersion = "t1"

// StoresVersion is the version of a stack that has a file system of EFS, an EBS volume and a cluster of Redshift.
const StoresVersion = "w1"

var backupLaws = map[string]func(backupGround){
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStackResources.html
	"a stack holds the databases, tables and other stores that it has, by their logical IDs, until it is deleted": func(g backupGround) {
		stack := g.Up("data", DatabasesVersion)
		held := g.held(stack)
		var ids []string
		for _, d := range held {
			ids = append(ids, d.Resource+" "+d.Type)
		}
		if want := []string{"Cluster " + clusterType, "Database " + databaseType}; !slices.Equal(ids, want) {
			g.Errorf("held are %q, want %q", ids, want)
		}
		if other := g.held(g.Up("vpc", "v1")); len(other) > 0 {
			g.Errorf("a stack without databases holds %+v", other)
		}
		ids = nil
		for _, d := range g.held(g.Up("tables", TablesVersion)) {
			ids = append(ids, d.Resource+" "+d.Type)
		}
		if want := []string{"Global AWS::DynamoDB::GlobalTable", "Items AWS::DynamoDB::Table"}; !slices.Equal(ids, want) {
			g.Errorf("held are %q, want %q", ids, want)
		}
		ids = nil
		for _, d := range g.held(g.Up("stores", StoresVersion)) {
			ids = append(ids, d.Resource+" "+d.Type)
		}
		if want := []string{"Files AWS::EFS::FileSystem", "Volume AWS::EC2::Volume", "Warehouse AWS::Redshift::Cluster"}; !slices.Equal(ids, want) {
			g.Errorf("held are %q, want %q", ids, want)
		}
		g.Down("data")
		if left := g.held(stack); len(left) > 0 {
			g.Errorf("a deleted stack holds %+v", left)
		}
	},
	// "DBSnapshotAlreadyExists: DBSnapshotIdentifier is already used by an existing snapshot."
	// "InvalidDBSnapshotState: The state of the DB snapshot doesn't allow deletion." "The DB snapshot must be in the available state to be deleted."
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSnapshot.html
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBSnapshot.html
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBClusterSnapshot.html
	// "BackupInUseException: There is another ongoing conflicting backup control plane operation on the table."
	// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html
	// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteBackup.html
	// "ClusterSnapshotAlreadyExists: The value specified as a snapshot identifier is already used by an existing snapshot."
	// https://docs.aws.amazon.com/redshift/latest/APIReference/API_CreateClusterSnapshot.html
	// https://docs.aws.amazon.com/redshift/latest/APIReference/API_DeleteClusterSnapshot.html
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSnapshot.html
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteSnapshot.html
	// "Retrying a successful request with the same idempotency token results in a success message with no action taken."
	// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_StartBackupJob.html
	// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DeleteRecoveryPoint.html
	"a backup becomes available, a repeated request is the same backup, and a deleted one is gone": func(g backupGround) {
		s := g.Backups()
		for _, d := range slices.Concat(g.held(g.Up("data", DatabasesVersion)), g.held(g.Up("tables", TablesVersion)), g.held(g.Up("stores", StoresVersion))) {
			tags := map[string]string{"stackwright:project": "shop@prod"}
			made, err := s.BackUp(g.Context(), d, "sw-"+d.Resource, tags)
			if err != nil || made.ARN == "" {
				g.Fatal(made, err)
			}
			if again, err := s.BackUp(g.Context(), d, "sw-"+d.Resource, tags); err != nil || again.ARN != made.ARN {
				g.Errorf("the same request makes %s instead of %s: %v", again.ARN, made.ARN, err)
			}
			named := func(plan.Data) string { return "sw-" + d.Resource }
			g.Pass(patience)
			if ready, says, err := s.Ready(g.Context(), made); !ready || err != nil {
				g.Errorf("the backup is %s: %v", says, err)
			}
			unnamed := []plan.Backup{{Data: d}}
			if left, err := s.Left(g.Context(), unnamed, named); len(left) != 1 || err != nil {
				g.Errorf("by its name, there is %q: %v", left, err)
			}
			for range 2 { // also if it is deleted already
				if err := s.Delete(g.Context(), unnamed, named); err != nil {
					g.Errorf("delete: %v", err)
				}
				g.Pass(patience)
			}
			if left, err := s.Left(g.Context(), []plan.Backup{made}, nil); len(left) != 0 || err != nil {
				g.Errorf("after the deletion, there is %q: %v", left, err)
			}
			if _, _, err := s.Ready(g.Context(), made); !fault.Is(err, fault.Missing) {
				g.Errorf("a deleted backup is read: %v", err)
			}
		}
	},
	// "InvalidDBInstanceState: The DB instance isn't in a valid state." "InvalidDBClusterStateFault"
	// "The cluster must be in the available state." https://docs.aws.amazon.com/redshift/latest/APIReference/API_CreateClusterSnapshot.html
	"a database that is stopped or paused is not backed up": func(g backupGround) {
		held := slices.Concat(g.held(g.Up("data", DatabasesVersion)), g.held(g.Up("stores", StoresVersion))[2:])
		for _, stop := range []change{g.Services().Databases.StopMachine, g.Services().Clusters.StopMachine, g.Services().Warehouses.StopMachine} {
			for _, d := range held {
				_ = stop(g.Context(), g.Target(), d.ID) // the other one is no database of this kind
			}
		}
		g.Pass(patience)
		for _, d := range held {
			if _, err := g.Backups().BackUp(g.Context(), d, "sw-"+d.Resource, nil); !fault.Is(err, fault.Busy) {
				g.Errorf("%s: %v", d.Resource, err)
			}
		}
	},
	// "DBInstanceNotFound", "DBClusterNotFoundFault", "DBSnapshotNotFound", "DBClusterSnapshotNotFoundFault"
	// "TableNotFoundException", "BackupNotFoundException", "ClusterNotFound", "ClusterSnapshotNotFound", "InvalidVolume.NotFound", "InvalidSnapshot.NotFound", "ResourceNotFoundException"
	"what does not exist is neither backed up nor deleted": func(g backupGround) {
		s := g.Backups()
		for arn, b := range map[string]backup.Backer{
			"arn:aws:rds:us-east-1:000000000000:snapshot:sw-nobody": s.Instances, "arn:aws:rds:us-east-1:000000000000:cluster-snapshot:sw-nobody": s.Clusters,
			"arn:aws:dynamodb:us-east-1:000000000000:table/nobody/backup/01489602797149-73d8d5bc": s.Tables, "arn:aws:redshift:us-east-1:000000000000:snapshot:nobody/sw-nobody": s.Warehouses,
			"arn:aws:ec2:us-east-1::snapshot/snap-0123456789abcdef0": s.Volumes, "arn:aws:backup:us-east-1:000000000000:recovery-point:1EB3B5E7-9EB0-435A-A80B-108B488B0D45": s.Files,
		} {
			_, a := b.BackUp(g.Context(), g.Target(), "nobody", "sw-nobody", nil)
			_, c := b.Find(g.Context(), g.Target(), "nobody", "sw-nobody")
			_, d := b.Backup(g.Context(), g.Target(), arn)
			for i, err := range []error{a, c, d, b.Delete(g.Context(), g.Target(), arn)} {
				if !fault.Is(err, fault.Missing) {
					g.Errorf("request %d: %v", i, err)
				}
			}
		}
	},
	"a backup that is made is not deleted yet": func(g backupGround) {
		for _, d := range append(g.held(g.Up("stores", StoresVersion)), g.held(g.Up("data", DatabasesVersion))[0], g.held(g.Up("tables", TablesVersion))[0]) {
			made, err := g.Backups().BackUp(g.Context(), d, "sw-busy", nil)
			if err != nil {
				g.Fatal(err)
			}
			g.Pass(time.Second)
			if ready, says, err := g.Backups().Ready(g.Context(), made); ready || err != nil {
				g.Errorf("%s: after a second, the backup is %s: %v", d.Resource, says, err)
			}
			if err := g.Backups().Delete(g.Context(), []plan.Backup{made}, nil); !fault.Is(err, fault.Busy) {
				g.Errorf("%s: delete: %v", d.Resource, err)
			}
		}
	},
}

// held is what a stack has that can be backed up.
func (g backupGround) held(stack string) []plan.Data {
	g.Helper()
	h, err := g.Backups().Holdings(g.Context(), g.Target(), stack)
	if err != nil || len(h.Unready) > 0 {
		g.Fatal(h, err)
	}
	return h.Data
}
