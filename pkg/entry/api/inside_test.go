package api_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// Resources is api.Inside: two pages, of one resource each, which is named like the stack.
func (h *app) Resources(_ context.Context, p plan.Location, after string) ([]plan.StackResource, string, error) {
	next := map[string]string{"": "token of 2"}[after]
	if after != "" && after != "token of 2" {
		return nil, "", fault.New(fault.Refused, "NextToken is invalid")
	}
	return []plan.StackResource{{ID: p.Stack + after, Type: "AWS::SNS::Topic", Status: "CREATE_COMPLETE"}}, next, h.blind
}

// ResourceEvents is api.Inside, too.
func (h *app) ResourceEvents(_ context.Context, p plan.Location, after string) ([]plan.ResourceEvent, string, error) {
	if p.Stack == "shop-b" {
		return nil, "", h.blind
	}
	return []plan.ResourceEvent{{Event: "1", ID: p.Stack + after, Time: noon, Type: "AWS::SNS::Topic", Status: "CREATE_FAILED", Reason: "<b>no</b>"}}, map[string]string{"": "token of 2"}[after], h.blind
}

// The pages of a stack lead from one to the next, and the last one to none.
func TestWhatIsInAStack(t *testing.T) {
	h := newApp()
	const resources, events = "GET" + ofShop + "/stacks/resources", "GET" + ofShop + "/stacks/events"
	first := read[report.ResourcePage](t, h, resources, "query.stack=a")
	second := read[report.ResourcePage](t, h, resources, "query.stack=a", "query.after="+first.After)
	if first.Resources[0].ID != "shop-a" || second.Resources[0].ID != "shop-atoken of 2" || second.After != "" {
		t.Errorf("%+v %+v", first, second)
	}
	happened := read[report.ResourceEventPage](t, h, events, "query.stack=a")
	if len(happened.Events) != 1 || happened.Events[0].Reason != "<b>no</b>" || happened.After == "" {
		t.Errorf("%+v", happened)
	}
	if none := read[report.ResourceEventPage](t, h, events, "query.stack=b"); none.Events == nil || len(none.Events) > 0 || none.After != "" {
		t.Errorf("nothing has happened, and there is %+v", none)
	}
	for _, c := range []struct {
		route, words, want string
		status             int
	}{
		{resources, "query.stack=", "stack: missing: give the name of the stack in the project", 400},
		{resources, "query.stack=d", `no stack "d" of shop@prod is recorded: GET …/stacks lists those that are`, 404},
		{resources, "query.stack=a query.after=x", `after: "x" is not from an answer of this list about stack "a": begin without it`, 400},
		{resources, "query.stack=b query.after=" + first.After, "after: ", 400},
		{resources, "query.stack=a query.after=" + happened.After, "after: ", 400},
		{resources, "query.stack=a query.from=3", `"from" is not understood: there is stack and after and fields`, 400},
	} {
		if r, said := h.ask(t, call(c.route, "", strings.Fields(c.words)...)); r.StatusCode != c.status || !strings.HasPrefix(said.Detail, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.words, r.StatusCode, said.Detail, c.status, c.want)
		}
	}
}

// What CloudFormation refuses is answered with its kind. A cursor that it does not know any more is a cursor of the caller's.
func TestStacksThatCannotBeRead(t *testing.T) {
	const route = "GET" + ofShop + "/stacks/resources"
	for kind, status := range map[fault.Kind]int{fault.Missing: 404, fault.Throttled: 429, fault.Denied: 500, fault.Refused: 409, fault.Unavailable: 503} {
		h := newApp()
		h.blind = fault.New(kind, "it says why")
		if r, said := h.ask(t, call(route, "", "query.stack=a")); r.StatusCode != status || said.Detail != "it says why" {
			t.Errorf("%s: %d %s", kind, r.StatusCode, said.Detail)
		}
		after := read[report.ResourcePage](t, newApp(), route, "query.stack=a").After
		r, _ := h.ask(t, call(route, "", "query.stack=a", "query.after="+after))
		if kind == fault.Refused && r.StatusCode != 400 || kind != fault.Refused && r.StatusCode != status {
			t.Errorf("%s: a cursor is answered %d", kind, r.StatusCode)
		}
	}
}
