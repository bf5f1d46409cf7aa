package plan

import (
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/project"
)

// ChangesFormat is the number of the format of Changes as JSON. docs/changes.schema.json
// describes it.
const ChangesFormat = 1

// Changes is what the execution of a plan would change, for people and programs. It is an
// estimate: it is made from templates, parameters and what CloudFormation reports about
// stacks, without asking CloudFormation what an update would do.
type Changes struct {
	Format      int               `json:"format"`
	Run         string            `json:"run,omitempty"` // that has made the plan
	Project     string            `json:"project"`
	Environment string            `json:"environment"`
	Operation   string            `json:"operation"`
	Digest      string            `json:"digest"`             // of the plan
	Revision    string            `json:"revision,omitempty"` // of the configuration
	Stacks      []StackChange     `json:"stacks"`             // those that have steps, in an order in which they are deployed
	Targets     []TargetsChange   `json:"targets,omitempty"`  // of the stacks that have several, one for each, sorted
	Messages    []string          `json:"messages,omitempty"`
	Summary     Summary           `json:"summary"`
	Steps       []PlannedStep     `json:"steps"`
	Basis       []Basis           `json:"basis"`                  // what the plan was made from: if it has changed, deploy --plan refuses the plan
	MaxParallel []project.Limit   `json:"max_parallel,omitempty"` // how many stacks are changed at the same time
	MaxFailures []project.Limit   `json:"max_failures,omitempty"` // how many stacks may fail before the run starts no more steps of the others
	Seconds     Seconds           `json:"seconds,omitempty"`      // how long all steps probably take
	Cost        *Cost             `json:"cost,omitempty"`         // what it adds a month, an estimate; missing if it is not estimated
	Policies    []Violation       `json:"policies,omitempty"`     // what policies deny, or warn of
	Hooks       []PlannedHook     `json:"hooks,omitempty"`        // of the whole deploy
	Snapshots   []PlannedSnapshot `json:"snapshots,omitempty"`    // what a deletion or a prune of snapshots does with each, the newest first
	Selection   *ShownSelection   `json:"selection,omitempty"`    // which stacks it is about; missing if it is about all

	fresh map[string]named // the resources with names that their stacks do not have yet; no reader of the JSON has them
}

// A PlannedHook is a hook that the plan calls.
type PlannedHook struct {
	Name   string         `json:"name"`
	Moment project.Moment `json:"moment"`
	Type   string         `json:"type"`
	Loses  string         `json:"loses,omitempty"` // what data it deletes; empty for none
	Calls  string         `json:"calls"`           // what it calls; if it is not known yet, as the user writes it
}

// A StackAction is what a plan does with a stack.
type StackAction string

// The actions.
const (
	ActionCreate  StackAction = "create"
	ActionUpdate  StackAction = "update"
	ActionReplace StackAction = "replace" // delete it, and create it again
	ActionDelete  StackAction = "delete"
	ActionAdopt   StackAction = "adopt"   // a live stack that no project owns becomes the project's; an update may follow
	ActionImport  StackAction = "import"  // resources that exist come into the stack, which is created or updated
	ActionForget  StackAction = "forget"  // only the record is deleted: the stack is gone, or the user keeps it without Stackwright
	ActionRevert  StackAction = "revert"  // its resources are brought back that have drifted
	ActionSuspend StackAction = "suspend" // what runs in it is stopped: the stack is unchanged
	ActionResume  StackAction = "resume"  // what a suspend has stopped in it is started: the stack is unchanged
	ActionLevel   StackAction = "level"   // only the level of its approval is recorded: the stack is unchanged
	ActionRetain  StackAction = "retain"  // only what a deletion of it retains is recorded: the stack is unchanged
	ActionHooks   StackAction = "hooks"   // only hooks are called or recorded: the stack is unchanged
)

// StackActions lists the actions.
func StackActions() []StackAction {
	return []StackAction{ActionCreate, ActionUpdate, ActionReplace, ActionDelete, ActionAdopt, ActionImport, ActionForget, ActionRevert, ActionSuspend, ActionResume, ActionLevel, ActionRetain, ActionHooks}
}

// Existing reports whether the action is about a stack that exists and stays, so that it is
// compared with what is desired.
func (a StackAction) Existing() bool {
	return a == ActionUpdate || a == ActionRevert || a == ActionAdopt || a == ActionImport || a == ActionLevel || a == ActionRetain || a == ActionHooks
}

// A Certainty says whether an action changes the stack.
type Certainty string

// The certainties.
const (
	Certain  Certainty = "certain"
	Possible Certainty = "possible"
)

// A StackChange is what a plan does with one stack.
type StackChange struct {
	Stack      string             `json:"stack"`
	Target     string             `json:"target"`
	Name       string             `json:"name"` // physical name
	Action     StackAction        `json:"action"`
	Certainty  Certainty          `json:"certainty"`
	Deployment project.Deployment `json:"deployment,omitempty"` // CloudFormation's mode, if it is not the standard mode
	Steps      []string           `json:"steps"`                // their IDs, in their order
	Replaces   bool               `json:"replaces"`             // some resource is replaced
	DataLoss   bool               `json:"data_loss"`            // the data of some resource is lost, or a hook deletes data
	Reasons    []string           `json:"reasons"`

	Skips []string `json:"skips,omitempty"` // resources that its rollback, which is continued first, does not restore

	PossibleDataLoss bool `json:"possible_data_loss"` // the data of some resource is lost if CloudFormation replaces or deletes it
	UnknownDataLoss  bool `json:"unknown_data_loss"`  // data of resources that the templates do not show may be lost

	Drifted []string `json:"drifted,omitempty"` // the resources of a stack that exists which the last drift detection has found to differ from their template

	Parameters []ValueChange    `json:"parameters"`
	Tags       []ValueChange    `json:"tags"`
	Options    []ValueChange    `json:"options"`
	Resources  []ResourceChange `json:"resources"`
	Outputs    []OutputChange   `json:"outputs"`
	Hooks      []PlannedHook    `json:"hooks,omitempty"`    // in the order in which they are called
	Caveats    []string         `json:"caveats,omitempty"`  // what is not known
	Warnings   []string         `json:"warnings,omitempty"` // what a replace leaves in AWS
	Cost       *StackCost       `json:"cost,omitempty"`     // what the plan adds to what it costs a month, an estimate; missing if only what is free changes

	Suspension *PlannedSuspension `json:"suspension,omitempty"` // what a suspend would stop in the stack, or a resume would start

	Exact         bool     `json:"exact,omitempty"`         // the resources are those of a change set, and no estimate
	Disagreements []string `json:"disagreements,omitempty"` // where the estimate was another

	imported string // why a value that the stack imports or reads may change; "" if none may
	stale    bool   // what the template reads with Fn::GetStackOutput may have changed since the stack was deployed
	desired  func() Desired

	unread     error
	uncompared bool
}

// A ValueChange is a parameter, tag or option that differs.
type ValueChange struct {
	Name   string  `json:"name"`
	Before *string `json:"before,omitempty"` // nil if there is none, and if it is secret
	After  *string `json:"after,omitempty"`  // if it is not known, as the user writes it
	Secret bool    `json:"secret"`           // neither value is shown
	Known  bool    `json:"known"`            // it changes for certain
	Why    string  `json:"why,omitempty"`    // why it is not known
}

// A ResourceChange is a resource that differs.
type ResourceChange struct {
	ID               string               `json:"id"`
	Type             string               `json:"type"`
	Construct        string               `json:"construct,omitempty"` // the path of the construct of the CDK that makes it
	FormerType       string               `json:"former_type,omitempty"`
	Action           difference.Action    `json:"action"`
	Possible         bool                 `json:"possible,omitempty"` // a condition that is not known decides
	Replacement      resource.Replacement `json:"replacement"`
	DataLoss         bool                 `json:"data_loss"`
	PossibleDataLoss bool                 `json:"possible_data_loss"`   // it is lost if CloudFormation replaces or deletes the resource
	Loses            string               `json:"loses,omitempty"`      // what is lost if the resource is removed or replaced
	Refused          string               `json:"refused,omitempty"`    // why CloudFormation will refuse the change
	Ignored          []string             `json:"ignored,omitempty"`    // of a change set that reverts drift: the properties that it leaves as they are, with the reason
	Policy           string               `json:"policy,omitempty"`     // that keeps the data instead, such as Retain
	MovedFrom        string               `json:"moved_from,omitempty"` // the stack and the ID there of a resource that moves into the stack, as "app.Table"
	MovedTo          string               `json:"moved_to,omitempty"`   // the same of one that moves out of it
	Properties       []PropertyChange     `json:"properties,omitempty"`
}

// A PropertyChange is a property of a resource that differs.
type PropertyChange struct {
	Path        string               `json:"path"`
	Before      *string              `json:"before,omitempty"`
	After       *string              `json:"after,omitempty"`
	CreateOnly  bool                 `json:"create_only"`         // it cannot be changed in place
	Replacement resource.Replacement `json:"replacement"`         // whether it replaces the resource; conditional also for one that is create-only and may change
	Attribute   bool                 `json:"attribute,omitempty"` // it is not a property but another attribute, such as DeletionPolicy
	Secret      bool                 `json:"secret,omitempty"`
	Because     string               `json:"because,omitempty"` // why it may change although it is written as before
}

// An OutputChange is an output that differs.
type OutputChange struct {
	Name   string            `json:"name"`
	Action difference.Action `json:"action"`
	Export string            `json:"export,omitempty"` // the name of an export that is deleted
	Users  []string          `json:"users,omitempty"`  // of an output or export that is deleted: stacks that stay and depended on the stack
	Why    string            `json:"why,omitempty"`
}

// A PlannedStep is a step of the plan.
type PlannedStep struct {
	Step    string   `json:"step"`
	After   []string `json:"after"`
	Seconds Seconds  `json:"seconds,omitempty"` // how long it probably takes
}

// A Summary counts what a plan changes.
type Summary struct {
	Create            int `json:"create"`
	Update            int `json:"update"`
	Possible          int `json:"possible"` // stacks that may change
	Replace           int `json:"replace"`
	Delete            int `json:"delete"`
	Adopt             int `json:"adopt"`
	Import            int `json:"import"`
	Forget            int `json:"forget"`
	Revert            int `json:"revert,omitempty"`  // stacks whose drift is reverted
	Suspend           int `json:"suspend,omitempty"` // stacks in which something may be stopped
	Resume            int `json:"resume,omitempty"`  // stacks in which something may be started
	Level             int `json:"level"`             // stacks of which only the level of approval changes
	Retain            int `json:"retain,omitempty"`  // stacks of which only what a deletion retains is recorded
	Hooks             int `json:"hooks"`             // stacks of which only hooks are called or recorded
	Unchanged         int `json:"unchanged"`
	ResourcesReplaced int `json:"resources_replaced"`
	DataLoss          int `json:"data_loss"`                // resources whose data is lost
	PossibleDataLoss  int `json:"possible_data_loss"`       // resources whose data may be lost
	UnknownDataLoss   int `json:"unknown_data_loss"`        // stacks of which the plan does not know all losses
	HookDataLoss      int `json:"hook_data_loss,omitempty"` // hooks of stacks that delete data
}

// count adds a stack to the summary.
func (s *Summary) count(c StackChange) {
	switch {
	case c.Action == ActionCreate:
		s.Create++
	case c.Action == ActionReplace:
		s.Replace++
	case c.Action == ActionDelete:
		s.Delete++
	case c.Action == ActionAdopt:
		s.Adopt++
	case c.Action == ActionImport:
		s.Import++
	case c.Action == ActionForget:
		s.Forget++
	case c.Action == ActionRevert:
		s.Revert++
	case c.Idle():
		s.Unchanged++
	case c.Action == ActionSuspend:
		s.Suspend++
	case c.Action == ActionResume:
		s.Resume++
	case c.Action == ActionLevel:
		s.Level++
	case c.Action == ActionRetain:
		s.Retain++
	case c.Action == ActionHooks:
		s.Hooks++
	case c.Certainty == Possible:
		s.Possible++
	default:
		s.Update++
	}
	for _, r := range c.Resources {
		if r.Action == difference.Replace && r.Refused == "" {
			s.ResourcesReplaced++
		}
		if r.DataLoss {
			s.DataLoss++
		}
		if r.PossibleDataLoss {
			s.PossibleDataLoss++
		}
	}
	for _, h := range c.Hooks {
		if h.Loses != "" {
			s.HookDataLoss++
		}
	}
	if c.UnknownDataLoss {
		s.UnknownDataLoss++
	}
}
