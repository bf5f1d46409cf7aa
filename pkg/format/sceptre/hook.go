package sceptre

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
	"github.com/stackwright/stackwright/pkg/project"
)

// byFunction is the way out of what a hook of Sceptre does on the machine that runs it.
const byFunction = "remove it here, write a stackwright.yaml with stackwright convert, and add a hook there that calls a Lambda function which does it"

// hooks are those of Sceptre 4.7 that Stackwright has too. Both tags are one class of Sceptre (sceptre/hooks/asg_scaling_processes.py).
var hooks = map[string]func(argument string) (kind, processes string, err error){
	"asg_scaling_processes": scaling, "asg_scheduled_actions": scaling,
}

// scaling is the hook suspend::Launch, which is about all Auto Scaling groups of the stack.
func scaling(argument string) (kind, processes string, err error) {
	action, process, ok := strings.Cut(argument, "::")
	kinds := map[string]string{"suspend": "suspend_scaling", "resume": "resume_scaling"}
	if !ok || kinds[action] == "" || strings.Contains(process, "::") {
		return "", "", errors.New("expected suspend::PROCESS or resume::PROCESS, such as suspend::ScheduledActions")
	}
	return kinds[action], process, nil
}

// refusedHook says why a tag under hooks is refused, or "". The argument of a hook may be a resolver.
func refusedHook(name string) string {
	switch {
	case resolvers[name] != nil, hooks[name] != nil:
		return ""
	case name == "cmd", name == "rcmd":
		return "Stackwright has no machine that runs commands: " + byFunction
	}
	return "the hook is of a plug-in, and Stackwright runs no code of a project: " + byFunction
}

// moments are those of Sceptre at which Stackwright calls hooks, by what they are in a stackwright.yaml. Sceptre's launch creates or
// updates a stack, as a deploy does.
var moments = map[string]project.Moment{
	"before_launch": project.BeforeDeploy, "after_launch": project.AfterDeploy,
	"before_create": project.BeforeCreate, "after_create": project.AfterCreate,
	"before_update": project.BeforeUpdate, "after_update": project.AfterUpdate,
	"before_delete": project.BeforeDelete, "after_delete": project.AfterDelete,
}

// hooks are those of the stack. Sceptre calls only those in a list, and passes over other values without a word.
func (r *resolution) hooks() declared.Hooks {
	e, ok := r.stack.config.Entry("hooks")
	if !ok || !jinja.Truth(e.Value) {
		return nil
	}
	at := r.tree.places[e.Place]
	d, isDict := e.Value.(*jinja.Dict)
	if !isDict {
		r.tree.Add(at, "hooks: expected a mapping, found %s", jinja.Kind(e.Value))
		return nil
	}
	all, taken := make(declared.Hooks), make(map[string]bool)
	for _, one := range d.Entries() {
		at := r.tree.places[one.Place]
		name, _ := jinja.Str(one.Key, 100)
		m, known := moments[name]
		list, isList := one.Value.(*jinja.List)
		switch {
		case !jinja.Truth(one.Value):
		case !known:
			r.tree.Add(at, "hooks: %s: Stackwright calls no hook then: remove it; there are before_ and after_ of launch, create, update and delete", problem.Short(name))
		case !isList:
			r.tree.Add(at, "hooks: %s: expected a list, found %s: Sceptre does not call it; write it after a hyphen, or remove it", name, jinja.Kind(one.Value))
		default:
			for _, item := range list.Items {
				if h, ok := r.hook(name, at, item, taken); ok {
					all[m] = append(all[m], h)
				}
			}
		}
	}
	if len(taken) > project.MaxHooks {
		r.tree.Add(at, "hooks: more than %d hooks", project.MaxHooks)
		return nil
	}
	return all
}

// hook is one hook at a moment. taken are the names of the hooks of the stack before it.
func (r *resolution) hook(moment string, at problem.Position, v any, taken map[string]bool) (h declared.Hook, ok bool) {
	written, isHook := v.(*resolver)
	if !isHook {
		r.tree.Add(at, "hooks: %s: expected a hook such as !asg_scaling_processes, found %s: Sceptre does not call it; remove it", moment, jinja.Kind(v))
		return h, false
	}
	read := hooks[written.name]
	if read == nil {
		if resolvers[written.name] != nil {
			r.tree.Add(written.at, "!%s: it is a resolver, and here is a hook expected: Sceptre does not call it; remove it", written.name)
		}
		return h, false // all others are reported where they are read
	}
	refuse := func(format string, args ...any) (declared.Hook, bool) {
		r.tree.Add(written.at, "!%s: %s", written.name, fmt.Sprintf(format, args...))
		return h, false
	}
	if slices.Contains([]string{"before_create", "after_delete"}, moment) {
		return refuse("the stack does not exist at %s, so Sceptre always fails there: remove it", moment)
	}
	argument, err := r.resolve(written.argument, written.at)
	if errors.Is(err, errReported) {
		return h, false
	}
	text, isText := argument.(string)
	if err == nil && !isText {
		err = fmt.Errorf("expected text such as suspend::ScheduledActions, found %s", jinja.Kind(argument))
	}
	if err != nil {
		return refuse("%v", err)
	}
	kind, processes, err := read(text)
	if err != nil {
		return refuse("%v, found %q", err, problem.Short(text))
	}
	t, _ := hook.Named(kind)
	for _, k := range t.Keys { // processes, which may be several in a stackwright.yaml
		if !k.Form.MatchString(processes) || processes == "all" || strings.Contains(processes, ",") {
			return refuse("%q is no process of Auto Scaling: expected one of those in https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-suspend-resume-processes.html, such as ScheduledActions", problem.Short(processes))
		}
	}
	value := func(text string) declared.Entry {
		return declared.Entry{At: written.at, Value: *literal(written.at, text)}
	}
	h = declared.Hook{
		Name: hookName(moment, text, taken), At: written.at, Type: kind,
		Values: map[string]declared.Entry{kind: value(hook.OfStack), "processes": value(processes)},
	}
	return h, true
}

// hookName names a hook after its moment and its argument, such as before-update-suspend-Launch.
func hookName(moment, argument string, taken map[string]bool) string {
	base := strings.ReplaceAll(moment, "_", "-") + "-" + strings.Replace(argument, "::", "-", 1)
	name := base
	for n := 2; taken[name]; n++ {
		name = fmt.Sprint(base, "-", n)
	}
	taken[name] = true
	return name
}
