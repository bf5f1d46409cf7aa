package action_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// every fails the test for each status of the SDK that the table does not have.
func every[T any](t *testing.T, rows map[string]T) {
	t.Helper()
	for _, s := range types.StackStatus("").Values() {
		if _, ok := rows[string(s)]; !ok {
			t.Errorf("%s is known to CloudFormation and has no row", s)
		}
	}
}

// withStatus returns a cloud whose stack has a status, and resources if the row says
// so.
func withStatus(row string) (*cloud, plan.Status) {
	name, resources := strings.CutSuffix(row, " with resources")
	c := is(plan.Status(name))
	for k, l := range c.live {
		l.HasResources = resources
		c.live[k] = l
	}
	return c, plan.Status(name)
}

// What the start of each verb does for each status of the stack. A remake is the
// deletion of a stack that is created again.
func TestStartOfEveryStatus(t *testing.T) {
	const (
		create  = "begin CreateStack"
		update  = "begin UpdateStack"
		resume  = "begin ContinueUpdateRollback"
		remove  = "begin DeleteStack"
		none    = "unchanged"
		wait    = "busy: stack shop-vpc is STATUS"
		refused = "busy: stack shop-vpc is busy (stack shop-vpc is STATUS)"
		retry   = "refused: stack shop-vpc is now STATUS: retry the run; the new run repairs the stack first"
		person  = "refused: stack shop-vpc: it is STATUS, and Stackwright cannot repair it: see its events in CloudFormation"
		holds   = "refused: stack shop-vpc: it is STATUS but has resources, and Stackwright cannot repair it: see its change sets in CloudFormation"
		unknown = "refused: stack shop-vpc: its status STATUS is unknown to this version"
	)
	type row struct{ update, resume, remake string }
	var (
		gone     = row{create, none, none}
		busy     = row{refused, wait, wait}
		succeeds = row{update, none, none}
		dead     = row{retry, retry, remove}
	)
	rows := map[string]row{
		"":                            gone,
		"DELETE_COMPLETE":             gone,
		"CREATE_IN_PROGRESS":          busy,
		"DELETE_IN_PROGRESS":          busy,
		"ROLLBACK_IN_PROGRESS":        busy,
		"UPDATE_IN_PROGRESS":          busy,
		"UPDATE_ROLLBACK_IN_PROGRESS": busy,
		"UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS": busy,
		"IMPORT_IN_PROGRESS":                           busy,
		"IMPORT_ROLLBACK_IN_PROGRESS":                  busy,
		"CREATE_COMPLETE":                              succeeds,
		"UPDATE_COMPLETE":                              succeeds,
		"IMPORT_COMPLETE":                              succeeds,
		"UPDATE_COMPLETE_CLEANUP_IN_PROGRESS":          {refused, wait, none},
		"UPDATE_ROLLBACK_COMPLETE":                     succeeds,
		"IMPORT_ROLLBACK_COMPLETE":                     succeeds,
		"UPDATE_FAILED":                                succeeds,
		"CREATE_FAILED with resources":                 succeeds,
		"UPDATE_ROLLBACK_FAILED":                       {retry, resume, none},
		"IMPORT_ROLLBACK_FAILED":                       {person, person, none},
		"REVIEW_IN_PROGRESS with resources":            {holds, holds, none},
		"ROLLBACK_COMPLETE":                            dead,
		"ROLLBACK_FAILED":                              dead,
		"CREATE_FAILED":                                dead,
		"DELETE_FAILED":                                dead,
		"REVIEW_IN_PROGRESS":                           dead,
		"FUTURE_STATUS":                                {unknown, unknown, none},
	}
	every(t, rows)
	for name, want := range rows {
		for verb, want := range map[plan.Verb]string{plan.Update: want.update, plan.Continue: want.resume, plan.Delete: want.remake} {
			c, status := withStatus(name)
			receipt, err := act(c, verb).Start(t.Context(), task(verb))
			if got, want := outcome(c, receipt, err), strings.ReplaceAll(want, "STATUS", string(status)); got != want {
				t.Errorf("%s of a stack that is %s: got %s, want %s", verb, name, got, want)
			}
		}
		// The deletion of a stack that is no longer desired, and a creation, are
		// requested whatever the status is: CloudFormation refuses them if necessary.
		for verb, want := range map[plan.Verb]string{plan.Delete: remove, plan.Create: create} {
			c, _ := withStatus(name)
			in := task(verb)
			if verb == plan.Delete {
				deletesForGood(&in)
			}
			receipt, err := act(c, verb).Start(t.Context(), in)
			if got := outcome(c, receipt, err); got != want {
				t.Errorf("%s of a stack that is %s: got %s, want %s", verb, name, got, want)
			}
		}
	}
}

// A leftover of somebody else is deleted only as long as it was never created, and by its ID.
func TestStartAtALeftover(t *testing.T) {
	rows := map[string]string{
		"REVIEW_IN_PROGRESS": "begin DeleteStack", "REVIEW_IN_PROGRESS with resources": "unchanged", "ROLLBACK_COMPLETE": "unchanged",
		"CREATE_COMPLETE": "unchanged", "CREATE_IN_PROGRESS": "busy: stack shop-vpc is CREATE_IN_PROGRESS", "": "unchanged",
	}
	for name, want := range rows {
		c, _ := withStatus(name)
		in := task(plan.Delete)
		in.Record = plan.Record{}
		var err error
		if in.Step.Arguments, err = plan.NewArguments(plan.RetentionVersion, plan.Retention{Leftover: "id"}); err != nil {
			t.Fatal(err)
		}
		receipt, err := act(c, plan.Delete).Start(t.Context(), in)
		if got := outcome(c, receipt, err); got != want {
			t.Errorf("a leftover that is %s: got %s, want %s", name, got, want)
		}
	}
}

// outcome returns what a start did.
func outcome(c *cloud, receipt plan.Receipt, err error) string {
	last := ""
	if len(c.calls) > 0 {
		last = c.calls[len(c.calls)-1]
	}
	switch requested := strings.HasPrefix(last, "begin "); {
	case err != nil:
		return fmt.Sprintf("%s: %v", strings.ToLower(string(fault.KindOf(err))), err)
	case receipt.Unchanged && !requested:
		return "unchanged"
	case err == nil && receipt.StackID == "new":
		return last
	}
	return fmt.Sprintf("%+v, %v after %v", receipt, err, c.calls)
}

// What a poll of each verb reports for each status that an operation ends with: once
// with events that report the end, and once with a receipt and no events.
func TestPollOfEveryStatus(t *testing.T) {
	const (
		done    = "done"
		failed  = "failed"
		running = "running"
	)
	type row struct{ change, resume, remove, wait, read string }
	var (
		busy     = row{running, running, running, running, running}
		succeeds = row{done, failed, failed, done, done}
		failure  = row{failed, failed, failed, done, done}
	)
	rows := map[string]row{
		"":                            {failed, failed, done, done, done},
		"DELETE_COMPLETE":             {failed, failed, done, done, done},
		"CREATE_IN_PROGRESS":          busy,
		"DELETE_IN_PROGRESS":          busy,
		"ROLLBACK_IN_PROGRESS":        busy,
		"UPDATE_IN_PROGRESS":          busy,
		"UPDATE_ROLLBACK_IN_PROGRESS": busy,
		"UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS": busy,
		"IMPORT_IN_PROGRESS":                           busy,
		"IMPORT_ROLLBACK_IN_PROGRESS":                  busy,
		"CREATE_COMPLETE":                              succeeds,
		"UPDATE_COMPLETE":                              succeeds,
		"IMPORT_COMPLETE":                              succeeds,
		"UPDATE_COMPLETE_CLEANUP_IN_PROGRESS":          {done, failed, failed, running, done},
		"UPDATE_ROLLBACK_COMPLETE":                     {failed, done, failed, done, done},
		"IMPORT_ROLLBACK_COMPLETE":                     {failed, done, failed, done, done},
		"UPDATE_FAILED":                                failure,
		"UPDATE_ROLLBACK_FAILED":                       failure,
		"IMPORT_ROLLBACK_FAILED":                       failure,
		"ROLLBACK_COMPLETE":                            failure,
		"ROLLBACK_FAILED":                              failure,
		"CREATE_FAILED":                                failure,
		"CREATE_FAILED with resources":                 failure,
		"DELETE_FAILED":                                failure,
		"REVIEW_IN_PROGRESS":                           failure,
		"REVIEW_IN_PROGRESS with resources":            failure,
		"FUTURE_STATUS":                                {failed, failed, failed, failed, done},
	}
	every(t, rows)
	for name, row := range rows {
		for verb, want := range map[plan.Verb]string{
			plan.Create: row.change, plan.Update: row.change, plan.Continue: row.resume, plan.Delete: row.remove, plan.Wait: row.wait, plan.Read: row.read,
		} {
			for _, reported := range []bool{true, false} {
				c, status := withStatus(name)
				in := task(verb)
				in.Notified, in.Receipt = reported, plan.Receipt{StackID: "id", Operation: "op"}
				in.Claimed = now.Add(-action.MaxStartTime)
				updated(&in)
				if reported {
					c = withEvents(c, operation(status, ""))
					c.events[0].Over = !status.Busy()
				}
				got, err := act(c, verb).Poll(t.Context(), in)
				if end := ended(got, err); end != want {
					t.Errorf("%s that ends %s (reported by events: %v): got %s, want %s", verb, name, reported, end, want)
				}
				if end := ended(got, err); end == failed && verb != plan.Wait && got.Record != nil && got.Record.Digest == in.Want.Digest {
					t.Errorf("%s that ends %s is recorded as deployed", verb, name)
				}
			}
		}
	}
}

// ended returns what a poll reported.
func ended(p action.Progress, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case !p.Over:
		return "running"
	case p.Err != nil:
		return "failed"
	}
	return "done"
}
