package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Selection says which stacks a request is about. The zero Selection is about all.
//
// Only and Exclude list patterns. A pattern is the name of a stack, which means the stack in all its targets; a name with a target; a folder
// with its slash, which means all stacks below it; a glob, as pattern.Glob; or tag:KEY or tag:KEY=VALUE, which means the stacks with that tag.
type Selection struct {
	Only             []string `json:"only,omitempty"`              // patterns of the stacks that it selects; none is all
	Exclude          []string `json:"exclude,omitempty"`           // patterns of the stacks that it leaves out, whatever else selects them
	WithDependencies *bool    `json:"with_dependencies,omitempty"` // whether it adds what the selected stacks depend on; nil is what the operation does by default
	WithDependents   bool     `json:"with_dependents,omitempty"`   // it adds what depends on the selected stacks
	ChangedSince     string   `json:"changed_since,omitempty"`     // a run: of the stacks that Only selects, those whose files differ from the files of that run

	Differing map[string]bool `json:"-"` // with ChangedSince: the nodes whose files differ, as Since finds them; no request has them
}

// Selecting lists the options of a selection that any operation may have.
func Selecting() []Option {
	return []Option{OptionOnly, OptionExclude, OptionWithDependencies, OptionWithDependents}
}

// Partial reports whether the selection may be about some stacks only.
func (s Selection) Partial() bool { return len(s.Only)+len(s.Exclude) > 0 || s.ChangedSince != "" }

// Equal reports whether two requests select in the same way.
func (s Selection) Equal(other Selection) bool {
	same := s.WithDependencies == other.WithDependencies
	if s.WithDependencies != nil && other.WithDependencies != nil {
		same = *s.WithDependencies == *other.WithDependencies
	}
	return same && slices.Equal(s.Only, other.Only) && slices.Equal(s.Exclude, other.Exclude) && s.WithDependents == other.WithDependents && s.ChangedSince == other.ChangedSince
}

// Clone returns a copy that shares nothing with the selection.
func (s Selection) Clone() Selection {
	s.Only, s.Exclude = slices.Clone(s.Only), slices.Clone(s.Exclude)
	if s.WithDependencies != nil {
		s.WithDependencies = new(*s.WithDependencies)
	}
	return s
}

// Selects returns a selection with the default of the operation: one that adopts, prunes or replaces adds no dependencies. Others add those that the
// project's files have.
func (o Operation) Selects(s Selection) Selection {
	if s.WithDependencies == nil && (o.Adopts || o.Prunes || o.Recreates) {
		s.WithDependencies = new(false)
	}
	return s
}

// Renames returns the selection of the stacks whose records get the names that the files have. A replace is about more stacks than it selects.
func (o Operation) Renames(s Selection) Selection {
	if o.Recreates {
		return Selection{}
	}
	return s
}

// Since returns the selection of a request whose ChangedSince is a run with the files of before. A stack that the files no longer have has
// changed too.
func (s Selection) Since(before, now project.Project) (Selection, error) {
	s.Differing = make(map[string]bool)
	for name := range before.Nodes {
		_, stays := now.Nodes[name]
		s.Differing[name] = !stays
	}
	for name, n := range now.Nodes {
		is, err := n.Digest()
		if err != nil {
			return s, err
		}
		old, had := before.Nodes[name]
		was, err := old.Digest()
		if err != nil {
			return s, err
		}
		s.Differing[name] = !had || was != is
	}
	return s, nil
}

// maxPattern is how many bytes a pattern may have.
const maxPattern = 256

// tagged begins a pattern of stacks with a tag.
const tagged = "tag:"

// A Problem is what is wrong with an option of a request.
type Problem struct {
	Option Option
	Text   string
}

// Problems lists what is wrong with a selection, whatever stacks there are.
func (s Selection) Problems() []Problem {
	var all []Problem
	add := func(o Option, format string, args ...any) {
		all = append(all, Problem{o, fmt.Sprintf(format, args...)})
	}
	check := func(o Option, patterns []string) {
		for _, p := range patterns {
			switch key, _, _ := strings.Cut(strings.TrimPrefix(p, tagged), "="); {
			case p == "":
				add(o, "it contains an empty name: remove it")
			case len(p) > maxPattern:
				add(o, "a pattern has %d bytes, at most %d are allowed", len(p), maxPattern)
			case strings.HasPrefix(p, tagged) && key == "":
				add(o, "%s names no tag: write tag:KEY or tag:KEY=VALUE, such as tag:team=shop", p)
			}
		}
	}
	check(OptionOnly, s.Only)
	check(OptionExclude, s.Exclude)
	based := len(s.Only) > 0 || s.ChangedSince != ""
	if s.WithDependencies != nil && !based {
		add(OptionWithDependencies, "it is about the dependencies of the stacks that only or changed_since selects: give one of these too, or leave it out")
	}
	if s.WithDependents && !based {
		add(OptionWithDependents, "it adds to the stacks that only or changed_since selects: give one of these too, or leave it out")
	}
	return all
}

// A choice is what a selection selects.
type choice struct {
	about   map[string]bool   // nil for all nodes
	added   map[string]string // why, by node
	leftOut map[string]string // why, by node: what is excluded, and direct dependencies that are not added
	others  int               // how many nodes are not selected, without those in leftOut
	same    int               // how many of them because their files do not differ
}

// A selectable is a stack that a selection may select.
type selectable struct {
	former  string
	tags    map[string]*string // nil for a value that the files do not say
	needs   []string
	desired bool
}

// selectables lists the stacks that a selection may select: those that are desired, and those that are only recorded, called again, or
// obsolete.
func (v View) selectables() map[string]selectable {
	all := make(map[string]selectable, len(v.Desired.Nodes)+len(v.Recorded))
	for _, name := range v.Desired.Obsolete {
		all[name] = selectable{}
	}
	for _, s := range v.Uncalled {
		all[s.Node] = selectable{}
	}
	for name := range v.Recorded {
		all[name] = v.selectable(name)
	}
	for name := range v.Desired.Nodes {
		all[name] = v.selectable(name)
	}
	return all
}

// selectable is a node as a selection sees it: a desired one as the files describe it, another one as it was recorded and is.
func (v View) selectable(name string) selectable {
	n, desired := v.Desired.Nodes[name]
	tags := make(map[string]*string)
	if !desired {
		r := v.Recorded[name]
		for key, value := range v.Live[name].Tags {
			tags[key] = &value
		}
		return selectable{former: r.FormerName, needs: r.Needs, tags: tags}
	}
	for key, text := range n.Tags {
		tags[key] = nil
		if value, known := text.Known(); known {
			tags[key] = &value
		}
	}
	return selectable{needs: n.Needs, tags: tags, desired: true}
}

// choose returns what the selection selects. It refuses patterns that match nothing, and an exclusion that leaves nothing.
func (v View) choose() (choice, []error) {
	if !v.Partial() {
		return choice{}, nil
	}
	all := v.selectables()
	c := choice{about: make(map[string]bool), added: make(map[string]string), leftOut: make(map[string]string)}
	first, unknown := v.matched(OptionOnly, v.Only, all)
	excluded, wrong := v.matched(OptionExclude, v.Exclude, all)
	unknown = append(unknown, wrong...)
	take := func(name string) bool {
		by, leaves := excluded[name]
		if leaves {
			c.leftOut[name] = "excluded by --exclude " + shell(by)
		}
		if leaves || c.about[name] {
			return false
		}
		c.about[name] = true
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, only := first[name]; (only || len(v.Only) == 0) && (v.ChangedSince == "" || v.Differing[name]) {
			take(name)
		}
	}
	if len(c.about) == 0 && v.ChangedSince == "" && len(unknown) == 0 {
		unknown = append(unknown, fault.New(fault.Invalid, "exclude: it leaves out all stacks that are selected: exclude less"))
	}
	if v.WithDependents {
		c.extend(func(name string) string { return "it depends on " + name }, dependentsOf(all), take)
	}
	c.extend(func(name string) string { return name + " depends on it" }, v.dependenciesOf(all), take)
	v.without(all, &c)
	for name := range all {
		if _, left := c.leftOut[name]; left || c.about[name] {
			continue
		}
		c.others++
		if _, only := first[name]; v.ChangedSince != "" && (only || len(v.Only) == 0) {
			c.same++
		}
	}
	return c, unknown
}

// matched returns the first of the patterns that matches each of the stacks. It refuses patterns that match none.
func (v View) matched(o Option, patterns []string, all map[string]selectable) (map[string]string, []error) {
	by := make(map[string]string)
	var unknown []error
	for _, p := range patterns {
		found := false
		for name, c := range all {
			if !c.matches(p, name) {
				continue
			}
			found = true
			if _, before := by[name]; !before {
				by[name] = p
			}
		}
		if !found {
			unknown = append(unknown, v.unmatched(o, p, all))
		}
	}
	return by, unknown
}

// unmatched is the error about a pattern that matches no stack.
func (v View) unmatched(o Option, p string, all map[string]selectable) error {
	switch {
	case strings.HasPrefix(p, tagged):
		tags := make(map[string]bool)
		for _, c := range all {
			for key, value := range c.tags {
				tags[tagged+key] = true
				if value != nil {
					tags[tagged+key+"="+*value] = true
				}
			}
		}
		return fault.New(fault.Invalid, "%s: no stack has the tag %s%s", o, strings.TrimPrefix(p, tagged), suggest.Hint(p, slices.Sorted(maps.Keys(tags))))
	case pattern.IsGlob(p):
		return fault.New(fault.Invalid, "%s: no stack matches %s, neither in the project's files nor recorded%s", o, p, suggest.Hint(p, v.names()))
	}
	return fault.New(fault.Invalid, "%s: there is no stack %s, neither in the project's files nor recorded%s", o, p, suggest.Hint(p, v.names()))
}

// matches reports whether a pattern means a stack, by its name or by the one that it had.
func (c selectable) matches(p, name string) bool {
	if tag, is := strings.CutPrefix(p, tagged); is {
		key, wanted, valued := strings.Cut(tag, "=")
		value, has := c.tags[key]
		return has && (!valued || value != nil && *value == wanted)
	}
	return Means(p, name) || Means(p, c.former)
}

// Means reports whether a pattern other than that of a tag means a node.
func Means(p, node string) bool {
	stack, _, _ := strings.Cut(node, "@")
	switch {
	case node == "":
		return false
	case pattern.IsGlob(p) && !strings.Contains(node, ":"): // the record of an old stack has the stack ID as its name
		return pattern.Glob(p, node) || pattern.Glob(p, stack)
	}
	return node == p || stack == p || strings.HasSuffix(p, "/") && strings.HasPrefix(node, p)
}

// extend adds the nodes that edges lead to from the selected ones, and those that they lead to from there, with the reason for each.
func (c *choice) extend(why func(from string) string, edges func(name string) []string, take func(name string) bool) {
	next := slices.Sorted(maps.Keys(c.about))
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		for _, to := range edges(from) {
			if take(to) {
				c.added[to] = why(from)
				next = append(next, to)
			}
		}
	}
}

// dependentsOf lists the dependents of each stack, sorted.
func dependentsOf(all map[string]selectable) func(name string) []string {
	of := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, need := range all[name].needs {
			of[need] = append(of[need], name)
		}
	}
	return func(name string) []string { return of[name] }
}

// dependenciesOf lists the dependencies of each stack that the selection adds: those that the files have or, for an operation without
// files, and only if the request says so, those that are recorded.
func (v View) dependenciesOf(all map[string]selectable) func(name string) []string {
	adds := v.WithDependencies == nil || *v.WithDependencies
	recorded := v.WithDependencies != nil && len(v.Desired.Nodes) == 0
	return func(name string) []string {
		if c := all[name]; adds && (c.desired || recorded) {
			return slices.DeleteFunc(slices.Clone(c.needs), func(need string) bool { _, known := all[need]; return !known })
		}
		return nil
	}
}

// without says which direct dependencies of selected stacks are not selected.
func (v View) without(all map[string]selectable, c *choice) {
	if v.WithDependencies == nil || *v.WithDependencies {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.about)) {
		for _, need := range all[name].needs {
			if _, known := all[need]; known && !c.about[need] && c.leftOut[need] == "" && all[name].desired {
				c.leftOut[need] = name + " depends on it, but dependencies are not selected"
			}
		}
	}
}

// selected returns the nodes that the selection selects, or nil for all nodes, and refuses what choose refuses.
func (v View) selected() (map[string]bool, []error) {
	c, refusals := v.choose()
	return c.about, refusals
}

// Selected returns the desired nodes that a request is about, or nil for all nodes.
func Selected(desired project.Project, s Selection) map[string]bool {
	about, _ := View{Desired: desired, Selection: s}.selected()
	return about
}

// shell puts a text in quotes if a shell would not take it as it is.
func shell(text string) string {
	if strings.ContainsAny(text, "*? '\"$&|;<>()[]{}\\`!#~") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}
