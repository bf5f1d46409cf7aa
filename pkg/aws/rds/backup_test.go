package rds_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/stackwright/stackwright/pkg/aws/rds"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ backup.Backer = (*rds.Snapshots)(nil)

func snapshots(s *service) (instances, clusters *rds.Snapshots) {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	clients := func(context.Context, project.Target) (rds.BackupClient, error) { return client, nil }
	return rds.InstanceSnapshots(clients), rds.ClusterSnapshots(clients)
}

// Databases are found by their identifiers in any case; a member of a cluster holds no data of its own, and one that is stopped has to be started first.
func TestSeeToBackUp(t *testing.T) {
	s := &service{}
	instances, clusters := snapshots(s)
	s.said = "<DBInstances><DBInstance><DBInstanceIdentifier>one</DBInstanceIdentifier><DBInstanceStatus>available</DBInstanceStatus></DBInstance><DBInstance><DBInstanceIdentifier>member</DBInstanceIdentifier><DBClusterIdentifier>c</DBClusterIdentifier></DBInstance>" +
		"<DBInstance><DBInstanceIdentifier>off</DBInstanceIdentifier><DBInstanceStatus>stopped</DBInstanceStatus></DBInstance></DBInstances>"
	got, err := instances.See(t.Context(), project.Target{}, []string{"One", "member", "off", "gone"})
	if err != nil || len(got) != 2 || got["One"].Unready != "" || !strings.Contains(got["off"].Unready, "it is stopped: start it first") {
		t.Errorf("%+v, %v", got, err)
	}
	s.said = "<DBClusters><DBCluster><DBClusterIdentifier>c</DBClusterIdentifier><Status>stopping</Status></DBCluster></DBClusters>"
	if got, err := clusters.See(t.Context(), project.Target{}, []string{"C"}); err != nil || !strings.Contains(got["C"].Unready, "it is stopping") {
		t.Errorf("%+v, %v", got, err)
	}
}

// A snapshot gets its name and tags. One that exists already is the same if it is of the same database.
func TestBackUp(t *testing.T) {
	s := &service{said: "<DBSnapshot><DBSnapshotArn>arn:one</DBSnapshotArn></DBSnapshot>"}
	instances, clusters := snapshots(s)
	tags := map[string]string{"stackwright:snapshot": "before", "stackwright:project": "shop@prod"}
	arn, err := instances.BackUp(t.Context(), project.Target{}, "one", "sw-one", tags)
	if err != nil || arn != "arn:one" || !strings.Contains(s.got[0], "Action=CreateDBSnapshot&DBInstanceIdentifier=one&DBSnapshotIdentifier=sw-one&Tags.Tag.1.Key=stackwright%3Aproject&Tags.Tag.1.Value=shop%40prod&Tags.Tag.2") {
		t.Errorf("%s, %q, %v", arn, s.got, err)
	}
	s.said = "<DBClusterSnapshot><DBClusterSnapshotArn>arn:c</DBClusterSnapshotArn></DBClusterSnapshot>"
	if arn, err = clusters.BackUp(t.Context(), project.Target{}, "c", "sw-c", nil); err != nil || arn != "arn:c" {
		t.Errorf("%s, %v", arn, err)
	}
	for source, want := range map[string]fault.Kind{"one": "", "other": fault.Refused} {
		s.said = "<DBSnapshots><DBSnapshot><DBSnapshotArn>arn:one</DBSnapshotArn><DBInstanceIdentifier>" + source + "</DBInstanceIdentifier></DBSnapshot></DBSnapshots>"
		if arn, err := instances.Find(t.Context(), project.Target{}, "One", "sw-one"); want == "" && (arn != "arn:one" || err != nil) || want != "" && !fault.Is(err, want) {
			t.Errorf("%s: %s, %v", source, arn, err)
		}
	}
}

// Each status of a snapshot is a state, and one that is not known is that of one that is not available yet.
func TestStatesOfSnapshots(t *testing.T) {
	for status, want := range map[string]backup.State{"available": backup.Available, "creating": backup.Making, "copying": backup.Making, "deleting": backup.Deleting, "failed": backup.Failed, "incompatible-restore": backup.Failed, "of tomorrow": backup.Making} {
		s := &service{said: "<DBClusterSnapshots><DBClusterSnapshot><Status>" + status + "</Status><PercentProgress>30</PercentProgress></DBClusterSnapshot></DBClusterSnapshots>"}
		_, clusters := snapshots(s)
		got, err := clusters.Backup(t.Context(), project.Target{}, "arn:aws:rds:us-east-1:000000000000:cluster-snapshot:sw-c")
		if err != nil || got != (backup.Made{State: want, Says: status + " (30 %)"}) || !strings.Contains(s.got[0], "DBClusterSnapshotIdentifier=sw-c") {
			t.Errorf("%s: %+v, %q, %v", status, got, s.got, err)
		}
	}
	s := &service{said: "<DBSnapshots></DBSnapshots>"}
	instances, _ := snapshots(s)
	if _, err := instances.Backup(t.Context(), project.Target{}, "arn:x:sw-one"); !fault.Is(err, fault.Missing) {
		t.Error(err)
	}
}

// The errors of RDS have the kinds that the contract says.
func TestRefusedSnapshots(t *testing.T) {
	for code, want := range map[string]fault.Kind{
		"InvalidDBInstanceState": fault.Busy, "InvalidDBClusterStateFault": fault.Busy, "InvalidDBSnapshotState": fault.Busy, "InvalidDBClusterSnapshotStateFault": fault.Busy,
		"DBInstanceNotFound": fault.Missing, "DBClusterNotFoundFault": fault.Missing, "DBSnapshotNotFound": fault.Missing, "DBClusterSnapshotNotFoundFault": fault.Missing,
		"SnapshotQuotaExceeded": fault.Refused, "Throttling": fault.Throttled, "AccessDenied": fault.Denied,
	} {
		for i, do := range []func(*rds.Snapshots) error{
			func(b *rds.Snapshots) error {
				_, err := b.BackUp(t.Context(), project.Target{}, "one", "sw-one", nil)
				return err
			},
			func(b *rds.Snapshots) error { return b.Delete(t.Context(), project.Target{}, "arn:x:sw-one") },
			func(b *rds.Snapshots) error {
				_, err := b.Find(t.Context(), project.Target{}, "one", "sw-one")
				return err
			},
		} {
			instances, clusters := snapshots(&service{status: 400, code: code})
			for _, b := range []*rds.Snapshots{instances, clusters} {
				if err := do(b); !fault.Is(err, want) {
					t.Errorf("%s, request %d: %v", code, i, err)
				}
			}
		}
	}
	for _, code := range []string{"DBSnapshotAlreadyExists", "DBClusterSnapshotAlreadyExistsFault"} { // it is read then, and that fails here as well
		s := &service{status: 400, code: code}
		instances, _ := snapshots(s)
		if _, err := instances.BackUp(t.Context(), project.Target{}, "one", "sw-one", nil); err == nil || len(s.got) != 2 || !strings.Contains(fmt.Sprint(s.got), "DescribeDBSnapshots") {
			t.Errorf("%s: %q, %v", code, s.got, err)
		}
	}
}
