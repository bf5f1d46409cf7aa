package cloudformation

import (
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// stack is all that is kept of one stack; a deleted one is kept for those who know its ID.
type stack struct {
	ID, Name string
	Status   types.StackStatus
	Reason   string
	Created  time.Time
	Updated  time.Time // zero until the first update
	Deleted  time.Time // zero while it lives

	Now    version  // what is in force, or being made
	Before *version // the last stable version, while another is being made
	Holds  []string // imports of the version that was given up, until it is cleaned up
	// Undo is what each resource touched since the last stable version was then; nil if it was not.
	Rollback      map[string]*resource
	Resources map[string]*resource
	Operation    *stackOperation // the operation in hand; nil when there is none

	Protected       bool
	DisableRollback bool
	RetainNew       bool // RetainExceptOnCreate
	OnFailure       types.OnFailure
	Timeout         int32
	ChangeSet       string // the ID of the change set that was executed last

	Events     []event
	Operations []operationEntry
	Requests      map[string]acceptedRequest // by ClientRequestToken
	ChangeSets []*changeSet
}

// version is what can be asked of a stack, and what came out of it.
type version struct {
	Template      string
	Description   string
	Parameters    []parameter
	Tags          []pair
	Capabilities  []types.Capability
	Role          string
	Notifications []string
	Outputs       []output
	Imports       []string // names of exports
}

type pair struct{ Key, Value string }

type parameter struct {
	Key, Value string
	Resolved   string // what the parameter store holds, for parameters that name it
	Secret     bool   // NoEcho
}

type output struct{ Key, Value, Description, Export string }

// resource is one resource of a stack as it stands.
type resource struct {
	Logical, Type, Physical string
	Status                  types.ResourceStatus
	Reason                  string
	At                      time.Time
	Properties              string // JSON of the evaluated properties, dynamic references as they are written
	actual                  string // and as what they stand for; not kept on disk
	Metadata                string // JSON of the evaluated metadata
	After                   []string
	Deletion, Replaced      string // DeletionPolicy, UpdateReplacePolicy
	Attributes              map[string]any
	Faults                  map[string]string // operation → why it fails, of the metadata
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

// heard is a request that bore a token: which, and a digest of all it said.
type acceptedRequest struct{ Action, Digest, Operation string }

// live says whether the stack still has its name.
func (st *stack) exists() bool { return st.Status != types.StackStatusDeleteComplete }

// leaving says whether the stack is being deleted and nothing speaks against it:
// what it exports cannot be imported any more.
func (st *stack) beingDeleted() bool {
	return st.Operation != nil && st.Operation.Phase == deleting && st.Operation.RefusedStatus == ""
}

// logicals are the names of the resources, sorted.
func (st *stack) logicalIDs() []string { return slices.Sorted(maps.Keys(st.Resources)) }

// same says whether two states of a resource differ in nothing that an update acts on.
func (r *resource) same(other *resource) bool {
	return r.Type == other.Type && r.Physical == other.Physical && r.Properties == other.Properties &&
		r.Metadata == other.Metadata && r.Deletion == other.Deletion && r.Replaced == other.Replaced
}

// present are the resources that exist in the stand-in's world.
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

// touch remembers what a resource was at the last stable version.
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

// exports are the stack's exports that others may import.
func (st *stack) exports() []output {
	var all []output
	for _, o := range st.Now.Outputs {
		if o.Export != "" && st.exists() {
			all = append(all, o)
		}
	}
	return all
}

// imports says whether the stack holds on to an export of that name: also to
// those of the version it came from, until the operation in hand is over.
func (st *stack) importsExport(name string) bool {
	if !st.exists() || st.Status == types.StackStatusRollbackComplete {
		return false
	}
	return slices.Contains(st.Now.Imports, name) || slices.Contains(st.Holds, name) || st.Before != nil && slices.Contains(st.Before.Imports, name)
}
