package examples_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/project"
)

// The shop has the edges that its files say, in each of its environments: every kind of
// edge is in it.
func TestShop(t *testing.T) {
	files, err := archive.Open("shop")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"app/api import data/images", "app/api needs app/orders", "app/api output data/queue",
		"app/orders output data/db", "app/orders output data/queue",
		"app/uploads import data/images",
		"data/db output network/security", "data/db output network/vpc",
		"network/security import network/vpc",
		"ops/alarms output app/api", "ops/alarms output app/orders", "ops/alarms output data/queue",
	}
	here := map[string]project.Target{"default": {Name: "default", Account: "000000000000", Region: "us-east-1"}}
	for _, environment := range []string{"default", "prod"} {
		loaded, err := format.Read(files, format.Options{Environment: environment, Targets: here})
		if err != nil {
			t.Fatalf("%s: %v", environment, err)
		}
		var got []string
		for _, e := range loaded.Edges {
			got = append(got, e.Node+" "+string(e.Cause)+" "+e.Needs)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
			t.Errorf("%s: edges (-want +got):\n%s", environment, diff)
		}
		for name, n := range loaded.Project.Nodes {
			if !n.Template.Pinned {
				t.Errorf("%s: the template of %s is not pinned", environment, name)
			}
		}
		if got := loaded.Project.Nodes["data/db"].Protect; got != (environment == "prod") {
			t.Errorf("%s: the database is protected: %v", environment, got)
		}
	}
}
