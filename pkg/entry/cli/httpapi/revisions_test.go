package httpapi_test

import (
	"net/http"
	"testing"
)

// All pages of revisions are read, each configuration once, and all pages of a difference.
func TestRevisionPages(t *testing.T) {
	c := reach(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path + "?" + r.URL.RawQuery {
		case "/projects/shop/prod/revisions?limit=100":
			answers(200, `{"revisions":[{"run":"c","key":"k","version":"2"},{"run":"b","key":"k","version":"1"}],"before":"b"}`)(w, r)
		case "/projects/shop/prod/revisions?before=b&limit=100":
			answers(200, `{"revisions":[{"run":"a","key":"k","version":"2"},{"run":"z","key":"k","version":"0"}]}`)(w, r)
		case "/projects/shop/prod/revisions/current~2?":
			answers(200, `{"run":"z","key":"k","version":"0"}`)(w, r)
		case "/projects/shop/prod/revisions/z/diff/current?":
			answers(200, `{"from":{"run":"z"},"to":{"run":"c"},"files":[{"name":"a","change":"added"}],"stacks":[],"templates":[],"next_entry":1}`)(w, r)
		case "/projects/shop/prod/revisions/z/diff/current?from=1":
			answers(200, `{"from":{"run":"z"},"to":{"run":"c"},"files":[{"name":"b","change":"added"}],"stacks":[{"stack":"s","change":"removed"}],"templates":[]}`)(w, r)
		case "/projects/shop/prod/snapshots?":
			answers(200, `{"snapshots":[{"snapshot":"monday","run":"c","revision":{"run":"z"}}]}`)(w, r)
		default:
			answers(404, `{"kind":"Missing","messages":["`+r.URL.String()+`"]}`)(w, r)
		}
	})
	all, err := c.Revisions(t.Context(), "shop@prod")
	if err != nil || len(all) != 3 || all[0].Run != "c" || all[2].Run != "z" {
		t.Errorf("%+v, %v", all, err)
	}
	if v, err := c.Revision(t.Context(), "shop@prod", "current~2"); err != nil || v.Run != "z" {
		t.Errorf("%+v, %v", v, err)
	}
	if all, err := c.Snapshots(t.Context(), "shop@prod"); err != nil || len(all) != 1 || all[0].Snapshot != "monday" || all[0].Revision.Run != "z" {
		t.Errorf("%+v, %v", all, err)
	}
	if d, err := c.Difference(t.Context(), "shop@prod", "z", "current"); err != nil || len(d.Files) != 2 || len(d.Stacks) != 1 || d.To.Run != "c" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := c.Difference(t.Context(), "shop@prod", "none", "current"); err == nil {
		t.Error("a revision that does not exist is compared")
	}
}
