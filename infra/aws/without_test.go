package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/aws/iam"
)

// A mutant is a policy without one part of it.
type mutant struct {
	without string
	iam.Policy
}

// mutants are a policy without each of its denials, without each action and resource in them, and without each condition.
func mutants(p iam.Policy) (all []mutant) {
	for n, s := range p.Statement {
		if s.Effect != "Deny" {
			continue
		}
		with := func(without string, statements ...iam.Statement) {
			all = append(all, mutant{fmt.Sprintf("statement %d of %v %v: %s", n, s.Action, s.NotAction, without), iam.Policy{Statement: slices.Replace(slices.Clone(p.Statement), n, n+1, statements...)}})
		}
		with("the statement")
		for name, list := range map[string]*iam.List[string]{"action": &s.Action, "exception": &s.NotAction, "resource": &s.Resource} {
			whole := *list
			for n, one := range whole {
				if len(whole) > 1 {
					*list = slices.Delete(slices.Clone(whole), n, n+1)
					with(name+" "+one, s)
				}
			}
			*list = whole
		}
		for operator := range s.Condition {
			fewer := s
			fewer.Condition = maps.Clone(s.Condition)
			delete(fewer.Condition, operator)
			with("condition "+operator, fewer)
		}
	}
	return all
}

// unnoticed lists the mutants with which every attempt is answered as without.
func unnoticed(t *testing.T, all []mutant, answered func(iam.Policy) bool) {
	t.Helper()
	for _, m := range all {
		if answered(m.Policy) {
			t.Errorf("no attempt notices a policy without %s", m.without)
		}
	}
	t.Logf("%d mutants", len(all))
}

// asWanted reports whether all attempts of a role are answered as they should be.
func asWanted(t *testing.T, who iam.Identity, all []attempt) bool {
	t.Helper()
	for _, a := range all {
		got, err := who.May(a.Request)
		if err != nil {
			t.Fatal(err)
		}
		if got != a.want {
			return false
		}
	}
	return true
}

// Each part of the boundary is there because of an attack, or because of something that projects need.
func TestNoPartOfTheBoundaryIsIdle(t *testing.T) {
	role, other := execution(t, administrator), made(t)
	shared := slices.Concat(onTheInstallation(), forMorePermissions(), asStackwright(), onEverybody())
	asExecution := slices.Concat(shared, onStacks(iam.Allowed), []attempt{nestedStack(iam.Allowed)})
	asMade := slices.Concat(shared, onStacks(iam.Denied), []attempt{nestedStack(iam.Denied)})
	unnoticed(t, mutants(*role.Boundary), func(p iam.Policy) bool {
		role.Boundary, other.Boundary = &p, &p
		return asWanted(t, role, asExecution) && asWanted(t, other, asMade)
	})
}

// unconditional are a policy without each condition key.
func unconditional(p iam.Policy) (all []mutant) {
	for n, s := range p.Statement {
		for operator, keys := range s.Condition {
			for key := range keys {
				fewer := s
				fewer.Condition = maps.Clone(s.Condition)
				fewer.Condition[operator] = maps.Clone(keys)
				delete(fewer.Condition[operator], key)
				all = append(all, mutant{fmt.Sprintf("statement %d: %s %s", n, operator, key), iam.Policy{Statement: slices.Replace(slices.Clone(p.Statement), n, n+1, fewer)}})
			}
		}
	}
	return all
}

// An assumption is an attempt to assume a role.
type assumption struct {
	by      string // an ARN or a service
	context map[string]string
	want    iam.Answer
}

// trustAsWanted lists the attempts that a trust policy does not answer as it should.
func trustAsWanted(t *testing.T, p iam.Policy, all []assumption) (wrong []assumption) {
	t.Helper()
	for _, a := range all {
		got, err := p.Trusts(iam.Request{Principal: a.by, Action: "sts:AssumeRole", Context: a.context})
		if err != nil {
			t.Fatal(err)
		}
		if got != a.want {
			wrong = append(wrong, a)
		}
	}
	return wrong
}

// Each role is assumed by its service for this account, and by nobody else; each condition of its trust policy refuses somebody.
func TestNoConditionOfATrustIsIdle(t *testing.T) {
	const (
		evil           = "arn:aws:iam::" + account + ":role/evil"
		cloudformation = "cloudformation.amazonaws.com"
	)
	ours, theirs := with("aws:SourceAccount", account), with("aws:SourceAccount", there)
	group := func(account, name string) map[string]string {
		return with("aws:SourceAccount", account, "aws:SourceArn", "arn:aws:scheduler:"+region+":"+account+":schedule-group/"+name)
	}
	functions := []assumption{{"lambda.amazonaws.com", nil, iam.Allowed}, {"ec2.amazonaws.com", nil, iam.Implicit}, {cloudformation, ours, iam.Implicit}, {evil, nil, iam.Implicit}}
	all := map[string][]assumption{
		"ExecutionRole": {{cloudformation, nil, iam.Allowed}, {cloudformation, ours, iam.Allowed}, {cloudformation, theirs, iam.Implicit}, {"lambda.amazonaws.com", ours, iam.Implicit}, {evil, ours, iam.Implicit}},
		"MachineRole":   {{"states.amazonaws.com", ours, iam.Allowed}, {"states.amazonaws.com", theirs, iam.Implicit}, {"states.amazonaws.com", nil, iam.Implicit}, {evil, ours, iam.Implicit}},
		"ScheduleRole": {
			{"scheduler.amazonaws.com", group(account, "stackwright"), iam.Allowed}, {"scheduler.amazonaws.com", group(account, "evil"), iam.Implicit}, {"scheduler.amazonaws.com", ours, iam.Implicit},
			{"scheduler.amazonaws.com", with("aws:SourceArn", group(account, "stackwright")["aws:SourceArn"], "aws:SourceAccount", there), iam.Implicit}, {evil, group(account, "stackwright"), iam.Implicit},
		},
	}
	tried := make(map[string]bool)
	for name := range sizes {
		all[title(name)+"Role"] = functions
	}
	for role, attempts := range all {
		from := the(t, plain)
		if _, is := from.Resources[role]; !is {
			from = the(t, full)
		}
		trust := parsed(t, placed(from.at(role, "AssumeRolePolicyDocument")))
		if wrong := trustAsWanted(t, trust, attempts); len(wrong) > 0 {
			t.Errorf("%s: %+v", role, wrong)
		}
		unnoticed(t, unconditional(trust), func(p iam.Policy) bool { return len(trustAsWanted(t, p, attempts)) == 0 })
		tried[role] = true
	}
	for _, role := range the(t, plain).of("AWS::IAM::Role") {
		if !tried[role] {
			t.Errorf("nobody tries to assume %s", role)
		}
	}
}

// In a target, the orchestrator is assumed with its external ID only. The principals and the condition say who may: each of them
// is enough.
func TestNoConditionOfATargetIsIdle(t *testing.T) {
	const own, stranger = roles + "stackwright/stackwright-" + region + "-plan", roles + "stackwright/stackwright-evil"
	attempts := []assumption{
		{own, with("sts:ExternalId", "sw-0"), iam.Allowed}, {own, with("sts:ExternalId", "sw-1"), iam.Implicit}, {own, nil, iam.Implicit},
		{stranger, with("sts:ExternalId", "sw-0"), iam.Implicit}, {roles + "admin", with("sts:ExternalId", "sw-0"), iam.Implicit},
	}
	var r targetRole
	target(t, "account.yaml", "Orchestrator", &r)
	wide := iam.Policy{Statement: slices.Clone(r.AssumeRolePolicyDocument.Statement)}
	wide.Statement[0].Principal = iam.Principal{"AWS": {"arn:aws:iam::" + account + ":root"}}
	for name, trust := range map[string]iam.Policy{"the principals": r.AssumeRolePolicyDocument, "the condition": wide} {
		if wrong := trustAsWanted(t, trust, attempts); len(wrong) > 0 {
			t.Errorf("%s alone: %+v", name, wrong)
		}
	}
	unnoticed(t, unconditional(wide), func(p iam.Policy) bool { return len(trustAsWanted(t, p, attempts)) == 0 })
	for _, file := range []string{"account.yaml", "execution.yaml"} {
		var execution targetRole
		target(t, file, "Execution", &execution)
		tried := []assumption{
			{"cloudformation.amazonaws.com", nil, iam.Allowed}, {"cloudformation.amazonaws.com", with("aws:SourceAccount", there), iam.Allowed},
			{"cloudformation.amazonaws.com", with("aws:SourceAccount", account), iam.Implicit},
			{"lambda.amazonaws.com", nil, iam.Implicit}, {"arn:aws:iam::" + there + ":role/evil", nil, iam.Implicit},
			{"arn:aws:iam::" + there + ":role/stackwright/stackwright-orchestrator", nil, iam.Implicit},
		}
		if wrong := trustAsWanted(t, execution.AssumeRolePolicyDocument, tried); len(wrong) > 0 {
			t.Errorf("%s: %+v", file, wrong)
		}
		unnoticed(t, unconditional(execution.AssumeRolePolicyDocument), func(p iam.Policy) bool { return len(trustAsWanted(t, p, tried)) == 0 })
	}
}

// Each denial in the roles of functions and of CloudFormation refuses something that the role could do without it, or could do
// with one permission more.
func TestNoDenialOfARoleIsIdle(t *testing.T) {
	changes := func(stack, execution string, named ...string) (all []attempt) {
		context := with("cloudformation:RoleArn", execution, "aws:ResourceTag/stackwright:project", "shop@prod", "aws:RequestTag/stackwright:project", "shop@prod")
		for _, action := range append(named,
			"CancelUpdateStack", "ContinueUpdateRollback", "CreateChangeSet", "CreateStack", "CreateStackRefactor", "DeleteChangeSet", "DeleteStack", "ExecuteChangeSet", "ExecuteStackRefactor", "SetStackPolicy", "TagResource", "UntagResource", "UpdateStack", "UpdateTerminationProtection",
		) {
			all = append(all, attempt{"change the installation itself", iam.Request{Action: "cloudformation:" + action, Resource: stack, Context: context}, iam.Denied})
		}
		return append(all, attempt{"change a stack", iam.Request{Action: "cloudformation:UpdateStack", Resource: strings.Replace(stack, ":stack/stackwright", ":stack/shop", 1), Context: context}, iam.Allowed})
	}
	passes := func(own string, others ...string) []attempt {
		toCloudFormation := with("iam:PassedToService", "cloudformation.amazonaws.com")
		all := []attempt{{"make a nested stack", iam.Request{Action: "iam:PassRole", Resource: own, Context: toCloudFormation}, iam.Allowed}}
		for _, other := range others {
			all = append(all, attempt{"pass an execution role of others", iam.Request{Action: "iam:PassRole", Resource: other, Context: toCloudFormation}, iam.Denied})
		}
		return all
	}
	home, inTarget := roles+"stackwright/stackwright-"+region+"-execution", "arn:aws:iam::"+there+":role/stackwright/stackwright-execution"
	self := arn("cloudformation", "stack/stackwright/1")
	all := map[string]struct {
		policies []iam.Policy
		attempts []attempt
	}{
		"execute-step": {policies(t, the(t, plain), "ExecuteStepRole"), changes(self, home)},
		"wait-status":  {policies(t, the(t, plain), "WaitStatusRole"), append(changes(self, home), publishing(account, iam.Implicit)...)},
		"execution":    {policies(t, the(t, plain), "ExecutionRole"), passes(home, home+"-team")},
	}
	for name, c := range map[string]struct {
		file, resource string
		attempts       []attempt
	}{
		"orchestrator": {"account.yaml", "Orchestrator", append(
			changes("arn:aws:cloudformation:"+region+":"+there+":stack/stackwright-target/1", inTarget), publishing(there, iam.Implicit)...)},
		"execution in a target":     {"account.yaml", "Execution", passes(inTarget, inTarget+"-team")},
		"execution of some of them": {"execution.yaml", "Execution", passes(inTarget+"-team", inTarget)},
	} {
		var r targetRole
		target(t, c.file, c.resource, &r)
		one := all[name]
		for _, p := range r.Policies {
			one.policies = append(one.policies, p.PolicyDocument)
		}
		one.attempts = c.attempts
		all[name] = one
	}
	for name, c := range all {
		who := iam.Identity{ARN: name, Policies: c.policies}
		try(t, who, c.attempts)
		for n, p := range c.policies {
			unnoticed(t, mutants(p), func(without iam.Policy) bool {
				who.Policies = slices.Replace(slices.Clone(c.policies), n, n+1, without)
				return asWanted(t, who, c.attempts)
			})
		}
	}
	for _, role := range the(t, plain).of("AWS::IAM::Role") {
		for _, p := range policies(t, the(t, plain), role) {
			denies := slices.ContainsFunc(p.Statement, func(s iam.Statement) bool { return s.Effect == "Deny" })
			if known := []string{"ExecuteStepRole", "ExecutionRole", "WaitStatusRole"}; denies && !slices.Contains(known, role) {
				t.Errorf("nobody tries what %s denies", role)
			}
		}
	}
}
