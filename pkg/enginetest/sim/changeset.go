package sim

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A changeSet is a change set in memory. It is ready after a time.
type changeSet struct {
	stack    string
	ready    time.Time
	says     plan.Proposal
	want     content
	outdated bool // another operation has started since
}

// makingChangeSet is how long a change set is made.
const makingChangeSet = 3 * time.Second

// ChangeSets lists the stacks that have change sets, by their names, sorted.
func (c *Cloud) ChangeSets() []string {
	var stacks []string
	for _, s := range c.sets {
		stacks = append(stacks, s.stack)
	}
	slices.Sort(stacks)
	return slices.Compact(stacks)
}

// DeleteChangeSets deletes the change sets of a stack, as a user can.
func (c *Cloud) DeleteChangeSets(stack string) {
	maps.DeleteFunc(c.sets, func(_ string, s changeSet) bool { return s.stack == stack })
}

// propose makes the change set of a task. Every stack has one resource, which changes with its template and its parameters.
func (c *Cloud) propose(st *stack, t action.Task) (plan.Receipt, error) {
	want := contentOf(t).keeping(st, t.Kept)
	return c.makeChangeSet(st, t, want, func() plan.Proposal {
		says := changesOf(st.now, want)
		says.Unchanged = says.Unchanged && st.project == t.Project // another tag is a change, too
		return says
	})
}

// proposeRevert makes the change set of a task that brings back the topic of a stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/drift-aware-change-sets.html
func (c *Cloud) proposeRevert(st *stack, t action.Task) (plan.Receipt, error) {
	if st == nil {
		return c.makeChangeSet(st, t, content{}, nil)
	}
	return c.makeChangeSet(st, t, st.now, func() plan.Proposal {
		if st.drift == nil {
			return plan.Proposal{Unchanged: true}
		}
		topic := plan.ResourceChange{ID: st.drift.Resource, Type: st.drift.Type, Action: "modify", Replacement: "never"}
		if st.drift.Kind == plan.DriftDeleted {
			topic.Action = "add"
		}
		return plan.Proposal{Resources: []plan.ResourceChange{topic}}
	})
}

// makeChangeSet makes the change set of a task, which leads to the wanted content.
func (c *Cloud) makeChangeSet(st *stack, t action.Task, want content, changes func() plan.Proposal) (plan.Receipt, error) {
	_, made := c.sets[t.Token()]
	switch {
	case st == nil || st.status == "DELETE_COMPLETE":
		return plan.Receipt{}, fault.New(fault.Missing, "stack does not exist")
	case made:
	case refuseTypes(t) != nil:
		return plan.Receipt{}, refuseTypes(t)
	case st.status.Busy() || st.status.Cleaning():
		return plan.Receipt{}, fault.New(fault.Busy, "stack %s is in %s state", st.name, st.status)
	case !st.status.Good() && !st.status.Recoverable() && !st.hasResources():
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s is in %s state and can not be updated", st.name, st.status)
	default:
		says := changes()
		if why := c.failure(st, "propose", want); why != "" {
			says = plan.Proposal{Failure: why}
		}
		c.sets[t.Token()] = changeSet{stack: st.name, ready: c.clock.Now().Add(makingChangeSet), says: says, want: want}
	}
	return plan.Receipt{StackID: st.id, Operation: changeSetPrefix + t.Token()}, nil
}

// The ID of a change set has this prefix, and then its name.
const changeSetPrefix = "changeSet/"

// changesOf says what an update changes: the topic, which is replaced if it gets another name, and the table.
func changesOf(now, want content) plan.Proposal {
	if now.sameResources(want) {
		return plan.Proposal{Unchanged: now.same(want)}
	}
	topic := plan.ResourceChange{ID: "Topic", Type: "AWS::SNS::Topic", Action: "modify", Replacement: "never"}
	if topicName(now.template) != topicName(want.template) {
		topic.Action, topic.Replacement = "replace", "always"
	}
	all := []plan.ResourceChange{topic}
	table := plan.ResourceChange{ID: "Table", Type: "AWS::DynamoDB::Table", Replacement: "never"}
	switch was, is := TableOf(now.template), TableOf(want.template); {
	case was == is:
		return plan.Proposal{Resources: all}
	case was == "":
		table.Action = "add"
	case is == "":
		table.Action = "remove"
		if retains(now.template) {
			table.Policy = "Retain"
		}
	default:
		table.Action, table.Replacement = "replace", "always"
	}
	return plan.Proposal{Resources: append(all, table)}
}

// versionOf returns the version of a template.
func versionOf(template string) string {
	version, _, _ := strings.Cut(strings.TrimPrefix(template, "Description: "), " ")
	version, _, _ = strings.Cut(version, "\n")
	return version
}

// topicName returns the name of the topic in a template: a version that starts with the letter r gives it one.
func topicName(template string) string {
	if version := versionOf(template); strings.HasPrefix(version, "r") {
		return version
	}
	return ""
}

// GroupsOf returns the names of the Auto Scaling groups of a stack that has a version: two if that starts with the letter g, and another
// one, which hooks may not reach, if it starts with the letter o.
func GroupsOf(stack, version string) []string {
	switch version[:min(1, len(version))] {
	case "g":
		return []string{"group-" + stack + "-a", "group-" + stack + "-b"}
	case "o":
		return []string{"group-" + stack + "-a", "other-" + stack}
	}
	return nil
}

// DatabasesOf returns the names of the DB instance and of the DB cluster of a stack that has a version: none unless that starts with the letter d or b.
func DatabasesOf(stack, version string) []string {
	if !strings.Contains("db", version[:min(1, len(version))]) || version == "" {
		return nil
	}
	return []string{"db-" + stack, "cluster-" + stack}
}

// Nested is the logical ID of the stack that is nested in a stack. InNested begins what says of an export that the
// nested stack makes it.
const (
	Nested   = "Inner"
	InNested = Nested + "."
)

// HasNested reports whether a stack that has a version has a nested stack, with a topic and an ECS service: if that starts with the letter n.
func HasNested(version string) bool { return strings.HasPrefix(version, "n") }

// ServicesOf returns the ARNs of the ECS services of a stack that has a version, or of its nested stack: none unless that starts with the letter s, c or n.
func ServicesOf(stack, version string) []string {
	if letter := version[:min(1, len(version))]; letter != "s" && letter != "c" && !HasNested(version) {
		return nil
	}
	return []string{ServiceARN("service-" + stack)}
}

// MachinesOf returns the IDs of what is stopped and started as a whole of a stack that has a version, by type: nothing unless that starts with
// the letter c or w.
func MachinesOf(stack, version string) map[string]string {
	if version[:min(1, len(version))] == "w" {
		return map[string]string{"AWS::Redshift::Cluster": "warehouse-" + stack}
	}
	if version[:min(1, len(version))] != "c" {
		return nil
	}
	return map[string]string{
		"AWS::EC2::Instance": "instance-" + stack, "AWS::Neptune::DBCluster": "graph-" + stack, "AWS::DocDB::DBCluster": "document-" + stack,
		"AWS::Redshift::Cluster": "warehouse-" + stack, "AWS::SageMaker::NotebookInstance": "notebook-" + stack,
	}
}

// StoresOf returns what holds data in a stack that has a version, besides databases and tables: nothing unless that starts with the letter w.
func StoresOf(stack, version string) []plan.StackResource {
	if version[:min(1, len(version))] != "w" {
		return nil
	}
	return []plan.StackResource{
		{ID: "Files", Type: "AWS::EFS::FileSystem", PhysicalID: "files-" + stack},
		{ID: "Volume", Type: "AWS::EC2::Volume", PhysicalID: "volume-" + stack}, {ID: "Warehouse", Type: "AWS::Redshift::Cluster", PhysicalID: "warehouse-" + stack},
	}
}

// ServiceARN returns the ARN of an ECS service.
func ServiceARN(name string) string {
	return "arn:aws:ecs:us-east-1:000000000000:service/cluster/" + name
}

// executeChangeSet starts the update of a change set that another step has made.
func (c *Cloud) executeChangeSet(st *stack, t action.Task) (plan.Receipt, error) {
	name := t.ChangeSet
	set, ok := c.sets[name]
	switch {
	case !ok || st == nil:
		return plan.Receipt{}, fault.New(fault.Missing, "ChangeSet [%s] does not exist", name)
	case c.clock.Now().Before(set.ready), st.status.Busy(), st.status.Cleaning(), set.says.Failure != "", set.outdated:
		return plan.Receipt{}, fault.New(fault.Busy, "ChangeSet [%s] cannot be executed in its current status", name)
	case st.status.FailedWithoutRollback() && !unrolled(t):
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s is in %s state: an update needs disable-rollback", st.name, st.status)
	}
	c.tokens[t.Token()] = st.id
	c.Requests = append(c.Requests, Request{c.clock.Now(), t.Number, st.name + "/" + operations[t.Request]})
	maps.DeleteFunc(c.sets, func(_ string, s changeSet) bool { return s.stack == st.name })
	if st.deployment = t.Step.Deployment; t.Request == action.ExecuteChangeSet {
		st.project = t.Project
	}
	c.begin(st, t, set.want)
	return st.receipt(t), nil
}

// deleteOutdated deletes the change sets that a successful update of a stack has made obsolete.
func (c *Cloud) deleteOutdated(st *stack) {
	maps.DeleteFunc(c.sets, func(_ string, s changeSet) bool { return s.outdated && s.stack == st.name })
}

// Proposal implements action.Cloud.
func (c *Cloud) Proposal(_ context.Context, t action.Task) (plan.Proposal, bool, error) {
	if err := c.denied(t.Location().Target); err != nil {
		return plan.Proposal{}, false, err
	}
	name := strings.TrimPrefix(t.Receipt.Operation, changeSetPrefix)
	set, ok := c.sets[name]
	switch {
	case !ok:
		return plan.Proposal{}, false, fault.New(fault.Missing, "ChangeSet [%s] does not exist", name)
	case c.clock.Now().Before(set.ready):
		return plan.Proposal{}, false, nil
	}
	says := set.says
	says.Outdated = set.outdated
	return says, true, nil
}

// Withdraw implements action.Cloud.
func (c *Cloud) Withdraw(_ context.Context, t action.Task) error {
	if err := c.denied(t.Location().Target); err != nil {
		return err
	}
	if c.clock.Now().Before(c.sets[t.Token()].ready) {
		return fault.New(fault.Busy, "ChangeSet [%s] is being made", t.Token())
	}
	delete(c.sets, t.Token())
	return nil
}
