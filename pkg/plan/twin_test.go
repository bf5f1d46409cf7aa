package plan_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A plan reports a deleted and a created stack of one template as twins, unless more
// than one pair is possible.
func TestTwins(t *testing.T) {
	target := project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"}
	record := func(name, stack, template string) plan.Record {
		return plan.Record{Node: name, Stack: stack, Target: target, StackID: "id-" + stack, Template: template}
	}
	node := func(name, stack, template string) project.Node {
		return project.Node{Name: name, Stack: stack, Target: target, Template: project.Template{Digest: template, Pinned: true}}
	}
	for name, c := range map[string]struct {
		recorded []plan.Record
		desired  []project.Node
		want     []string
	}{
		"renamed": {
			[]plan.Record{record("data/queue", "shop-prod-data-queue", "a")}, []project.Node{node("data/jobs", "shop-prod-data-jobs", "a")},
			[]string{"stack data/queue (shop-prod-data-queue) is deleted, and data/jobs is created from the same template: if it is the same stack with another name, keep it: write moved: [{from: data/queue, to: data/jobs}] in the project file"},
		},
		"with a name of its own": {
			[]plan.Record{record("queue", "legacy", "a")}, []project.Node{node("jobs", "shop-prod-jobs", "a")},
			[]string{"stack queue (legacy) is deleted, and jobs is created from the same template: if it is the same stack with another name, keep it: write stack_name: legacy under jobs"},
		},
		"another physical name": {
			[]plan.Record{record("queue", "legacy", "a")}, []project.Node{node("queue", "shop-prod-queue", "a")},
			[]string{"stack queue (legacy) is deleted, and queue is created from the same template: if it is the same stack with another name, keep it: write stack_name: legacy under queue"},
		},
		"another template":        {[]plan.Record{record("queue", "shop-prod-queue", "a")}, []project.Node{node("jobs", "shop-prod-jobs", "b")}, nil},
		"template not recorded":   {[]plan.Record{record("queue", "shop-prod-queue", "")}, []project.Node{node("jobs", "shop-prod-jobs", "")}, nil},
		"two could be the origin": {[]plan.Record{record("q", "shop-prod-q", "a"), record("r", "shop-prod-r", "a")}, []project.Node{node("jobs", "shop-prod-jobs", "a")}, nil},
		"two could be the copy":   {[]plan.Record{record("q", "shop-prod-q", "a")}, []project.Node{node("i", "shop-prod-i", "a"), node("j", "shop-prod-j", "a")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			many := 10
			p := project.Project{Name: "shop", Environment: "prod", Nodes: map[string]project.Node{}, MaxDeletions: &many}
			for _, n := range c.desired {
				p.Nodes[n.Name] = n
			}
			recorded := map[string]plan.Record{}
			for _, r := range c.recorded {
				recorded[r.Node] = r
			}
			recorded, _, _ = plan.Rename(p, recorded, plan.Selection{})
			live := map[string]plan.Live{}
			for name, r := range recorded {
				live[name] = plan.Live{StackID: r.StackID, Status: "CREATE_COMPLETE"}
			}
			made, err := plan.Deploy(plan.View{Desired: p, Recorded: recorded, Live: live})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, twin := range made.Twins {
				got = append(got, fmt.Sprint(twin))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(- want, + got):\n%s", diff)
			}
		})
	}
}
