package api_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Configuration is api.Configurations: the newest run and the oldest one have deployed other templates of the stack a, and the middle one none.
func (h *app) Configuration(_ context.Context, r run.Run) (report.Configuration, error) {
	c := report.Configuration{Files: map[string][]byte{"stackwright.yaml": []byte(r.ID)}, Nodes: map[string]project.Node{}}
	for n := range h.files {
		c.Files[fmt.Sprint(n, strings.Repeat("x", 1<<20))] = []byte(r.ID)
	}
	if r.ID != middle {
		c.Nodes["a"] = project.Node{Name: "a", Template: project.Template{Digest: r.ID}}
		c.Templates = map[string][]byte{r.ID: []byte("Resources: {T: {Type: 'AWS::SNS::Topic'}}\nDescription: " + r.ID + "\n")}
	}
	return c, h.gone
}

var _ api.Configurations = (*app)(nil)

// Two revisions are compared by the runs that have deployed them.
func TestRevisionsAreCompared(t *testing.T) {
	const route = "GET" + ofShop + "/revisions/{from}/diff/{to}"
	got := read[report.Difference](t, newApp(), route, "to="+newest)
	if got.From.Run != oldest || got.To.Run != newest || got.From.Key != "k" || len(got.Files) != 1 || got.Files[0].Change != report.Changed ||
		len(got.Stacks) != 1 || !got.Stacks[0].Template || len(got.Templates) != 1 ||
		got.Templates[0].Text != "@@ -1,2 +1,2 @@\n Resources: {T: {Type: 'AWS::SNS::Topic'}}\n-Description: "+oldest+"\n+Description: "+newest+"\n" {
		t.Errorf("%+v", got)
	}
	if got := read[report.Difference](t, newApp(), route); !reflect.DeepEqual(got.Stacks, []report.StackDifference{{Stack: "a", Change: report.Removed}}) {
		t.Errorf("%+v", got)
	}
	same := read[report.Difference](t, newApp(), route, "to="+oldest)
	if len(same.Files)+len(same.Stacks)+len(same.Templates) > 0 || same.Files == nil || same.Stacks == nil || same.Templates == nil {
		t.Errorf("%+v", same)
	}
	for _, words := range []string{"to=" + others, "from=" + others, "to=" + missing, "to=x"} {
		if r, _ := newApp().ask(t, call(route, "", words)); r.StatusCode != 404 {
			t.Errorf("%s: %d %s", words, r.StatusCode, r.Body)
		}
	}
	h := newApp()
	h.runs[2].Source = run.Source{}
	if r, said := h.ask(t, call(route, "")); r.StatusCode != 404 || !strings.HasPrefix(said.Detail, "run "+oldest+" is a deploy (") || !strings.HasSuffix(said.Detail, ") that has deployed no files: stackwright revisions lists the runs that have") {
		t.Errorf("%d %s", r.StatusCode, said.Detail)
	}
	h = newApp()
	h.gone = fault.New(fault.Missing, "it expired")
	if r, said := h.ask(t, call(route, "")); r.StatusCode != 404 || said.Detail != "the files of run "+oldest+": it expired" {
		t.Errorf("%d %s", r.StatusCode, said.Detail)
	}
}

// A large difference has pages, which together are all of it.
func TestLargeDifferencesHavePages(t *testing.T) {
	h := newApp()
	h.files = 5
	var got report.Difference
	pages := 0
	for next := 0; pages == 0 || next > 0; pages++ {
		page := read[report.Difference](t, h, "GET"+ofShop+"/revisions/{from}/diff/{to}", "to="+newest, fmt.Sprint("query.from=", next))
		next = page.Next
		got.Files, got.Stacks, got.Templates = append(got.Files, page.Files...), append(got.Stacks, page.Stacks...), append(got.Templates, page.Templates...)
	}
	if pages < 2 || len(got.Files) != 6 || len(got.Stacks) != 1 || len(got.Templates) != 1 {
		t.Errorf("%d pages: %d files, %d stacks, %d templates", pages, len(got.Files), len(got.Stacks), len(got.Templates))
	}
}
