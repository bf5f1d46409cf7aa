package sim

import (
	"context"
	"fmt"
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

// tableBackups is what backs up tables of DynamoDB. The ARN of a backup does not have its name, and names are not unique.
type tableBackups struct{ crashingBackups }

func newTableBackups(b *Backend) tableBackups {
	return tableBackups{crashingBackups{Backend: b}}
}

// has reports whether a live stack has a table.
func (m tableBackups) has(name string) bool {
	for _, st := range m.Cloud.live {
		if slices.Contains(TablesOf(st.name, versionOf(st.now.template)), name) {
			return true
		}
	}
	return m.Cloud.HolderOf(name) != ""
}

// See implements backup.Backer.
func (m tableBackups) See(ctx context.Context, _ project.Target, ids []string) (map[string]backup.Seen, error) {
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
func (m tableBackups) BackUp(ctx context.Context, in project.Target, id, name string, _ map[string]string) (string, error) {
	arn, err := m.Find(ctx, in, id, name)
	if !fault.Is(err, fault.Missing) {
		return arn, err
	}
	return got(m.Backend, ctx, "Backup.Create", id, func() (string, error) {
		switch {
		case !m.has(id):
			return "", fault.New(fault.Missing, "there is no table %s", id)
		case m.making() >= mostMade:
			return "", fault.New(fault.Busy, "%d backups are being made", mostMade)
		}
		arn := fmt.Sprintf("arn:aws:dynamodb:us-east-1:000000000000:table/%s/backup/%014d-%08x", id, m.Now().UnixMilli(), len(m.Cloud.backups))
		m.Cloud.backups[arn] = savedBackup{Source: id, Name: name, ready: m.Now().Add(BackupTime)}
		return arn, nil
	})
}

// making counts the backups of tables that are being made.
func (m tableBackups) making() int {
	n := 0
	for _, b := range m.Cloud.backups {
		if is, exists := b.state(m.Now()); exists && is == backup.Making && b.Name != "" {
			n++
		}
	}
	return n
}

// Find implements backup.Backer.
func (m tableBackups) Find(ctx context.Context, _ project.Target, id, name string) (string, error) {
	return got(m.Backend, ctx, "Backup.List", id, func() (string, error) {
		for _, arn := range m.Cloud.Backups() {
			listed := m.Cloud.backups[arn].ready.Add(m.Cloud.BackupsLag - BackupTime)
			if b := m.Cloud.backups[arn]; b.Source == id && b.Name == name && !m.Now().Before(listed) {
				return arn, nil
			}
		}
		return "", fault.New(fault.Missing, "there is no backup %s of the table %s", name, id)
	})
}

// BackupName is the name of a backup: the last part of its ARN, unless that is one of a table.
func (c *Cloud) BackupName(arn string) string {
	if b := c.backups[arn]; b.Name != "" {
		return b.Name
	}
	return arn[strings.LastIndexByte(arn, ':')+1:]
}
