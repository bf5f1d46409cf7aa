package resolve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/lib/function"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/project"
)

// spread makes one stack for each target of a stack. If the targets are not known,
// the stack gets the default target, so that its other keys can be checked.
func (r *resolver) spread(home project.Target) {
	var all []*Stack
	for _, s := range r.Stacks {
		s.Node.Target = home
		targets, units, ok := r.targets("stack "+s.Name+": targets", s)
		s.unit = len(units) > 0 && (len(*s.Settings.Targets) > 1 || r.options.Members.Units[units[0]] != nil)
		if ok && targets == nil && len(units) == 0 && s.mapIn != "" {
			targets, ok = r.targetsAt(s, home)
		}
		switch {
		case len(targets) == 0 && ok && len(units) > 0:
			why, lost := r.noAccount(units)
			if r.leaveOut(s.Name, why, nil); !lost {
				r.unplace(s.Name, why)
			}
			continue
		case len(targets) == 0:
			targets = []project.Target{home}
		}
		if ok && s.mapIn != "" {
			r.checkPlaces(s, targets)
		}
		for _, t := range targets {
			one := *s
			one.targetsUnknown = !ok
			one.Node = project.Node{Name: s.Name, Target: t}
			if len(targets) > 1 || s.unit {
				one.Node.Name += "@" + t.Name
			}
			all = append(all, &one)
			r.byName[s.Name] = append(r.byName[s.Name], &one)
			r.byNode[one.Node.Name] = &one
		}
		if len(all) > declared.MaxStacks {
			r.limits.exceeded(s.At, "the stacks in all their targets are more than %d", declared.MaxStacks)
		}
		if r.Full() {
			break
		}
	}
	r.Stacks = all
}

// noAccount says why a stack has no account in some units, of which some may be the targets of accounts that are not active. It reports lost if the
// accounts of one are not known.
func (r *resolver) noAccount(units []string) (why string, lost bool) {
	var all []string
	for _, name := range units {
		if lost := r.options.Members.Lost[name]; lost != nil {
			return fmt.Sprintf("the accounts of %s are not known: %v", name, lost), true
		}
		all = append(all, cmp.Or(r.options.Members.Empty[name], r.options.Members.Closed[name]))
	}
	return strings.Join(all, "; "), false
}

// unplace records a stack, or the one in one target, that is deployed nowhere.
func (r *resolver) unplace(name, why string) {
	if r.Unplaced == nil {
		r.Unplaced = map[string]string{}
	}
	r.Unplaced[name] = why
}

// targetsAt returns the target that is in the account and region of a stack; what the stack
// does not say is that of the default target. If several are, the stack has to name one.
func (r *resolver) targetsAt(s *Stack, home project.Target) ([]project.Target, bool) {
	at := project.Target{Account: cmp.Or(s.account, home.Account), Region: cmp.Or(s.region, home.Region)}
	if at.Where() == home.Where() {
		return []project.Target{home}, true
	}
	var found []project.Target
	for _, name := range slices.Sorted(maps.Keys(r.options.Targets)) {
		if t := r.options.Targets[name]; t.Where() == at.Where() {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		at.Name = "aws-" + at.Account + "-" + at.Region
		mapIn := s.mapIn
		if s.account != "" && s.region != "" {
			mapIn = "" // no other target fits
		}
		u := r.addUnregistered(at, s.At)
		u.placed, u.mapIn = true, mapIn
		return nil, false
	case 1:
		return found, true
	}
	r.Add(s.At, "stack %s: the targets %s are all in account %s, region %s: to choose one, %s", s.Name, problem.Short(names(found)), at.Account, at.Region, s.mapIn)
	return nil, false
}

// checkPlaces refuses a target in another account or region than the stack requires.
func (r *resolver) checkPlaces(s *Stack, targets []project.Target) {
	for _, t := range targets {
		if s.account != "" && s.account != t.Account || s.region != "" && s.region != t.Region {
			r.Add(s.At, "stack %s belongs in account %s, region %s, and its target %s is account %s, region %s: to choose another target, %s",
				s.Name, cmp.Or(problem.Short(s.account), "any"), cmp.Or(problem.Short(s.region), "any"), t.Name, t.Account, t.Region, s.mapIn)
		}
	}
}

// names lists the names of targets.
func names(all []project.Target) string {
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// targets returns the targets of a stack, or none if it names none, and the names of those of organizational units, or are the targets of accounts that are
// not active. If one of them cannot be used, it adds a problem and reports false.
func (r *resolver) targets(what string, s *Stack) (all []project.Target, units []string, good bool) {
	if s.Settings.Targets == nil {
		return nil, nil, true
	}
	good = true
	by, as := map[string]problem.Position{}, map[string]string{} // where each is listed first, and as what
	for _, v := range *s.Settings.Targets {
		some, unit, ok := r.target(what, s, v)
		if good = good && ok; unit != "" {
			if first, twice := by[unit]; twice {
				r.Add(v.At, "%s: %s is listed twice, first at %s: remove one", what, unit, first)
				good = false
				continue
			}
			by[unit], units = v.At, append(units, unit)
		}
		for _, t := range some {
			if first, twice := by[t.Name]; twice {
				r.Add(v.At, "%s: %s is listed twice, first at %s%s, and here%s: remove one", what, t.Name, first, as[t.Name], accountOf(unit))
				good = false
				continue
			}
			by[t.Name], as[t.Name], all = v.At, accountOf(unit), append(all, t)
		}
	}
	if len(all) > 0 {
		for _, name := range units {
			if why := r.options.Members.Closed[name]; why != "" {
				r.unplace(s.Name+"@"+name, why)
			}
		}
	}
	return all, units, good
}

// accountOf says of a target that it is one of the accounts of a unit, if it is.
func accountOf(unit string) string {
	if unit == "" {
		return ""
	}
	return " as an account of " + unit
}

// target returns the target of a name, or those of the accounts of its organizational unit, and then its name. The target of an account that
// is not active has none, and is named in the same way.
func (r *resolver) target(what string, s *Stack, v declared.Value) (targets []project.Target, unit string, ok bool) {
	for _, item := range v.Items {
		for _, p := range item {
			for _, ref := range p.References() {
				if k, _ := reference.Of(ref.Kind); k.Target {
					r.Add(v.At, "%s: %s depends on the target and cannot name it: write the target's name, or ${var.x}", what, ref.Written)
					return nil, "", false
				}
			}
		}
	}
	name, ok := r.option(what, s, v)
	if !ok {
		return nil, "", false
	}
	if members, ofUnit := r.options.Members.Units[name]; ofUnit {
		return members, name, true
	}
	if r.options.Members.Closed[name] != "" {
		return nil, name, true
	}
	t, ok := r.options.Targets[name]
	if !ok {
		r.addUnregistered(project.Target{Name: name, Account: s.account, Region: s.region}, v.At)
		return nil, "", false
	}
	return []project.Target{t}, "", true
}

// addUnregistered records a use of a target that is not registered, with the account and region that are required of it.
func (r *resolver) addUnregistered(required project.Target, at problem.Position) *use {
	name := required.Name
	if r.unregistered == nil {
		r.unregistered = unregistered{}
	}
	u := r.unregistered[name]
	if u == nil {
		u = &use{}
		r.unregistered[name] = u
	}
	if u.uses++; u.uses == 1 {
		r.Unregistered = append(r.Unregistered, name)
		r.Required[name] = required
		u.required = required
	}
	if u.uses == 1 || at.Compare(u.at) < 0 {
		u.at = at
	}
	return u
}

// unregistered holds the named targets that are not registered, each with its
// first position and how many stacks and references name it.
type unregistered map[string]*use

// A use is where a target that is not registered is needed.
type use struct {
	at       problem.Position
	uses     int
	required project.Target
	placed   bool   // an account and region need it, and no name
	mapIn    string // where another could be written; "" if no other fits
}

// report adds the problem of an account and region without a target.
func (m use) report(list *problem.List) {
	stacks, choose := "", ""
	if m.uses > 1 {
		stacks = fmt.Sprintf(" (%d stacks)", m.uses)
	}
	if m.mapIn != "" {
		choose = "; or choose another target: " + m.mapIn
	}
	list.Add(m.at, "no target is registered for account %[1]s, region %[2]s%[3]s: register one with stackwright targets add NAME --account %[1]s --region %[2]s --projects PATTERNS%[4]s",
		problem.Short(m.required.Account), problem.Short(m.required.Region), stacks, choose)
}

// report adds one problem for each target.
func (u unregistered) report(list *problem.List, o Options) {
	known := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(o.Targets)), o.Units)))
	for _, name := range slices.Sorted(maps.Keys(u)) {
		times, advice := "", fmt.Sprintf("register it with stackwright targets add %s --account ACCOUNT --region REGION --projects PATTERNS", problem.Short(name))
		if u[name].uses > 1 {
			times = fmt.Sprintf(", named %d times,", u[name].uses)
		}
		if closest := suggest.Closest(name, known); closest != "" {
			advice = "did you mean " + closest + "? Otherwise " + advice
		}
		if !project.TargetName.MatchString(name) {
			advice = "a name has letters, digits and hyphens, at most 64, and begins with a letter"
		}
		if m := u[name]; m.placed {
			m.report(list)
			continue
		}
		if of, account, member := project.UnitOf(name); member && o.Members.Units[of] != nil {
			list.Add(u[name].at, "target %s%s: account %s is not under the unit of target %s, or is left out (--except): stackwright targets lists its accounts; take the name out of the project, or move the account back", problem.Short(name), times, account, of)
			continue
		}
		list.Add(u[name].at, "target %s%s is not registered: %s", problem.Short(name), times, advice)
	}
}

// find returns the stack that s refers to by a name: the one in the given target;
// without a target, the only stack of that name, or the one in the target of s.
func (r *resolver) find(s *Stack, name, target string, at problem.Position) (*Stack, error) {
	all := r.byName[name]
	given := target != ""
	switch why, left := r.elsewhere[name]; {
	case left:
		return nil, function.Missing(fmt.Errorf("stack %s is not in environment %s: %s", name, r.Environment, why))
	case len(all) == 0:
		return nil, fmt.Errorf("there is no stack %s%s", problem.Short(name), r.Hint(name, r.Names))
	case !given && len(all) == 1 && !all[0].unit:
		return all[0], nil
	case !given:
		target = s.Node.Target.Name
	}
	for _, other := range all {
		if other.Node.Target.Name == target {
			return other, nil
		}
	}
	switch _, registered := r.options.Targets[target]; {
	case all[0].targetsUnknown || s.targetsUnknown:
		return nil, reference.ErrReported
	case given && !registered:
		r.addUnregistered(project.Target{Name: target}, at)
		return nil, reference.ErrReported
	case given:
		return nil, fmt.Errorf("stack %s is not deployed to %s but to %s", name, target, places(all))
	}
	return nil, fmt.Errorf("stack %s is deployed to %s, and this stack to %s: name one of them, such as %s@%s",
		name, places(all), target, name, all[0].Node.Target.Name)
}

// refuse adds an error unless it was reported elsewhere.
func (r *resolver) refuse(at problem.Position, what string, err error) {
	if !errors.Is(err, reference.ErrReported) {
		r.Add(at, "%s: %v", what, err)
	}
}

// places lists the targets of a stack.
func places(all []*Stack) string {
	var names []string
	for _, s := range all {
		names = append(names, s.Node.Target.Name)
	}
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return fmt.Sprintf("%s and %s", strings.Join(names[:last], ", "), names[last])
}
