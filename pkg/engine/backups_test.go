package engine_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/run"
)

// A snapshot also reads stacks whose templates do not list all resources: those with modules, and with macros. If a project may have no backups, a message
// names the stacks.
func TestSnapshotReadsModules(t *testing.T) {
	const holds = "no data is backed up, and these stacks may hold some: vpc"
	for body, want := range map[string]bool{
		"Resources: {Data: {Type: 'Ours::Data::Database::MODULE'}}": true,
		"Resources: {Data: {Type: 'AWS::RDS::DBInstance'}}":         true,
		"Transform: Ours\nResources: {Data: {Type: 'Ours::Thing'}}": true,
		"Resources: {Data: {Type: 'AWS::SNS::Topic'}}":              false,
	} {
		h := newFixture(t)
		h.backend.Facts.BacksUp = nil
		h.Facts = h.backend.Facts.All()
		h.setVersion("v1", "vpc")
		n := h.projects["v1"].Nodes["vpc"]
		n.Template.Digest = body
		h.projects["v1"].Nodes["vpc"] = n
		h.requestAndExecute("a", "deploy", "v1")
		r := h.back("b", "snapshot", run.Options{Snapshot: "s"})
		if got := strings.Contains(strings.Join(r.Messages, "\n"), holds); r.State != run.StateSucceeded || got != want {
			t.Errorf("%s: the snapshot is %s: %q", body, r.State, r.Messages)
		}
	}
}
