package project

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
)

// SettingsDigest is the digest of what the files say besides the stacks, such as schedules and approvals, without
// what is only about the run itself. Two projects with the same nodes and settings are deployed alike.
func (p Project) SettingsDigest() (string, error) {
	p.Nodes, p.MaxDeletions, p.Rollback = nil, nil, false
	text, err := json.Marshal(p)
	if err != nil {
		return "", fault.New(fault.Broken, "settings of %s: %w", p.ID(), err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}
