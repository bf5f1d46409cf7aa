package project_test

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/project"
)

func TestShare(t *testing.T) {
	for _, c := range []struct {
		text string
		of   int
		want int
	}{
		{"0", 300, 0}, {"2", 300, 2}, {"999999", 3, 999999}, {"10%", 300, 30}, {"10%", 9, 0}, {"33%", 10, 3}, {"100%", 7, 7}, {"0%", 7, 0},
	} {
		if s, err := project.ParseShare(c.text); err != nil || s.Of(c.of) != c.want {
			t.Errorf("%s of %d is %d (%v), want %d", c.text, c.of, s.Of(c.of), err, c.want)
		}
	}
	for _, text := range []string{"", "%", "-1", "1.5", "101%", "1 %", "01", "1000000", "10%%", "ten"} {
		if s, err := project.ParseShare(text); err == nil {
			t.Errorf("%q is read as %v, want an error", text, s)
		}
	}
}

// A limit is for the stacks of its set, and limits of one set are equal whatever their numbers.
func TestLimits(t *testing.T) {
	all, prefix, group, rollout := project.Limit{Most: 1}, project.Limit{Prefix: "net", Most: 2}, project.Limit{Group: "few", Most: 3}, project.Limit{Rollout: "net", Most: 4}
	for _, c := range []struct {
		stack, group, rollout string
		want                  []bool // of all, prefix, group and rollout
	}{
		{"net@eu", "", "net", []bool{true, true, false, true}},
		{"net@eu", "few", "", []bool{true, true, true, false}},
		{"db", "", "", []bool{true, false, false, false}},
		{"", "", "net", []bool{true, false, false, true}},
	} {
		for i, l := range []project.Limit{all, prefix, group, rollout} {
			if l.Limits(c.stack, c.group, c.rollout) != c.want[i] {
				t.Errorf("%+v limits %q, %q, %q: %t, want %t", l, c.stack, c.group, c.rollout, !c.want[i], c.want[i])
			}
		}
	}
	sorted := []project.Limit{rollout, group, prefix, all}
	slices.SortFunc(sorted, project.Limit.Compare)
	if want := []project.Limit{all, prefix, group, rollout}; !slices.Equal(sorted, want) {
		t.Errorf("the limits are in the order %v, want %v", sorted, want)
	}
	if rollout.Compare(project.Limit{Rollout: "net"}) != 0 || !all.All() || group.All() || rollout.All() || prefix.All() {
		t.Error("limits of one set differ, or a limit of some stacks is one of all")
	}
}
