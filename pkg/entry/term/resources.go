package term

import (
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/plan"
)

// resources draws the resources of a stack. Those of a stack that is created or deleted
// are counted, except for those whose data is lost or kept.
func (p *planText) resources(s plan.StackChange) {
	if !s.Action.Existing() {
		p.count(s)
	}
	for _, r := range s.Resources {
		if s.Action.Existing() || r.Loses != "" || r.Policy != "" {
			p.resource(r)
		}
	}
}

// count counts the resources of a stack by type.
func (p *planText) count(s plan.StackChange) {
	by, types := make(map[string]int), []string{}
	for _, r := range s.Resources {
		name := strings.TrimPrefix(r.Type, "AWS::")
		if by[name]++; by[name] == 1 {
			types = append(types, name)
		}
	}
	for i, name := range types {
		if by[name] > 1 {
			types[i] = fmt.Sprintf("%s ×%d", name, by[name])
		}
	}
	if len(types) > 0 {
		p.add(6, span{normal, Plural(len(s.Resources), "resource") + ": " + strings.Join(types, ", ")})
	}
}

// resource draws a resource.
func (p *planText) resource(r plan.ResourceChange) {
	id := r.ID
	if r.Construct != "" {
		id += " (" + r.Construct + ")"
	}
	name := span{normal, id + "  " + r.Type}
	if r.FormerType != "" {
		name.text = id + "  " + r.FormerType + " → " + r.Type
	}
	if r.Possible {
		name.text += "  (if its condition holds)"
	}
	switch {
	case r.Action == difference.Replace:
		p.add(6, span{danger, "± REPLACE "}, name)
	case r.Action == difference.Add:
		p.add(6, span{green, "+ "}, name)
	case r.Action == difference.Import:
		p.add(6, span{green, "^ import "}, name)
	case r.MovedFrom != "":
		p.add(6, span{green, "→ moved in "}, name, span{dim, "  from " + r.MovedFrom})
	case r.MovedTo != "":
		p.add(6, span{green, "→ moved out "}, name, span{dim, "  to " + r.MovedTo})
	case r.Action == difference.Remove:
		p.add(6, span{red, "- "}, name)
	case r.Replacement == resource.Conditional:
		p.add(6, span{red, "? may be replaced "}, name)
	case r.Action == difference.Dynamic:
		p.add(6, span{cyan, "? may change "}, name)
	default:
		p.add(6, span{yellow, "~ "}, name)
	}
	for _, property := range r.Properties {
		p.property(property)
	}
	if r.Refused != "" {
		p.add(10, span{danger, refusal + r.Refused})
	}
	switch {
	case r.DataLoss:
		p.add(10, span{danger, "DATA LOSS: " + r.Loses + keep(r)})
	case r.Loses != "":
		p.add(10, span{red, "if it is " + r.Goes() + ", DATA LOSS: " + r.Loses + keep(r)})
	case r.Policy != "":
		p.add(10, span{dim, keptBy(r)})
	}
}

// refusal begins a sentence about a change that CloudFormation will refuse.
const refusal = "CloudFormation will refuse this: "

// keep says how to keep the data of a resource.
func keep(r plan.ResourceChange) string {
	if r.Goes() == "deleted" {
		return "; to keep the data, first deploy the stack with DeletionPolicy: Retain on this resource"
	}
	return "; to keep the data, first deploy the stack with UpdateReplacePolicy: Retain on this resource"
}

// keptBy says what keeps the data of a resource.
func keptBy(r plan.ResourceChange) string {
	what := "the old resource"
	if r.Goes() == "deleted" {
		what = "the resource"
	}
	if r.Policy == "Snapshot" {
		return "a snapshot of " + what + " is kept (Snapshot)"
	}
	return what + " is kept outside the stack (" + r.Policy + ")"
}

// property draws a property.
func (p *planText) property(c plan.PropertyChange) {
	remark := ""
	switch {
	case c.CreateOnly:
		remark = "cannot be changed in place"
	case c.Replacement != resource.Never:
		remark = "may need a replacement"
	}
	switch {
	case c.Because != "":
		p.add(10, span{normal, c.Path + ": " + c.Because + inParentheses(remark)})
	case c.Secret:
		p.add(10, span{normal, c.Path + ": changes (secret)" + inParentheses(remark)})
	default:
		p.difference(10, c.Path, c.Before, c.After, remark)
	}
}

func inParentheses(remark string) string {
	if remark == "" {
		return ""
	}
	return " (" + remark + ")"
}
