package plan

import (
	"cmp"
	"maps"
	"slices"
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
// is kept depends on it. A stack that the project has adopted is kept too. Plan.Messages say so.
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
		case v.Recorded[name].IsAdopted():
			messages = append(messages, "stack "+name+" is kept, although the files that are deployed again do not contain it: "+kept[name])
		}
	}
	v.Recorded = recorded
	var refusals []error
	if len(v.Desired.Nodes) > 0 {
		refusals = v.guard()
	}
	p, err := v.plan(refusals)
	p.Messages = append(p.Messages, messages...)
	return p, err
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
