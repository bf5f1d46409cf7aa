package cloudformation

import (
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// stack is one stack. A deleted stack is kept, because it can still be described by its ID.
type stack struct {
	ID, Name string
	Status   types.StackStatus
	Reason   string
	Created  time.Time
	Updated  time.Time // zero until the first update
	Deleted  time.Time // zero until the deletion

	Now    version  // the current version, or the one that an operation leads to
	Before *version // the last stable version, during an update
	Holds  []string // the imports of a version that was rolled back, until its cleanup ends
	// Rollback holds each changed resource as it was in the last stable version; nil if it did not exist.
	Rollback  map[string]*resource
	Resources map[string]*resource
	Operation *stackOperation // the current operation; nil if there is none

	Protected  bool
	Deployment deployment
	RetainNew  bool // RetainExceptOnCreate
	OnFailure  types.OnFailure
	Policy     string // the body of the stack policy; empty if it never had one
	Timeout    int32
	ChangeSet  string // the ID of the change set that was executed last

	Parent, Root string // the IDs of the stacks that a nested stack belongs to
	depth        int    // of a nested stack

	past []description // of the last minute, and the one before, oldest first; not stored on disk

	Events     []event
	Inside     []nestedEvent // those of nested stacks that have failed
	Operations []operationEntry
	Requests   map[string]acceptedRequest // by ClientRequestToken
	ChangeSets []*changeSet
	Refactors  []*stackRefactor // of which this is the first stack
	Detections []detection      // of drift, the oldest first
}

// version is the template of a stack with all its settings, and the outputs.
type version struct {
	Template      string
	Description   string
	Parameters    []parameter
	Tags          []pair
	Capabilities  []types.Capability
	Role          string
	Notifications []string
	Triggers      []rollbackTrigger
	Monitoring    int32 // minutes
	Outputs       []output
	Imports       []string // names of exports
	Unchecked     []string // types and properties that are not compared with the schemas of AWS
	RevertsDrift  bool     // it brings resources back that differ from the version before

	Identified map[string]string // the physical IDs of the resources that an import brought in, by logical ID
}

// description is what DescribeStacks shows of a stack from some time on.
type description struct {
	from             time.Time
	status           types.StackStatus
	reason           string
	updated, deleted time.Time
	outputs          []output
}

// maxLag is the largest lag of descriptions.
const maxLag = time.Minute

// rememberDescription stores how the stack is described from now on.
func (st *stack) rememberDescription() {
	now := time.Now()
	st.past = append(st.past, description{now, st.Status, st.Reason, st.Updated, st.Deleted, st.Now.Outputs})
	for len(st.past) > 1 && st.past[1].from.Before(now.Add(-maxLag)) {
		st.past = st.past[1:]
	}
}

// describedAt is how the stack was described at a time, or first described after it.
func (st *stack) describedAt(then time.Time) description {
	if len(st.past) == 0 {
		return description{status: st.Status, reason: st.Reason, updated: st.Updated, deleted: st.Deleted, outputs: st.Now.Outputs}
	}
	d := st.past[0]
	for _, later := range st.past {
		if !later.from.After(then) {
			d = later
		}
	}
	return d
}

// rollbackTrigger is an alarm that rolls an operation back. There is no CloudWatch here, so none ever does.
type rollbackTrigger struct{ ARN, Type string }

type pair struct{ Key, Value string }

type parameter struct {
	Key, Value string
	Resolved   string // the value in the parameter store, for a parameter that names one
	Secret     bool   // NoEcho
}

type output struct{ Key, Value, Description, Export string }

// resource is one resource of a stack.
type resource struct {
	Logical, Type, Physical string
	Status                  types.ResourceStatus
	Reason                  string
	Unrestored              bool // it has failed in a rollback, and not because of another resource
	At                      time.Time
	Properties              string // JSON of the evaluated properties, with unresolved dynamic references
	actual                  string // with resolved references; not stored on disk
	Metadata                string // JSON of the evaluated metadata
	After                   []string
	Deletion, Replaced      string // DeletionPolicy, UpdateReplacePolicy
	Attributes              map[string]any
	Faults                  map[string]string // operation → why it fails, from the metadata
	Outside                 string            // JSON of the actual properties, if somebody has changed them without CloudFormation
	Missing                 bool              // somebody has deleted it without CloudFormation
	Nested                  *nestedStack      // the content of a stack in a stack; nil if it is not known
}

type event struct {
	ID, Logical, Physical, Type string
	Status                      string
	Reason, Properties          string
	Token, Operation            string
	At                          time.Time
}

type operationEntry struct {
	ID   string
	Type types.OperationType
}

// acceptedRequest is a request with a token: its action, and a digest of its fields.
type acceptedRequest struct{ Action, Digest, Operation string }

// exists reports whether the stack has not been deleted.
func (st *stack) exists() bool { return st.Status != types.StackStatusDeleteComplete }

// beingDeleted reports whether the stack is being deleted and nothing refuses that: its exports can no longer be
// imported.
func (st *stack) beingDeleted() bool {
	return st.Operation != nil && st.Operation.Phase == deleting && st.Operation.RefusedStatus == ""
}

// logicalIDs are the logical IDs of the resources, sorted.
func (st *stack) logicalIDs() []string { return slices.Sorted(maps.Keys(st.Resources)) }

// same reports whether two states of a resource need no update.
func (r *resource) same(other *resource) bool {
	return r.Type == other.Type && r.Physical == other.Physical && r.Properties == other.Properties &&
		r.Metadata == other.Metadata && r.Deletion == other.Deletion && r.Replaced == other.Replaced && r.Nested.same(other.Nested)
}

// existing are the resources that have not been deleted.
func (st *stack) existing() map[string]*resource {
	here := map[string]*resource{}
	for name, r := range st.Resources {
		switch r.Status {
		case types.ResourceStatusDeleteComplete, types.ResourceStatusDeleteSkipped:
		default:
			here[name] = r
		}
	}
	return here
}

// remember stores a resource as it was in the last stable version.
func (st *stack) remember(name string) {
	if st.Rollback == nil {
		st.Rollback = map[string]*resource{}
	}
	if _, known := st.Rollback[name]; known {
		return
	}
	if r, ok := st.existing()[name]; ok {
		was := *r
		st.Rollback[name] = &was
		return
	}
	st.Rollback[name] = nil
}

// exports are the exports of the stack and of those nested in it: each is a stack like others.
func (st *stack) exports() []output {
	all := st.ownExports()
	for _, child := range st.inside() {
		all = append(all, child.ownExports()...)
	}
	return all
}

// ownExports are the stack's exports without those of nested stacks.
func (st *stack) ownExports() []output {
	var all []output
	for _, o := range st.Now.Outputs {
		if o.Export != "" && st.exists() {
			all = append(all, o)
		}
	}
	return all
}

// export returns the value of the stack's export of that name.
func (st *stack) export(name string) (value string, ok bool) {
	for _, o := range st.exports() {
		if o.Export == name {
			return o.Value, true
		}
	}
	return "", false
}

// importsExport reports whether the stack uses an export of that name. Until the current operation ends, the exports of
// the version before count too.
func (st *stack) importsExport(name string) bool {
	if !st.exists() {
		return false
	}
	return slices.Contains(st.Now.Imports, name) || slices.Contains(st.Holds, name) || st.Before != nil && slices.Contains(st.Before.Imports, name)
}
