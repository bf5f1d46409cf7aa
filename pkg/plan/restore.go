package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
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
	case restores && r.Again:
		return fmt.Sprintf("the data of %s is not restored again: a run that is retried has restored it from the backup %s", b.Data, b.ARN)
	case restores && v.Live[b.Node].StackID == "":
		return fmt.Sprintf("the data of %s is restored: the stack is created, with a %s that has the data of the backup %s", b.Data, b.Kind, b.ARN)
	case restores:
		return fmt.Sprintf("the data of %s is restored by a replacement, not in place: CloudFormation creates a new %s with the data of the backup %s, and deletes the old one with what was written since, unless its template retains it; names and endpoints that AWS chooses become others", b.Data, b.Kind, b.ARN)
	case b.Property == "":
		return fmt.Sprintf("the data of %s is not restored: CloudFormation creates no %s from a backup: restore it yourself from the backup %s", b.Data, b.Kind, b.ARN)
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

// Restored returns a project with the values of RestorableParameters: what the stacks have now, or the backups of a restore. The nodes of again keep what they
// have: a run that is retried has deployed them with these backups. It refuses a parameter whose value CloudFormation does not show: a deploy would replace the resource.
func Restored(p project.Project, live map[string]Live, backups []Backup, again map[string]bool) (project.Project, error) {
	parameters := RestorableParameters(p)
	nodes := maps.Clone(p.Nodes)
	p.Restored = make(map[string]project.Restored)
	var refusals []error
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		n := nodes[name]
		n.Parameters = maps.Clone(n.Parameters)
		for _, key := range slices.Sorted(maps.Keys(parameters[name])) {
			of := Data{Node: name, Resource: parameters[name][key]}.String()
			now := live[name].Parameters[key]
			switch {
			case live[name].AccessError != "":
				refusals = append(refusals, fault.New(fault.Denied, "stack %s: parameter %s: ${restored:%s}: %s", name, key, parameters[name][key], live[name].AccessError))
			case now == hidden:
				refusals = append(refusals, fault.New(fault.Refused, "stack %s: parameter %s: ${restored:%s}: CloudFormation does not show its value, because the template says NoEcho, so nobody knows what the resource was restored from: remove NoEcho from the parameter", name, key, parameters[name][key]))
			}
			r := project.Restored{Parameter: key, Value: now}
			if i := slices.IndexFunc(backups, func(b Backup) bool { return b.Data.String() == of }); i >= 0 {
				if r.Again = again[name] && backups[i].is(now); !r.Again {
					r.Value = backups[i].Identifier(now)
				}
			}
			p.Restored[of] = r
			n.Parameters[key] = project.Literal(r.Value)
		}
		nodes[name] = n
	}
	p.Nodes = nodes
	return p, errors.Join(refusals...)
}
