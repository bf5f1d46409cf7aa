package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// BackupTime is how long it takes to back up a database, and deletionTime to delete a backup.
const (
	BackupTime   = 5 * time.Minute
	deletionTime = 30 * time.Second
)

// MostManual is how many manual snapshots an account may have in a region.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Limits.html
const MostManual = 100

// A savedBackup is a backup in the cloud.
type savedBackup struct {
	Source  string
	Name    string // of one of a table, a volume or a file system; "" if it is the last part of the ARN
	Tags    map[string]string
	ready   time.Time // when it is available, or has failed
	fails   bool
	deleted time.Time // when it is gone; zero if no request deletes it
}

// state is the state of a backup; Missing if it is gone.
func (b savedBackup) state(now time.Time) (backup.State, bool) {
	switch {
	case !b.deleted.IsZero() && !now.Before(b.deleted):
		return "", false
	case !b.deleted.IsZero():
		return backup.Deleting, true
	case now.Before(b.ready):
		return backup.Making, true
	case b.fails:
		return backup.Failed, true
	}
	return backup.Available, true
}

// Backups lists the ARNs of the backups that exist, sorted.
func (c *Cloud) Backups() []string {
	var all []string
	for _, arn := range slices.Sorted(maps.Keys(c.backups)) {
		if _, exists := c.backups[arn].state(c.clock.Now()); exists {
			all = append(all, arn)
		}
	}
	return all
}

// crashingBackups is what backs up the databases of one kind: each call takes time, and may fail or crash the function.
type crashingBackups struct {
	*Backend
	of  func(stack, version string) string // returns the database of a stack that has a version; "" if it has none
	arn func(id, name string) string       // of the backup of a name
}

// instanceBackups, clusterBackups and warehouseBackups are those of DB instances, of DB clusters and of clusters of Redshift.
func instanceBackups(b *Backend) crashingBackups {
	return crashingBackups{b, databaseAt(0), func(_, name string) string { return "arn:aws:rds:us-east-1:000000000000:snapshot:" + name }}
}

func clusterBackups(b *Backend) crashingBackups {
	return crashingBackups{b, databaseAt(1), func(_, name string) string {
		return "arn:aws:rds:us-east-1:000000000000:cluster-snapshot:" + name
	}}
}

func warehouseBackups(b *Backend) crashingBackups {
	return crashingBackups{b, storeOf("AWS::Redshift::Cluster"), func(id, name string) string {
		return "arn:aws:redshift:us-east-1:000000000000:snapshot:" + id + "/" + name
	}}
}

// Backups back up resources: each call takes time, and may fail or crash the function.
func (b *Backend) Backups() backup.Services {
	return backup.Services{Stacks: foundResources{b}, Instances: instanceBackups(b), Clusters: clusterBackups(b), Warehouses: warehouseBackups(b), Volumes: volumeBackups(b), Files: fileBackups(b), Vault: backup.Vault{Name: "Default", Role: "service-role/AWSBackupDefaultServiceRole"}, Tables: newTableBackups(b)}
}

// databaseAt finds the database that DatabasesOf has at a place.
func databaseAt(i int) func(stack, version string) string {
	return func(stack, version string) string {
		if both := DatabasesOf(stack, version); both != nil {
			return both[i]
		}
		return ""
	}
}

// storeOf finds what StoresOf has of a type.
func storeOf(kind string) func(stack, version string) string {
	return func(stack, version string) string {
		for _, one := range StoresOf(stack, version) {
			if one.Type == kind {
				return one.PhysicalID
			}
		}
		return ""
	}
}

// foundResources finds what stacks have.
type foundResources struct{ *Backend }

// ResourcesInStack implements backup.Stacks.
func (m foundResources) ResourcesInStack(ctx context.Context, in project.Target, stack string) ([]plan.StackResource, error) {
	return got(m.Backend, ctx, "Backup.Find", stack, func() ([]plan.StackResource, error) {
		st := m.Cloud.find(plan.Location{StackID: stack, Target: in})
		if st == nil || m.Cloud.live[st.name] != st {
			return nil, nil
		}
		all := []plan.StackResource{{ID: "Topic", Type: "AWS::SNS::Topic", PhysicalID: st.name}}
		if both := DatabasesOf(st.name, versionOf(st.now.template)); both != nil {
			all = append(all, plan.StackResource{ID: "Database", Type: "AWS::RDS::DBInstance", PhysicalID: both[0]}, plan.StackResource{ID: "Cluster", Type: "AWS::RDS::DBCluster", PhysicalID: both[1]})
		}
		if both := TablesOf(st.name, versionOf(st.now.template)); both != nil {
			all = append(all, plan.StackResource{ID: "Items", Type: "AWS::DynamoDB::Table", PhysicalID: both[0]}, plan.StackResource{ID: "Global", Type: "AWS::DynamoDB::GlobalTable", PhysicalID: both[1]})
		}
		all = append(all, StoresOf(st.name, versionOf(st.now.template))...)
		if name := TableOf(st.now.template); name != "" {
			all = append(all, plan.StackResource{ID: "Table", Type: "AWS::DynamoDB::Table", PhysicalID: name})
		}
		return all, nil
	})
}

// has reports whether a live stack has a database of the kind.
func (m crashingBackups) has(name string) bool {
	for _, st := range m.Cloud.live {
		if m.of(st.name, versionOf(st.now.template)) == name {
			return true
		}
	}
	return false
}

// See implements backup.Backer.
func (m crashingBackups) See(ctx context.Context, _ project.Target, ids []string) (map[string]backup.Seen, error) {
	return got(m.Backend, ctx, "Backup.See", ids[0], func() (map[string]backup.Seen, error) {
		all := make(map[string]backup.Seen)
		for _, id := range ids {
			if !m.has(id) {
				continue
			}
			all[id] = backup.Seen{}
			if status := m.Cloud.DatabaseStatus(id); strings.HasPrefix(status, "stop") {
				all[id] = backup.Seen{Unready: "it is " + status + ": start it first"}
			}
		}
		return all, nil
	})
}

// BackUp implements backup.Backer.
func (m crashingBackups) BackUp(ctx context.Context, _ project.Target, id, name string, tags map[string]string) (string, error) {
	return got(m.Backend, ctx, "Backup.Create", id, func() (string, error) {
		arn := m.arn(id, name)
		if b, made := m.Cloud.backups[arn]; made {
			if _, exists := b.state(m.Now()); exists && b.Source == id {
				return arn, nil
			}
		}
		switch status := m.Cloud.DatabaseStatus(id); {
		case !m.has(id):
			return "", fault.New(fault.Missing, "there is no database %s", id)
		case status != "available":
			return "", fault.New(fault.Busy, "database %s is %s", id, status)
		case len(m.Cloud.Backups()) >= MostManual:
			return "", fault.New(fault.Refused, "SnapshotQuotaExceeded")
		}
		b := savedBackup{Source: id, Tags: tags, ready: m.Now().Add(BackupTime)}
		if fails := m.Cloud.Fail[id+"/back-up"]; fails > 0 {
			m.Cloud.Fail[id+"/back-up"], b.fails = fails-1, true
		}
		m.Cloud.backups[arn] = b
		return arn, nil
	})
}

// Find implements backup.Backer.
func (m crashingBackups) Find(ctx context.Context, in project.Target, id, name string) (string, error) {
	arn := m.arn(id, name)
	_, err := m.Backup(ctx, in, arn)
	if err == nil && m.Cloud.backups[arn].Source != id {
		err = fault.New(fault.Refused, "the backup %s is of %s", arn, m.Cloud.backups[arn].Source)
	}
	return arn, err
}

// Backup implements backup.Backer.
func (m crashingBackups) Backup(ctx context.Context, _ project.Target, arn string) (backup.Made, error) {
	return got(m.Backend, ctx, "Backup.Read", arn, func() (backup.Made, error) {
		s, exists := m.Cloud.backups[arn].state(m.Now())
		if _, made := m.Cloud.backups[arn]; !made || !exists {
			return backup.Made{}, fault.New(fault.Missing, "there is no backup %s", arn)
		}
		return backup.Made{State: s, Says: string(s)}, nil
	})
}

// Delete implements backup.Backer.
func (m crashingBackups) Delete(ctx context.Context, _ project.Target, arn string) error {
	b := m.Cloud.backups[arn]
	return m.do(ctx, "Backup.Delete", b.Source, func() error {
		b, made := m.Cloud.backups[arn]
		s, exists := b.state(m.Now())
		switch {
		case !made || !exists:
			return fault.New(fault.Missing, "there is no backup %s", arn)
		case s == backup.Making || s == backup.Deleting:
			return fault.New(fault.Busy, "the backup %s is %s", arn, s)
		}
		b.deleted = m.Now().Add(deletionTime)
		m.Cloud.backups[arn] = b
		return nil
	})
}

// FailBackup lets the next backup of a database fail.
func (c *Cloud) FailBackup(database string) { c.Fail[fmt.Sprintf("%s/back-up", database)]++ }
