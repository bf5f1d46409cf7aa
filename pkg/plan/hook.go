package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// HookVersion is the version of HookCall as arguments.
const HookVersion = 1

// A HookCall is the arguments of a step that calls a hook.
type HookCall struct {
	Hook      project.Hook   `json:"hook"`
	Moment    project.Moment `json:"moment"`
	Stack     string         `json:"stack,omitempty"` // its node; empty for a hook of a deploy
	StackName string         `json:"stack_name,omitempty"`
	Target    project.Target `json:"target"` // with whose role it is called
}

// CallOf returns the hook call of a step. It reports false if the step calls no hook.
func CallOf(s Step) (c HookCall, ok bool, err error) {
	if !s.does(Hook) {
		return c, false, nil
	}
	err = s.Arguments.Read(HookVersion, &c)
	return c, true, err
}

// callOf returns the call of any hook of a node.
func callOf(n project.Node) HookCall {
	return HookCall{Stack: n.Name, StackName: n.Stack, Target: n.Target}
}

// hookSteps returns the steps that call the hooks of a moment, in their order. around is the verb that they are called
// before or after.
func hookSteps(all []project.Hook, m project.Moment, around Verb, c HookCall) ([]Step, error) {
	var steps []Step
	for _, h := range project.At(all, m) {
		c.Hook, c.Moment = h, m
		arguments, err := NewArguments(HookVersion, c)
		if err != nil {
			return nil, fault.New(fault.Refused, "hook %s: it is too large: give it less payload (%w)", StepID(c.Stack, Hook, h.Name), err)
		}
		s := Step{Verb: Hook, Qualifier: h.Name, Arguments: arguments, Around: around, Timeout: h.Timeout}
		if s.Timeout == 0 {
			s.Timeout = project.DefaultHookTimeout
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// moments returns the moments before and after a step; two empty ones if it has none.
func (s Step) moments() [2]project.Moment {
	switch {
	case s.does(Create):
		return [2]project.Moment{project.BeforeCreate, project.AfterCreate}
	case s.does(Update, Execute):
		return [2]project.Moment{project.BeforeUpdate, project.AfterUpdate}
	case s.does(Delete):
		return [2]project.Moment{project.BeforeDelete, project.AfterDelete}
	}
	return [2]project.Moment{}
}

// HooksAfter returns the names of the hooks that are called after a step, sorted.
func HooksAfter(all []project.Hook, s Step) []string {
	var names []string
	for _, h := range project.At(all, s.moments()[1]) {
		names = append(names, h.Name)
	}
	slices.Sort(names)
	return names
}

// withHooks returns the steps of a phase with those that call hooks.
func withHooks(steps []Step, hooks []project.Hook, c HookCall) ([]Step, error) {
	if len(hooks) == 0 {
		return steps, nil
	}
	var all []Step
	for _, s := range steps {
		moments := s.moments()
		before, err := hookSteps(hooks, moments[0], s.Verb, c)
		if err != nil {
			return nil, err
		}
		after, err := hookSteps(hooks, moments[1], s.Verb, c)
		if err != nil {
			return nil, err
		}
		all = slices.Concat(all, before, []Step{s}, after)
	}
	return all, nil
}

// Unsent lists the hooks after an update whose files are not those that they uploaded last: such a hook is called although the stack
// does not change.
func (r Record) Unsent(all []project.Hook) []string {
	var names []string
	for _, h := range project.At(all, project.AfterUpdate) {
		if sent, err := h.Uploaded(); err == nil && sent != "" && sent != r.Sent[h.Name] {
			names = append(names, h.Name)
		}
	}
	return names
}

// failedKey begins what a record keeps of the cache key of a hook that has failed, if the failure is ignored.
const failedKey = "failed "

// keyDigest is what a record keeps of a cache key.
func keyDigest(key string) string { return digest([]byte(key))[:16] }

// Keyed reports whether a hook is called because of its cache key, whether its stack changes or not: the key is another
// one than at its last call.
func (r Record) Keyed(hook, key string) bool {
	return key != "" && strings.TrimPrefix(r.Cached[hook], failedKey) != keyDigest(key)
}

// Cache reports whether the cache key of a hook is that of its last success, so that the hook is not called.
func (r Record) Cache(hook, key string) bool { return key != "" && r.Cached[hook] == keyDigest(key) }

// WithKey returns the cache keys of the record after a hook was called, successfully or not.
func (r Record) WithKey(hook, key string, failed bool) map[string]string {
	if key == "" {
		return r.Cached
	}
	all := maps.Clone(r.Cached)
	if all == nil {
		all = make(map[string]string)
	}
	if all[hook] = keyDigest(key); failed {
		all[hook] = failedKey + all[hook]
	}
	return all
}

// keyed lists the hooks before and after an update whose cache keys are others than at their last calls: such a hook is
// called although the stack does not change. One that is only called before changes waits for the first of them. A key of
// which an output is missing is not known, and changes nothing.
func (v View) keyed(n project.Node) ([]string, error) {
	var names []string
	for _, h := range n.Hooks {
		first := v.Recorded[n.Name].Cached[h.Name] == ""
		before, after := slices.Contains(h.Moments, project.BeforeUpdate), slices.Contains(h.Moments, project.AfterUpdate)
		if !after && (!before || first) {
			continue
		}
		key, err := h.Key(v.output)
		switch {
		case fault.Is(err, fault.Missing, fault.Invalid): // the step reports it when it starts
		case err != nil:
			return nil, err
		case v.Recorded[n.Name].Keyed(h.Name, key):
			names = append(names, h.Name)
		}
	}
	return names, nil
}

// withPending returns steps with those that call the hooks of a node that its record still demands, or whose files or
// cache keys have changed.
func (v View) withPending(steps []Step, n project.Node) ([]Step, error) {
	r := v.Recorded[n.Name]
	keyed, err := v.keyed(n)
	if err != nil {
		return nil, err
	}
	pending := make(map[string]bool)
	for _, name := range slices.Concat(r.Pending, r.Unsent(n.Hooks), keyed) {
		pending[name] = true
	}
	for _, s := range steps {
		if s.does(Hook) {
			delete(pending, s.Qualifier)
		}
	}
	// They wait for no approval: the change that demands them was approved.
	for _, m := range []project.Moment{project.BeforeUpdate, project.AfterCreate, project.AfterUpdate} {
		calls, err := hookSteps(n.Hooks, m, "", callOf(n))
		if err != nil {
			return nil, err
		}
		for _, s := range calls {
			if pending[s.Qualifier] {
				delete(pending, s.Qualifier)
				steps = append(steps, s)
			}
		}
	}
	return steps, nil
}

// uncalled returns the steps that call again what a retry has to call: the hooks after the deletion of stacks that are gone.
// Their stacks are in no record, so only the steps of the run before say what is left to do.
func (v View) uncalled(about map[string]bool) phases {
	all := make(phases)
	for _, s := range v.Uncalled {
		_, recorded := v.Recorded[s.Node]
		_, desired := v.Desired.Nodes[s.Node]
		if recorded || desired || about != nil && !about[s.Node] { // it exists again, or is not selected
			continue
		}
		all[s.Node] = append(all[s.Node], Step{
			Verb: s.Verb, Qualifier: s.Qualifier, Arguments: s.Arguments, Timeout: s.Timeout, Where: s.Where, // they wait for no approval: the deletion was approved
		})
	}
	return all
}

// around returns p with the steps that call the hooks of the project: those of a moment before all others, those of another
// one after all others, and those for failures after all others if one of them has failed.
func (v View) around(p Plan, before, after project.Moment) (Plan, error) {
	return v.calling(p, before, after, project.OnFailure)
}

// calling returns p with the steps that call the hooks of a moment before all others, those of another one after all others, and those of a
// third one after all others if one of them has failed; "" for none.
func (v View) calling(p Plan, before, after, failed project.Moment) (Plan, error) {
	if len(v.Desired.Hooks) == 0 {
		return p, nil
	}
	var all []Step
	add := func(m project.Moment, after func() []int) error {
		calls, err := hookSteps(v.Desired.Hooks, m, "", HookCall{Target: v.Desired.Home})
		for _, s := range calls {
			s.ID, s.After, s.OnFailure = StepID("", Hook, s.Qualifier), after(), m == failed
			all = append(all, s)
		}
		return err
	}
	last := func() []int {
		if len(all) == 0 {
			return nil
		}
		return []int{len(all) - 1}
	}
	if err := add(before, last); err != nil {
		return p, err
	}
	begins, first := last(), len(all)
	for _, s := range p.Steps {
		s.After = slices.Clone(s.After)
		for i := range s.After {
			s.After[i] += first
		}
		if len(s.After) == 0 {
			s.After = slices.Clone(begins)
		}
		all = append(all, s)
	}
	ends := sinks(all)
	if err := add(after, func() []int { return replaced(&ends, len(all)) }); err != nil {
		return p, err
	}
	if ends = sinks(all); len(ends) == 0 {
		return p, nil
	}
	if err := add(failed, func() []int { return replaced(&ends, len(all)) }); err != nil {
		return p, err
	}
	p.Steps = all
	return p, nil
}

// replaced returns ends, and makes them the one step of the given number.
func replaced(ends *[]int, by int) []int {
	was := *ends
	*ends = []int{by}
	return was
}

// sinks lists the numbers of the steps that no other comes after.
func sinks(steps []Step) []int {
	last := make(map[int]bool)
	for i, s := range steps {
		last[i] = true
		for _, n := range s.After {
			delete(last, n)
		}
	}
	return slices.Sorted(maps.Keys(last))
}

// hookReasons says what the steps of a node that change nothing of its stack do about hooks.
func (v View) hookReasons(steps []Step, n project.Node, r Record) []string {
	var again, files, keys []string
	keyed, _ := v.keyed(n) // the plan has been made, so there is no error
	for _, s := range steps {
		switch {
		case s.does(Create, Update, Delete):
			return nil
		case !s.does(Hook):
		case slices.Contains(r.Pending, s.Qualifier):
			again = append(again, s.Qualifier)
		case slices.Contains(keyed, s.Qualifier):
			keys = append(keys, s.Qualifier)
		default:
			files = append(files, s.Qualifier)
		}
	}
	var all []string
	if len(again) > 0 {
		all = append(all, fmt.Sprintf("hooks that have not succeeded since it was changed are called again: %s", listed(again)))
	}
	if len(keys) > 0 {
		all = append(all, fmt.Sprintf("hooks whose cache_key has changed are called: %s", listed(keys)))
	}
	if len(files) > 0 {
		all = append(all, fmt.Sprintf("hooks whose files have changed are called: %s", listed(files)))
	}
	if slices.ContainsFunc(steps, func(s Step) bool { return s.does(SetHooks) }) {
		all = append(all, "the hooks of its deletion are recorded")
	}
	return all
}

// lose reports whether some hooks delete data.
func lose(hooks []PlannedHook) bool {
	return slices.ContainsFunc(hooks, func(h PlannedHook) bool { return h.Loses != "" })
}

// hooksOf lists the hooks that steps call, in their order.
func hooksOf(steps []Step) []PlannedHook {
	var all []PlannedHook
	for _, s := range steps {
		c, ok, err := CallOf(s)
		if !ok || err != nil { // the step reports it when it starts
			continue
		}
		all = append(all, PlannedHook{Name: c.Hook.Name, Moment: c.Moment, Type: c.Hook.Type, Loses: c.Hook.Loses, Calls: c.Hook.Values[c.Hook.Type].String()})
	}
	return all
}
