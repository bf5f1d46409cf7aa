package project

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// A Source is an output of a stack outside the project, which is read when a plan is made.
type Source struct {
	Stack  string `json:"stack"` // its physical name
	Output string `json:"output"`
	Target Target `json:"target"`
}

// String is the source as the user writes it.
func (s Source) String() string {
	return "external:" + s.Stack + "." + s.Output + "@" + s.Target.Name
}

// Sources lists the outputs of stacks outside the project that its stacks use, sorted.
func (p Project) Sources() []Source {
	var all []Source
	for _, n := range p.Nodes {
		for _, texts := range []map[string]Text{n.Parameters, n.Tags} {
			for _, t := range texts {
				all = append(all, t.Sources()...)
			}
		}
	}
	slices.SortFunc(all, func(a, b Source) int {
		return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.Target.Where(), b.Target.Where()))
	})
	return slices.Compact(all)
}

// Sources lists the outputs of stacks outside the project that the text has.
func (t Text) Sources() []Source {
	var all []Source
	for _, p := range t {
		if p.Source != nil {
			all = append(all, *p.Source)
		}
		if p.Expression != nil {
			all = (Term{Expression: p.Expression}).sources(all)
		}
	}
	return all
}

func (t Term) sources(all []Source) []Source {
	if t.Source != nil {
		all = append(all, *t.Source)
	}
	if t.Expression != nil {
		all = (Term{List: t.Expression.Arguments}).sources(all)
	}
	for _, item := range t.List {
		all = item.sources(all)
	}
	for _, key := range slices.Sorted(maps.Keys(t.Map)) {
		all = t.Map[key].sources(all)
	}
	return all
}

// ReadSources returns the project with the values of outputs of stacks outside it. It refuses those
// that do not exist and have no default, all at once.
func (p Project) ReadSources(read func(Source) (string, error)) (Project, error) {
	var wrong []error
	nodes := maps.Clone(p.Nodes)
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		n := nodes[name]
		for what, texts := range map[string]*map[string]Text{"parameter": &n.Parameters, "tag": &n.Tags} {
			*texts = maps.Clone(*texts)
			for _, key := range slices.Sorted(maps.Keys(*texts)) {
				text, err := (*texts)[key].ReadSources(read)
				if (*texts)[key] = text; err != nil {
					wrong = append(wrong, fault.New(fault.KindOf(err), "stack %s: %s %s: %w", name, what, key, err))
				}
			}
		}
		nodes[name] = n
	}
	p.Nodes = nodes
	slices.SortFunc(wrong, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return p, errors.Join(wrong...)
}

// ReadSources returns the text with the values of outputs of stacks outside the project. One that does not
// exist (fault.Missing) stays where it has a default.
func (t Text) ReadSources(read func(Source) (string, error)) (Text, error) {
	var wrong []error
	all := slices.Clone(t)
	for i, p := range all {
		switch {
		case p.Source != nil:
			value, err := read(*p.Source)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("${%s}: %w", p.Source, err))
			}
			all[i] = Part{Literal: value}
		case p.Expression != nil:
			x, err := p.Expression.readSources(read, false)
			if err != nil {
				wrong = append(wrong, err)
			}
			all[i].Expression = x
		}
	}
	if len(wrong) > 0 {
		return all, wrong[0]
	}
	return all, nil
}

func (x *Expression) readSources(read func(Source) (string, error), optional bool) (*Expression, error) {
	with := Expression{Function: x.Function, Arguments: slices.Clone(x.Arguments)}
	last := len(with.Arguments) - 1
	for i := range with.Arguments {
		var err error
		if with.Arguments[i], err = with.Arguments[i].readSources(read, optional || x.lazy() && i < last); err != nil {
			return x, err
		}
	}
	return &with, nil
}

func (t Term) readSources(read func(Source) (string, error), optional bool) (Term, error) {
	var err error
	switch {
	case t.Source != nil:
		value, err := read(*t.Source)
		switch {
		case optional && fault.Is(err, fault.Missing):
			return t, nil
		case err != nil:
			return t, fmt.Errorf("${%s}: %w", t.Source, err)
		}
		return Term{Known: value}, nil
	case t.Expression != nil:
		t.Expression, err = t.Expression.readSources(read, optional)
		return t, err
	}
	t.List = slices.Clone(t.List)
	for i := range t.List {
		if t.List[i], err = t.List[i].readSources(read, optional); err != nil {
			return t, err
		}
	}
	t.Map = maps.Clone(t.Map)
	for _, key := range slices.Sorted(maps.Keys(t.Map)) {
		if t.Map[key], err = t.Map[key].readSources(read, optional); err != nil {
			return t, err
		}
	}
	return t, nil
}

// Externals are the stacks whose outputs projects may read although the stacks are not theirs: patterns of
// projects, environments and physical names, such as "shop@prod=legacy-*". No pattern means no stack.
type Externals []string

var external = pattern.New(`^[-A-Za-z0-9*]{1,64}@[-A-Za-z0-9*]{1,64}=[-A-Za-z0-9*]{1,128}$`)

// ParseExternals reads patterns that are separated by commas. The error is of kind Invalid.
func ParseExternals(text string) (Externals, error) {
	all := Externals(Listed(text))
	for _, p := range all {
		if !external.MatchString(p) {
			return nil, fault.New(fault.Invalid, "external: %q is not a pattern: write PROJECT@ENVIRONMENT=STACK with letters, digits, hyphens and stars, such as shop@*=legacy-*", p)
		}
	}
	if n := len(all.String()); n > MaxEntries {
		return nil, fault.New(fault.Invalid, "external: the patterns have %d characters, and at most %d may be: use stars", n, MaxEntries)
	}
	return all, nil
}

// String returns the patterns with commas, as ParseExternals reads them.
func (x Externals) String() string { return strings.Join(x, ",") }

// Permit returns an error of kind Denied if the project of an ID may not read the outputs of a stack.
func (x Externals) Permit(id, stack string) error {
	for _, p := range x {
		if e, err := ParseEntry(p); err == nil && e.About(id) && pattern.Star(e.Thing, stack) {
			return nil
		}
	}
	return fault.New(fault.Denied, "project %s may not read the outputs of stack %s: ask the owner of the installation to add %s=%s to the setting external", id, stack, id, stack)
}
