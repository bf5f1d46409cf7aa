package cloudformation_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// The quota is read once for a target and cached, all pages of stacks that exist are counted, and each request is counted.
func TestRoom(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeAccountLimits"] = func(form url.Values) (int, string) {
		pages := map[string]string{
			"":  "<AccountLimits><member><Name>StackOutputsLimit</Name><Value>200</Value></member></AccountLimits><NextToken>2</NextToken>",
			"2": "<AccountLimits><member><Name>StackLimit</Name><Value>2500</Value></member></AccountLimits>",
		}
		return say(pages[form.Get("NextToken")])(form)
	}
	w.answers["ListStacks"] = func(form url.Values) (int, string) {
		if all := form.Encode(); strings.Contains(all, "DELETE_COMPLETE") || !strings.Contains(all, "DELETE_FAILED") || !strings.Contains(all, "REVIEW_IN_PROGRESS") {
			t.Errorf("the stacks are filtered by %s", all)
		}
		member := "<member><StackName>x</StackName><StackStatus>CREATE_COMPLETE</StackStatus></member>"
		pages := map[string]string{
			"":  "<StackSummaries>" + member + member + "</StackSummaries><NextToken>2</NextToken>",
			"2": "<StackSummaries>" + member + "</StackSummaries>",
		}
		return say(pages[form.Get("NextToken")])(form)
	}
	cloud, counted := w.cloud(), 0
	room := func(target string, calls string) {
		t.Helper()
		w.forms, counted = nil, 0
		got, err := cloud.Room(t.Context(), project.Target{Name: target}, func() { counted++ })
		if err != nil || got != (plan.Room{Limit: 2500, Stacks: 3}) || w.calls() != calls || counted != len(w.forms) {
			t.Errorf("%+v, %v, with %s, of which %d were counted", got, err, w.calls(), counted)
		}
	}
	room("eu", "DescribeAccountLimits DescribeAccountLimits ListStacks ListStacks")
	room("eu", "ListStacks ListStacks")
	room("us", "DescribeAccountLimits DescribeAccountLimits ListStacks ListStacks")
	w.answers["ListStacks"] = refuse(403, "AccessDenied", "not allowed")
	if _, err := cloud.Room(t.Context(), project.Target{Name: "eu"}, func() {}); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
	w.answers["DescribeAccountLimits"] = refuse(403, "AccessDenied", "not allowed")
	for range 2 { // an error is not cached
		if _, err := cloud.Room(t.Context(), project.Target{Name: "ap"}, func() {}); !fault.Is(err, fault.Denied) {
			t.Error(err)
		}
	}
}

// CloudFormation reads a template from S3 with the role of a target. A template that it can read and does not like was read.
func TestReadTemplate(t *testing.T) {
	for _, c := range []struct {
		status        int
		code, message string
		kind          fault.Kind
	}{
		{200, "", "", ""},
		{400, "ValidationError", "S3 error: Access Denied\nFor more information check http://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html", fault.Denied},
		{400, "ValidationError", "S3 error: The specified key does not exist.\nFor more information check http://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html", fault.Denied},
		{400, "ValidationError", "Template format error: Unrecognized resource types: [AWS::Old::Thing]", ""},
		{400, "ValidationError", "Rate exceeded", fault.Throttled},
		{403, "AccessDenied", "not allowed", fault.Denied},
		{503, "ServiceUnavailable", "later", fault.Unavailable},
	} {
		w := newWire(t)
		w.answers["ValidateTemplate"] = say("<Description>d</Description>")
		if c.code != "" {
			w.answers["ValidateTemplate"] = refuse(c.status, c.code, c.message)
		}
		err := w.cloud().ReadTemplate(t.Context(), project.Target{Name: "eu"}, "d1")
		if (err != nil) != (c.kind != "") || err != nil && !fault.Is(err, c.kind) || strings.Contains(fmt.Sprint(err), "For more") {
			t.Errorf("%s %s: %v, want %s", c.code, c.message, err, c.kind)
		}
		if got := w.last().Get("TemplateURL"); got != "https://s3.amazonaws.com/stackwright/templates/d1" {
			t.Error(got)
		}
	}
}

// A stack policy is read in its canonical form.
func TestReadStackPolicy(t *testing.T) {
	w := newWire(t)
	for body, want := range map[string]project.StackPolicy{
		"": {},
		"<StackPolicyBody>{ &quot;Statement&quot; : { &quot;Effect&quot;: &quot;Allow&quot;, &quot;Resource&quot;: &quot;*&quot;, &quot;Principal&quot;: &quot;*&quot;, &quot;Action&quot;: &quot;Update:*&quot; } }</StackPolicyBody>": project.NewStackPolicy(project.AllowAll),
	} {
		w.answers["GetStackPolicy"] = say(body)
		got, err := w.cloud().StackPolicy(t.Context(), plan.Location{Stack: "shop-vpc", StackID: vpcID})
		if err != nil || got != want || w.last().Get("StackName") != vpcID {
			t.Errorf("%s: %+v, %v, requested for %s", body, got, err, w.last().Get("StackName"))
		}
	}
	w.answers["GetStackPolicy"] = refuse(400, "ValidationError", "Stack [x] does not exist")
	if _, err := w.cloud().StackPolicy(t.Context(), plan.Location{Stack: "shop-vpc"}); !fault.Is(err, fault.Missing) {
		t.Error(err)
	}
	if _, err := w.cloud().StackPolicy(t.Context(), plan.Location{}); !fault.Is(err, fault.Broken) {
		t.Error(err)
	}
}
