package sim

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
)

func TestBackup(t *testing.T) {
	contract.Backup(t, func(t *testing.T, holds func(*testing.T, contract.BackupGround)) {
		holds(t, contractGround{t, New(nil, 1)})
	})
}

func (g contractGround) Backups() backup.Services {
	return backup.Services{Stacks: foundResources{g.backend}, Instances: instanceBackups(g.backend), Clusters: clusterBackups(g.backend), Tables: newTableBackups(g.backend)}
}
