package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
)

// A Proposal is what CloudFormation says that a create or an update of a stack would
// change: the content of a change set.
type Proposal struct {
	Resources []ResourceChange // of nested stacks too, whose ID has the nested stack in front of it
	Failure   string           // why CloudFormation could not say it
	Warning   string           // what CloudFormation has left out
	Unchanged bool             // nothing would change, so CloudFormation does not execute it
	Outdated  bool             // the stack was changed since, so CloudFormation no longer executes it
	Inputs    string           // the digest of the parameters, tags and options with which it was made

	// Of a stack in which nothing would change, and LastUpdated also of one whose drift is brought back:
	LastUpdated time.Time // when the stack was changed last
	Protection  bool      // its termination protection would change

	Suspension *PlannedSuspension `json:",omitempty"` // of a suspend or a resume, which has no change set: what it would stop or start
}

// Exact returns c with the stacks whose proposals are known as CloudFormation proposes
// them. Each says where the estimate was another. Stacks without a proposal keep their
// estimate.
func (c Changes) Exact(proposals map[string]Proposal) Changes {
	stacks, unchanged := make([]StackChange, 0, len(c.Stacks)), c.Summary.Unchanged
	c.Summary = Summary{Unchanged: unchanged}
	for _, s := range c.Stacks {
		if p, ok := proposals[s.Stack]; ok {
			s = s.exact(p)
		}
		stacks = append(stacks, s)
		c.Summary.count(s)
	}
	c.Stacks = stacks
	return c
}

func (c StackChange) exact(p Proposal) StackChange {
	if c.Action.proposesSuspension() != "" {
		return c.suspension(p)
	}
	if p.Failure != "" {
		return c.caveat("CloudFormation could not make a change set, so this is an estimate: " + oneLine(p.Failure))
	}
	c.Caveats = nil
	if p.Warning != "" {
		c = c.caveat("CloudFormation has left something out: " + oneLine(p.Warning))
	}
	if len(p.Resources) == 0 {
		c = c.caveat("the change set changes no resource")
	} else {
		c.Certainty = Certain
	}
	estimate := c.Resources
	c.Exact, c.Resources, c.Replaces, c.DataLoss, c.PossibleDataLoss, c.UnknownDataLoss = true, []ResourceChange{}, false, lose(c.Hooks), false, p.Warning != ""
	for _, r := range p.Resources {
		estimated := find(estimate, r.ID)
		if estimated != nil {
			r.Construct = estimated.Construct
		}
		r.judge(estimated)
		c.Resources = append(c.Resources, r)
		c.Replaces = c.Replaces || r.Action == difference.Replace
		c.DataLoss, c.PossibleDataLoss = c.DataLoss || r.DataLoss, c.PossibleDataLoss || r.PossibleDataLoss
		if !r.nested() && c.Action != ActionRevert { // an estimate has no resources of nested stacks
			c.disagree(r.ID, said(estimated), said(&r))
		}
	}
	for i, r := range estimate {
		if find(p.Resources, r.ID) == nil {
			c.disagree(r.ID, said(&estimate[i]), said(nil))
		}
	}
	return c
}

// caveat returns c with another caveat.
func (c StackChange) caveat(text string) StackChange {
	c.Caveats = append(slices.Clone(c.Caveats), text)
	return c
}

// oneLine writes a text of CloudFormation on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// find returns the change of the resource with the given ID; nil if there is none.
func find(all []ResourceChange, id string) *ResourceChange {
	if i := slices.IndexFunc(all, func(r ResourceChange) bool { return r.ID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// disagree adds that the estimate was another, if it was.
func (c *StackChange) disagree(id, estimate, exact string) {
	if estimate != exact {
		c.Disagreements = append(c.Disagreements, fmt.Sprintf("%s: the estimate was %s, CloudFormation says %s", id, estimate, exact))
	}
}

// said is what is said about a resource, in a word or two; a nil one is unchanged.
func said(r *ResourceChange) string {
	switch {
	case r == nil:
		return "unchanged"
	case r.Action == difference.Add, r.Action == difference.Remove, r.Action == difference.Replace:
		return string(r.Action)
	case r.Replacement == resource.Conditional:
		return "may be replaced"
	case r.Action == difference.Dynamic || r.Possible:
		return "may change"
	}
	return string(difference.Modify)
}

// nested reports whether a resource of a change set is in a nested stack.
func (r ResourceChange) nested() bool { return strings.Contains(r.ID, "/") }

// judge says which data a proposed change loses. A change set says which policy keeps it, but not that a database
// instance belongs to a cluster, which has the data: the estimate, which may be nil, does.
func (r *ResourceChange) judge(estimated *ResourceChange) {
	goes := r.Action == difference.Remove || r.Action == difference.Replace
	what, stateful := resource.Stateful(r.Type)
	if goes && difference.Nested(r.Type) && r.Policy == "" { // no change set shows what is in it
		r.Loses, r.PossibleDataLoss = "what is in it", true
		return
	}
	kept := r.Policy != "" || estimated != nil && said(estimated) == said(r) && estimated.Loses == ""
	if !stateful || kept || !goes && r.Replacement == resource.Never {
		return
	}
	r.Loses, r.DataLoss, r.PossibleDataLoss = what, goes, !goes
}

// Proposals returns the steps that propose the updates of p, a plan that was made from v, and c, what p changes, in
// which the other updates say why they are not proposed. A change set needs the values of all inputs, and a
// stack that can be updated now. A stack that does not exist has nothing to compare.
func (v View) Proposals(p Plan, c Changes) ([]Step, Changes) {
	var steps []Step
	c.Stacks = slices.Clone(c.Stacks)
	for i, s := range c.Stacks {
		if verb := s.Action.proposesSuspension(); verb != "" {
			steps = append(steps, Step{ID: StepID(s.Stack, verb, ""), Node: s.Stack, Where: v.where(s.Stack), Verb: verb})
			continue
		}
		if s.Action == ActionRevert {
			steps = append(steps, Step{ID: StepID(s.Stack, ProposeRevert, ""), Node: s.Stack, Where: v.where(s.Stack), Verb: ProposeRevert})
			continue
		}
		if s.Action != ActionUpdate && s.Action != ActionAdopt || !slices.Contains(s.Steps, StepID(s.Stack, Update, "")) {
			continue
		}
		if why := v.unproposable(s); why != "" {
			c.Stacks[i] = s.caveat("this is an estimate, without a change set: " + why)
			continue
		}
		n := v.Desired.Nodes[s.Stack]
		steps = append(steps, Step{ID: StepID(s.Stack, Propose, ""), Node: s.Stack, Where: n.Target.Where(), Verb: Propose})
	}
	return steps, c
}

// unproposable says why the update of a stack cannot be proposed; it is empty if it can.
func (v View) unproposable(c StackChange) string {
	r, live := v.Recorded[c.Stack], v.Live[c.Stack]
	for _, value := range slices.Concat(c.Parameters, c.Tags) {
		if !value.Known && !value.Secret {
			return cmp.Or(value.Why, "the value of "+value.Name+" is not known yet")
		}
	}
	switch {
	case slices.ContainsFunc(c.Resources, ResourceChange.Relocated):
		return "resources move into it or out of it first"
	case c.Action == ActionAdopt:
		return "the stack is not adopted yet"
	case c.imported != "": // the change set would have the value that is exported now
		return c.imported
	case live.AccessError != "":
		return "the stack could not be read"
	case live.Status.Busy(), live.Status.Cleaning():
		return "another operation is in progress on the stack"
	case !live.Updatable():
		return "the stack cannot be updated as it is (" + live.Status.String() + ")"
	case r.StackID == "" || r.StackID != live.StackID:
		return "it is not known yet whether Stackwright made the stack"
	}
	n := v.Desired.Nodes[c.Stack]
	for _, from := range n.Sources() {
		if !maps.Equal(v.Recorded[from].Outputs, v.Live[from].Outputs) {
			return "the outputs of " + from + " are not as recorded: refresh the project first"
		}
	}
	return ""
}
