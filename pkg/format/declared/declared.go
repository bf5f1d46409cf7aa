// Package declared holds a project as its files declare it: plain values with
// their positions, for all environments, before defaults are merged and
// references are resolved. Every format makes it.
package declared

import (
	"maps"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

// A Project holds the values of the files. It lacks the values that could not be
// read; the format has added a problem for each.
type Project struct {
	Layer
	File         string // the project file: the position of problems about missing keys; "" if there is none, and so no name and no environment
	Kind         project.Kind
	Name         string // "" if it could not be read
	NameAt       problem.Position
	Environments []Environment    // in the order of the file
	ListAt       problem.Position // of the environments
	Moved        []Move
	Promote      []Stage // the environments in the order in which they are promoted
	Policies     []project.Policy
	Unchecked    []string // resource types, and properties as TYPE.PROPERTY, that are not compared with AWS's schemas
	UncheckedIn  string   // the file where to write more of them, for messages
}

// Everywhere returns the positions of the stacks that the top level or any
// environment declares.
func (p Project) Everywhere() map[string]problem.Position {
	all := map[string]problem.Position{}
	for _, e := range p.Environments {
		for _, s := range e.Stacks {
			all[s.Name] = s.At
		}
	}
	for _, s := range p.Stacks {
		all[s.Name] = s.At
	}
	return all
}

// A Layer holds the keys that the top level of a project and an environment have
// in common.
type Layer struct {
	Installation string // the name of the stack of the installation to use; it may have a wrong form
	Variables    map[string]Entry
	Defaults     []Defaults
	Stacks       []Stack
	Ignored      []string // stacks that operations leave alone and that are not declared
	Obsolete     []string // the same, but a prune deletes them
	MaxDeletions *int
	MaxParallel  []Limit
	MaxFailures  *project.Share // nil if it is not said
	Rollback     *bool
	Timeout      project.Timeout // of a run; 0 is none
	Schedules    map[string]project.Schedule
	Approval     Approval
	Hooks        Hooks                   // of deploys
	Snapshots    *project.SnapshotPolicy // nil if it is not said
}

// Hooks are hooks by their moment, as it is written.
type Hooks map[project.Moment][]Hook

// A Hook is something that a run calls.
type Hook struct {
	Name            string
	At              problem.Position // of the name
	Type            string
	MaxFiles        int              // how many files of the project the path has at most that is the value of its type; 0 if it is no path
	Loses           string           // what data the hook deletes; "" for none
	Values, Payload map[string]Entry // the key that is the name of the type says what is called
	Timeout         *Value
	Ignore          bool
	CacheKey        *Value
	If              string // an expression in CEL; "" for none
	IfAt            problem.Position
}

// A Stage is an environment in the order in which revisions are promoted.
type Stage struct {
	Environment string
	Soak        project.Timeout
	Alarms      []StageAlarm
}

// A StageAlarm is an alarm of CloudWatch in a target, which its name names.
type StageAlarm struct {
	Name, Target string
	At           problem.Position
}

// An Approval says who has to approve plans. What is nil or zero is not said.
type Approval struct {
	Plan, NotByAuthor *bool
	Approvers         []string
	Approvals         int
	Expires           project.Timeout
}

// A Limit is how many of the stacks of a group, or of those whose names begin with a prefix, a run changes at the
// same time.
type Limit struct {
	project.Limit
	Label string // in messages, such as `max_parallel "network/"`
	At    problem.Position
}

// Defaults are settings of all stacks whose names begin with a prefix.
type Defaults struct {
	Prefix   string
	Label    string // in messages, such as `defaults "network/"`
	At       problem.Position
	Settings Settings
}

// A Stack holds the keys of one stack in a layer.
type Stack struct {
	Name         string
	At           problem.Position
	Template     *Template // nil if none is given
	StackName    *Value
	Region       string   // of all its targets; "" is any
	Account      string   // the same
	MapIn        string   // where to write its target, for messages, if Account or Region say where it is
	Assets       []Asset  // that have to be published before it is deployed
	Only, Except []string // the environments that it is in, or is not in; both are nil for all
	Settings     Settings
	ParametersIn string // where its parameters are written, for messages; "" is under parameters:
}

// Settings are the keys that defaults and stacks have in common. Absent keys are
// nil.
type Settings struct {
	Parameters, Tags             map[string]Entry
	Needs, Capabilities, Targets *[]Value
	Protect, Timeout, Deployment *Value
	Adopt, Approve               *Value
	Enabled, Obsolete            *Value
	Notifications                *[]Value
	OnFailure, DisableRollback   *Value
	RollbackTriggers             *RollbackTriggers
	StackPolicy, DuringUpdate    *StackPolicy
	ResourceTypes, IgnoreChanges *[]Value
	Retain                       *[]Value
	Group                        *Value
	Rollout                      *Rollout
	Import                       map[string]Identifier // by the IDs of resources in the template; nil if the key is absent
	MoveFrom                     map[string]Leaving    // by stack; nil if the key is absent
	Hooks                        Hooks                 // nil if the key is absent
	Incomplete                   bool                  // there are parameters that could not be read
}

// A Template is where a stack's template is: a path, an address elsewhere, or a text that the format
// has made of something else.
type Template struct {
	At     problem.Position
	Path   string
	Remote *remote.Address                         // nil if it is in the project
	Body   []byte                                  // nil if there is a path
	Origin func(line, column int) problem.Position // where what is at a line and column of Body was written
	Broken bool                                    // it could not be read, which was reported
	Nested []string                                // the nested stacks whose templates follow from the project alone
}

// An Asset is a file of the project that has to be in a bucket before a stack is deployed, or a container image that has
// to be in a repository. The texts may have ${AWS::AccountId}, ${AWS::Region} and ${AWS::Partition}, those of the stack's target.
type Asset struct {
	At         problem.Position
	ID         string // in the manifest of assets
	Name       string // for messages
	Path       string // of a file, or of a folder that becomes a zip
	Folder     bool
	Image      bool
	Bucket     string // or the repository of an image
	Key        string // or the tag of an image
	Region     string // of the bucket; "" is that of the target
	Role       string // that may write there
	ExternalID string // that the role requires; "" if it requires none
}

// RollbackTriggers are the alarms that make CloudFormation roll an operation back.
type RollbackTriggers struct {
	At                      problem.Position
	Alarms, CompositeAlarms *[]Value
	Minutes                 *Value
}

// A Rollout is how a stack is deployed to its targets.
type Rollout struct {
	At                         problem.Position
	Order                      *[]Value // patterns of the names of targets
	MaxConcurrent, MaxFailures *Value
	Bake                       *Value
	Alarms                     *[]Value
}

// A StackPolicy says which resources an update may change.
type StackPolicy struct {
	At   problem.Position
	Body string // as stackpolicy.Read returns it; empty for none, and if it could not be read, which was reported
}

// An Identifier says which resource that exists is imported: its properties, or auto if
// the template has them.
type Identifier struct {
	At         problem.Position // of the ID of the resource
	Properties map[string]Entry // nil for auto
}

// A Leaving is the resources that go from another stack into this one.
type Leaving struct {
	At        problem.Position  // of the name of the other stack
	Resources map[string]string // their IDs in the template of this stack, by those in the other stack
}

// An Entry is one parameter, tag or variable.
type Entry struct {
	At    problem.Position // of its name
	Value Value
}

// A Move says that the stack that was called From is now called To, and keeps
// its physical name.
type Move struct {
	At       problem.Position
	From, To string
}

// A Value is a text with references, or a list of them, which CloudFormation
// gets joined with commas.
type Value struct {
	At    problem.Position
	Items [][]Part
	List  bool
	Kind  string // of the value in the file, such as "true or false"
	Data  any    // of a variable that is not a text: a number, true or false, a list or a map, as package function has them
}

// A Part is literal text, a reference, or an expression.
type Part struct {
	Literal    string
	Reference  *Reference
	Expression *Expression
}

// A Reference is a reference to a value that depends on the stack and its target,
// or that is known only after another stack is deployed. Package reference has the
// kinds.
type Reference struct {
	Written string // as in the file, for messages
	Kind    string // the name of its kind
	Name    string // of the stack, the variable, the file …
	Target  string // "" if none is given
	Key     string // of a secret; or the output
	Version string
}

// Literal returns the text and true if there is no reference in it.
func (v Value) Literal() (string, bool) {
	var b strings.Builder
	for i, item := range v.Items {
		if i > 0 {
			b.WriteByte(',')
		}
		for _, p := range item {
			if p.Computed() {
				return "", false
			}
			b.WriteString(p.Literal)
		}
	}
	return b.String(), true
}

// Written reports whether the value could be read.
func (v Value) Written() bool { return v.Items != nil || v.List }

// With returns the hooks with others. Those of a moment replace all hooks of it.
func (h Hooks) With(others Hooks) Hooks {
	all := maps.Clone(h)
	if all == nil {
		all = make(Hooks)
	}
	maps.Copy(all, others)
	return all
}
