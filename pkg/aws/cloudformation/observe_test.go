package cloudformation_test

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A stack is described by its ID if that is known, and by its name otherwise.
func TestLive(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "UPDATE_ROLLBACK_COMPLETE",
		"<StackStatusReason>so it is</StackStatusReason><EnableTerminationProtection>true</EnableTerminationProtection>",
		"<LastUpdatedTime>2026-02-03T04:05:06.789Z</LastUpdatedTime><DeletionTime>2026-03-03T04:05:06Z</DeletionTime>",
		"<Outputs><member><OutputKey>Id</OutputKey><OutputValue>vpc-1</OutputValue></member></Outputs>"))
	got, err := w.cloud().Live(t.Context(), plan.Location{Stack: "shop-vpc", StackID: vpcID})
	want := plan.Live{
		StackID: vpcID, Status: "UPDATE_ROLLBACK_COMPLETE", Reason: "so it is", Protected: true, Project: "shop@prod", Outputs: map[string]string{"Id": "vpc-1"},
		LastUpdated: time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC),
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || w.last().Get("StackName") != vpcID {
		t.Errorf("%s, %v, of %s", diff, err, w.last().Get("StackName"))
	}

	w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "CREATE_COMPLETE"))
	got, err = w.cloud().Live(t.Context(), plan.Location{Stack: "shop-vpc"})
	if want := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC); err != nil || !got.LastUpdated.Equal(want) || w.last().Get("StackName") != "shop-vpc" {
		t.Errorf("updated %s, %v, of %s", got.LastUpdated, err, w.last().Get("StackName"))
	}

	w.answers["DescribeStacks"] = refuse(400, "ValidationError", "Stack with id shop-vpc does not exist")
	if got, err = w.cloud().Live(t.Context(), plan.Location{Stack: "shop-vpc"}); err != nil || !cmp.Equal(got, plan.Live{}) {
		t.Errorf("%+v, %v", got, err)
	}

	w.answers["DescribeStacks"] = refuse(403, "AccessDenied", "no")
	if _, err = w.cloud().Live(t.Context(), plan.Location{Stack: "shop-vpc"}); !fault.Is(err, fault.Denied) {
		t.Errorf("%v", err)
	}
}

// account answers like an account with some stacks, two on a page.
func account(names ...string) func(url.Values) (int, string) {
	return func(form url.Values) (int, string) {
		if n := form.Get("StackName"); n != "" {
			for _, name := range names {
				if name == n {
					return stacks(stack("id/"+n, n, "CREATE_COMPLETE"))(form)
				}
			}
			return refuse(400, "ValidationError", "Stack with id "+n+" does not exist")(form)
		}
		from, err := strconv.Atoi("0" + form.Get("NextToken"))
		if err != nil {
			panic(err)
		}
		var all []string
		for _, n := range names[from:min(from+2, len(names))] {
			all = append(all, stack("id/"+n, n, "CREATE_COMPLETE"))
		}
		text := "<Stacks><member>" + strings.Join(all, "</member><member>") + "</member></Stacks>"
		if from+2 < len(names) {
			text += fmt.Sprintf("<NextToken>%d</NextToken>", from+2)
		}
		return say(text)(form)
	}
}

func locations(names ...string) []plan.Location {
	var all []plan.Location
	for _, n := range names {
		all = append(all, plan.Location{Node: "node " + n, Stack: n, StackID: "id/" + n, Token: token})
	}
	return all
}

// Up to three stacks are described by name; more are found in the list of all stacks, which is read only as far as needed.
func TestObserve(t *testing.T) {
	for _, c := range []struct {
		names string
		reads int
		want  string
	}{
		{"b", 1, "b"},
		{"b x g", 3, "b g"},
		{"a b c d", 2, "a b c d"},
		{"a b c x", 4, "a b c"},
		{"w x y z", 4, ""},
	} {
		w := newWire(t)
		w.answers["DescribeStacks"] = account("a", "b", "c", "d", "e", "f", "g")
		names := strings.Fields(c.names)
		got, err := w.cloud().Observe(t.Context(), locations(names...))
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, n := range names {
			if l, ok := got["node "+n]; ok {
				found = append(found, n)
				if l.StackID != "id/"+n || l.Status != "CREATE_COMPLETE" || l.CreatedByToken {
					t.Errorf("%s: %+v", n, l)
				}
			}
		}
		if s := strings.Join(found, " "); s != c.want || len(got) != len(found) || len(w.forms) != c.reads {
			t.Errorf("of %s found %s with %d reads: %s", c.names, s, len(w.forms), w.calls())
		}
	}
}

// A stack was created by our token if its first event has the token of our last
// request. Events are read only if the stack is not the recorded one.
func TestCreatedByToken(t *testing.T) {
	ours := []string{". CREATE_IN_PROGRESS by us", "A:T CREATE_COMPLETE by us", ". CREATE_COMPLETE by us"}
	theirs := []string{". CREATE_IN_PROGRESS by them", ". CREATE_COMPLETE by them", ". UPDATE_IN_PROGRESS by us"}
	for name, c := range map[string]struct {
		location plan.Location
		events   []string
		ours     bool
		reads    int
	}{
		"recorded":                {plan.Location{StackID: vpcID, Token: token}, ours, false, 0},
		"no token":                {plan.Location{}, ours, false, 0},
		"ours":                    {plan.Location{Token: token}, ours, true, 3},
		"ours instead of another": {plan.Location{StackID: other, Token: token}, ours, true, 3},
		"somebody else's":         {plan.Location{Token: token}, theirs, false, 3},
		"too long a history to find the operation": {plan.Location{Token: token}, append(ours, make([]string, 100)...), false, 50},
	} {
		for i, e := range c.events {
			if e == "" {
				c.events[i] = "A:T UPDATE_COMPLETE by us"
			}
		}
		w := newWire(t)
		w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "CREATE_COMPLETE"))
		w.answers["DescribeStackEvents"] = pages(1, c.events...)
		c.location.Node, c.location.Stack = "vpc", "shop-vpc"
		got, err := w.cloud().Observe(t.Context(), []plan.Location{c.location})
		if err != nil || got["vpc"].CreatedByToken != c.ours || len(w.forms) != 1+c.reads {
			t.Errorf("%s: ours %v after %d reads, %v", name, got["vpc"].CreatedByToken, len(w.forms)-1, err)
		}
	}
}

// Each target has its own client. A stack in a target that denies access has an
// access error, and does not hide the stacks of other targets.
func TestTargets(t *testing.T) {
	eu, us := newWire(t), newWire(t)
	eu.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", "CREATE_COMPLETE"))
	us.answers["DescribeStacks"] = stacks(stack(other, "shop-vpc", "UPDATE_COMPLETE"))
	shut := newWire(t)
	shut.answers["DescribeStacks"] = refuse(403, "AccessDenied", "no")
	all := map[string]cloudformation.Client{"eu": eu.client(), "us": us.client(), "shut": shut.client()}
	cloud := cloudformation.New(func(_ context.Context, t project.Target) (cloudformation.TargetClient, error) {
		if t.Name == "venus" {
			return cloudformation.TargetClient{}, fault.New(fault.Denied, "no access")
		}
		if c, ok := all[t.Name]; ok {
			return cloudformation.TargetClient{Client: c}, nil
		}
		return cloudformation.TargetClient{}, fault.New(fault.Missing, "it is not registered")
	}, smallTemplates{})
	at := func(target string) plan.Location {
		return plan.Location{Node: "vpc@" + target, Stack: "shop-vpc", Target: project.Target{Name: target}}
	}
	got, err := cloud.Observe(t.Context(), []plan.Location{at("us"), at("eu")})
	if err != nil || got["vpc@eu"].StackID != vpcID || got["vpc@us"].StackID != other {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = cloud.Observe(t.Context(), []plan.Location{at("us"), at("venus"), at("shut")})
	if err != nil || got["vpc@us"].StackID != other || got["vpc@venus"].AccessError != "target venus: no access" ||
		!strings.Contains(got["vpc@shut"].AccessError, "AccessDenied: no") {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := cloud.Observe(t.Context(), []plan.Location{at("venus"), at("shut")}); !fault.Is(err, fault.Denied) || len(fault.Messages(err)) != 2 || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := cloud.Observe(t.Context(), []plan.Location{at("mars")}); !fault.Is(err, fault.Missing) || err.Error() != "target mars: it is not registered" {
		t.Errorf("%v", err)
	}
}

// A stack that cannot be described is not taken for absent.
func TestObserveReturnsErrors(t *testing.T) {
	for _, n := range []string{"a", "a b c d"} {
		w := newWire(t)
		w.answers["DescribeStacks"] = refuse(403, "AccessDenied", "no")
		if got, err := w.cloud().Observe(t.Context(), locations(strings.Fields(n)...)); !fault.Is(err, fault.Denied) || got != nil {
			t.Errorf("%v, %v", got, err)
		}
	}
}
