package action_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A comparison waits until no operation is in progress, fails with what differs, and writes no record.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(*action.Task)
		status  plan.Status
		over    bool
		fails   string
	}{
		{"as recorded", func(*action.Task) {}, "UPDATE_COMPLETE", true, ""},
		{"in progress", func(*action.Task) {}, "UPDATE_IN_PROGRESS", false, ""},
		{"cleaning up", func(*action.Task) {}, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", false, ""},
		{"failed", func(*action.Task) {}, "UPDATE_ROLLBACK_FAILED", true, "stack shop-vpc is not as recorded: it is UPDATE_ROLLBACK_FAILED"},
		{"never known", func(t *action.Task) { t.Record.StackID = "" }, "UPDATE_COMPLETE", true, "it is not known yet whether Stackwright made this stack"},
		{"with an intent", func(t *action.Task) { t.Record.Intent = true }, "UPDATE_COMPLETE", true, "what is deployed is not recorded"},
		{
			"gone, with an intent", func(t *action.Task) { t.Record.Intent = true }, "DELETE_COMPLETE", true,
			"it is not known yet whether Stackwright made this stack",
		},
	} {
		cloud := is(c.status)
		for id, l := range cloud.live {
			l.Project = "shop@prod"
			cloud.live[id] = l
		}
		in := task(plan.Compare)
		c.prepare(&in)
		got, err := act(cloud, plan.Compare).Poll(t.Context(), in)
		if err != nil || got.Over != c.over || got.Record != nil || got.Forget || (got.Err != nil) != (c.fails != "") {
			t.Errorf("%s: %+v, %v", c.name, got, err)
			continue
		}
		if c.fails != "" && (!fault.Is(got.Err, fault.Refused) || !strings.Contains(got.Err.Error(), c.fails)) {
			t.Errorf("%s: %v, want %s", c.name, got.Err, c.fails)
		}
	}
	for _, c := range []struct {
		fails error
		over  bool
		err   bool
	}{{fault.New(fault.Missing, "gone"), false, false}, {io.EOF, false, true}} { // it is deleted meanwhile, or cannot be read
		cloud := failing(is("UPDATE_COMPLETE"), "read-policy", c.fails)
		for _, v := range []plan.Verb{plan.Compare, plan.Read} {
			in := task(v)
			in.Record.Policy = "set"
			if got, err := act(cloud, v).Poll(t.Context(), in); got.Over != c.over || (err != nil) != c.err {
				t.Errorf("%s: the policy cannot be read (%v): %+v, %v", v, c.fails, got, err)
			}
		}
	}
	if _, err := act(failing(is("UPDATE_COMPLETE"), "live", io.EOF), plan.Compare).Poll(t.Context(), task(plan.Compare)); !errors.Is(err, io.EOF) {
		t.Errorf("it cannot be read: %v", err)
	}
}

// A policy that was changed outside is a finding, and a read records it, so that the next deploy sets the policy again. Where the project has
// given none, a refresh does not read it.
func TestPolicyOutside(t *testing.T) {
	cloud := is("UPDATE_COMPLETE")
	cloud.policy = project.NewStackPolicy("{}")
	in := task(plan.Compare)
	in.Record.Policy = "set"
	if got, err := act(cloud, plan.Compare).Poll(t.Context(), in); err != nil || got.Err == nil || !strings.Contains(got.Err.Error(), "its stack policy was changed outside Stackwright: refresh") {
		t.Errorf("%+v, %v", got, err)
	}
	got, err := act(cloud, plan.Read).Poll(t.Context(), in)
	if err != nil || got.Record == nil || got.Record.Policy != cloud.policy.Digest || got.Record.Digest != "" || !got.Record.OtherPolicy || !strings.Contains(got.Why, "the next deploy sets it again") {
		t.Errorf("read: %+v, %v", got, err)
	}
	denied := failing(is("UPDATE_COMPLETE"), "read-policy", fault.New(fault.Denied, "not authorized"))
	if got, err = act(denied, plan.Read).Poll(t.Context(), in); err != nil || got.Record == nil || got.Record.Policy != "set" || !strings.Contains(got.Why, "cannot be read: not authorized") {
		t.Errorf("read of a policy that is denied: %+v, %v", got, err)
	}
	in.Record.Policy = ""
	cloud.calls = nil
	if got, err = act(cloud, plan.Read).Poll(t.Context(), in); err != nil || got.Record.Policy != "" || slices.Contains(cloud.calls, "read-policy") {
		t.Errorf("read without a policy: %+v, %v, called %v", got, err, cloud.calls)
	}
}

// A change that succeeds, and an adoption, record the termination protection and the tags. A change that fails keeps what is recorded, and a new
// stack has nothing of the old one.
func TestSettingsAreRecorded(t *testing.T) {
	before, tags := plan.NewSettings(plan.Live{Protected: true}, nil), map[string]string{"team": "a"}
	for _, c := range []struct {
		name string
		verb plan.Verb
		op   action.Operation
		live plan.Live
		want *plan.Settings
	}{
		{"update", plan.Update, action.Operation{Over: true, Found: true, Status: "UPDATE_COMPLETE", Receipt: started}, plan.Live{StackID: "id", Status: "UPDATE_COMPLETE", LastUpdated: now}, plan.NewSettings(plan.Live{Project: "shop@prod", Tags: tags}, nil)},
		{"failed update", plan.Update, action.Operation{Over: true, Found: true, Status: "UPDATE_ROLLBACK_COMPLETE", Receipt: started}, plan.Live{StackID: "id", Status: "UPDATE_ROLLBACK_COMPLETE", LastUpdated: now}, before},
		{"failed creation", plan.Create, action.Operation{Over: true, Found: true, Status: "ROLLBACK_COMPLETE", Receipt: started}, plan.Live{StackID: "new", Status: "ROLLBACK_COMPLETE", LastUpdated: now}, nil},
	} {
		cloud := is("")
		cloud.live["id"], cloud.live["new"], cloud.events = c.live, c.live, []action.Operation{c.op}
		in := task(c.verb)
		in.Record.Settings, in.Want.Tags, in.Receipt = before, tags, plan.Receipt{StackID: c.live.StackID, Operation: "op"}
		got, err := act(cloud, c.verb).Poll(t.Context(), in)
		if err != nil || !got.Over || got.Record == nil {
			t.Errorf("%s: %+v, %v", c.name, got, err)
			continue
		}
		if d := cmp.Diff(c.want, got.Record.Settings); d != "" {
			t.Errorf("%s: -want +got\n%s", c.name, d)
		}
	}
}
