package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// old is a revision whose run is not recorded any more.
var old = run.Revision{
	Run: "zzzzzzzzzzzzzzzzzzzz", Operation: "deploy", State: run.StateSucceeded, Source: run.Source{Key: "k", Version: "old"}, Who: "ann",
	Requested: noon.AddDate(-1, 0, 0), Started: noon.AddDate(-1, 0, 0),
}

// deployedBefore is an app whose runs have deployed three versions, and an older one: v2 is deployed now.
func deployedBefore() *app {
	h := newApp()
	for i, version := range []string{"v3", "v2", "v1"} {
		h.runs[i].Started, h.runs[i].Source.Version = noon, version
	}
	h.history = run.History{LastSuccessful: h.runs[1].Source, Successful: []run.Revision{h.runs[1].AsRevision(), old}}
	return h
}

// The last page has the revisions whose runs are not recorded any more, and no other page has them.
func TestRevisionsOutliveTheirRuns(t *testing.T) {
	page := read[report.RevisionPage](t, deployedBefore(), "GET"+ofShop+"/revisions", "query.limit=2")
	if len(page.Revisions) != 2 || page.Before != middle || page.Revisions[0].Current || !page.Revisions[1].Current {
		t.Errorf("%+v", page)
	}
	page = read[report.RevisionPage](t, deployedBefore(), "GET"+ofShop+"/revisions", "query.limit=2", "query.before="+middle)
	if len(page.Revisions) != 2 || page.Before != "" || page.Revisions[0].Run != oldest || page.Revisions[1].Run != old.Run || page.Revisions[1].Who != "ann" {
		t.Errorf("%+v", page)
	}
}

// A revision is shown by what a rollback calls it, with the run to which the name belongs.
func TestRevisionByItsName(t *testing.T) {
	const route = "GET" + ofShop + "/revisions/{revision}"
	for word, want := range map[string]string{
		oldest: oldest, oldest[:3]: oldest, "current": middle, "previous": middle, "current~1": oldest, "current~2": old.Run, "zzzz": old.Run,
	} {
		if got := read[report.Revision](t, deployedBefore(), route, "revision="+word); got.Run != want || got.Current != (want == middle) {
			t.Errorf("%s: %+v", word, got)
		}
	}
	for word, status := range map[string]int{"none": 404, others: 404, "current~3": 404, strings.Repeat("a", 3000): 404, "": 409} {
		h := deployedBefore()
		h.runs[0].ID, h.runs[0].Started = oldest[:2]+newest[2:], noon
		if word == "" {
			word = oldest[:2]
		}
		if r, _ := h.ask(t, call(route, "", "revision="+word)); r.StatusCode != status {
			t.Errorf("%.30s: %d %s", word, r.StatusCode, r.Body)
		}
	}
	h := deployedBefore()
	h.blind = fault.New(fault.Throttled, "slow down")
	if r, _ := h.ask(t, call(route, "")); r.StatusCode != 429 {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	h = deployedBefore()
	h.runs[2].Operation = "plan"
	if r, said := h.ask(t, call(route, "")); r.StatusCode != 404 || !strings.HasPrefix(said.Detail, "run "+oldest+" is a plan (succeeded) that has deployed no files") {
		t.Errorf("%d %s", r.StatusCode, said.Detail)
	}
	if got := read[report.Difference](t, h, "GET"+ofShop+"/revisions/{from}/diff/{to}", "from="+oldest, "to=current"); got.From.Run != oldest || got.To.Run != middle {
		t.Errorf("the files of a plan are not compared: %+v", got)
	}
}

// A rollback to a revision names no files. The same key is the same rollback once its revision is found, and not one to another revision.
func TestRollbackTo(t *testing.T) {
	h := deployedBefore()
	const body, key = `{"operation":"rollback-to","options":{"to":"previous","max_deletions":2}}`, "header.idempotency-key=a"
	r, said := h.ask(t, call(runs, body, key))
	if r.StatusCode != 202 || len(h.requested) != 1 || h.requested[0].To != "previous" || h.requested[0].Source != (run.Source{}) {
		t.Fatalf("%d %s, %+v", r.StatusCode, r.Body, h.requested)
	}
	h.runs[0].Source, h.runs[0].Revision, h.runs[0].Started = run.Source{Key: "k", Version: "v1"}, oldest, noon.Add(time.Second)
	if again, same := h.ask(t, call(runs, body, key)); again.StatusCode != 202 || same.Run != said.Run || !strings.Contains(again.Body, `"revision":"`+oldest+`"`) {
		t.Errorf("%d %s", again.StatusCode, again.Body)
	}
	if other, _ := h.ask(t, call(runs, strings.ReplaceAll(body, "previous", "current~2"), key)); other.StatusCode != 409 {
		t.Errorf("%d %s", other.StatusCode, other.Body)
	}
	if with, problem := h.ask(t, call(runs, `{"operation":"rollback-to",`+zip+`}`)); with.StatusCode != 400 || !strings.Contains(problem.Detail, "name the revision in options.to") {
		t.Errorf("%d %s", with.StatusCode, with.Body)
	}
	none := `{"operation":"rollback-to"}`
	if r, _ := newApp().ask(t, call(runs, none, "project=unknown")); r.StatusCode != 404 {
		t.Errorf("of a project that has had no run: %d %s", r.StatusCode, r.Body)
	}
}

// A promotion names the environment whose revision is deployed: one that has had a run, and that the caller may read. The project and environment of the path may have had none.
func TestPromote(t *testing.T) {
	h := newApp()
	const body, key = `{"operation":"promote","options":{"from_environment":"prod","from_revision":"current"}}`, "header.idempotency-key=a"
	r, said := h.ask(t, call(runs, body, key, "environment=new"))
	if r.StatusCode != 202 || len(h.requested) != 1 || h.requested[0].PromotedFrom() != "shop@prod" || h.requested[0].FromRevision != "current" || h.requested[0].Project != "shop@new" {
		t.Fatalf("%d %s, %+v", r.StatusCode, r.Body, h.requested)
	}
	h.runs[0].Source, h.runs[0].Revision, h.runs[0].Started = run.Source{Key: "k", Version: "v1"}, oldest, noon.Add(time.Second)
	if again, same := h.ask(t, call(runs, body, key, "environment=new")); again.StatusCode != 202 || same.Run != said.Run || !strings.Contains(again.Body, `"revision":"`+oldest+`","from_environment":"prod"`) {
		t.Errorf("%d %s", again.StatusCode, again.Body)
	}
	for _, other := range []string{strings.Replace(body, "current", "previous", 1), strings.Replace(body, `"prod"`, `"dev"`, 1)} {
		if r, _ := h.ask(t, call(runs, other, key, "environment=new")); r.StatusCode != 409 && r.StatusCode != 404 {
			t.Errorf("%s: %d %s", other, r.StatusCode, r.Body)
		}
	}
	h = newApp()
	h.secret = "shop@prod"
	if r, said := h.ask(t, call(runs, body, "environment=new")); r.StatusCode != 403 || said.Detail != "not allowed" || len(h.requested) > 0 {
		t.Errorf("who may not read it: %d %s, %+v", r.StatusCode, r.Body, h.requested)
	}
	if r, said := newApp().ask(t, call(runs, strings.Replace(body, `"prod"`, `"nowhere"`, 1))); r.StatusCode != 404 || said.Detail != "there is no shop@nowhere: it has had no run" {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	if r, said := newApp().ask(t, call(runs, `{"operation":"promote",`+zip+`}`)); r.StatusCode != 400 || !strings.Contains(r.Body, "name the environment in options.from_environment") || !strings.Contains(r.Body, "options.from_environment: missing") {
		t.Errorf("%d %s", r.StatusCode, said.Detail)
	}
}
