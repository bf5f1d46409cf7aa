package cli

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/report"
)

// A list says how many backups a snapshot has, and when its deletion is not finished.
func TestBackupsOfSnapshot(t *testing.T) {
	s := report.Snapshot{Backups: []report.Backup{{ARN: "arn:one"}, {ARN: "arn:two"}}}
	if got := backupsOf(s); got != "2" {
		t.Errorf("it has %s", got)
	}
	s.Backups[0].Deleted = true
	if got := backupsOf(s); got != "1 of 2, deletion not finished" {
		t.Errorf("it has %s", got)
	}
}
