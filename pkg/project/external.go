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

// A Source is a value outside the project that is read when a plan is made: an output of a stack, an export, a
// plain parameter of the parameter store, or the name of a backup.
type Source struct {
	Stack  string `json:"stack,omitempty"` // its physical name
	Output string `json:"output,omitempty"`
	Export string `json:"export,omitempty"` // the name of an export; then there is no stack
	Target Target `json:"target"`

	Parameter string `json:"parameter,omitempty"` // its name, or name:version; then there is neither

	Snapshot string `json:"snapshot,omitempty"` // the name of a snapshot of the project, of whose backup of Resource it is the ARN; then there is none of these
	Restored string `json:"restored,omitempty"` // the logical ID of a resource of the stack itself; it is what names the backup from which that was restored
	Resource string `json:"resource,omitempty"` // of a snapshot: "db.Database", the node and the logical ID
}

// A StoredParameter is one of the parameter store.
type StoredParameter struct {
	Value  string
	Secure bool // it is a secure string, which has no value here
}

// String is the source as the user writes it.
func (s Source) String() string {
	switch {
	case s.Export != "":
		return "export:" + s.Export + "@" + s.Target.Name
	case s.Parameter != "":
		return "ssm-value:" + s.Parameter + "@" + s.Target.Name
	case s.Snapshot != "":
		return "snapshot:" + s.Snapshot + "/" + s.Resource
	case s.Restored != "":
		return "restored:" + s.Restored
	}
	return "external:" + s.Stack + "." + s.Output + "@" + s.Target.Name
}

// Sources lists the values outside the project that its stacks use, sorted. A stack that is left alone uses none, unless it is adopted.
func (p Project) Sources() []Source {
	var all []Source
	for name, n := range p.Nodes {
		if p.Ignores(name) && !n.Adopt {
			continue
		}
		for _, texts := range []map[string]Text{n.Parameters, n.Tags} {
			for _, t := range texts {
				all = append(all, t.Sources()...)
			}
		}
	}
	slices.SortFunc(all, Source.compare)
	return slices.Compact(all)
}

// Sources lists the values outside the project that the text has.
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

// ReadSources returns the project with the values outside it. It refuses those that do not exist and have no default, all
// at once.
func (p Project) ReadSources(read func(Source) (string, error)) (Project, error) {
	var wrong []error
	nodes := maps.Clone(p.Nodes)
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		n := nodes[name]
		if p.Ignores(name) && !n.Adopt {
			continue
		}
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

// ReadSources returns the text with the values outside the project. One that does not exist (fault.Missing) stays where it
// has a default.
func (t Text) ReadSources(read func(Source) (string, error)) (Text, error) {
	return t.ReplaceSources(func(s Source) (Term, error) {
		value, err := read(s)
		if err == nil && strings.Contains(value, "{resolve") {
			err = fault.New(fault.Refused, "its value contains a dynamic reference ({{resolve:…}}), which CloudFormation would resolve with the permissions of this project: write the reference in the project's own files")
		}
		return Term{Known: value}, err
	})
}

// ReplaceSources returns the text with known texts, outputs or other sources in the place of its sources. One that does not exist
// (fault.Missing) stays where it has a default.
func (t Text) ReplaceSources(by func(Source) (Term, error)) (Text, error) {
	var first error
	all := slices.Clone(t)
	for i, p := range all {
		var err error
		switch {
		case p.Source != nil:
			var with Term
			with, err = Term{Source: p.Source}.replaceSources(by, false)
			text, _ := with.Known.(string)
			all[i] = Part{Literal: text, Node: with.Node, Output: with.Output, Source: with.Source}
		case p.Expression != nil:
			all[i].Expression, err = p.Expression.replaceSources(by, false)
		}
		first = cmp.Or(first, err)
	}
	return all, first
}

func (x *Expression) replaceSources(by func(Source) (Term, error), optional bool) (*Expression, error) {
	with := Expression{Function: x.Function, Arguments: slices.Clone(x.Arguments)}
	last := len(with.Arguments) - 1
	for i := range with.Arguments {
		var err error
		if with.Arguments[i], err = with.Arguments[i].replaceSources(by, optional || x.lazy() && i < last); err != nil {
			return x, err
		}
	}
	return &with, nil
}

func (t Term) replaceSources(by func(Source) (Term, error), optional bool) (Term, error) {
	var err error
	switch {
	case t.Source != nil:
		with, err := by(*t.Source)
		switch {
		case optional && fault.Is(err, fault.Missing):
			return t, nil
		case err != nil:
			return with, fmt.Errorf("${%s}: %w", t.Source, err)
		}
		return with, nil
	case t.Expression != nil:
		t.Expression, err = t.Expression.replaceSources(by, optional)
		return t, err
	}
	t.List = slices.Clone(t.List)
	for i := range t.List {
		if t.List[i], err = t.List[i].replaceSources(by, optional); err != nil {
			return t, err
		}
	}
	t.Map = maps.Clone(t.Map)
	for _, key := range slices.Sorted(maps.Keys(t.Map)) {
		if t.Map[key], err = t.Map[key].replaceSources(by, optional); err != nil {
			return t, err
		}
	}
	return t, nil
}

// Externals are the stacks whose outputs projects may read although the stacks are not theirs: patterns of
// projects, environments and physical names, such as "shop@prod=legacy-*". No pattern means no stack. A pattern such as
// "shop@prod=ssm:/shop/*" is about plain parameters of the parameter store, by their names.
type Externals []string

var external = pattern.New(`^[-A-Za-z0-9*]{1,64}@[-A-Za-z0-9*]{1,64}=([-A-Za-z0-9*]{1,128}|ssm:[-A-Za-z0-9_./*]{1,256})$`)

// parameters begins what is a pattern of parameters.
const parameters = "ssm:"

// ParseExternals reads patterns that are separated by commas. The error is of kind Invalid.
func ParseExternals(text string) (Externals, error) {
	all := Externals(Listed(text))
	for _, p := range all {
		if !external.MatchString(p) {
			return nil, fault.New(fault.Invalid, "external: %q is not a pattern: write PROJECT@ENVIRONMENT=STACK with letters, digits, hyphens and stars, such as shop@*=legacy-*, or PROJECT@ENVIRONMENT=ssm:PARAMETER, such as shop@*=ssm:/shop/*", p)
		}
	}
	if n := len(all.String()); n > MaxEntries {
		return nil, fault.New(fault.Invalid, "external: the patterns have %d characters, and at most %d may be: use stars", n, MaxEntries)
	}
	return all, nil
}

// String returns the patterns with commas, as ParseExternals reads them.
func (x Externals) String() string { return strings.Join(x, ",") }

// Parameters lists the patterns of parameters, each once.
func (x Externals) Parameters() []string {
	var all []string
	for _, p := range x {
		_, of, _ := strings.Cut(p, "=")
		if name, is := strings.CutPrefix(of, parameters); is && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// Permit returns an error of kind Denied if the project of an ID may not read the outputs of a stack.
func (x Externals) Permit(id, stack string) error {
	if x.allow(id, func(of string) bool { return pattern.Star(of, stack) }) {
		return nil
	}
	return fault.New(fault.Denied, "project %s may not read the outputs of stack %s: ask the owner of the installation to add %s=%s to the setting external", id, stack, id, stack)
}

// PermitParameter returns an error of kind Denied if the project of an ID may not read a parameter of the parameter
// store, which may have a version.
func (x Externals) PermitParameter(id, parameter string) error {
	name, _, _ := strings.Cut(parameter, ":")
	if x.allow(id, func(of string) bool {
		p, is := strings.CutPrefix(of, parameters)
		return is && pattern.Star(p, name)
	}) {
		return nil
	}
	return fault.New(fault.Denied, "project %s may not read parameter %s: ask the owner of the installation to add %s=%s%s to the setting external", id, name, id, parameters, name)
}

// allow reports whether what one of the patterns that are about a project allows is meant.
func (x Externals) allow(id string, meant func(of string) bool) bool {
	return slices.ContainsFunc(x, func(p string) bool {
		e, err := ParseEntry(p)
		return err == nil && e.About(id) && meant(e.Thing)
	})
}
