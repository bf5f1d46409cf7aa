package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/report"
)

// A request for some fields is answered with these alone, also in the entries of lists. All of a field wins over a part of it.
func TestFieldsAreSelected(t *testing.T) {
	h := deploying(2)
	for _, c := range []struct{ route, fields, want string }{
		{show, "run,state", `{"run":"` + newest + `","state":"running"}`},
		{show, "steps.step,steps.status", `{"steps":[{"status":"done","step":"s0/create"},{"status":"done","step":"s1/create"}]}`},
		{show, "lock.owner.run", `{"lock":{"owner":{"run":"` + newest + `"}}}`},
		{list, "runs.run,before", `{"runs":[{"run":"` + newest + `"},{"run":"` + middle + `"},{"run":"` + oldest + `"}]}`},
		{show + "/graph", "nodes.name", `{"nodes":[{"name":"s0/create"},{"name":"s1/create"}]}`},
		{"GET /projects", "projects", `{"projects":["shop@prod"]}`},
		{"GET" + ofShop + "/revisions", "revisions.key", `{"revisions":[{"key":"k"}]}`},
		{"GET" + ofShop + "/lock", "owner,owner.run", `{"owner":{"run":"` + newest + `"}}`},
		{"GET" + ofShop + "/lock", "owner.run,owner", `{"owner":{"run":"` + newest + `"}}`},
	} {
		if r, _ := h.ask(t, call(c.route, "", "query.fields="+c.fields)); r.StatusCode != 200 || strings.TrimSpace(r.Body) != c.want {
			t.Errorf("%s of %s: %d %s\nwant %s", c.fields, c.route, r.StatusCode, r.Body, c.want)
		}
	}
	for _, fields := range []string{"steps,steps.step", "steps.step,steps"} {
		if got := read[report.Run](t, h, show, "query.fields="+fields); len(got.Steps) != 2 || got.Steps[1].Started.IsZero() || got.Run != "" {
			t.Errorf("%s: %+v", fields, got)
		}
	}
}

// A field that there is not is refused with those that there are. Drawings have no fields, and requests that change something take none.
func TestUnknownFieldsAreRefused(t *testing.T) {
	for _, c := range []struct{ route, words, want string }{
		{"GET /projects", "query.fields=nodes", `fields: "nodes": there is no "nodes": it is one of projects`},
		{"GET /projects", "query.fields=", `fields: "": there is no "": it is one of projects`},
		{"GET /projects", "query.fields=projects.x", `fields: "projects.x": projects has no fields: write projects`},
		{"GET /projects", "query.fields=projects,,x", `fields: "": there is no "": it is one of projects; fields: "x": there is no "x": it is one of projects`},
		{"GET" + ofShop + "/lock", "query.fields=owner.x", `fields: "owner.x": there is no "x": it is one of `},
		{"GET" + ofShop + "/stacks", "query.fields=stacks.outputs.Text", `fields: "stacks.outputs.Text": outputs has no fields: write stacks.outputs`},
		{"GET" + ofShop + "/stacks", "query.fields=stacks.", `fields: "stacks.": there is no "": it is one of `},
		{show + "/graph", "query.format=svg query.fields=nodes", "fields: svg has none: leave it out, or ask for json"},
		{"GET /openapi.json", "query.fields=paths", `"fields" is not understood: the route has none`},
		{to("pause"), "query.fields=run", `"fields" is not understood: the route has none`},
	} {
		if r, said := newApp().ask(t, call(c.route, "", strings.Fields(c.words)...)); r.StatusCode != 400 || !strings.HasPrefix(said.Detail, c.want) {
			t.Errorf("%s %s: %d %s\nwant %s", c.route, c.words, r.StatusCode, said.Detail, c.want)
		}
	}
}

// The tag of an answer is that of its fields: it stays while they do, and other fields have another one.
func TestTagsDependOnFields(t *testing.T) {
	h := deploying(1)
	tag := func(fields string) string {
		r, _ := h.ask(t, call(show, "", "query.fields="+fields))
		if r.StatusCode != 200 || r.Headers["etag"] == "" {
			t.Fatalf("%s: %d %s", fields, r.StatusCode, r.Body)
		}
		return r.Headers["etag"]
	}
	state, step, end := tag("state"), tag("steps.status"), tag("expected_end")
	if state == step || end == tag("critical_path") {
		t.Error("other fields have the same tag")
	}
	h.runs[0].Steps[0].Status = "failed"
	if tag("state") != state || tag("steps.status") == step {
		t.Errorf("a step has failed: state %s, was %s; steps %s, were %s", tag("state"), state, tag("steps.status"), step)
	}
	if r, err := h.api().Answer(t.Context(), call(show, "", "query.fields=state", "header.if-none-match="+state)); err != nil || r.StatusCode != 304 || r.Body != "" {
		t.Errorf("%d %s %v", r.StatusCode, r.Body, err)
	}
}

// Every route that answers JSON has the parameter.
func TestEveryReadingRouteHasFields(t *testing.T) {
	for _, key := range api.Routes() {
		r, said := newApp().ask(t, call(key, "", "query.fields=no_such_field"))
		reads := strings.HasPrefix(key, "GET ") && key != "GET /docs" && key != "GET /openapi.json"
		if has := strings.Contains(said.Detail, `fields: "no_such_field": there is no "no_such_field": it is one of `); has != reads {
			t.Error(fmt.Sprint(key, ": ", r.StatusCode, " ", said.Detail))
		}
	}
}
