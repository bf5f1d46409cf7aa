package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/infra/local/organizations"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A project that names a target which stands for an organizational unit gets a stack for each active account under it. Accounts that join get
// the stacks with the next deploy, those of accounts that leave are deleted, and those of closed accounts are kept in the records.
func TestUnits(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	org := h.Cloud.Organization
	const unit, nested, other = "ou-home-12345678", "ou-home-nested00", "ou-home-other000"
	put := func(id, name, parent string, closed time.Time) {
		t.Helper()
		if err := org.Put(organizations.Account{ID: id, Name: name, Parent: parent, Closed: closed}); err != nil {
			t.Fatal(err)
		}
	}
	put("111111111111", "shop", unit, time.Time{})
	put("444444444444", "elsewhere", other, time.Time{})
	put("333333333333", "lab", unit, time.Time{})
	if err := org.PutUnit(organizations.Unit{ID: nested, Name: "nested", Parent: unit}); err != nil {
		t.Fatal(err)
	}
	role := "arn:aws:iam::*:role/stackwright/stackwright-orchestrator"
	add := []string{"targets", "add", "org", "--ou", unit, "--except", "333333333333", "--region", "eu-west-1", "--projects", "pair@*", "--role", role}
	l.has(l.must(cli.ExitOK, add...), "target org is the accounts of unit ou-home-12345678, region eu-west-1, except 333333333333, for the projects pair@*", "assume "+role+" with the external ID sw-")
	l.has(strings.Join(strings.Fields(l.must(cli.ExitOK, "targets")), " "), "org ou-home-12345678 eu-west-1 pair@* "+role, "2 accounts, 1 left out",
		"org-111111111111 111111111111 eu-west-1 arn:aws:iam::111111111111:role/stackwright/stackwright-orchestrator ACTIVE (shop)",
		"org-333333333333 333333333333 eu-west-1 arn:aws:iam::333333333333:role/stackwright/stackwright-orchestrator ACTIVE (lab): the target leaves it out")
	again := slices.Concat(add[:5], add[7:]) // without --except
	l.has(l.must(cli.ExitOK, again...), "left out no longer: 333333333333: the next deploy creates stacks there; to leave them out still, repeat the command with --except 333333333333")
	if said := l.must(cli.ExitOK, add...); strings.Contains(said, "left out no longer") {
		t.Errorf("nothing is dropped: %s", said)
	}
	l.has(l.must(cli.ExitOK, "targets", "-o", "json"), `"unit":"ou-home-12345678"`, `"target":"org-111111111111","deployed":true`)

	l.edit("stackwright.yaml", "project: pair\n", "project: pair\ndefaults: { \"\": { targets: [org] } }\n")
	l.has(l.must(cli.ExitOK, "graph", l.project), "topic@org-111111111111")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "done     queue@org-111111111111/create", "3 created")

	put("222222222222", "new", nested, time.Time{})
	l.has(l.must(cli.ExitOK, "deploy", l.project), "done     queue@org-222222222222/create", "3 created", "3 unchanged")
	l.has(l.must(cli.ExitOK, "outputs", "queue@org-222222222222"), "arn:aws:sns:eu-west-1:222222222222:")
	l.has(l.run("targets", "remove", "org").err, "target org has 6 recorded stacks, such as alone@org-111111111111 of pair@default")

	put("111111111111", "shop", unit, time.Now())
	out := l.must(cli.ExitOK, "deploy", l.project)
	l.has(out, "not reachable for now, and kept in the records: alone@org-111111111111, queue@org-111111111111, topic@org-111111111111: account 111111111111 (shop) is PENDING_CLOSURE: it is being closed, and AWS can reinstate it for 90 days", "3 unchanged")
	l.has(l.must(cli.ExitOK, "stacks"), "queue@org-111111111111")
	l.edit("stackwright.yaml", "targets: [org]", "targets: [org-111111111111, org-222222222222]")
	out = l.must(cli.ExitOK, "deploy", l.project)
	l.has(out, "not reachable for now, and kept in the records: alone@org-111111111111, queue@org-111111111111, topic@org-111111111111: account 111111111111 (shop) is PENDING_CLOSURE", "3 unchanged")
	l.edit("stackwright.yaml", "targets: [org-111111111111, org-222222222222]", "targets: [org]")

	put("111111111111", "shop", unit, time.Now().Add(-100*24*time.Hour))
	l.has(l.must(cli.ExitOK, "deploy", l.project), "account 111111111111 is not in the organization any more: if it is closed for good, delete the records of its stacks with stackwright forget")
	l.must(cli.ExitOK, "forget", "--project", "pair", "--yes", "topic@org-111111111111", "queue@org-111111111111", "alone@org-111111111111")
	if left := l.must(cli.ExitOK, "stacks"); strings.Contains(left, "111111111111") {
		t.Errorf("the stacks are still recorded:\n%s", left)
	}

	put("444444444444", "elsewhere", unit, time.Time{})
	l.has(l.must(cli.ExitOK, "deploy", l.project), "3 created", "3 unchanged")
	put("222222222222", "new", other, time.Time{})
	l.has(l.must(cli.ExitRefused, "deploy", l.project, "--max-deletions", "2"), "3 of the 6 recorded stacks would be deleted permanently")
	planned := l.run("plan", l.project, "--max-deletions", "3")
	l.has(planned.out+planned.err, "account 222222222222 has left the unit of target org, or is left out of it")
	l.has(l.must(cli.ExitOK, "deploy", l.project, "--max-deletions", "3"), "3 deleted", "3 unchanged")

	put("444444444444", "elsewhere", other, time.Time{})
	l.has(l.must(cli.ExitRefused, "deploy", l.project), "project pair@default has no stacks, and 3 are recorded: to delete all its stacks, use destroy")
	l.has(l.must(cli.ExitOK, "destroy", l.project, "--yes"), "3 deleted")
	l.has(l.must(cli.ExitOK, "targets", "remove", "org"), "target org is removed")
	l.has(l.run("targets", "remove", "").err, "an argument is empty: give NAME")
}
