package sceptre

import (
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
	"github.com/stackwright/stackwright/pkg/project"
)

// byFunction is the way out of what a hook of Sceptre does on the machine that runs it.
const byFunction = "do it in a Lambda function, and call that with a hook in a stackwright.yaml"

// refusedHook says why a tag under hooks is refused, or "". The argument of a hook may be a resolver.
func refusedHook(name string) string {
	switch {
	case resolvers[name] != nil:
		return ""
	case name == "cmd", name == "rcmd":
		return "Stackwright has no machine that runs commands: " + byFunction
	case name == "asg_scaling_processes":
		return "it is about all Auto Scaling groups of the stack, and a hook of Stackwright about one: write suspend_scaling or resume_scaling for each in a stackwright.yaml"
	case name == "asg_scheduled_actions":
		return "hooks of Stackwright change no scheduled action: suspend the process ScheduledActions with suspend_scaling in a stackwright.yaml, or " + byFunction
	}
	return "the hook is of a plug-in, and Stackwright runs no code of a project: " + byFunction
}

// momentOf returns the moment of a stack in a stackwright.yaml that is the one of Sceptre; "" if there is none. Sceptre's
// launch creates or updates a stack, as a deploy does.
func momentOf(name string) project.Moment {
	m := project.Moment(strings.Replace(name, "_launch", "_deploy", 1))
	if _, ok := project.StackMoments()[m]; ok {
		return m
	}
	return ""
}

// refuseHooks refuses the hooks of a stack, and says at which moments Stackwright calls hooks in their place.
func (t *tree) refuseHooks(s *stack) {
	e, ok := s.config.Entry("hooks")
	if !ok || !jinja.Truth(e.Value) {
		return
	}
	var moments []string
	if d, ok := e.Value.(*jinja.Dict); ok {
		for _, h := range d.Entries() {
			name, _ := h.Key.(string)
			switch m := momentOf(name); m {
			case "":
				moments = append(moments, problem.Short(name)+" has no equivalent")
			case project.Moment(name):
				moments = append(moments, name+" keeps its name")
			default:
				moments = append(moments, fmt.Sprintf("%s becomes %s", name, m))
			}
		}
	}
	why := "Stackwright calls no hooks of a Sceptre project: remove them, write a stackwright.yaml with stackwright convert, and add hooks that call Lambda functions there"
	if moments != nil {
		why += " (" + strings.Join(moments, ", ") + ")"
	}
	t.Add(t.places[e.Place], "hooks: %s", why)
}
