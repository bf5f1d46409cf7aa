package resolve

import (
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// setRollout makes the stack part of the rollout to its targets. All targets have the same rollout; one with a single target is part of
// none.
func (r *resolver) setRollout(what string, s *Stack) {
	all := r.byName[s.Name]
	if s.Settings.Rollout == nil || s != all[0] || s.targetsUnknown {
		return
	}
	concurrent, limited := r.share(what+": max_concurrent", s, s.Settings.Rollout.MaxConcurrent, 1)
	failures, _ := r.share(what+": max_failures", s, s.Settings.Rollout.MaxFailures, 0)
	order := r.order(what+": order", s, all)
	about := project.Rollout{Stack: s.Name, Bake: r.bake(what+": bake", s), Alarms: r.rolloutAlarms(what+": alarms", s)}
	if len(all) < 2 {
		return
	}
	if limited {
		r.concurrent = append(r.concurrent, project.Limit{Rollout: s.Name, Most: max(concurrent.Of(len(all)), 1)})
	}
	r.failures = append(r.failures, project.Limit{Rollout: s.Name, Most: failures.Of(len(all))})
	for _, one := range all {
		in := about
		in.Wave = waveOf(one.Node.Target.Name, order)
		one.Node.Rollout = &in
	}
}

// share resolves a number or a percentage of targets, which is at least a number. It reports false if there is none that can be used.
func (r *resolver) share(what string, s *Stack, v *declared.Value, least int) (project.Share, bool) {
	if v == nil {
		return project.Share{}, false
	}
	text, ok := r.sameInAll(what, s, *v)
	if !ok {
		return project.Share{}, false
	}
	share, err := project.ParseShare(problem.Short(text))
	switch {
	case err != nil:
		r.Add(v.At, "%s: %v", what, err)
		return share, false
	case share.N < least:
		r.Add(v.At, "%s: %s: write at least 1, or a percentage above 0%%", what, problem.Short(text))
		return share, false
	}
	return share, true
}

// rest is the pattern of all targets that no other pattern matches.
const rest = "*"

// order resolves the patterns of a rollout. Each has to match a target of the stack, or one that is registered: the stack may have other
// targets in other environments.
func (r *resolver) order(what string, s *Stack, all []*Stack) []string {
	if s.Settings.Rollout.Order == nil {
		return nil
	}
	known := slices.Collect(maps.Keys(r.options.Targets))
	for _, one := range all {
		known = append(known, one.Node.Target.Name)
	}
	slices.Sort(known)
	var patterns []string
	for _, v := range *s.Settings.Rollout.Order {
		p, ok := r.sameInAll(what, s, v)
		if !ok {
			continue
		}
		patterns = append(patterns, p)
		switch matches := func(name string) bool { return pattern.Glob(p, name) }; {
		case slices.ContainsFunc(known, matches), s.unit: // the accounts of units come and go
		case pattern.IsGlob(p):
			r.Add(v.At, "%s: %s matches no target: write the name of a target, or a pattern with * and ?", what, problem.Short(p))
		default:
			r.Add(v.At, "%s: there is no target %s%s", what, problem.Short(p), r.Hint(p, slices.Compact(known)))
		}
	}
	if len(*s.Settings.Rollout.Order) == 0 {
		r.Add(s.Settings.Rollout.At, "%s: the list is empty: write for example [canary, \"*\"], or remove it", what)
	}
	return patterns
}

// waveOf is the number of the wave of a target: the place of the first pattern that matches it. The pattern of the rest counts last.
func waveOf(target string, order []string) int {
	last := len(order)
	for i, p := range order {
		switch {
		case p == rest:
			last = i
		case pattern.Glob(p, target):
			return i
		}
	}
	return last
}

// bake resolves how long the next wave waits.
func (r *resolver) bake(what string, s *Stack) project.Timeout {
	v := s.Settings.Rollout.Bake
	if v == nil {
		return 0
	}
	text, ok := r.sameInAll(what, s, *v)
	if !ok {
		return 0
	}
	t, err := project.ParseTimeout(problem.Short(text))
	if err != nil {
		r.Add(v.At, "%s: %v", what, err)
	}
	return t
}

// rolloutAlarms resolves the names of the alarms.
func (r *resolver) rolloutAlarms(what string, s *Stack) []string {
	if s.Settings.Rollout.Alarms == nil {
		return nil
	}
	if n := len(*s.Settings.Rollout.Alarms); n > project.MaxAlarms {
		r.Add(s.Settings.Rollout.At, "%s: %d alarms: at most %d are allowed: create a composite alarm of several", what, n, project.MaxAlarms)
		return nil
	}
	var all []string
	for _, v := range *s.Settings.Rollout.Alarms {
		name, ok := r.sameInAll(what, s, v)
		switch {
		case !ok:
		case !project.AlarmName.MatchString(name):
			r.Add(v.At, "%s: %q is not the name of an alarm: write its name, and not its ARN, with at most 255 characters", what, problem.Short(name))
		default:
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// sameInAll resolves an option that is the same in all targets of a stack.
func (r *resolver) sameInAll(what string, s *Stack, v declared.Value) (string, bool) {
	for _, item := range v.Items {
		for _, p := range item {
			for _, ref := range p.References() {
				if k, _ := reference.Of(ref.Kind); k.Target {
					r.Add(v.At, "%s: %s depends on the target, and a rollout is the same in all targets: write the value, or ${var.x}", what, ref.Written)
					return "", false
				}
			}
		}
	}
	return r.option(what, s, v)
}
