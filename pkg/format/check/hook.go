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
func (c *checker) stackHooks(s *resolve.Stack) { c.hooks(s.Node.Name, s.Node.Target, s.Node.Hooks) }

// hooks refuses hooks that call nothing of their type, or what the installation does not allow. What a hook calls that is
// known only when a stack is deployed is checked then.
func (c *checker) hooks(node string, in project.Target, all []project.Hook) {
	for _, h := range all {
		what, at := "hook "+h.Name, c.HooksAt[node][h.Name]
		if node != "" {
			what = "stack " + node + ": " + what
		}
		texts := h.Texts()
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			for _, o := range texts[name].Outputs() {
				if from := c.Node(o.Node); o.Certain && o.Output != project.StackID {
					c.output(fmt.Sprintf("%s: %s: ${%s.%s}", what, name, from.Name, o.Output), at, from, o.Output)
				}
			}
		}
		t, ok := hook.Named(h.Type)
		if !ok {
			continue
		}
		if i := slices.IndexFunc(h.Moments, func(m project.Moment) bool { return t.At(m) != nil }); i >= 0 {
			c.Add(at, "%s: %v", what, t.At(h.Moments[i]))
		}
		if on, known := h.Values[t.Name].Known(); known && t.CheckFinds(on, h.Moments) != nil {
			c.Add(at, "%s: %s: %v", what, t.Name, t.CheckFinds(on, h.Moments))
		}
		for _, k := range t.Reached() {
			if text, known := h.Values[k.Name].Known(); known && text != "" {
				if err := c.hookReaches(in, t, k, text); err != nil {
					c.Add(at, "%s: %s: %v", what, k.Name, err)
				}
			}
		}
	}
}

// hookReaches says what is wrong with the value of a key that names what a hook of a type reaches.
func (c *checker) hookReaches(in project.Target, t hook.Type, k hook.Key, text string) error {
	switch {
	case !k.Form.MatchString(text):
		return fmt.Errorf("%q is not %s", problem.Short(text), k.What)
	case k.Name == t.Name && t.Check != nil && t.Check(text) != nil:
		return t.Check(text)
	case t.Local || k.Plain || c.own.Hooks == nil:
		return nil
	case k.Name == t.Name && t.Finds(text):
		return c.own.Hooks.PermitSome(project.ID(c.Name, c.Environment), t, in)
	}
	id, thing := project.ID(c.Name, c.Environment), k.Reaches(in, text)
	if err := c.own.Hooks.Permit(id, thing); err != nil || c.own.Parts == nil {
		return err
	}
	return c.own.Parts.Spare(id, thing)
}
