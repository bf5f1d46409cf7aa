package sim

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// mostMade is how many backups of tables an account may make at the same time in a region.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html#API_CreateBackup_Errors
const mostMade = 50

// TablesOf returns the names of the table and of the global table of a stack that has a version: none unless that starts with the letter t.
func TablesOf(stack, version string) []string {
	if version[:min(1, len(version))] != "t" {
		return nil
	}
	return []string{"table-" + stack, "global-" + stack}
}

// unnamedBackups is what backs up tables of DynamoDB, EBS volumes or file systems of EFS. The ARN of a backup does not have its name, and names are not unique.
type unnamedBackups struct {
	crashingBackups
	in   func(stack, version string) []string // returns what a stack has that has a version
	most int                                  // how many are made at the same time
}

func newTableBackups(b *Backend) unnamedBackups {
	m := unnamedBackups{crashingBackups{Backend: b}, TablesOf, mostMade}
	m.arn = func(id, _ string) string {
		return fmt.Sprintf("arn:aws:dynamodb:us-east-1:000000000000:table/%s/backup/%014d-%08x", id, b.Now().UnixMilli(), len(b.Cloud.backups))
	}
	return m
}

func volumeBackups(b *Backend) unnamedBackups {
	return storeBackups(b, "AWS::EC2::Volume", "arn:aws:ec2:us-east-1::snapshot/snap-%017x")
}

func fileBackups(b *Backend) unnamedBackups {
	return storeBackups(b, "AWS::EFS::FileSystem", "arn:aws:backup:us-east-1:000000000000:recovery-point:11111111-0000-0000-0000-%012x")
}

// storeBackups backs up what StoresOf has of a type. The ARNs of backups have a number.
func storeBackups(b *Backend, kind, arn string) unnamedBackups {
	m := unnamedBackups{crashingBackups{Backend: b}, func(stack, version string) []string { return []string{storeOf(kind)(stack, version)} }, math.MaxInt}
	m.arn = func(string, string) string { return fmt.Sprintf(arn, len(b.Cloud.backups)+1) }
	return m
}

// has reports whether a live stack has a resource.
func (m unnamedBackups) has(name string) bool {
	for _, st := range m.Cloud.live {
		if slices.Contains(m.in(st.name, versionOf(st.now.template)), name) {
			return true
		}
	}
	return m.Cloud.HolderOf(name) != ""
}

// See implements backup.Backer.
func (m unnamedBackups) See(ctx context.Context, _ project.Target, ids []string) (map[string]backup.Seen, error) {
	return got(m.Backend, ctx, "Backup.See", ids[0], func() (map[string]backup.Seen, error) {
		all := make(map[string]backup.Seen)
		for _, id := range ids {
			if m.has(id) {
				all[id] = backup.Seen{}
			}
		}
		return all, nil
	})
}

// BackUp implements backup.Backer.
func (m unnamedBackups) BackUp(ctx context.Context, in project.Target, id, name string, _ map[string]string) (string, error) {
	arn, err := m.Find(ctx, in, id, name)
	if !fault.Is(err, fault.Missing) {
		return arn, err
	}
	return got(m.Backend, ctx, "Backup.Create", id, func() (string, error) {
		switch {
		case !m.has(id):
			return "", fault.New(fault.Missing, "there is no %s", id)
		case m.making() >= m.most:
			return "", fault.New(fault.Busy, "%d backups are being made", m.most)
		}
		b := savedBackup{Source: id, Name: name, ready: m.Now().Add(BackupTime)}
		if fails := m.Cloud.Fail[id+"/back-up"]; fails > 0 {
			m.Cloud.Fail[id+"/back-up"], b.fails = fails-1, true
		}
		arn := m.arn(id, name)
		m.Cloud.backups[arn] = b
		return arn, nil
	})
}

// making counts the backups of these that are being made.
func (m unnamedBackups) making() int {
	n := 0
	for _, b := range m.Cloud.backups {
		if is, exists := b.state(m.Now()); exists && is == backup.Making && b.Name != "" {
			n++
		}
	}
	return n
}

// Find implements backup.Backer.
func (m unnamedBackups) Find(ctx context.Context, _ project.Target, id, name string) (string, error) {
	return got(m.Backend, ctx, "Backup.List", id, func() (string, error) {
		for _, arn := range m.Cloud.Backups() {
			listed := m.Cloud.backups[arn].ready.Add(m.Cloud.BackupsLag - BackupTime)
			if b := m.Cloud.backups[arn]; b.Source == id && b.Name == name && !m.Now().Before(listed) {
				return arn, nil
			}
		}
		return "", fault.New(fault.Missing, "there is no backup %s of %s", name, id)
	})
}

// BackupName is the name of a backup: the last part of its ARN, unless that is one of a table, a volume or a file system.
func (c *Cloud) BackupName(arn string) string {
	if b := c.backups[arn]; b.Name != "" {
		return b.Name
	}
	return arn[strings.LastIndexAny(arn, ":/")+1:]
}
