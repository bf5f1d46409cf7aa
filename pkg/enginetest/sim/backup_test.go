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
	return g.backend.Backups()
}
