package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/project"
)

// RollbackName is the name of the operation that rolls back a deploy.
const RollbackName = "rollback"

// rollback brings back the last successful deployment. Stackwright requests it after a
// run; users cannot.
func rollback() Operation {
	return Operation{
		Name: RollbackName, Plan: Rollback,
		NeedsFiles: true, Writes: true, Restores: true, Retryable: true,
		Effect: "it rolls back run {run}",
	}
}

// Rollback deploys the files of the last successful deployment again, and deletes
// what the failed run created. If no deployment has succeeded, nothing is desired:
// Rollback then deletes only what the failed run created, as CloudFormation does
// when the creation of a stack fails, and changes no other stack.
//
// A stack that the failed run created is kept if it is protected, or if a stack that
// is kept depends on it. A stack that the project has adopted is kept too, and so is one
// that the run did not create and whose deletion has to be approved, because nobody approves a rollback. For the same
// reason a stack stays as it is that the run did not change, if what changes it has to be approved. Plan.Messages say so.
func Rollback(v View) (Plan, error) {
	kept := v.kept()
	recorded := make(map[string]Record)
	for name, r := range v.Recorded {
		if kept[name] == "" && (len(v.Desired.Nodes) > 0 || v.created(name)) {
			recorded[name] = r
		}
	}
	var messages []string
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		switch {
		case v.created(name):
			messages = append(messages, "stack "+name+" is kept, although the run that is rolled back created it: "+kept[name])
		case v.Recorded[name].IsAdopted(), v.Recorded[name].Approve != project.ApproveNever, len(v.Desired.Nodes) > 0:
			messages = append(messages, "stack "+name+" is kept, although the files that are deployed again do not contain it: "+kept[name])
		}
	}
	v.Recorded = recorded
	v = v.atOnce()
	v.lenient = true
	var refusals []error
	if len(v.Desired.Nodes) > 0 {
		refusals = v.guard()
	}
	p, err := v.plan(refusals)
	if err != nil {
		return p, err
	}
	stays := func(s Step) bool {
		return !v.Changed[s.Node] && !v.created(s.Node) && (v.demand(s) != "" || v.reviewed(s))
	}
	for _, s := range p.Steps {
		message := "stack " + s.Node + " stays as it is: what changes it has to be approved, and the run that is rolled back did not change it"
		if stays(s) && !slices.Contains(messages, message) {
			messages = append(messages, message)
		}
	}
	steps := p.Steps
	p = p.Without(func(n int) bool { return stays(steps[n]) })
	p.Messages = append(p.Messages, messages...)
	return p, nil
}

// KeepLevels raises the levels of the nodes to those of their records, because nobody approves a rollback.
func KeepLevels(nodes map[string]project.Node, recorded map[string]Record) {
	for name, n := range nodes {
		if r := recorded[name]; n.Approve.Weaker(r.Approve) {
			n.Approve = r.Approve
			nodes[name] = n
		}
	}
}

// created reports whether the run that is rolled back created a recorded stack.
func (v View) created(name string) bool {
	id := cmp.Or(v.Live[name].StackID, v.Recorded[name].StackID)
	return id != "" && v.Created[id]
}

// kept lists the recorded stacks that a rollback keeps though they are not desired,
// each with the reason: what the run created and protected; without a successful
// deployment also everything that the run did not create; and the dependencies of
// all these.
func (v View) kept() map[string]string {
	kept := make(map[string]string)
	keep := func(name, why string) bool {
		_, desired := v.Desired.Nodes[name]
		if _, recorded := v.Recorded[name]; desired || !recorded || kept[name] != "" {
			return false
		}
		kept[name] = why
		return true
	}
	var next []string
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		switch {
		case v.created(name) && v.Live[name].Protected:
			if keep(name, "it is protected (to delete it, deploy it with protect: false, and then destroy it)") {
				next = append(next, name)
			}
		case v.Recorded[name].Approve != project.ApproveNever && !v.created(name):
			if keep(name, "its deletion has to be approved (to delete it, deploy files without it)") {
				next = append(next, name)
			}
		case v.Recorded[name].IsAdopted():
			if keep(name, "Stackwright did not create it: the project adopted it (to delete it, destroy it or deploy files without it)") {
				next = append(next, name)
			}
		case !v.created(name) && len(v.Desired.Nodes) == 0 && v.exists(name):
			if keep(name, "the run that is rolled back did not create it") {
				next = append(next, name)
			}
		}
	}
	for len(next) > 0 {
		user := next[0]
		next = next[1:]
		for _, need := range v.Recorded[user].Needs {
			if keep(need, "stack "+user+" depends on it, and is kept") {
				next = append(next, need)
			}
		}
	}
	return kept
}
