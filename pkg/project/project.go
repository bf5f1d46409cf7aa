// Package project holds the desired state: stacks, their targets, and their
// dependencies.
package project

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/graph"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// DefaultEnvironment is the environment that need not be listed and is not part
// of a stack's name.
const DefaultEnvironment = "default"

// DefaultTarget is the orchestrator's own account and region.
const DefaultTarget = "default"

// What a project and an environment may be called.
var (
	Name            = pattern.New(`^[A-Za-z][-A-Za-z0-9]{0,63}$`)
	EnvironmentName = pattern.New(`^[A-Za-z0-9][-A-Za-z0-9]{0,63}$`)

	// InstallationName is the name of the stack of an installation in CloudFormation.
	InstallationName = pattern.New(`^[A-Za-z][-A-Za-z0-9]{0,127}$`)
)

// A Project is the desired state: a set of stacks deployed as one.
type Project struct {
	Name         string          `json:"name"`
	Environment  string          `json:"environment"`
	Nodes        map[string]Node `json:"nodes"`
	MaxDeletions *int            `json:"max_deletions,omitempty"` // how many stacks a deploy may delete permanently; nil is the default of package plan
	Timeout      Timeout         `json:"timeout,omitempty"`       // of a run
	Rollback     bool            `json:"rollback,omitempty"`      // a rollback follows a deploy that fails
	MaxParallel  []Limit         `json:"max_parallel,omitempty"`  // how many stacks a run changes at the same time, sorted
	MaxFailures  []Limit         `json:"max_failures,omitempty"`  // how many stacks may fail before a run starts no more of them, sorted

	Schedules map[string]Schedule `json:"schedules,omitempty"` // by name; operations that run on a schedule
	Policies  []Policy            `json:"policies,omitempty"`  // its own; those of the installation come before them

	Ignored  []string `json:"ignored,omitempty"`  // stacks of its files that operations leave alone, sorted; one whose files could not be read is not among the nodes
	Obsolete []string `json:"obsolete,omitempty"` // the same, but a prune deletes them; none of them is in Ignored

	Retain map[string][]string `json:"retain,omitempty"` // what the files retain of the obsolete stacks, by node; only the plan of a prune uses it

	TTL     TTL    `json:"ttl,omitzero"`      // how long the environment lives after its last deploy; 0 is for ever
	Pattern string `json:"pattern,omitempty"` // that the name of the environment fits, if the files do not list it by its name

	Approval Approval `json:"approval,omitzero"` // of the plans of its deploys

	Promotion *Promotion `json:"promotion,omitempty"` // from and to other environments; nil if none is promoted by itself

	Hooks []Hook `json:"hooks,omitempty"` // of its deploys and destroys
	Home  Target `json:"home,omitzero"`   // where these are called; zero if there are none

	Snapshots SnapshotPolicy `json:"snapshots,omitzero"` // which snapshots a prune keeps

	Restored map[string]Restored `json:"restored,omitempty"` // the parameters that name backups, by node and logical ID, as in "db.Database"

	Kind Kind `json:"kind,omitempty"` // of its files

	// Warnings are what a user should know about the files, each with its place; only the plan uses them.
	Warnings []string `json:"-"`

	// Unplaced are the stacks of its files, or those in one of their targets, that are deployed nowhere, because no account of their units is active: with why.
	Unplaced map[string]string `json:"-"`

	Lost map[string]error `json:"-"` // why the accounts of units are not known, by the name of the target of the unit: a partial request has no nodes there
}

// Ignores reports whether operations leave a stack alone: they do not create or update it, and only a prune or a destroy deletes it,
// if it is obsolete.
func (p Project) Ignores(node string) bool {
	_, found := slices.BinarySearch(p.Ignored, node)
	return found || p.IsObsolete(node)
}

// IsObsolete reports whether a stack is to be deleted by the next prune.
func (p Project) IsObsolete(node string) bool {
	_, found := slices.BinarySearch(p.Obsolete, node)
	return found
}

// A Kind is what the files of a project are.
type Kind string

// The kinds of files.
const (
	WithFile  Kind = ""          // they have a project file
	Templates Kind = "templates" // they are templates and their parameters
	Sceptre   Kind = "sceptre"   // they are a project of Sceptre
	CDK       Kind = "cdk"       // they are a cloud assembly of the CDK
)

// SaysName reports whether the files have to say the name of their project, and may list
// environments.
func (k Kind) SaysName() bool { return k != Templates && k != CDK }

// String is the kind in messages.
func (k Kind) String() string {
	switch k {
	case Templates:
		return "templates without a project file"
	case Sceptre:
		return "a Sceptre project"
	case CDK:
		return "a CDK cloud assembly"
	}
	return "files with a project file"
}

// ID names the project and environment, such as "shop@prod". At most one run
// at a time changes the stacks of an ID.
func (p Project) ID() string { return ID(p.Name, p.Environment) }

// ID joins a project's name and an environment's.
func ID(name, environment string) string { return name + "@" + environment }

// StackName is the physical name of a stack, unless the user gives another:
// project-environment-stack, without the environment if that is the default one,
// and with hyphens for slashes.
func StackName(project, environment, stack string) string {
	parts := []string{project, environment, strings.ReplaceAll(stack, "/", "-")}
	if environment == DefaultEnvironment {
		parts = slices.Delete(parts, 1, 2)
	}
	return strings.Join(parts, "-")
}

// Graph returns the nodes of p, each after its dependencies. It refuses
// dependencies that are not nodes, all at once. A cycle is found only when the
// graph is put in order.
func (p Project) Graph() (*graph.Graph[string], error) {
	var g graph.Graph[string]
	var unknown []error
	for _, name := range slices.Sorted(maps.Keys(p.Nodes)) {
		g.Add(name)
		for _, need := range p.Nodes[name].Needs {
			if _, ok := p.Nodes[need]; !ok {
				unknown = append(unknown, fault.New(fault.Invalid, "stack %s needs %s, which is not in project %s", name, need, p.Name))
			}
			g.Add(name, need)
		}
	}
	return &g, errors.Join(unknown...)
}

// A Target is an account and region that stacks are deployed to.
type Target struct {
	Name    string `json:"name"`
	Account string `json:"account"` // twelve digits
	Region  string `json:"region"`
}

// Compare orders targets.
func (t Target) Compare(other Target) int {
	return cmp.Or(cmp.Compare(t.Account, other.Account), cmp.Compare(t.Region, other.Region), cmp.Compare(t.Name, other.Name))
}

// Where names the account and region, whose limits on requests all stacks there
// share: "111122223333#eu-west-1". It is empty if the account is not known.
func (t Target) Where() string {
	if t.Account == "" {
		return ""
	}
	return t.Account + "#" + t.Region
}

// A Template is a CloudFormation template, identified by its content.
type Template struct {
	Digest string `json:"digest"` // SHA-256 of its bytes, in hex
	Bytes  int    `json:"bytes"`
	Pinned bool   `json:"pinned"` // whether its bytes and the parameters' values alone decide what it deploys

	Creation time.Duration `json:"-"` // how long the creation of its resources probably takes; only the plan uses it, so no digest and no spec has it
	Path     string        `json:"-"` // of its file in the project; empty if it has none. Only the plan uses it
}

// MaxInline is the number of bytes of a template that a request can hold.
// CloudFormation reads a larger one from S3.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
const MaxInline = 51_200

// A Deployment is CloudFormation's mode of an operation on a stack. The zero Deployment
// is the standard mode: the operation ends when the resources are ready.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeploymentConfig.html
type Deployment string

// Express ends an operation when the resources are configured, although they may not be
// ready, or not be deleted, yet.
const Express Deployment = "express"

// The tags that every stack of Stackwright has besides its own.
const (
	ProjectTag = "stackwright:project" // as in "shop@prod"
	StackTag   = "stackwright:stack"   // the name of the node
)

// A Node is one stack in one target.
type Node struct {
	Name         string          `json:"name"`  // "network/vpc", or "network/vpc@eu" where a stack has several targets
	Stack        string          `json:"stack"` // the physical name
	Target       Target          `json:"target"`
	Template     Template        `json:"template"`
	Parameters   map[string]Text `json:"parameters,omitempty"`
	Tags         map[string]Text `json:"tags,omitempty"`
	Capabilities []string        `json:"capabilities,omitempty"` // sorted
	Protect      bool            `json:"protect,omitempty"`      // CloudFormation's termination protection
	Needs        []string        `json:"needs,omitempty"`        // its dependencies, sorted: nodes that it refers to
	Reads        []Read          `json:"reads,omitempty"`        // outputs that its template reads by itself, sorted
	Timeout      Timeout         `json:"timeout,omitempty"`      // of one operation on it
	Deployment   Deployment      `json:"deployment,omitempty"`   // how its stack is created and updated
	Hooks        []Hook          `json:"hooks,omitempty"`        // a change of them does not change the stack

	IgnoreChanges    []string         `json:"ignore_changes,omitempty"`   // parameters that keep the value that a stack has when it is updated, sorted
	Notifications    []string         `json:"notifications,omitempty"`    // ARNs of the SNS topics that get the events of the stack, sorted
	OnFailure        FailedCreation   `json:"on_failure,omitempty"`       // of a creation; a change of it does not change the stack
	RollbackTriggers RollbackTriggers `json:"rollback_triggers,omitzero"` // of a creation and an update; a change of them does not change the stack
	DisableRollback  bool             `json:"disable_rollback,omitempty"` // of a creation and an update that fails; a change of it does not change the stack
	ResourceTypes    []string         `json:"resource_types,omitempty"`   // that a request may contain, sorted; none is all. A change of them does not change the stack
	Unchecked        []string         `json:"unchecked,omitempty"`        // types and properties that are not compared with the schemas of AWS; a change of them does not change the stack
	StackPolicy      StackPolicy      `json:"stack_policy,omitzero"`
	DuringUpdate     string           `json:"stack_policy_during_update,omitempty"` // the body of the policy that counts during an update instead; a change of it does not change the stack
	Group            string           `json:"group,omitempty"`                      // whose limit the stack has; a change of it does not change the stack
	Rollout          *Rollout         `json:"rollout,omitempty"`                    // that it is part of; nil if it is part of none. A change of it does not change the stack
	Retain           []string         `json:"retain,omitempty"`                     // logical IDs of resources that stay when the stack is deleted and they cannot be, sorted; a change of them does not change the stack

	Restored map[string]Restored `json:"restored,omitempty"` // the parameters that name what resources of its stack are restored from, by the logical IDs; they are among the parameters

	Approve  ApprovalLevel                `json:"approve,omitempty"` // which of its steps have to be approved; a change of it does not change the stack
	Import   map[string]Identifier        `json:"-"`                 // resources that exist and that its stack imports, by their IDs in the template; only the plan uses it
	MoveFrom map[string]map[string]string `json:"-"`                 // resources of other stacks that go into its stack: by node, their IDs in its template by those in the other; only the plan uses it
	Links    Links                        `json:"-"`                 // what its stack exports and imports; only the plan uses it
	Assets   []Asset                      `json:"-"`                 // that have to be published before its stack is deployed; only the plan uses them
	Adopt    bool                         `json:"-"`                 // a live stack that no project owns becomes its stack; only the plan uses it, so no digest and no spec has it
}

// A Read is an output of a node that a template reads with Fn::GetStackOutput. CloudFormation does not update the
// reader when the output changes.
type Read struct {
	Node   string `json:"node"`
	Output string `json:"output"`
}

// String is the read as messages name it.
func (r Read) String() string { return r.Node + "." + r.Output }

// An Identifier is the properties that identify a resource, by name, such as TableName. If
// it is empty, the resource is identified by the values in the template.
type Identifier map[string]string

// Digest identifies the node by all its fields, in hex.
func (n Node) Digest() (string, error) { return digest(n) }

// A Resolved is a node whose references to outputs are replaced by their values:
// what a request to CloudFormation holds.
type Resolved struct {
	Parameters map[string]string
	Tags       map[string]string
	Digest     string // of everything in the request that the stack would have: not the capabilities, nor parameters whose changes are ignored; in hex
}

// Resolve replaces n's references to outputs. lookup returns the value of an
// output of a node, or an error that says why it has none.
func (n Node) Resolve(lookup func(node, output string) (string, error)) (Resolved, error) {
	var r Resolved
	var err error
	if r.Parameters, err = resolve("parameter", n.Parameters, lookup); err != nil {
		return r, err
	}
	if r.Tags, err = resolve("tag", n.Tags, lookup); err != nil {
		return r, err
	}
	reads, err := n.read(lookup)
	if err != nil {
		return r, err
	}
	counting := maps.Clone(r.Parameters)
	for _, name := range n.IgnoreChanges {
		delete(counting, name)
	}
	request := struct {
		Stack, Template  string
		Target           Target
		Parameters, Tags map[string]string
		Protect          bool
		Notifications    []string `json:",omitempty"` // so that the digest of a stack without them is that of older versions
		StackPolicy      string   `json:",omitempty"`
		Reads            []string `json:",omitempty"`
	}{n.Stack, n.Template.Digest, n.Target, counting, r.Tags, n.Protect, n.Notifications, n.StackPolicy.Digest, reads}
	r.Digest, err = digest(request)
	return r, err
}

// read returns the values that n's template reads by itself, each after its output. CloudFormation says what is wrong
// with an output that does not exist: a condition of the template may be that nothing reads it.
func (n Node) read(lookup func(node, output string) (string, error)) ([]string, error) {
	var all []string
	for _, of := range n.Reads {
		value, err := lookup(of.Node, of.Output)
		if err != nil && !fault.Is(err, fault.Missing) {
			return nil, err
		}
		all = append(all, of.Node, of.Output, value)
	}
	return all, nil
}

// Sources lists the nodes whose outputs n or its template refers to, sorted.
func (n Node) Sources() []string {
	var all []string
	for _, of := range n.Reads {
		all = append(all, of.Node)
	}
	for _, texts := range []map[string]Text{n.Parameters, n.Tags} {
		for _, t := range texts {
			for _, o := range t.Outputs() {
				all = append(all, o.Node)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// digest is the SHA-256 of v as JSON, in hex. Go writes a map's keys in order.
func digest(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fault.New(fault.Broken, "digest: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
