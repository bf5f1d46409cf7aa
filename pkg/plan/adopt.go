package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// adopt records the live stacks that the project's files describe and that no project owns.
func adopt() Operation {
	return Operation{
		Name: "adopt", Plan: AdoptStacks,
		Requestable: true, NeedsFiles: true, Adopts: true, Approvable: true, Retryable: true,
		Options: append(Selecting(), OptionReason, OptionRefuse),
		Effect:  "it adopts stacks that exist, and changes none",
	}
}

// previewAdopt shows what an adopt would do.
func previewAdopt() Operation {
	return Operation{
		Name: PlanPrefix + "adopt", Plan: AdoptStacks,
		Requestable: true, NeedsFiles: true, Adopts: true, Preview: true,
		Options: Selecting(),
		Effect:  "the adoption of stacks that exist is planned",
	}
}

// AdoptStacks plans to record the live stacks of all desired nodes that are not managed yet,
// or of those that are selected. Its steps send no request that changes a stack.
func AdoptStacks(v View) (Plan, error) {
	wants, err := v.Desired.Graph()
	if err != nil {
		return Plan{}, err
	}
	order, err := wants.Order()
	if err != nil {
		return Plan{}, fault.As(fault.Invalid, err)
	}
	_, refusals := v.selected()
	same, _, adopted, err := v.unchanged(order)
	if err != nil {
		return Plan{}, err
	}
	b := builder{view: v, deletes: make(phases), deploys: make(phases)}
	for _, name := range order {
		live := v.Live[name]
		switch n := v.Desired.Nodes[name]; {
		case !n.Adopt || v.managed(name):
		case v.inaccessible(name):
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: it cannot be read, so it cannot be adopted: %s", name, live.AccessError))
		case live.Status.Gone():
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: %s does not exist, so it cannot be adopted: correct stack_name: or the target, or name the stacks to adopt with --only", name, n.Stack))
		default:
			step, err := v.adoption(name, adopted[name])
			if err != nil {
				refusals = append(refusals, err)
			}
			b.deploys[name] = []Step{step}
		}
	}
	if len(refusals) > 0 {
		return Plan{}, errors.Join(refusals...)
	}
	p, err := b.plan()
	p.Unchanged = slices.Sorted(maps.Keys(same))
	p.Messages = v.adoptionMessages(p)
	return p, err
}

// Adopting returns the desired project in which exactly those nodes adopt their stacks that
// an operation which only adopts is about: all but those that are left alone, or those that are selected.
func Adopting(p project.Project, s Selection) project.Project {
	about := Selected(p, s)
	p.Nodes = maps.Clone(p.Nodes)
	for name, n := range p.Nodes {
		n.Adopt = about == nil && !p.Ignores(name) || about[name]
		p.Nodes[name] = n
	}
	return p
}

// AlsoAdopting returns the desired project in which the named nodes adopt their stacks too. It
// refuses unknown names, all at once.
func AlsoAdopting(p project.Project, names []string) (project.Project, error) {
	v := View{Desired: p}
	var unknown []error
	p.Nodes = maps.Clone(p.Nodes)
	for _, name := range names {
		found := slices.DeleteFunc(slices.Sorted(maps.Keys(p.Nodes)), func(node string) bool { return !Means(name, node) })
		if len(found) == 0 {
			unknown = append(unknown, fault.New(fault.Invalid, "adopt: there is no stack %s in the project's files%s", name, suggest.Hint(name, v.names())))
		}
		for _, node := range found {
			n := p.Nodes[node]
			if n.Adopt = true; p.Ignores(node) {
				unknown = append(unknown, fault.New(fault.Refused, "adopt: stack %s is left alone because the project's files say %s: remove that, or record it with stackwright adopt --only %s", node, v.whyIgnored(node), node))
			}
			p.Nodes[node] = n
		}
	}
	return p, errors.Join(unknown...)
}

// A Found is what adoption, imports and moves have to know of a stack besides its description.
type Found struct {
	Owner      string             // the project that owns it; empty if none does
	Lost       []string           // the places of the texts of its template that may lack characters
	Unreadable string             // why its template cannot be read; empty if it can
	Identical  bool               // its template is that of the node, byte by byte
	Digest     string             // of its template
	Template   *template.Template // that it was deployed from; nil if it cannot be understood
	Desired    *template.Template // of the node; nil if it cannot be understood

	Import      string            // the digest of the template with which resources are imported
	ImportBytes int               // its size
	Empty       string            // the digest of template.Empty, if the stack is created before the import
	Holders     map[string]string // the stack that has a resource to import, by the resource's ID

	Replaced Replaced // of a stack that a replace deletes: what it has

	Deployed string // the digest of the template of a stack that may be as a move has left it; see View.MovedBefore
	Moved    Moved  // of a stack from or into which resources move
}

// Adopts lists the desired nodes that adopt a live stack, sorted.
func (v View) Adopts() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.Desired.Nodes)) {
		if v.adopts(name) {
			all = append(all, name)
		}
	}
	return all
}

// adopts reports whether a desired node adopts its live stack.
func (v View) adopts(name string) bool {
	return v.Desired.Nodes[name].Adopt && !v.Live[name].Status.Gone() && !v.inaccessible(name) && !v.managed(name)
}

// Foreign lists the desired nodes whose stacks have the tag of another project and are not adopted, sorted.
func (v View) Foreign() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.Desired.Nodes)) {
		if !v.adopts(name) && !v.stays(name) && v.foreign(name) {
			all = append(all, name)
		}
	}
	return all
}

// foreign reports whether the live stack of a node has the tag of another project.
func (v View) foreign(name string) bool {
	live := v.Live[name]
	return !v.managed(name) && !live.Status.Gone() && live.Project != "" &&
		live.Project != project.ID(v.Desired.Name, v.Desired.Environment)
}

// refuseForeign says of a stack with the tag of another project what to do. A project that has forgotten a stack leaves
// its tag.
func (v View) refuseForeign(name string) error {
	n, live := v.Desired.Nodes[name], v.Live[name]
	if found, read := v.Found[name]; read && found.Owner == "" {
		return fault.New(fault.Refused, "stack %s: %s exists (%s), and project %s, which its tag %s names, has forgotten it: it "+NotManaged,
			name, n.Stack, live.Status, live.Project, project.ProjectTag)
	}
	return fault.New(fault.Refused, "stack %s: %s exists (%s), and its tag %s says that it belongs to project %s: "+
		"write another name under stack_name:, or forget it in that project first and adopt it here",
		name, n.Stack, live.Status, project.ProjectTag, live.Project)
}

// An Adoption is the arguments of the verb Adopt: the stack as the plan has seen it.
type Adoption struct {
	StackID     string    `json:"stack_id"`
	LastUpdated time.Time `json:"last_updated"`
	Project     string    `json:"project,omitempty"` // in its tag
	Template    string    `json:"template"`          // the digest of the template that is deployed
	Digest      string    `json:"digest,omitempty"`  // of what is deployed, if that is what is desired
}

// asAdopted reports whether the steps adopt a stack that is already as desired.
func asAdopted(steps []Step) bool {
	var a Adoption
	return steps[0].Arguments.Read(AdoptionVersion, &a) == nil && a.Digest != ""
}

// AdoptionVersion is the version of Adoption.
const AdoptionVersion = 1

// adoption returns the step that adopts the live stack of a node. It refuses a stack that
// another project owns, that is part of another stack, that cannot be read, or whose last
// operation has not ended well.
func (v View) adoption(name, digest string) (Step, error) {
	live, found := v.Live[name], v.Found[name]
	var why error
	switch s := live.Status; {
	case found.Owner != "":
		why = fault.New(fault.Refused, "project %s owns it: forget it there first; if that project no longer exists, remove the tag stackwright:project from the stack", found.Owner)
	case live.Parent != "":
		why = fault.New(fault.Refused, "it is nested in the stack %s: adopt that stack", live.Parent)
	case s.Busy(), s.Cleaning():
		why = fault.New(fault.Refused, "it is %s: wait until this operation has ended", s)
	case s.Stuck():
		why = fault.New(fault.Refused, "it is %s: continue its rollback in CloudFormation first", s)
	case live.Leftover():
		why = fault.New(fault.Refused, "it was never created (%s): remove adopt: true or --adopt, and a deploy creates it", s)
	case live.Dead():
		why = fault.New(fault.Refused, "it is %s, and can only be deleted: delete it in CloudFormation, and remove adopt: true or --adopt", s)
	case !s.Good() && !s.Restored():
		why = fault.New(fault.Refused, "it is %s: update it in CloudFormation until an update succeeds", s)
	case found.Unreadable != "":
		why = fault.New(fault.Refused, "its template cannot be read: %s: allow cloudformation:GetTemplate: name the stack in the setting adoptable of the installation, or in the parameter Adoptable of account.yaml in another account", found.Unreadable)
	}
	if why != nil {
		return Step{}, fault.New(fault.Refused, "stack %s: %s cannot be adopted: %w", name, v.Desired.Nodes[name].Stack, why)
	}
	arguments, err := NewArguments(AdoptionVersion, Adoption{live.StackID, live.LastUpdated, live.Project, found.Digest, digest})
	return Step{Verb: Adopt, Arguments: arguments}, err
}

// adoptedDigest returns the digest of a live stack that a node adopts, if the stack is as
// the node desires, and "" otherwise. The dependencies of the node are unchanged. Our tags,
// which the stack may not have yet, do not count; nor do capabilities, which are not a part
// of a stack but of a request.
func (v View) adoptedDigest(name string) string {
	n, live, found := v.Desired.Nodes[name], v.Live[name], v.Found[name]
	got, err := n.Resolve(v.output)
	if err != nil || !Pinned(n, got) || live.Protected != n.Protect || !slices.Equal(live.Notifications, n.Notifications) || n.StackPolicy.Digest != "" || !sameTexts(live.Tags, got.Tags) || len(v.unknownSecrets(name)) > 0 {
		return ""
	}
	wanted := maps.Clone(defaults(found.Desired))
	maps.Copy(wanted, got.Parameters)
	for _, parameter := range n.Keeps(live.Parameters) {
		wanted[parameter] = live.Parameters[parameter]
	}
	if !sameTexts(live.Parameters, wanted) || !found.same(n, live, wanted) {
		return ""
	}
	return got.Digest
}

// same reports whether a template deploys what the node's template deploys.
func (f Found) same(n project.Node, live Live, wanted map[string]string) bool {
	if f.Identical {
		return true
	}
	if f.Template == nil || f.Desired == nil {
		return false
	}
	in := scope(n.Stack, live.StackID, n.Target)
	in.Parameters = wanted
	diff := difference.Of(difference.Side{Template: f.Template, Scope: in}, difference.Side{Template: f.Desired, Scope: in}, difference.Uncertain{})
	return len(diff.Resources)+len(diff.Outputs)+len(diff.Caveats) == 0
}

// unknownSecrets lists the parameters with NoEcho that a node gives to the stack that it
// adopts: CloudFormation does not return their live values. They are sorted.
func (v View) unknownSecrets(name string) []string {
	var all []string
	for _, parameter := range slices.Sorted(maps.Keys(v.Desired.Nodes[name].Parameters)) {
		if v.Live[name].Parameters[parameter] == hidden && !slices.Contains(v.Desired.Nodes[name].IgnoreChanges, parameter) {
			all = append(all, parameter)
		}
	}
	return all
}

// adoptionMessages says what users should know about the stacks that p adopts.
func (v View) adoptionMessages(p Plan) []string {
	planned := make(map[string]bool)
	for _, s := range p.Steps {
		planned[s.Node] = true
	}
	var all []string
	for _, name := range v.Adopts() {
		if secrets := v.unknownSecrets(name); planned[name] && len(secrets) > 0 {
			all = append(all, fmt.Sprintf("stack %s: the live values of parameters with NoEcho are not known (%s), so it is not known whether they change: the next deploy updates the stack with those of the project", name, listed(secrets)))
		}
	}
	return all
}
