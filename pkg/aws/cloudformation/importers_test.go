package cloudformation_test

import (
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// The resources of a stack are listed page by page, without those that are deleted, left behind or not yet there.
func TestResourcesOfStack(t *testing.T) {
	w := newWire(t)
	one := func(id, physical, status string) string {
		return "<member><LogicalResourceId>" + id + "</LogicalResourceId><PhysicalResourceId>" + physical + "</PhysicalResourceId><ResourceStatus>" + status + "</ResourceStatus></member>"
	}
	w.answers["ListStackResources"] = func(form url.Values) (int, string) {
		if form.Get("NextToken") == "" {
			return say("<StackResourceSummaries>" + one("Table", "orders", "CREATE_COMPLETE") + one("Old", "old", "DELETE_COMPLETE") + "</StackResourceSummaries><NextToken>2</NextToken>")(form)
		}
		return say("<StackResourceSummaries>" + one("Queue", "q", "UPDATE_COMPLETE") + one("Left", "left", "DELETE_SKIPPED") + one("New", "", "CREATE_IN_PROGRESS") + "</StackResourceSummaries>")(form)
	}
	count := 0
	got, err := w.cloud().Resources(t.Context(), plan.Location{Stack: "vpc", StackID: "id"}, func() { count++ })
	if want := map[string]string{"Table": "orders", "Queue": "q"}; err != nil || !maps.Equal(got, want) || count != 2 {
		t.Errorf("%v, %v, with %d requests", got, err, count)
	}
	w.answers["ListStackResources"] = refuse(403, "AccessDenied", "not allowed")
	if _, err := w.cloud().Resources(t.Context(), plan.Location{Stack: "vpc", StackID: "id"}, func() {}); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
}

// The stacks that import exports are listed export by export and page by page. An export that nobody imports is no error.
func TestImporters(t *testing.T) {
	w := newWire(t)
	w.answers["ListImports"] = func(form url.Values) (int, string) {
		switch {
		case form.Get("ExportName") == "c":
			return refuse(400, "ValidationError", "Export 'c' is not imported by any stack.")(form)
		case form.Get("NextToken") == "":
			return say("<Imports><member>web</member></Imports><NextToken>2</NextToken>")(form)
		}
		return say("<Imports><member>app</member></Imports>")(form)
	}
	count := 0
	home := project.Target{}
	got, err := w.cloud().Importers(t.Context(), home, []string{"a", "c"}, func() { count++ })
	if err != nil || !slices.Equal(got["a"], []string{"app", "web"}) || got["c"] != nil || count != 3 {
		t.Errorf("%v, %v, with %s, of which %d were counted", got, err, w.calls(), count)
	}
	w.answers["ListImports"] = refuse(403, "AccessDenied", "not allowed")
	if _, err := w.cloud().Importers(t.Context(), home, []string{"a"}, func() {}); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
}
