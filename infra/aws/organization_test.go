package main

import (
	"testing"

	"github.com/stackwright/stackwright/infra/aws/iam"
)

// With the setting organization, the functions assume the installation's roles in accounts of this organization, and in no others. Only the functions plan
// and api list accounts, and only of this organization; only plan reads a single one.
func TestOrganization(t *testing.T) {
	const role = "arn:aws:iam::333333333333:role/stackwright/stackwright-test-"
	ours, theirs := with("aws:ResourceOrgID", "o-a1b2c3d4e5"), with("aws:ResourceOrgID", "o-zzzzzzzzzz")
	of := func(function string) iam.Identity {
		return iam.Identity{ARN: function, Policies: policies(t, the(t, full), function+"Role")}
	}
	is := func(allowed bool) iam.Answer {
		if allowed {
			return iam.Allowed
		}
		return iam.Implicit
	}
	assume := func(name string, context map[string]string, allowed bool) attempt {
		return attempt{"assume " + name, iam.Request{Action: "sts:AssumeRole", Resource: name, Context: context}, is(allowed)}
	}
	const in = "arn:aws:organizations::999999999999:"
	asks := func(action, on string, allowed bool) attempt {
		return attempt{action, iam.Request{Action: "organizations:" + action, Resource: on}, is(allowed)}
	}
	for function, may := range map[string]struct{ assumes, reads, lists, single bool }{
		"Plan": {assumes: true, lists: true, single: true}, "Api": {reads: true, lists: true}, "ExecuteStep": {assumes: true}, "WaitStatus": {assumes: true}, "Start": {}, "StackEvent": {}, "Notify": {},
	} {
		try(t, of(function), []attempt{
			assume(role+"orchestrator", ours, may.assumes),
			assume(role+"orchestrator", theirs, false),
			assume(role+"orchestrator", nil, false),
			assume(role+"reader", ours, may.assumes || may.reads),
			assume(role+"reader", theirs, false),
			assume("arn:aws:iam::333333333333:role/admin", ours, false),
			assume("arn:aws:iam::333333333333:role/stackwright/other-orchestrator", ours, false),
			asks("ListAccountsForParent", in+"ou/o-a1b2c3d4e5/ou-abcd-12345678", may.lists),
			asks("ListOrganizationalUnitsForParent", in+"ou/o-a1b2c3d4e5/ou-abcd-12345678", may.lists),
			asks("ListAccountsForParent", in+"ou/o-zzzzzzzzzz/ou-abcd-12345678", false),
			asks("ListAccountsForParent", in+"root/o-a1b2c3d4e5/r-abcd", false),
			asks("DescribeAccount", in+"account/o-a1b2c3d4e5/333333333333", may.single),
			asks("ListParents", in+"account/o-a1b2c3d4e5/333333333333", may.single),
			asks("ListParents", in+"ou/o-a1b2c3d4e5/ou-abcd-12345678", may.single),
			asks("ListParents", in+"ou/o-zzzzzzzzzz/ou-abcd-12345678", false),
			asks("DescribeAccount", in+"account/o-zzzzzzzzzz/333333333333", false),
			asks("MoveAccount", in+"account/o-a1b2c3d4e5/333333333333", false),
			asks("CloseAccount", in+"account/o-a1b2c3d4e5/333333333333", false),
		})
	}
}

// A role of the management account lists the accounts instead: then the functions need no permission of Organizations.
func TestOrganizationByRole(t *testing.T) {
	const lister = "arn:aws:iam::999999999999:role/lists"
	s, err := read(map[string]any{"executionPolicies": "PowerUserAccess", "organization": "o-a1b2c3d4e5," + lister})
	if err != nil || s.asks() != lister {
		t.Fatal(s.asks(), err)
	}
	for _, single := range []bool{false, true} {
		got := s.listed(single)
		if len(got) != 1 || len(got[0].Do) != 1 || got[0].Do[0] != "sts:AssumeRole" || len(got[0].On) != 1 || got[0].On[0] != lister {
			t.Errorf("the functions get %+v", got)
		}
	}
	if none, err := read(map[string]any{"executionPolicies": "PowerUserAccess"}); err != nil || none.listed(true) != nil || none.inOrganization("*", "") != nil {
		t.Errorf("without the setting: %+v %v", none.listed(true), err)
	}
}
