package main

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A type that AWS has not published is refused before the deploy. One that the files list as unchecked is deployed, also
// again by a rollback.
func TestUncheckedTypesAreDeployed(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("templates/topic.yaml", "Resources:", "Resources:\n  New: { Type: AWS::New::Type, Properties: { Any: 1 } }")
	r := l.run("deploy", l.project)
	if r.code != cli.ExitRefused {
		t.Errorf("exit code %d", r.code)
	}
	l.has(r.err, "AWS has published no resource type AWS::New::Type", "write unchecked: [AWS::New::Type] in stackwright.yaml")
	l.edit("stackwright.yaml", "project: pair", "project: pair\nunchecked: [AWS::New::Type]")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "1 updated")
	l.has(l.must(cli.ExitOK, "rollback", "--yes"), "1 updated")
}
