package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// lab is another project of the installation.
const lab = "lab@default"

// A storeWithLab has the records of lab too.
type storeWithLab struct {
	engine.Store
	records map[string]plan.Record
}

func (s storeWithLab) Projects(ctx context.Context) ([]string, error) {
	all, err := s.Store.Projects(ctx)
	return append(all, lab), err
}

func (s storeWithLab) Records(ctx context.Context, project string) (map[string]plan.Record, error) {
	if project == lab {
		return s.records, nil
	}
	return s.Store.Records(ctx, project)
}

// A stack is adopted unless another project of the installation has recorded it, or is creating a
// stack where it is, or it has the tag of a project of another installation. The template of a stack
// that is not adopted is not read: a message about it would tell what is in it.
func TestOwners(t *testing.T) {
	for name, c := range map[string]struct {
		lab   plan.Record // what lab has recorded
		tag   string
		owner string
	}{
		"nobody has it":                         {},
		"lab has recorded it":                   {lab: plan.Record{Stack: "shop-vpc", StackID: "arn:stack/shop-vpc/1"}, owner: lab},
		"lab is creating it":                    {lab: plan.Record{Stack: "shop-vpc"}, tag: lab, owner: lab},
		"an operation of lab may have made it":  {lab: plan.Record{Stack: "shop-vpc", StackID: "arn:stack/shop-vpc/0", Intent: true}, tag: lab, owner: lab},
		"lab had one of that name":              {lab: plan.Record{Stack: "shop-vpc", StackID: "arn:stack/shop-vpc/0"}},
		"lab is creating one in another region": {lab: plan.Record{Stack: "shop-vpc", Target: project.Target{Region: "eu-west-3"}}},
		"lab has another one":                   {lab: plan.Record{Stack: "shop-db", StackID: "arn:stack/shop-db/1"}, tag: lab},
		"lab has forgotten it":                  {tag: lab},
		"it has our tag":                        {tag: shop},
		"it has the tag of a project elsewhere": {tag: "far@prod", owner: "far@prod"},
	} {
		h := newFixture(t)
		h.Store = storeWithLab{h.store, map[string]plan.Record{"vpc": c.lab}}
		h.setVersion("v1", "vpc")
		h.backend.Cloud.Make("shop-vpc", "v1", nil)
		h.backend.Cloud.Tag("shop-vpc", c.tag)
		h.request("a", "adopt", "v1")
		loop := h.planned("a", 1)
		want, says := run.StateReady, ""
		if c.owner != "" {
			want, says = run.StateRefused, "stack vpc: shop-vpc cannot be adopted: project "+c.owner+" owns it: forget it there first"
		}
		if got := strings.Join(h.stored("a").Messages, "\n"); loop.State != want || !strings.HasPrefix(got, says) {
			t.Errorf("%s: the run is %s: %s", name, loop.State, got)
		}
		if c.owner == "" {
			continue
		}
		n := h.projects["v1"].Nodes["vpc"]
		n.Adopt, n.Import = true, map[string]project.Identifier{"Table": nil}
		h.projects["v1"].Nodes["vpc"] = n
		h.request("b", "deploy", "v1")
		loop = h.planned("b", 1)
		if read := h.backend.Cloud.Calls["GetTemplate"]; loop.State != run.StateRefused || read > 0 {
			t.Errorf("%s: the run is %s, and the template of the stack was read %d times: it is %s's", name, loop.State, read, c.owner)
		}
	}
}

// When an adopted stack was deleted and is created again, nothing is left of the adoption.
func TestAdoptedStackIsCreatedAgain(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.backend.Cloud.Make("shop-vpc", "v1", nil)
	if r := h.requestAndExecute("a", "adopt", "v1"); r.State != run.StateSucceeded || h.recorded("vpc").Adopted != "arn:stack/shop-vpc/1" {
		t.Fatalf("the run is %s, and the record %+v", r.State, h.recorded("vpc"))
	}
	if got := h.backend.Store.Adopted(); len(got) != 1 || got["arn:stack/shop-vpc/1"] != shop {
		t.Errorf("after the adoption, stacks are adopted by %v", got)
	}
	h.backend.Cloud.Set("shop-vpc", "DELETE_COMPLETE")
	if r := h.requestAndExecute("b", "deploy", "v1"); r.State != run.StateSucceeded || h.recorded("vpc").Adopted != "" {
		t.Fatalf("the run is %s, and the record %+v", r.State, h.recorded("vpc"))
	}
	if got := h.backend.Store.Adopted(); len(got) != 0 {
		t.Errorf("after the stack was created again, stacks are adopted by %v", got)
	}
}
