package sim

import (
	"context"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// ofName ends the name of the export that every stack has.
const ofName = "-Name"

// words lists what the first line of the content's template says after a word, up to the next one.
func (c content) words(word string) []string {
	line, _, _ := strings.Cut(c.template, "\n")
	var all []string
	inside := false
	for _, field := range strings.Fields(strings.TrimSuffix(line, `"`)) {
		switch {
		case field == "exports" || field == "imports":
			inside = field == word
		case inside:
			all = append(all, field)
		}
	}
	return all
}

// imports lists the exports that the content uses, with the target as in the names of stacks. In a template, a stack
// stands for the export of its name, and ":zone" for the export zone.
func (c content) imports() []string {
	all := c.words("imports")
	for i, name := range all {
		export, named := strings.CutPrefix(name, ":")
		if !named {
			stack, target := split(name)
			export = stack + ofName + target
		}
		all[i] = strings.TrimPrefix(export, InNested)
	}
	return all
}

// importsInside reports whether the nested stack imports an export.
func (st *stack) importsInside(export string) bool {
	return slices.Contains(st.now.words("imports"), ":"+InNested+export)
}

// split splits a name into what it is called and its target, which begins with "@" unless it is empty.
func split(name string) (called, target string) {
	if i := strings.IndexByte(name, '@'); i >= 0 {
		return name[:i], name[i:]
	}
	return name, ""
}

// exports lists the exports that the stack has with some content.
func (st *stack) exports(with content) []string {
	if with.value == "" && with.template == "" {
		return nil
	}
	name, target := split(st.name)
	all := []string{name + ofName + target}
	for _, x := range with.words("exports") {
		all = append(all, strings.TrimPrefix(x, InNested)+target)
	}
	return all
}

// exportsByOutput returns the exports of the stack as DescribeStacks shows them: without those of the nested stack.
func (st *stack) exportsByOutput() map[string]string {
	if st.now.value == "" {
		return nil
	}
	name, _ := split(st.name)
	all := map[string]string{"Name": name + ofName}
	for _, x := range st.now.words("exports") {
		if _, nested := strings.CutPrefix(x, InNested); !nested {
			all[x] = x
		}
	}
	return all
}

// nestedID is the ID of the stack that is nested in the stack; "" if there is none.
func (st *stack) nestedID() string {
	if st.now.value == "" || !HasNested(versionOf(st.now.template)) {
		return ""
	}
	name, target := split(st.name)
	return "arn:stack/" + name + "-" + Nested + target + "/1"
}

// seenNested is the live stack at a location that is nested in another one.
func (c *Cloud) seenNested(p plan.Location) (plan.Live, bool) {
	for _, name := range c.Names() {
		st := c.live[name]
		if id := st.nestedID(); id != "" && strings.HasPrefix(id, "arn:stack/"+c.called(p)+"/") {
			live := plan.Live{StackID: id, Status: st.status, Parent: st.id, Exports: make(map[string]string)}
			for _, x := range st.now.words("exports") {
				if own, nested := strings.CutPrefix(x, InNested); nested {
					live.Exports[own] = own
				}
			}
			return live, true
		}
	}
	return plan.Live{}, false
}

// exporter returns the live stack that has an export, or nil.
func (c *Cloud) exporter(export string) *stack {
	for _, name := range c.Names() {
		if st := c.live[name]; st.now.value != "" && slices.Contains(st.exports(st.now), export) {
			return st
		}
	}
	return nil
}

// usersOf lists the live stacks that import an export, but for one, sorted. CloudFormation's documents do not say whether
// an import that an update has dropped is freed before the cleanup ends; here it is not.
func (c *Cloud) usersOf(export string, but *stack) []string {
	var all []string
	for _, name := range c.Names() {
		u := c.live[name]
		if u != but && u.now.value != "" && slices.Contains(append(u.now.imports(), u.formerImports...), export) {
			all = append(all, name)
		}
	}
	return all
}

// users lists the live stacks that import an export of one, sorted.
func (c *Cloud) users(st *stack) []string {
	var all []string
	for _, export := range st.exports(st.now) {
		all = append(all, c.usersOf(export, st)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// user returns the name of a live stack that imports an export of st, or "".
func (c *Cloud) user(st *stack) string {
	return strings.Join(c.users(st)[:min(1, len(c.users(st)))], "")
}

// InUse reports whether another live stack imports the export of the one of that name.
func (c *Cloud) InUse(name string) bool { return c.user(c.live[name]) != "" }

// unexportable says why an update of a stack to some content fails because of exports, or "".
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
func (c *Cloud) unexportable(st *stack, want content) string {
	next := st.exports(want)
	for _, export := range st.exports(st.now) {
		if users := c.usersOf(export, st); st.now.value != "" && !slices.Contains(next, export) && len(users) > 0 {
			return "Cannot delete export " + export + " as it is in use by " + users[0]
		}
	}
	for _, export := range next {
		if other := c.exporter(export); other != nil && other != st {
			return "Export with name " + export + " is already exported by stack " + other.name
		}
	}
	return ""
}

// Importers implements engine.Clouds.
func (c *Cloud) Importers(_ context.Context, t project.Target, exports []string, count func()) (map[string][]string, error) {
	count()
	if err := c.denied(t); err != nil {
		return nil, err
	}
	users := make(map[string][]string)
	for _, export := range exports {
		for _, name := range c.usersOf(c.called(plan.Location{Stack: export, Target: t}), nil) {
			called, _ := split(name)
			if c.live[name].importsInside(export) {
				called += "-" + Nested
			}
			users[export] = append(users[export], called)
		}
	}
	return users, nil
}

// Exports implements engine.Clouds.
func (c *Cloud) Exports(_ context.Context, t project.Target, names []string, count func()) (map[string]plan.Export, error) {
	count()
	if err := c.denied(t); err != nil {
		return nil, err
	}
	found := make(map[string]plan.Export)
	for _, name := range names {
		if st := c.exporter(c.called(plan.Location{Stack: name, Target: t})); st != nil {
			called, _ := split(st.name)
			found[name] = plan.Export{Stack: called, Value: called}
		}
	}
	return found, nil
}
