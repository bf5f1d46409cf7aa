package action_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A target can be used if its role can be assumed and its account has room for another stack. Otherwise the step fails, and says why.
func TestVerify(t *testing.T) {
	for _, c := range []struct {
		room  plan.Room
		fails error // of reading the quota; of reading the template, if there is a quota
		over  bool
		kind  string // of the finding
		says  string
	}{
		{plan.Room{Limit: 2000, Stacks: 1999}, nil, true, "", "it can be used, and has 1999 of 2000 stacks"},
		{plan.Room{Stacks: 9}, nil, true, "", "it can be used, and has 9 stacks"},
		{plan.Room{Limit: 2000, Stacks: 2000}, nil, true, plan.CheckQuota, "target eu: account 111122223333 has 2000 stacks in region eu-west-1, and CloudFormation lets it have 2000: before a deploy"},
		{plan.Room{}, fault.New(fault.Denied, "role r of account 1 cannot be assumed: create it there"), true, plan.CheckAccess, "role r of account 1 cannot be assumed: create it there"},
		{plan.Room{}, io.EOF, false, "", ""},
		{plan.Room{Limit: 2000}, fault.New(fault.Denied, "CloudFormation cannot read template d1"), true, plan.CheckBucket, "target eu: CloudFormation cannot read template d1"},
	} {
		fails := "room"
		if c.room.Limit > 0 {
			fails = "template"
		}
		cloud := failing(is("UPDATE_COMPLETE"), fails, c.fails)
		cloud.room = c.room
		arguments, err := plan.NewArguments(plan.VerificationVersion, plan.Verification{Target: eu, Template: "d1"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := act(cloud, plan.Verify).Poll(t.Context(), action.Task{Step: plan.Step{ID: "verify:eu", Verb: plan.Verify, Arguments: arguments}})
		if got.Over != c.over || (err != nil) != !c.over || (got.Err != nil) != (c.kind != "") || got.Record != nil {
			t.Errorf("%+v, %v: %+v, %v", c.room, c.fails, got, err)
			continue
		}
		says, kind := got.Why, ""
		if got.Err != nil {
			says, kind = got.Err.Error(), got.Result.Findings[0].Kind
		}
		if !strings.HasPrefix(says, c.says) || kind != c.kind {
			t.Errorf("%s, %s, want %s, %s", kind, says, c.kind, c.says)
		}
	}
	if _, err := act(is(""), plan.Verify).Poll(t.Context(), action.Task{Step: plan.Step{Verb: plan.Verify}}); err == nil {
		t.Error("a step without a target is accepted")
	}
}
