// Package plan decides what to do. It is pure: it reads no clock, no network and no
// state except the View that it gets.
package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Verb is one thing done to a node that starts now and finishes later.
type Verb string

// The verbs that plans use. Package action has their rows.
const (
	Create         Verb = "create"
	Update         Verb = "update"
	Delete         Verb = "delete"
	Continue       Verb = "continue"        // continue a rollback that failed
	Wait           Verb = "wait"            // wait for an operation that another started, or for the cleanup after an update
	Read           Verb = "read"            // read a live stack into its record
	Compare        Verb = "compare"         // compare a live stack with its record
	Verify         Verb = "verify"          // verify that a target can be used
	Detect         Verb = "detect"          // compare the resources of a live stack with its template
	ProposeRevert  Verb = "propose-revert"  // say with a change set what would bring back the resources of a stack that have drifted
	Revert         Verb = "revert"          // bring them back by that change set
	Forget         Verb = "forget"          // drop a record: its stack is gone, or the user keeps it without Stackwright
	Adopt          Verb = "adopt"           // record a live stack that Stackwright did not create
	Import         Verb = "import"          // bring resources that exist into a stack
	Propose        Verb = "propose"         // say with a change set what an update would change
	Execute        Verb = "execute"         // update a stack by a change set that was made before
	CreateEmpty    Verb = "create-empty"    // create a stack without resources, for the import that comes next
	MoveOut        Verb = "move-out"        // record that resources leave a stack, before they do
	MoveIn         Verb = "move-in"         // move resources of another stack into a stack
	Approve        Verb = "approve"         // wait until a person has approved the plan, or what it does with a stack
	Publish        Verb = "publish"         // copy a file that a stack needs into a bucket of its account
	SetLevel       Verb = "set-level"       // record which steps of the stack have to be approved from now on
	Hook           Verb = "hook"            // call a hook
	SetHooks       Verb = "set-hooks"       // record the hooks of a stack's deletion
	Suspend        Verb = "suspend"         // stop what runs in a stack
	Resume         Verb = "resume"          // start what was stopped in a stack, as it was before
	ProposeSuspend Verb = "propose-suspend" // read what a suspend would stop in a stack
	BackUp         Verb = "back-up"         // make a native backup of a resource
	DeleteBackup   Verb = "delete-backup"   // delete native backups
	DropSnapshot   Verb = "drop-snapshot"   // take a snapshot out of the history, whose backups are deleted
	ProposeResume  Verb = "propose-resume"  // read what a resume would start in a stack
	SetRetain      Verb = "set-retain"      // record which resources stay when the deletion of the stack fails because of them
	Bake           Verb = "bake"            // wait after a wave of a rollout, and watch its alarms
	Barrier        Verb = "barrier"         // only orders other steps: those that come after it start when those before it are done
)

// A Step applies one verb to one node, after other steps.
type Step struct {
	ID    string `json:"id"`
	Node  string `json:"node,omitempty"`  // empty for the barrier
	Where string `json:"where,omitempty"` // the account and region of its stack, as project.Target names them
	Verb  Verb   `json:"verb"`

	Possible bool `json:"possible,omitempty"` // of an update: it may change nothing; only a changed output of a dependency, or outputs that differ from the record, are the reason for it

	Qualifier string     `json:"qualifier,omitempty"` // makes steps of one verb on one node different; see StepID
	Arguments *Arguments `json:"arguments,omitempty"` // of the verb

	After []int `json:"after,omitempty"` // the places in the plan of the steps that it comes after, from 0, sorted

	Around    Verb `json:"around,omitempty"`     // of a hook of a stack: the verb of the step that it is called before or after
	Tolerant  bool `json:"tolerant,omitempty"`   // failures do not skip it: it starts when all that it comes after are over and at least one of them is done
	Idle      bool `json:"idle,omitempty"`       // it only waits, so that it ends when the run starts no more steps
	OnFailure bool `json:"on_failure,omitempty"` // it is for a run of which another step has failed: it starts when all that it comes after are over

	Approval *project.Approval `json:"approval,omitempty"` // of a step that waits for approval: who may answer
	Proposal string            `json:"proposal,omitempty"` // of a step that approves or executes a change set: the ID of the step that makes it
	Optional bool              `json:"optional,omitempty"` // of a step that waits for approval: it waits only if the change set has to be approved

	Timeout    project.Timeout    `json:"timeout,omitempty"`    // how long it may take
	Deployment project.Deployment `json:"deployment,omitempty"` // of a create, an update or a delete
	Group      string             `json:"group,omitempty"`      // of its stack, whose limit counts it; not part of the plan's digest, but that of the node is
	Rollout    string             `json:"rollout,omitempty"`    // the stack, without the target, to whose rollout it belongs, and whose limits count it; not part of the plan's digest either
	Expected   Seconds            `json:"expected,omitempty"`   // how long it probably takes, if it changes anything; not part of the plan's digest
}

// Deploys reports whether the stack of the step's node is deployed once the step is done.
func (s Step) Deploys() bool { return s.does(Create, Update, Execute) }

// Creates reports whether the step creates the stack of its node.
func (s Step) Creates() bool { return s.does(Create, CreateEmpty) }

// Forgets reports whether there is no stack of the step's node once the step is done, or it is not recorded.
func (s Step) Forgets() bool { return s.does(Delete, Forget) }

// Reads reports whether the step only reads a stack into its record.
func (s Step) Reads() bool { return s.does(Read) }

// Deadline is when a step is overdue that started at the given time. It is the zero
// time if the step may take any time, or has not started.
func (s Step) Deadline(started time.Time) time.Time {
	if s.Timeout == 0 || started.IsZero() {
		return time.Time{}
	}
	return started.Add(time.Duration(s.Timeout))
}

// A Plan is a list of steps. Each step is listed after those that it comes after.
type Plan struct {
	Steps     []Step
	Unchanged []string // desired nodes that need no step, sorted
	Twins     []Twin   // stacks that were probably renamed, sorted
	Messages  []string // what users should know about it

	MaxFailures []project.Limit // how many stacks may fail before the run starts no more steps of the others, sorted

	Snapshots []PlannedSnapshot // what a deletion or a prune of snapshots does with each, the newest first
}

// String returns one line for each step, with the IDs of the steps that it comes after,
// sorted. The arrow of a step that tolerates their failures is ⇐.
func (p Plan) String() string {
	var b strings.Builder
	for _, s := range p.Steps {
		b.WriteString(s.ID)
		if s.Arguments != nil {
			fmt.Fprintf(&b, " %d %s", s.Arguments.Version, s.Arguments.JSON)
		}
		if s.Approval != nil {
			fmt.Fprintf(&b, " %+v %s", *s.Approval, s.Timeout)
		}
		if s.Proposal != "" {
			fmt.Fprintf(&b, " of %s", s.Proposal)
		}
		arrow := "←"
		if s.Tolerant {
			arrow = "⇐"
		}
		if len(s.After) > 0 {
			after := make([]string, len(s.After))
			for i, n := range s.After {
				after[i] = p.Steps[n].ID
			}
			slices.Sort(after)
			fmt.Fprintf(&b, " %s %s", arrow, strings.Join(after, " "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Without returns p without the steps whose numbers are gone.
func (p Plan) Without(gone func(n int) bool) Plan {
	var rest []Step
	place := make(map[int]int, len(p.Steps)) // of the steps that stay
	for n, s := range p.Steps {
		if gone(n) {
			continue
		}
		var after []int
		for _, i := range s.After {
			if at, stays := place[i]; stays {
				after = append(after, at)
			}
		}
		s.After = after
		place[n], rest = len(rest), append(rest, s)
	}
	p.Steps = rest
	return p
}

// A View is what a plan is made from: the desired, recorded and live stacks.
type View struct {
	Desired        project.Project              // what the user wants
	Recorded       map[string]Record            // what Stackwright last did, by node
	Live           map[string]Live              // what CloudFormation reports now, by node; a missing node has no stack
	Created        map[string]bool              // of a rollback: the IDs of the stacks that the failed run created
	Changed        map[string]bool              // of a rollback: the nodes of which the failed run started a step
	Unreachable    Unreachable                  // recorded stacks that nobody can reach at present: they are not among Recorded
	Deployed       map[string]Deployed          // the templates of the stacks that are not certainly as recorded, by node
	Outputs        map[string]map[string]Output // those that may lack characters, by node and name
	Found          map[string]Found             // what adoption, imports and moves have to know of the stacks of their nodes
	Moves          []Move                       // resources that go from one stack into another, unless they have
	Importers      map[string][]string          // of a replace: the physical names of the stacks that import from the stack of a node, for each that is deleted
	InUse          InUse                        // of other operations: who imports what they give up
	Holders        map[string]map[string]string // who has the exports that the plan adds: physical names, by Target.Where and export
	Uncalled       []Step                       // of a retry: the steps of the run before that call hooks after a deletion and have not succeeded
	Retain         []string                     // of a replace: patterns of the resources that stay, and that the new stacks import
	Skip           []string                     // the resources that continued rollbacks skip, as STACK.RESOURCE
	Replaced       map[string]bool              // of the retry of a replace: the nodes whose stacks were deleted before
	Suspendable    bool                         // the installation lets the project be suspended
	Backable       bool                         // the installation lets the data of the project be backed up
	WhileSuspended bool                         // the request is for suspended stacks too
	Snapshots      Snapshots                    // of an operation whose request names a snapshot

	Selection // which nodes to plan for

	lenient bool // what CloudFormation will refuse is said, and the rest is planned: of an automatic rollback

	about map[string]bool // the nodes that the selection selects, while a plan is made or described; nil for all
}

// A Record is what Stackwright last did to a node.
type Record struct {
	Node        string            `json:"node"`
	FormerName  string            `json:"former_name,omitempty"` // the node's name before the record was renamed
	Stack       string            `json:"stack"`                 // physical name
	Target      project.Target    `json:"target"`
	StackID     string            `json:"stack_id,omitempty"` // empty until CloudFormation has answered
	Digest      string            `json:"digest,omitempty"`   // of what was last deployed successfully; empty if that is unknown
	Template    string            `json:"template,omitempty"` // the digest of the template that was last deployed successfully
	Needs       []string          `json:"needs,omitempty"`    // while an update is in flight: old ∪ new
	Outputs     map[string]string `json:"outputs,omitempty"`
	Durations   Durations         `json:"durations,omitempty"`   // in seconds; of steps that succeeded
	LastUpdated time.Time         `json:"last_updated,omitzero"` // when CloudFormation last changed the stack, by its own clock
	Revision    string            `json:"revision,omitempty"`    // of the configuration

	Group    string                      `json:"group,omitempty"`    // with which it was last deployed
	Retain   []string                    `json:"retain,omitempty"`   // logical IDs of resources that stay when the stack is deleted and they cannot be, sorted
	Reimport []ImportedResource          `json:"reimport,omitempty"` // what a replace has left in AWS, or was to leave: when the stack is created again, it imports these
	Hooks    []project.Hook              `json:"hooks,omitempty"`    // of the deletion of the stack
	Restored map[string]project.Restored `json:"restored,omitempty"` // the parameters that name what resources were restored from, by the logical IDs: when the stack is created again, it gets their values
	Pending  []string                    `json:"pending,omitempty"`  // names of the hooks that have to be called because of the last successful create or update, and were not called successfully yet; sorted
	Cached   map[string]string           `json:"cached,omitempty"`   // the cache keys of the last successful calls of hooks, as digests, by the hook's name
	Sent     map[string]string           `json:"sent,omitempty"`     // what hooks have uploaded last, as Hook.Uploaded, by the hook's name

	Approve     project.ApprovalLevel `json:"approve,omitempty"`      // with which it was last deployed
	Policy      string                `json:"policy,omitempty"`       // the digest of the stack policy that it was last given; empty if the project has given it none
	Settings    *Settings             `json:"settings,omitempty"`     // that the last successful create, update or adoption has left; nil if a version without them wrote the record
	Token       string                `json:"token,omitempty"`        // of the operation that was last started: the intent
	Deployed    string                `json:"deployed,omitempty"`     // the token of the operation that left the stack as recorded
	Run         string                `json:"run,omitempty"`          // that wrote this last
	Adopted     string                `json:"adopted,omitempty"`      // the ID of the stack that the project has adopted: Stackwright did not create it
	Drift       *Drift                `json:"drift,omitempty"`        // what the last drift detection of the stack has found; nil if there was none
	Moved       *RecordedMove         `json:"moved,omitempty"`        // resources that a run was to move out of the stack, or has moved into it, since its last update that succeeded
	OtherPolicy bool                  `json:"other_policy,omitempty"` // Policy was changed outside, as a refresh has found
	Intent      bool                  `json:"intent,omitempty"`       // the outcome of that operation is not recorded yet: it may have made another stack
	Unrestored  *Unrestored           `json:"unrestored,omitempty"`   // of a stack whose update and rollback have failed; nil for others
	Suspended   *Suspension           `json:"suspended,omitempty"`    // what a suspend has stopped, or was to stop, and no resume has started again; nil if there is none
}

// IsAdopted reports whether the project has adopted the recorded stack.
func (r Record) IsAdopted() bool { return r.Adopted != "" && r.Adopted == r.StackID }

// Place returns where the record's stack is, or may be created.
func (r Record) Place() Place { return PlaceOf(r.Stack, r.Target) }

// Location returns where the record's stack is.
func (r Record) Location() Location {
	return Location{Node: r.Node, Stack: r.Stack, StackID: r.StackID, Target: r.Target, Token: r.Token}
}

// A Location is where a node's stack is, or would be.
type Location struct {
	Node    string
	Stack   string // physical name
	StackID string // of the stack that is recorded, if one is
	Target  project.Target
	Token   string // of an operation that may have made a stack that is not the recorded one
}

// An Export is what CloudFormation reports about an export.
type Export struct {
	Stack string // the physical name of the stack that makes it
	Value string
}

// A Live is what CloudFormation reports about a stack. The zero Live means that there is
// no stack.
type Live struct {
	StackID        string
	Status         Status
	Reason         string
	Outputs        map[string]string
	Exports        map[string]string        // the names of its exports, by output
	Parameters     map[string]string        // with the defaults; "****" for those with NoEcho
	Tags           map[string]string        // without those that Stackwright adds
	LastUpdated    time.Time                // of the last update, or the creation
	Protected      bool                     // termination protection
	Triggers       project.RollbackTriggers // of its last operation
	Notifications  []string                 // ARNs of the topics that get its events, sorted
	Deployment     project.Deployment       // of its last operation
	HasResources   bool                     // it has resources that must not be deleted, so it is not dead: CREATE_FAILED with rollback disabled, REVIEW_IN_PROGRESS with resources
	CreatedByToken bool                     // it is not the recorded stack, but its first operation has the Location's token
	AccessError    string                   // why it could not be read; all else is unknown then
	Project        string                   // in the tag that Stackwright adds, as "shop@prod"; empty if it has none
	Parent         string                   // the ID of the stack that it is nested in, if it is
	Operations     []string                 // the IDs of its last operations, the newest first; empty if CloudFormation does not list them
}

// Dead reports whether the stack can only be deleted, and has no resources.
func (l Live) Dead() bool { return l.Status.Dead() && !l.HasResources }

// Leftover reports whether the stack was never created: a change set would create it, and it has no resources. The CDK,
// SAM and the AWS CLI take such a stack for none, too.
// https://github.com/aws/aws-cdk/pull/7731
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateChangeSet.html (ChangeSetType)
func (l Live) Leftover() bool {
	return l.Status == "REVIEW_IN_PROGRESS" && !l.HasResources && !l.Protected
}

// Updatable reports whether the stack can be updated.
func (l Live) Updatable() bool {
	return l.Status.Good() || l.Status.Recoverable() || l.Status == "CREATE_FAILED" && l.HasResources
}

// Unrecoverable returns why Stackwright can do nothing with a stack that is not Dead,
// Updatable or Stuck.
func (l Live) Unrecoverable() error {
	switch {
	case !l.Status.Known():
		return fault.New(fault.Refused, "its status %s is unknown to this version", l.Status)
	case l.HasResources:
		return fault.New(fault.Refused, "it is %s but has resources, and Stackwright cannot repair it: see its change sets in CloudFormation", l.Status)
	}
	return fault.New(fault.Refused, "it is %s, and Stackwright cannot repair it: see its events in CloudFormation", l.Status)
}

// A Receipt is what CloudFormation answered when a step was started.
type Receipt struct {
	StackID   string `json:"stack_id,omitempty"`
	Operation string `json:"operation,omitempty"` // CloudFormation's OperationId
	Unchanged bool   `json:"unchanged,omitempty"` // the stack already was as desired, so nothing was started
	Executed  bool   `json:"executed,omitempty"`  // its change set is being executed, or was
	Skipped   bool   `json:"skipped,omitempty"`   // there is nothing to call the hook for
	Failure   string `json:"failure,omitempty"`   // why a hook has failed whose failure is ignored
	Retained  string `json:"retained,omitempty"`  // the logical IDs, with commas, of the resources that the deletion leaves in AWS: it was repeated without them
	Backup    string `json:"backup,omitempty"`    // the ARN of the backup that the step makes
	Proposal  string `json:"proposal,omitempty"`  // reference to what its change set says; the change set is deleted when the run ends
}

// Known reports whether CloudFormation has answered.
func (n Receipt) Known() bool { return n != Receipt{} }
