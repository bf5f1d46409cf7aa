package fact_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fact"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Each row has a column, and a row that is of sources reads them.
func TestRows(t *testing.T) {
	for i, one := range (fact.Services{}).All() {
		if one.Resolve == nil && one.Before == nil && one.Complete == nil && one.Values == nil || (one.Of == nil) != (one.Values == nil) {
			t.Errorf("row %d: %+v", i, one)
		}
	}
}

// A source is of one fact, which the rows before it do not claim.
func TestSourcesAreOfOneFact(t *testing.T) {
	for _, s := range []project.Source{{Stack: "net", Output: "Id"}, {Export: "net-Id"}, {Parameter: "/net/id"}, {Snapshot: "before", Resource: "db.Database"}} {
		n := 0
		for _, one := range (fact.Services{}).All() {
			if one.Of != nil && one.Of(s) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is of %d facts", s, n)
		}
	}
}

// said is a fact that adds its name to the project and the view, or fails.
func said(name string, err error) fact.Fact {
	add := func(_ context.Context, _ fact.Reading, v *plan.View) error {
		v.Retain = append(v.Retain, name)
		return err
	}
	return fact.Fact{
		Resolve: func(_ context.Context, _ fact.Reading, p project.Project) (project.Project, error) {
			p.Name += name
			return p, err
		},
		Before: add, Complete: add,
	}
}

// Facts are read in the order of their rows, up to the first that cannot be read.
func TestOrder(t *testing.T) {
	lost := errors.New("lost")
	for name, c := range map[string]struct {
		facts fact.Facts
		want  string
		err   error
	}{
		"all":     {fact.Facts{said("a", nil), {}, said("b", nil)}, "ab", nil},
		"one not": {fact.Facts{said("a", nil), said("b", lost), said("c", nil)}, "ab", lost},
	} {
		p, err := c.facts.Resolve(t.Context(), fact.Reading{}, project.Project{})
		if p.Name != c.want || err != c.err {
			t.Errorf("%s: resolve: %s, %v", name, p.Name, err)
		}
		for column, read := range map[string]func(context.Context, fact.Reading, *plan.View) error{"before": c.facts.Before, "complete": c.facts.Complete} {
			var v plan.View
			if err := read(t.Context(), fact.Reading{}, &v); strings.Join(v.Retain, "") != c.want || err != c.err {
				t.Errorf("%s: %s: %s, %v", name, column, v.Retain, err)
			}
		}
	}
}

// Each source is read by its fact, once; a fact that no source is of is not read.
func TestValues(t *testing.T) {
	var read []string
	of := func(name string, is func(project.Source) bool, err error) fact.Fact {
		return fact.Fact{Of: is, Values: func(_ context.Context, _ fact.Reading, _ project.Project, sources []project.Source) (fact.Value, error) {
			for _, s := range sources {
				read = append(read, name+" "+s.String())
			}
			return func(s project.Source) (string, error) { return name + " of " + s.String(), nil }, err
		}}
	}
	exports := of("export", func(s project.Source) bool { return s.Export != "" }, nil)
	parameters := of("parameter", func(s project.Source) bool { return s.Parameter != "" }, nil)
	a, b, other := project.Source{Export: "a"}, project.Source{Parameter: "b"}, project.Source{Stack: "net", Output: "Id"}
	facts := fact.Facts{{}, exports, parameters, of("none", func(project.Source) bool { return false }, errors.New("read without sources"))}
	value, err := facts.Values(t.Context(), fact.Reading{}, project.Project{}, []project.Source{b, a, other})
	if err != nil || strings.Join(read, ", ") != "export "+a.String()+", parameter "+b.String() {
		t.Fatal(read, err)
	}
	for s, want := range map[project.Source]string{a: "export of " + a.String(), b: "parameter of " + b.String()} {
		if got, err := value(s); got != want || err != nil {
			t.Errorf("%s: %s, %v", s, got, err)
		}
	}
	if _, err := value(other); !fault.Is(err, fault.Broken) {
		t.Errorf("a source of no fact: %v", err)
	}
	lost := errors.New("lost")
	if _, err := (fact.Facts{of("export", exports.Of, lost)}).Values(t.Context(), fact.Reading{}, project.Project{}, []project.Source{a}); err != lost {
		t.Error(err)
	}
}
