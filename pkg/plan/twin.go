package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/project"
)

// A Twin is a stack that a plan deletes while it creates one from the same
// template in the same account and region: the user has probably renamed it.
type Twin struct {
	Deleted string // the stack's name in the project's files until now
	Created string // the name of the new stack
	Stack   string // the physical name of the deleted one
	Moved   bool   // an entry under moved: keeps the stack; otherwise only stack_name: does
}

// String says how to keep the stack.
func (t Twin) String() string {
	keep := "write stack_name: " + t.Stack + " under " + t.Created
	if t.Moved {
		keep = fmt.Sprintf("write moved: [{from: %s, to: %s}] in the project file", t.Deleted, t.Created)
	}
	return fmt.Sprintf("stack %s (%s) is deleted, and %s is created from the same template: if it is the same stack with another name, keep it: %s", t.Deleted, t.Stack, t.Created, keep)
}

// twins lists the twins that are certain: exactly one stack of a template, account and
// region is deleted, and exactly one is created.
func (v View) twins() []Twin {
	type kind struct{ template, account, region string }
	deleted, created := map[kind][]Record{}, map[kind][]string{}
	about, _ := v.selected()
	for _, r := range v.Recorded {
		if k := (kind{r.Template, r.Target.Account, r.Target.Region}); r.Template != "" && v.deletesPermanently(r.Node, about) {
			deleted[k] = append(deleted[k], r)
		}
	}
	for name, n := range v.Desired.Nodes {
		_, known := v.Recorded[name]
		if k := (kind{n.Template.Digest, n.Target.Account, n.Target.Region}); !known && (about == nil || about[name]) && !v.Desired.Ignores(name) && v.Live[name].Status.Gone() && !v.inaccessible(name) {
			created[k] = append(created[k], name)
		}
	}
	var all []Twin
	for k, nodes := range created {
		if len(nodes) != 1 || len(deleted[k]) != 1 {
			continue
		}
		r := deleted[k][0]
		t := Twin{Stack: r.Stack}
		t.Deleted, _, _ = strings.Cut(cmp.Or(r.formerNode(), r.Node), "@")
		t.Created, _, _ = strings.Cut(nodes[0], "@")
		usual := func(stack string) string { return project.StackName(v.Desired.Name, v.Desired.Environment, stack) }
		t.Moved = t.Deleted != t.Created && r.Stack == usual(t.Deleted) && v.Desired.Nodes[nodes[0]].Stack == usual(t.Created)
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Twin) int { return strings.Compare(a.Created, b.Created) })
	return slices.Compact(all)
}
