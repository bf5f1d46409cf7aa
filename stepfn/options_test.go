package stepfn_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// An option is a key of a stack that a scenario writes after ?, as in db?DELETE.
type option struct {
	yaml string
	set  func(*project.Node)
}

// rolls is the option of a rollout in the order eu, us, and then all other targets.
func rolls(yaml string, about project.Rollout) option {
	return option{"rollout: { " + yaml + " }", func(n *project.Node) {
		in := about
		in.Stack, _, _ = strings.Cut(n.Name, "@")
		if in.Wave = slices.Index([]string{"eu", "us"}, n.Target.Name); in.Wave < 0 {
			in.Wave = 2
		}
		n.Rollout = &in
	}}
}

// rolloutLimits are the limits of the rollouts of options: how many targets change at the same time, if that is limited, and how many
// may fail.
var rolloutLimits = map[string]struct{ concurrent, failures int }{"waves": {}, "bakes": {}, "alarmed": {}, "tolerant": {0, 1}, "single": {1, 2}, "strict": {1, 0}, "fleet": {30, 9}}

var stackOptions = map[string]option{
	"DELETE":     {"on_failure: DELETE", func(n *project.Node) { n.OnFailure = project.DeleteFailed }},
	"DO_NOTHING": {"on_failure: DO_NOTHING", func(n *project.Node) { n.OnFailure = project.KeepFailed }},
	"fixed":      {"ignore_changes: [Fromvpc]", func(n *project.Node) { n.IgnoreChanges = []string{"Fromvpc"} }},
	"few":        {"group: few", func(n *project.Node) { n.Group = "few" }},
	"retained":   {"retain: [Topic]", func(n *project.Node) { n.Retain = []string{"Topic"} }},
	"waves":      rolls(`order: [eu, us]`, project.Rollout{}),
	"bakes":      rolls(`order: [eu, us, "*"], bake: 10m`, project.Rollout{Bake: project.Timeout(10 * time.Minute)}),
	"alarmed":    rolls(`order: [eu, us, "*"], bake: 10m, alarms: [errors]`, project.Rollout{Bake: project.Timeout(10 * time.Minute), Alarms: []string{"errors"}}),
	"tolerant":   rolls(`order: [eu, us], max_failures: 1`, project.Rollout{}),
	"fleet": {"", func(n *project.Node) { // a canary, and then all others: in memory only
		stack, _, _ := strings.Cut(n.Name, "@")
		n.Rollout = &project.Rollout{Stack: stack, Wave: 1, Bake: project.Timeout(fleetBakes)}
		if n.Target.Name == fleetTarget(0) {
			n.Rollout.Wave = 0
		}
	}},
	"strict": {`rollout: { max_concurrent: 1 }`, func(n *project.Node) {
		stack, _, _ := strings.Cut(n.Name, "@")
		n.Rollout = &project.Rollout{Stack: stack}
	}},
	"single": {`rollout: { max_concurrent: 34%, max_failures: 2 }`, func(n *project.Node) {
		stack, _, _ := strings.Cut(n.Name, "@")
		n.Rollout = &project.Rollout{Stack: stack}
	}},
	"keeps":    {"", func(*project.Node) {}}, // it ignores changes of all its parameters: in memory only
	"off":      {"enabled: false", func(*project.Node) {}},
	"obsolete": {"obsolete: true", func(*project.Node) {}},
	"unrolled": {"disable_rollback: true", func(n *project.Node) { n.DisableRollback = true }},
	"watched":  {"rollback_triggers: { minutes: 1 }", func(n *project.Node) { n.RollbackTriggers.Minutes = 1 }},
	"locked":   {`stack_policy: { Statement: { Effect: Deny, Action: "Update:*", Principal: "*", Resource: "*" } }`, func(n *project.Node) { n.StackPolicy = project.NewStackPolicy(lockedPolicy) }},
	"unlocked": {`stack_policy_during_update: { Statement: { Effect: Allow, Action: "Update:*", Principal: "*", Resource: "*" } }`, func(n *project.Node) { n.DuringUpdate = project.AllowAll }},
	"topics":   {`resource_types: ["AWS::SNS::*", "AWS::DynamoDB::Table"]`, func(n *project.Node) { n.ResourceTypes = []string{"AWS::DynamoDB::Table", "AWS::SNS::*"} }},
	"open":     {`stack_policy: { Statement: [{ Effect: Allow, Action: "Update:*", Principal: "*", Resource: "*" }] }`, func(n *project.Node) { n.StackPolicy = project.NewStackPolicy(project.AllowAll) }},
	"team":     {"tags: { team: shop }", func(n *project.Node) { n.Tags = map[string]project.Text{"team": project.Literal("shop")} }},
	"topic":    {`notifications: ["arn:aws:sns:${region}:${account}:topic"]`, func(n *project.Node) { n.Notifications = []string{topicIn(n.Target)} }},
}

// theirPolicy is a policy that somebody sets outside Stackwright.
const theirPolicy = `{ "Statement": [{ "Effect": "Deny", "Action": "Update:*", "Principal": "*", "Resource": "LogicalResourceId/*" }] }`

const lockedPolicy = `{"Statement":[{"Action":"Update:*","Effect":"Deny","Principal":"*","Resource":"*"}]}`

func topicIn(t project.Target) string {
	return "arn:aws:sns:" + t.Region + ":" + t.Account + ":topic"
}

// topics are the names of the topics that the live stack of a node must have.
func (s stack) topics() string {
	if slices.Contains(s.options, "topic") {
		return "topic"
	}
	return ""
}

// topicNames are the names in ARNs.
func topicNames(arns []string) string {
	var names []string
	for _, arn := range arns {
		names = append(names, arn[strings.LastIndex(arn, ":")+1:])
	}
	return strings.Join(names, " ")
}

// Topics is backend.
func (p *memoryBackend) Topics(name string) string {
	return topicNames(p.Cloud.Topics(physicalName(name)))
}

// Topics is backend.
func (r *emulators) Topics(name string) string {
	outside, physical := r.at(name)
	out, err := outside.DescribeStacks(r.Context(), &cloudformation.DescribeStacksInput{StackName: &physical})
	if err != nil {
		return ""
	}
	return topicNames(aws.ToStringSlice(aws.StringSlice(out.Stacks[0].NotificationARNs)))
}

// topics compares the topics of a live stack.
func (s *scenario) topics(st statement) {
	s.expect(s.Topics(s.placed[st.args[0]]), strings.Join(st.args[1:], " "))
}

// optionSeeds tells in which random scenarios stacks have options: one of so many.
const optionSeeds = 3

// options lets the stacks of a scenario have options. They are drawn from random numbers of their own.
func (a *generator) options(seed uint64) {
	if seed%optionSeeds == 2 {
		a.optional = rand.New(rand.NewPCG(seed, 11))
	}
}

// withOptions gives options to some stacks of a project. Nothing is imported into a stack whose last operation has failed without a
// rollback, or moved out of it.
func (a *generator) withOptions(w stacks) stacks {
	if a.optional == nil {
		return w
	}
	w = slices.Clone(w)
	for i := range w {
		switch a.optional.IntN(3) {
		case 0: // as in the last project
		case 1:
			w[i].options = nil
		case 2:
			all := []string{"DELETE", "DO_NOTHING", "open", "retained", "retained", "topic", "topics", "unrolled", "watched"}
			if a.importing != nil || a.moving != nil {
				all = []string{"DELETE", "open", "topic", "watched"}
			}
			w[i].options = []string{all[a.optional.IntN(len(all))]}
		}
	}
	return w
}

// failRetained lets deletions of stacks fail because of what they retain.
func (a *generator) failRetained() {
	for _, s := range a.last {
		if slices.Contains(s.options, "retained") && a.optional.IntN(2) == 0 {
			a.add("fail", s.nameOnBackend()+"/delete")
		}
	}
}

// enabled are stacks of which none is left alone.
func enabled(w stacks) stacks {
	w = slices.Clone(w)
	for i := range w {
		w[i].options = slices.DeleteFunc(slices.Clone(w[i].options), func(name string) bool { return name == "off" || name == "obsolete" })
	}
	return w
}

// ignoredBy lists the stacks that a run says to leave alone.
func ignoredBy(r run.Run) []string {
	for _, m := range r.Messages {
		if _, names, ok := strings.Cut(m, "Sceptre project): "); ok && strings.Contains(m, "left alone") {
			return strings.Split(names, ", ")
		}
	}
	return nil
}
