package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Restore is RollbackTo, and says which data it restores: the engine has put the backups of the snapshot in the place of the references to what
// the stacks were restored from.
func Restore(v View) (Plan, error) {
	p, err := RollbackTo(v)
	if err = errors.Join(v.Snapshots.another(), v.Snapshots.incomplete(), err); err != nil {
		return p, err
	}
	about, _ := v.selected()
	s := v.Snapshots
	for _, one := range s.Kept {
		if one.Name != s.Name {
			continue
		}
		for _, c := range one.Caveats {
			p.Messages = append(p.Messages, "snapshot "+one.Name+": "+c)
		}
		for _, b := range one.Backups {
			if about == nil || about[b.Node] {
				p.Messages = append(p.Messages, v.sayRestored(b))
			}
		}
		if len(one.Backups) == 0 {
			p.Messages = append(p.Messages, "snapshot "+one.Name+" has no backups: no data is restored")
		}
	}
	return p, nil
}

// restorePage is the page that explains the commands with which a person restores a backup.
const restorePage = "https://github.com/stackwright/stackwright/blob/main/docs/how-to/snapshots.md#restore-it"

// incomplete refuses to restore a snapshot whose deletion is not finished: the data would be of different times.
func (s Snapshots) incomplete() error {
	for _, one := range s.Kept {
		if n := len(one.Backups) - len(Left(one.Backups)); one.Name == s.Name && n > 0 {
			return fault.New(fault.Refused, "snapshot %s is not whole: its deletion is not finished, and %d of its %d backups are deleted: a restore of the others would mix data of different times: finish the deletion with stackwright snapshots delete %s. To deploy its files without the data: stackwright rollback --to RUN, with the run of its revision that stackwright snapshots shows", s.Name, n, len(one.Backups), s.Name)
		}
	}
	return nil
}

// sayRestored says whether the plan restores the data of a backup, and what that means.
func (v View) sayRestored(b Backup) string {
	_, desired := v.Desired.Nodes[b.Node]
	r, refers := v.Desired.Restored[b.String()]
	restores := refers && b.is(r.Value)
	switch {
	case !desired:
		return fmt.Sprintf("the data of %s is not restored: the files of the snapshot have no stack %s; the backup is %s", b.Data, b.Node, b.ARN)
	case b.Property == "" && b.Restore == "":
		return fmt.Sprintf("the data of %s is not restored: CloudFormation creates no %s from a backup: restore it yourself from the backup %s", b.Data, b.Kind, b.ARN)
	case b.Property == "":
		return fmt.Sprintf("the data of %s is not restored: CloudFormation creates no %s from a backup, and what is there stays as it is: restore the backup next to it yourself: %s %s --region %s (what else the command needs: %s)", b.Data, b.Kind, b.Restore, b.ARN, b.Target.Region, restorePage)
	case restores && r.Again:
		return fmt.Sprintf("the data of %s is not restored again: a run that is retried has restored it from the backup %s", b.Data, b.ARN)
	case refers && r.Fixed:
		return fmt.Sprintf("the data of %[1]s is not restored: CloudFormation gives a %[2]s the data of a backup only when it creates it, and changes none that is there: write a %[2]s with another logical ID beside it, whose property %[3]s has the value ${snapshot:%[4]s/%[1]s}, or restore the snapshot after a destroy; the backup is %[5]s", b.Data, b.Kind, b.Property, v.Snapshots.Name, b.ARN)
	case restores && b.Naming == AtFirst && v.Live[b.Node].StackID != "":
		return fmt.Sprintf("the data of %s is restored if the stack has no %s %s now: CloudFormation creates it with the data of the backup %s; it changes none that is there, and rolls the update back", b.Data, b.Kind, b.Resource, b.ARN)
	case restores && v.Live[b.Node].StackID == "":
		return fmt.Sprintf("the data of %s is restored: the stack is created, with a %s that has the data of the backup %s", b.Data, b.Kind, b.ARN)
	case restores:
		return fmt.Sprintf("the data of %s is restored by a replacement, not in place: CloudFormation creates a new %s with the data of the backup %s, and deletes the old one with what was written since, unless its template retains it; names and endpoints that AWS chooses become others", b.Data, b.Kind, b.ARN)
	}
	return fmt.Sprintf("the data of %s is not restored: no parameter of stack %s has the value ${restored:%s} for the property %s: the backup is %s", b.Data, b.Node, b.Resource, b.Property, b.ARN)
}

// RestorableParameters lists the parameters of nodes that refer to the backups from which resources of their stacks were restored: by node, the logical IDs
// by the names of the parameters.
func RestorableParameters(p project.Project) map[string]map[string]string {
	all := make(map[string]map[string]string)
	for name, n := range p.Nodes {
		for key, text := range n.Parameters {
			for _, s := range text.Sources() {
				if s.Restored == "" {
					continue
				}
				if all[name] == nil {
					all[name] = make(map[string]string)
				}
				all[name][key] = s.Restored
			}
		}
	}
	return all
}

// Awaited reports whether the record says what its stack gets when it is created again: resources to import, or the backups that resources were restored from.
func (r Record) Awaited() bool {
	for _, from := range r.Restored {
		if from.Value != "" {
			return true
		}
	}
	return len(r.Reimport) > 0
}

// Restoring is from which backups a run restores data.
type Restoring struct {
	Backups    []Backup          // of its snapshot; none if it is no restore
	Again      map[string]bool   // the nodes that a run which is retried has deployed with these backups
	Unrestored map[string]string // as of Snapshots
	Kept       []Backup          // of all snapshots
}

// Restored returns a project with the values of RestorableParameters: what the stacks have now, or the backups of a restore. A stack that is gone, and was not
// deleted permanently, gets the backup of a restore that has not created it, or what its record says. It refuses a parameter whose value is not known: a deploy
// would replace the resource.
func Restored(p project.Project, records map[string]Record, live map[string]Live, from Restoring) (project.Project, error) {
	parameters := RestorableParameters(p)
	recorded, _, _ := Rename(p, records, Selection{})
	nodes := maps.Clone(p.Nodes)
	p.Restored = make(map[string]project.Restored)
	var refusals []error
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		n, record := nodes[name], recorded[name]
		if record.Node == "" { // it gets another stack, with the data of the backup that the one before was restored from
			record = records[name]
		}
		n.Parameters, n.Restored = maps.Clone(n.Parameters), make(map[string]project.Restored)
		for _, key := range slices.Sorted(maps.Keys(parameters[name])) {
			of := Data{Node: name, Resource: parameters[name][key]}.String()
			now, err := restoredFrom(n, key, record.Restored[parameters[name][key]], live[name], func(value string) bool { return from.mayName(value, of) })
			due := from.unrestored(n, of, parameters[name][key], nodes)
			late := due != "" && live[name].AccessError == "" && (live[name].StackID == "" || live[name].Dead())
			if late {
				now, err = due, nil
			}
			if err != nil {
				refusals = append(refusals, fmt.Errorf("stack %s: parameter %s: ${restored:%s}: %w", name, key, parameters[name][key], err))
			}
			r := project.Restored{Parameter: key, Value: now, Late: late}
			if i := slices.IndexFunc(from.Backups, func(b Backup) bool { return b.Data.String() == of }); i >= 0 {
				if live[name].StackID == "" { // it is created from the backup, whatever it was before
					now, r.Late = "", false
				}
				r.Again, r.Fixed = from.Again[name] && from.Backups[i].is(now), from.Backups[i].fixed(live[name], key, record.Restored[parameters[name][key]].Parameter)
				if !r.Again && !r.Fixed {
					r.Value = from.Backups[i].Identifier(now)
				}
			}
			p.Restored[of] = r
			n.Parameters[key] = project.Literal(r.Value)
			n.Restored[parameters[name][key]] = project.Restored{Parameter: key, Value: r.Value}
		}
		nodes[name] = n
	}
	p.Nodes = nodes
	return p, errors.Join(refusals...)
}

// unrestored returns what names the backup from which a restore was to create a resource of a node, and has not; "" if there
// is none. The node may have had another name then, which no node has now: its stack is where the backup was made.
func (r Restoring) unrestored(n project.Node, of, resource string, nodes map[string]project.Node) string {
	if due := r.Unrestored[of]; due != "" {
		return due
	}
	for _, b := range r.Kept {
		_, stays := nodes[b.Node]
		due := r.Unrestored[b.Data.String()]
		if !stays && b.Resource == resource && b.is(due) && PlaceOf(b.Stack, b.Target) == PlaceOf(n.Stack, n.Target) {
			return due
		}
	}
	return ""
}

// madeBackup matches what names a backup that Stackwright has made: an ARN or a name.
var madeBackup = pattern.New(`^(?i:(arn:.+:)?sw-[a-z0-9-]+-[0-9a-f]{24})$`)

// mayName reports whether a value may name the backup that the resource of was restored from. The names of some backups, as those of EBS, do not say that Stackwright
// has made them, so the snapshots have to: a resource of another type, as far as they know it, was restored from none of these.
func (r Restoring) mayName(value, of string) bool {
	if madeBackup.MatchString(value) {
		return true
	}
	i := slices.IndexFunc(r.Kept, func(b Backup) bool { return b.is(value) })
	return i >= 0 && !slices.ContainsFunc(r.Kept, func(b Backup) bool { return b.Data.String() == of && b.Type != r.Kept[i].Type })
}

// restoredFrom returns what the parameter key of a node has to be so that a resource stays what it is: the value that the stack has, also if the parameter has
// another name there. A stack that is created again gets what its record has of the resource. A value that may name the backup of the resource, in a parameter that the
// files do not have any more, is refused.
func restoredFrom(n project.Node, key string, recorded project.Restored, live Live, mayName func(value string) bool) (string, error) {
	was := key
	if _, has := live.Parameters[key]; !has && recorded.Parameter != "" {
		was = recorded.Parameter
	}
	value, has := live.Parameters[was]
	switch {
	case live.AccessError != "":
		return "", fault.New(fault.Denied, "%s", live.AccessError)
	case value == hidden:
		return "", fault.New(fault.Refused, "CloudFormation does not show the value of parameter %s, because the template says NoEcho, so nobody knows what the resource was restored from: remove NoEcho from the parameter", was)
	case has:
		return value, nil
	case live.StackID == "", len(live.Parameters) == 0 && recorded.Value != "": // the latter is created by an import, which is not over
		return recorded.Value, nil
	case recorded.Value != "":
		return "", fault.New(fault.Refused, "the resource was restored from %s, and the stack has no parameter %s any more, so it was changed outside Stackwright, and nobody knows what the resource has now: write the backup as the value, or an empty text if there is none, deploy that, and then write the reference again", recorded.Value, was)
	}
	for _, other := range slices.Sorted(maps.Keys(live.Parameters)) {
		if _, given := n.Parameters[other]; !given && mayName(live.Parameters[other]) {
			return "", fault.New(fault.Refused, "the stack has no such parameter, and the files have no parameter %[1]s any more, which names the backup %[2]s: nobody knows whether it is of this resource, which would be replaced: if it is, write %[2]s as the value of %[3]s, otherwise an empty text; deploy that, and then write the reference again", other, live.Parameters[other], key)
		}
	}
	return "", nil
}

// sayCreated says which resources that could be restored a plan creates without data, and which it creates from the backup of a restore that has not created them.
func (v View) sayCreated(p Plan) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.Desired.Nodes)) {
		n := v.Desired.Nodes[name]
		deploys := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Node == name && s.does(Create, CreateEmpty, Update) })
		replaces := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Node == name && s.does(Delete) })
		if !deploys || !replaces && !v.creates(name) {
			continue
		}
		for _, resource := range slices.Sorted(maps.Keys(n.Restored)) {
			of := Data{Node: name, Resource: resource}.String()
			switch from := n.Restored[resource]; {
			case v.Desired.Restored[of].Late:
				all = append(all, fmt.Sprintf("stack %s is created, and %s has the data of the backup %s (parameter %s), because a restore of it was requested and has not created the stack: to create it without data, destroy the project first, or write an empty text as the value of the parameter", name, resource, from.Value, from.Parameter))
			case from.Value == "":
				all = append(all, fmt.Sprintf("stack %s is created, and ${restored:%s} is empty (parameter %s), so %s is created without data: to have data of a snapshot, restore that instead", name, resource, from.Parameter, resource))
			}
		}
	}
	return all
}
