package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
)

// unreplaceable refuses what cannot be replaced, all at once.
func (v View) unreplaceable(r replacement) []error {
	var refusals []error
	moving := make(map[string]bool)
	for _, m := range v.Moving() {
		moving[m.From], moving[m.To] = true, true
	}
	names := slices.Sorted(maps.Keys(r.deletes))
	for _, name := range names {
		refuse := func(format string, args ...any) {
			text := fmt.Sprintf("stack %s: "+format, append([]any{v.shownName(name)}, args...)...)
			if c := r.deletes[name]; !c.named {
				text += " (it would be replaced too, because " + c.String() + ")"
			}
			refusals = append(refusals, fault.New(fault.Refused, "%s", text))
		}
		_, desired := v.Desired.Nodes[name]
		live, s := v.Live[name], v.Live[name].Status
		switch {
		case v.Desired.Ignores(name):
			refuse("it is left alone because the project's files say %s: remove that first", v.whyIgnored(name))
		case !desired:
			refuse("the project's files do not have it, so it could not be created again: a deploy deletes it, or destroy --only")
		case live.AccessError != "":
			refuse("it cannot be read, so it is not replaced: %s", live.AccessError)
		case s.Gone(), !v.managed(name):
			refuse("Stackwright has not deployed it, so there is nothing to replace: deploy creates it")
		case s.Busy(), s.Cleaning():
			refuse("it is %s: wait until this operation has ended", s)
		case !s.Known(), s == "REVIEW_IN_PROGRESS" && live.HasResources:
			refuse("%v", live.Unrecoverable())
		case live.Protected:
			refuse("it is protected, and so it is not deleted: deploy it with protect: false first")
		case moving[name]:
			refuse("resources have to move from or into it: deploy first")
		}
		refusals = append(refusals, v.strangers(name)...)
	}
	if most := v.MaxDeletions(); len(names) > most {
		refusals = append(refusals, fault.New(fault.Refused, "%d of the %d recorded stacks would be deleted and created again (%s), and at most %d may be deleted: if this is intended, write max_deletions: %d in the project file, or replace with --max-deletions %d (options.max_deletions of a request)",
			len(names), len(v.Recorded), listed(names), most, len(names), len(names)))
	}
	return refusals
}

// strangers refuses to replace a stack if another one that the replace does not change imports from it.
func (v View) strangers(name string) []error {
	var refusals []error
	known := make(map[string]bool)
	for _, user := range v.importersOf(name) {
		known[v.Recorded[user].Stack] = true
		refuse := func(format string, args ...any) {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: stack %s imports an export of it, and "+format, append([]any{name, v.Recorded[user].displayName()}, args...)...))
		}
		switch _, desired := v.Desired.Nodes[user]; {
		case v.Desired.Ignores(user):
			refuse("the project's files leave that stack alone because they say %s: remove that first, or the import", v.whyIgnored(user))
		case !desired:
			refuse("the project's files no longer have that stack: deploy first, which deletes it")
		case v.excludes(user):
			refuse("the request excludes that stack: do not exclude it")
		}
	}
	for _, stack := range v.Importers[name] {
		if !known[stack] {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: stack %s, which is not of this project, imports an export of it, and CloudFormation deletes no stack whose exports are in use: remove the import first", name, stack))
		}
	}
	return refusals
}

// shownName is the name of a node for people.
func (v View) shownName(name string) string {
	if r, recorded := v.Recorded[name]; recorded {
		return r.displayName()
	}
	return name
}
