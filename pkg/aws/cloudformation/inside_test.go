package cloudformation_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

func (w *wire) reader() cloudformation.Reader {
	return cloudformation.Reader{Clients: func(context.Context, project.Target) (cloudformation.ReadClient, error) { return w.client(), nil }}
}

// Events are read page by page, newest first, of the stack by its ID. Those of hooks say what the hook says, and none has the properties
// of a resource.
func TestResourceEvents(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStackEvents"] = pages(2, ". CREATE_IN_PROGRESS by us", "A:AWS::SNS::Topic CREATE_FAILED by us: no <topics>", "B:AWS::SNS::Topic HOOK_COMPLETE_FAILED by us: too open")
	var all []string
	for next := ""; ; {
		page, after, err := w.reader().ResourceEvents(t.Context(), plan.Location{Stack: "shop-vpc", StackID: vpcID}, next)
		if err != nil || w.last().Get("StackName") != vpcID {
			t.Fatal(w.last(), err)
		}
		for _, e := range page {
			all = append(all, strings.Join([]string{e.ID, e.Type, e.Status, e.Reason, e.Hook, e.Time.Format("15:04")}, " "))
		}
		if next = after; next == "" {
			break
		}
	}
	want := []string{"B AWS::SNS::Topic HOOK_COMPLETE_FAILED too open Acme::Guard::Hook 12:00", "A AWS::SNS::Topic CREATE_FAILED no <topics>  12:00", "shop-vpc AWS::CloudFormation::Stack CREATE_IN_PROGRESS   12:00"}
	if fmt.Sprint(all) != fmt.Sprint(want) {
		t.Errorf("%q", all)
	}
}

// Resources are read page by page, and of a stack that was never created by its name.
func TestResources(t *testing.T) {
	w := newWire(t)
	w.answers["ListStackResources"] = say(`<StackResourceSummaries><member><LogicalResourceId>Topic</LogicalResourceId><PhysicalResourceId>arn:t</PhysicalResourceId>` +
		`<ResourceType>AWS::SNS::Topic</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus><LastUpdatedTimestamp>` + noon.Format(time.RFC3339) + `</LastUpdatedTimestamp></member></StackResourceSummaries><NextToken>n2</NextToken>`)
	page, next, err := w.reader().Resources(t.Context(), plan.Location{Stack: "shop-vpc"}, "n1")
	if err != nil || next != "n2" || len(page) != 1 || !cmp.Equal(page[0], plan.StackResource{ID: "Topic", PhysicalID: "arn:t", Type: "AWS::SNS::Topic", Status: "CREATE_COMPLETE", Changed: noon}) {
		t.Errorf("%+v, %q, %v", page, next, err)
	}
	if w.last().Get("StackName") != "shop-vpc" || w.last().Get("NextToken") != "n1" {
		t.Error(w.last())
	}
}

// The physical IDs of a type are those of all pages, without resources that are deleted. A stack that does not exist has none.
func TestPhysicalIDs(t *testing.T) {
	w := newWire(t)
	member := func(id, kind, status string) string {
		return `<member><LogicalResourceId>L</LogicalResourceId><PhysicalResourceId>` + id + `</PhysicalResourceId><ResourceType>AWS::` + kind + `</ResourceType><ResourceStatus>` + status + `</ResourceStatus></member>`
	}
	const group = "AutoScaling::AutoScalingGroup"
	w.answers["ListStackResources"] = func(q url.Values) (int, string) {
		page := `<StackResourceSummaries>` + member("b", group, "UPDATE_COMPLETE") + member("t", "SNS::Topic", "CREATE_COMPLETE") + member("x", group, "DELETE_COMPLETE") + `</StackResourceSummaries><NextToken>n2</NextToken>`
		if q.Get("NextToken") == "n2" {
			page = `<StackResourceSummaries>` + member("a", group, "CREATE_COMPLETE") + member("y", group, "DELETE_SKIPPED") + member("", group, "CREATE_IN_PROGRESS") + `</StackResourceSummaries>`
		}
		return say(page)(q)
	}
	got, err := w.reader().PhysicalIDs(t.Context(), project.Target{}, "shop-vpc", "AWS::"+group)
	if err != nil || strings.Join(got, " ") != "a b" {
		t.Errorf("%q, %v", got, err)
	}
	for code, want := range map[string]fault.Kind{"ValidationError Stack with id shop-vpc does not exist": "", "AccessDenied no": fault.Denied} {
		name, message, _ := strings.Cut(code, " ")
		w.answers["ListStackResources"] = refuse(400, name, message)
		if got, err := w.reader().PhysicalIDs(t.Context(), project.Target{}, "shop-vpc", "AWS::"+group); len(got) > 0 || fault.KindOf(err) != want {
			t.Errorf("%s: %q, %v", code, got, err)
		}
	}
}

// Errors have their kind: no stack, no permission, too many requests.
func TestResourcesOfWhatCannotBeRead(t *testing.T) {
	for code, want := range map[string]fault.Kind{
		"ValidationError Stack with id shop-vpc does not exist": fault.Missing, "AccessDenied no": fault.Denied, "Throttling Rate exceeded": fault.Throttled, "ValidationError NextToken": fault.Refused,
	} {
		w := newWire(t)
		name, message, _ := strings.Cut(code, " ")
		w.answers["ListStackResources"], w.answers["DescribeStackEvents"] = refuse(400, name, message), refuse(400, name, message)
		_, _, resources := w.reader().Resources(t.Context(), plan.Location{Stack: "shop-vpc"}, "")
		_, _, events := w.reader().ResourceEvents(t.Context(), plan.Location{Stack: "shop-vpc"}, "")
		if !fault.Is(resources, want) || !fault.Is(events, want) {
			t.Errorf("%s: %v; %v", code, resources, events)
		}
	}
	r := cloudformation.Reader{Clients: func(context.Context, project.Target) (cloudformation.ReadClient, error) {
		return nil, fault.New(fault.Denied, "no role")
	}}
	if _, _, err := r.Resources(t.Context(), plan.Location{Stack: "shop-vpc", Target: project.Target{Name: "eu"}}, ""); !fault.Is(err, fault.Denied) || !strings.HasPrefix(err.Error(), "target eu: ") {
		t.Error(err)
	}
}
