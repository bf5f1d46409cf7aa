package cli

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/report"
)

// Before a snapshot is deleted, the question names each backup that is deleted, or that stays. A list says when a deletion is not finished.
func TestDeletionOfSnapshot(t *testing.T) {
	s := report.Snapshot{Snapshot: "monday", Who: "ann"}
	if got := deletionOf(s, "shop@prod", false); !strings.HasSuffix(got, "is deleted") || !strings.HasPrefix(got, "the snapshot monday of shop@prod, made by ann at ") {
		t.Errorf("it says %q", got)
	}
	s.Backups = []report.Backup{{Stack: "db", Resource: "Database", ARN: "arn:one"}, {Stack: "db", Resource: "Cluster", ARN: "arn:two"}}
	if got := backupsOf(s); got != "2" {
		t.Errorf("it has %s", got)
	}
	if got := deletionOf(s, "shop@prod", false); !strings.HasSuffix(got, ", is deleted, with its backups (2):\n  db.Database: arn:one\n  db.Cluster: arn:two") {
		t.Errorf("it says %q", got)
	}
	s.Backups[0].Deleted = true
	if got := deletionOf(s, "shop@prod", true); !strings.HasSuffix(got, "; its backups (1 of 2, deletion not finished) stay in AWS:\n  db.Cluster: arn:two") {
		t.Errorf("it says %q", got)
	}
}
