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
	Name    string // of one of a table; "" if it is the last part of the ARN
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
	place  int    // of the kind among DatabasesOf
	prefix string // of the ARNs
}

// instanceBackups and clusterBackups are those of DB instances and of DB clusters.
func instanceBackups(b *Backend) crashingBackups {
	return crashingBackups{b, 0, "arn:aws:rds:us-east-1:000000000000:snapshot:"}
}

func clusterBackups(b *Backend) crashingBackups {
	return crashingBackups{b, 1, "arn:aws:rds:us-east-1:000000000000:cluster-snapshot:"}
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
		if name := TableOf(st.now.template); name != "" {
			all = append(all, plan.StackResource{ID: "Table", Type: "AWS::DynamoDB::Table", PhysicalID: name})
		}
		return all, nil
	})
}

// has reports whether a live stack has a database of the kind.
func (m crashingBackups) has(name string) bool {
	for _, st := range m.Cloud.live {
		if both := DatabasesOf(st.name, versionOf(st.now.template)); both != nil && both[m.place] == name {
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
		arn := m.prefix + name
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
	arn := m.prefix + name
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
