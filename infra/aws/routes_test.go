package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/infra/local/organizations"
	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/report"
)

// An allRoutes makes requests of all routes of an installation.
type allRoutes struct {
	*installed
	requested map[string]bool // the keys of the routes that were answered
}

// ask makes a request of a route, with values in place of its parameters, and checks the status of the answer.
func (e allRoutes) ask(route string, status int, query, body string, into any, values ...string) {
	e.Helper()
	e.requested[route] = true
	method, path, _ := strings.Cut(route, " ")
	for _, v := range values {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + v + after
	}
	r, err := http.NewRequestWithContext(e.Context(), method, e.url+path+query, strings.NewReader(body))
	if err != nil {
		e.Fatal(err)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/"+region+"/execute-api/aws4_request, SignedHeaders=host, Signature=0")
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		e.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || got.StatusCode != status || len(text) == 0 {
		e.Fatalf("%s %s%s: %d, want %d (%v): %s", method, path, query, got.StatusCode, status, err, text)
	}
}

// The parts of the keys of most routes.
const (
	ofPair = "/projects/{project}/{environment}"
	ofRuns = ofPair + "/runs"
	ofOne  = ofRuns + "/{run}"
)

// reads makes a request of each route that reads, about a run and about two revisions.
func (e allRoutes) reads(run string) {
	e.Helper()
	var all report.RevisionPage
	e.ask("GET "+ofPair+"/revisions", http.StatusOK, "", "", &all, "pair", "default")
	if len(all.Revisions) < 2 {
		e.Fatalf("there are %d revisions", len(all.Revisions))
	}
	queries := map[string]string{}
	for _, list := range []string{"resources", "events", "history", "why"} {
		queries["GET "+ofPair+"/stacks/"+list] = "?stack=first"
	}
	for _, route := range api.Routes() {
		if strings.HasPrefix(route, "GET ") {
			values := []string{"pair", "default", run}
			if strings.Contains(route, "/revisions/{") {
				values = []string{"pair", "default", all.Revisions[1].Run, all.Revisions[0].Run}
			}
			if strings.Contains(route, "/targets/{") {
				values = []string{"org"}
			}
			e.ask(route, http.StatusOK, queries[route], "", nil, values[:strings.Count(route, "{")]...)
		}
	}
}

// stored uploads a configuration with a URL from the API, and returns the body of a request that deploys it.
func (e allRoutes) stored(configuration string) string {
	e.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	f, err := w.Create("stackwright.yaml")
	if err == nil {
		_, err = io.WriteString(f, configuration)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		e.Fatal(err)
	}
	sum := sha256.Sum256(archive.Bytes())
	var to report.Upload
	e.ask("POST "+ofPair+"/uploads", http.StatusCreated, "", fmt.Sprintf(`{"format":"zip","bytes":%d,"sha256":%q}`, archive.Len(), hex.EncodeToString(sum[:])), &to, "pair", "default")
	r, err := http.NewRequestWithContext(e.Context(), to.Method, to.URL, &archive)
	if err != nil {
		e.Fatal(err)
	}
	for name, value := range to.Headers {
		r.Header.Set(name, value)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		e.Fatal(err)
	}
	got.Body.Close()
	version := got.Header.Get("X-Amz-Version-Id")
	if got.StatusCode != http.StatusOK || version == "" {
		e.Fatalf("the upload is answered %s with the version %q", got.Status, version)
	}
	return fmt.Sprintf(`{"operation":"deploy","key":%q,"version":%q}`, to.Key, version)
}

// wait waits for a state of a run.
func (e allRoutes) wait(run, state string) report.Run {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), 5*time.Minute)
	defer cancel()
	for {
		var r report.Run
		e.ask("GET "+ofOne, http.StatusOK, "", "", &r, "pair", "default", run)
		if string(r.State) == state {
			return r
		}
		select {
		case <-ctx.Done():
			e.Fatalf("run %s is %s and never %s: %s", run, r.State, state, r.Reason)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// command gives a command to a run.
func (e allRoutes) command(verb, run, body string, into any) {
	e.Helper()
	e.ask("POST "+ofOne+"/"+verb, http.StatusAccepted, "", body, into, "pair", "default", run)
}

// starts starts a run of a project that has changed, which waits for approval.
func (e allRoutes) starts(size string) report.Run {
	e.Helper()
	var r report.Run
	e.ask("POST "+ofRuns, http.StatusAccepted, "", e.stored(pair(size, "approve_plan: true\n")), &r, "pair", "default")
	return e.wait(r.Run, "waiting")
}

// units registers a target that stands for a unit, which has an account.
func (e allRoutes) units() {
	e.Helper()
	const unit = "ou-home-12345678"
	if err := e.cloud.Organization.Put(organizations.Account{ID: "111111111111", Name: "shop", Parent: unit}); err != nil {
		e.Fatal(err)
	}
	e.ask("PUT /targets/{target}", http.StatusOK, "", `{"unit":"`+unit+`","region":"eu-west-1","projects":["*@*"],"role":"arn:aws:iam::*:role/stackwright/stackwright-orchestrator","execution_role":"arn:aws:iam::*:role/stackwright/stackwright-execution"}`, nil, "org")
	var page report.UnitAccountPage
	e.ask("GET /targets/{target}/accounts", http.StatusOK, "", "", &page, "org")
	if len(page.Accounts) != 1 || !page.Accounts[0].Deployed || page.Accounts[0].Target != "org-111111111111" {
		e.Errorf("the accounts of the unit are %+v", page)
	}
}

// commands gives each command to runs that wait for approval, and sees that it is carried out.
func (e allRoutes) commands() {
	e.Helper()
	e.units()
	waits := e.starts("huge")
	e.reads(waits.Run)
	e.shows(waits.Run)
	e.command("reject", waits.Run, fmt.Sprintf(`{"plan_digest":%q,"reason":"a test"}`, waits.Digest), nil)
	e.wait(waits.Run, "failed")
	var again report.Run
	e.command("retry", waits.Run, `{}`, &again)
	waits = e.wait(again.Run, "waiting")
	e.command("approve", waits.Run, fmt.Sprintf(`{"plan_digest":%q}`, waits.Digest), nil)
	e.command("pause", waits.Run, `{}`, nil)
	e.wait(waits.Run, "waiting")
	e.command("continue", waits.Run, `{}`, nil)
	e.wait(waits.Run, "succeeded")
	waits = e.starts("small")
	e.command("cancel", waits.Run, `{}`, nil)
	e.wait(waits.Run, "cancelled")
	waits = e.starts("small")
	e.command("unlock", waits.Run, `{"reason":"a test"}`, nil)
	e.wait(waits.Run, "cancelled")
	e.ask("PUT /targets/{target}", http.StatusOK, "", `{"account":"`+account+`","region":"eu-west-1","projects":["*@*"]}`, nil, "near")
	e.ask("DELETE /targets/{target}", http.StatusOK, "", "", nil, "near")
	e.ask("POST /purge", http.StatusOK, "", `{"older_than":"90d","keep":1}`, nil)
}

// Each route of the document is one of the template and the other way round, and is answered there: by the function of the template,
// which makes no request that its role does not allow.
func TestEveryRouteOfTheTemplate(t *testing.T) {
	i := installs(t)
	var installed []string
	for _, r := range i.blueprint.routes() {
		installed = append(installed, r.Key)
	}
	slices.Sort(installed)
	if want := append([]string{api.Other}, api.Routes()...); !slices.Equal(installed, want) {
		t.Fatalf("the template has the routes %q, and the document and the one for all other requests are %q", installed, want)
	}
	known := make(map[string]bool)
	for _, size := range []string{"small", "large"} {
		i.upload(pair(size, ""))
		i.until(known, "deploy", "succeeded")
	}
	e := allRoutes{i, make(map[string]bool)}
	e.commands()
	var said report.Problem
	e.ask("PATCH /projects", http.StatusMethodNotAllowed, "", "", &said)
	if !strings.Contains(said.Detail, "takes only GET") {
		t.Errorf("a wrong method is answered %+v", said)
	}
	delete(e.requested, "PATCH /projects")
	e.requested[api.Other] = true
	if requested := slices.Sorted(maps.Keys(e.requested)); !slices.Equal(requested, installed) {
		t.Errorf("only these routes were requested: %q", requested)
	}
	if called, made := i.count("stackwright-api").Load(), i.count("Api requests").Load(); called < int64(len(installed)) || made == 0 {
		t.Errorf("the function api was called %d times, and made %d requests that its role must allow", called, made)
	}
}
