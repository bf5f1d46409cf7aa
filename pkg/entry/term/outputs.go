package term

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/plan"
)

// exports draws the exports of a stack that is deleted.
func (p *planText) exports(all []plan.OutputChange) {
	var names, users []string
	for _, o := range all {
		if o.Export != "" && o.Action == difference.Remove {
			names, users = append(names, o.Export), o.Users // all have the users of the stack
		}
	}
	if len(names) > 0 {
		p.add(6, span{red, "- "}, span{normal, "exports are deleted: " + strings.Join(names, ", ") + usedBy(users)})
	}
}

// usedBy names the stacks that used an output.
func usedBy(stacks []string) string {
	if len(stacks) == 0 {
		return ""
	}
	return "; used so far by " + strings.Join(stacks, ", ")
}

// output draws an output.
func (p *planText) output(o plan.OutputChange) {
	text := "output " + o.Name
	users := usedBy(o.Users)
	switch {
	case o.Export != "":
		p.add(6, span{red, "- "}, span{normal, text + ": export " + o.Export + " is deleted" + users})
	case o.Action == difference.Remove:
		p.add(6, span{red, "- "}, span{normal, text + users})
	case o.Action == difference.Add:
		p.add(6, span{green, "+ "}, span{normal, text})
	case o.Action == difference.Dynamic:
		p.add(6, span{cyan, "? "}, span{normal, text + " may change: " + o.Why})
	default:
		p.add(6, span{yellow, "~ "}, span{normal, text})
	}
}
