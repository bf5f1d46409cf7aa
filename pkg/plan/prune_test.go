package plan_test

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A deploy names the obsolete stacks that a prune would delete, and not those that are deleted already.
func TestDeployNamesWhatPruneDeletes(t *testing.T) {
	f := newFixture()
	f.deployed(t, "web old")
	f.Desired.Obsolete = []string{"gone", "old"}
	for _, want := range []string{
		"left alone, because the project's files say obsolete: true: gone, old; to delete old: stackwright prune",
		"left alone, because the project's files say obsolete: true: gone, old",
	} {
		p, err := plan.Deploy(f.View)
		expect(t, p, err, "")
		if !slices.Equal(p.Messages, []string{want}) {
			t.Errorf("messages %q, want %s", p.Messages, want)
		}
		delete(f.Recorded, "old")
	}
}

// Messages about stacks that are left alone name the key of the project's format.
func TestIgnoredStacksByKindOfProject(t *testing.T) {
	for kind, key := range map[project.Kind]string{project.WithFile: "enabled: false", project.Sceptre: "ignore: true"} {
		f := newFixture()
		f.deployed(t, "db web")
		f.Desired.Ignored, f.Desired.Kind = []string{"db"}, kind
		p, err := plan.Deploy(f.View)
		expect(t, p, err, "")
		if want := "left alone, because the project's files say " + key + ": db"; !slices.Equal(p.Messages, []string{want}) {
			t.Errorf("messages %q, want %s", p.Messages, want)
		}
	}
}

// The plan of a prune says that a stack is deleted because it is obsolete.
func TestPruneSaysWhy(t *testing.T) {
	for _, others := range []string{"", "web"} {
		s := newStacks()
		s.deployed(t, others+" old")
		s.Desired.Obsolete = []string{"old"}
		s.Desired = plan.Pruning(s.Desired)
		p, err := plan.Prune(s.View)
		expect(t, p, err, "old/delete")
		c := s.describeOf(p)
		if want := []string{"obsolete: true in the project's files"}; len(c.Stacks) != 1 || !slices.Equal(c.Stacks[0].Reasons, want) {
			t.Errorf("beside %q: %+v", others, c.Stacks)
		}
	}
}
