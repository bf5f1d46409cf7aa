package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

// stackHooks checks the hooks of a stack.
func (c *checker) stackHooks(s *resolve.Stack) { c.hooks(s.Node.Name, s.Node.Hooks) }

// hooks refuses hooks that call nothing of their type, or what the installation does not allow. What a hook calls that is
// known only when a stack is deployed is checked then.
func (c *checker) hooks(node string, all []project.Hook) {
	for _, h := range all {
		what, at := "hook "+h.Name, c.HooksAt[node][h.Name]
		if node != "" {
			what = "stack " + node + ": " + what
		}
		texts := h.Texts()
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			for _, o := range texts[name].Outputs() {
				if o.Certain && o.Output != project.StackID {
					c.output(what+": "+name, at, c.Node(o.Node), o.Output)
				}
			}
		}
		t, ok := hook.Named(h.Type)
		text, known := h.Values[h.Type].Known()
		if !ok || !known || text == "" {
			continue
		}
		if err := c.hookOn(t, text); err != nil {
			c.Add(at, "%s: %s: %v", what, t.Name, err)
		}
	}
}

// hookOn says what is wrong with what a hook of a type is about.
func (c *checker) hookOn(t hook.Type, text string) error {
	switch {
	case !t.Form.MatchString(text):
		return fmt.Errorf("%q is not %s", problem.Short(text), t.What)
	case t.Check != nil && t.Check(text) != nil:
		return t.Check(text)
	case t.Local || c.own.Hooks == nil:
		return nil
	}
	return c.own.Hooks.Permit(project.ID(c.Name, c.Environment), text)
}
