package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/target"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

const (
	digest   = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	anUpload = `{"bytes":12,"sha256":"` + digest + `","format":"zip"}`
	ofShop   = " /projects/{project}/{environment}"
)

// among is API.Among: nobody may read anything of the project other.
func (h *app) among(_ context.Context, _ access.Principal, needed access.Role, projects []string) ([]string, error) {
	var all []string
	for _, p := range projects {
		if h.admin || !strings.HasPrefix(p, "other@") && needed < access.Admin {
			all = append(all, p)
		}
	}
	return all, nil
}

// grants is API.Grants.
func (h *app) grants(_ context.Context, _ access.Principal, project string) (report.Access, error) {
	return report.Access{Project: project, Role: "admin", Grants: []report.Grant{{Role: "admin", To: ann, By: "access/access.yaml:2"}}}, h.undecided
}

// Projects is api.Records.
func (h *app) Projects(context.Context) ([]string, error) {
	return []string{"other@prod", "shop@prod"}, nil
}

// Exists is api.Records.
func (h *app) Exists(ctx context.Context, project string) (bool, error) {
	all, err := h.Projects(ctx)
	return slices.Contains(all, project), err
}

// Records is api.Records: 3 stacks, each with an output of 2 MB.
func (h *app) Records(context.Context, string) (map[string]plan.Record, error) {
	all := make(map[string]plan.Record)
	for _, node := range []string{"a", "b", "c"} {
		all[node] = plan.Record{Node: node, Stack: "shop-" + node, StackID: "id-" + node, Token: "secret", Outputs: map[string]string{"Text": strings.Repeat("x", 2<<20)}}
	}
	return all, nil
}

// RecordsOf is api.Records.
func (h *app) RecordsOf(ctx context.Context, project string, nodes []string) (map[string]plan.Record, error) {
	all, err := h.Records(ctx, project)
	maps.DeleteFunc(all, func(node string, _ plan.Record) bool { return !slices.Contains(nodes, node) })
	return all, err
}

// Stacks is api.Records.
func (h *app) Stacks(ctx context.Context, project string) (int, error) {
	records, err := h.Records(ctx, project)
	return len(records), err
}

// Lifetime is api.Records: shop@prod expires.
func (h *app) Lifetime(_ context.Context, id string) (project.Lifetime, error) {
	if id != "shop@prod" {
		return project.Lifetime{}, nil
	}
	return project.Lifetime{
		Project: id, Version: 7, Pattern: "pr*", TTL: project.TTL(36 * time.Hour), Expires: noon.Add(36 * time.Hour), Set: noon, Run: newest, Who: "ann",
		Attempts: project.MostAttempts, Attempt: oldest, Next: noon.Add(40 * time.Hour), Destroys: oldest,
	}, h.blind
}

// History is api.Records: of stack a, two steps of the newest runs.
func (h *app) History(_ context.Context, _, stack, before string, most int) ([]run.StepOf, string, error) {
	const place = "2026-03-01T12:00:00.000000000Z#" + newest + "#00000"
	if stack != "a" || h.blind != nil {
		return nil, "", h.blind
	}
	step := run.Step{Step: plan.Step{ID: "a/update", Node: "a", Verb: plan.Update}, Status: run.Failed, Attempt: 1, Why: "<b>no</b>", Claimed: noon, Ended: noon.Add(time.Minute)}
	all := []run.StepOf{{Run: h.runs[0], Step: step}, {Run: h.runs[1], Step: step}}
	if before == place {
		return all[1:], "", nil
	}
	if most == 1 {
		return all[:1], place, nil
	}
	return all, "", nil
}

// Targets is api.Records.
func (h *app) Targets(context.Context) (map[string]project.Access, error) {
	return map[string]project.Access{"eu": {Target: project.Target{Name: "eu", Account: "111122223333", Region: "eu-west-1"}, ExternalID: "sw-1"}}, nil
}

// Add is api.Targets.
func (h *app) Add(_ context.Context, a project.Access, by target.Requester) (project.Access, error) {
	h.changedBy = by
	return a, nil
}

// Accounts is api.Targets.
func (h *app) Accounts(_ context.Context, name string) (project.Access, []project.Account, error) {
	if name == "eu" {
		return project.Access{}, nil, fault.New(fault.Refused, "target %s is no unit", name)
	}
	a := project.Access{Target: project.Target{Name: name}, Unit: "ou-abcd-12345678", Except: []string{"333333333333"}}
	return a, []project.Account{
		{ID: "111122223333", Name: "shop", State: project.AccountActive, Unit: a.Unit}, {ID: "222222222222", Name: "old", State: project.AccountClosing, Unit: "ou-abcd-87654321"},
		{ID: "333333333333", Name: "lab", State: project.AccountActive, Unit: a.Unit},
	}, nil
}

// Remove is api.Targets.
func (h *app) Remove(_ context.Context, _ string, by target.Requester) error {
	h.changedBy = by
	return nil
}

// ExecutionStatus is api.Executions.
func (h *app) ExecutionStatus(_ context.Context, name string) (engine.ExecutionStatus, error) {
	return engine.ExecutionStatus{Started: true, Why: name}, nil
}

// Presign is api.Uploads.
func (h *app) Presign(_ context.Context, key, kind string, size int64, sum []byte) (string, map[string]string, error) {
	return "https://bucket/" + key + "?signature", map[string]string{"content-type": kind, "content-length": fmt.Sprint(size), "sum": fmt.Sprintf("%x", sum)}, nil
}

// nightly is a schedule of shop@prod.
type nightly struct{}

// List is api.Schedules.
func (nightly) List(context.Context, string) ([]project.Scheduled, error) {
	return []project.Scheduled{{Call: project.Call{Project: "shop@prod", Schedule: "nightly", Operation: "refresh"}, Expression: "rate(1 day)", Off: true}}, nil
}

// What the command reads of an installation and of a project: nothing of projects that the caller may not read, and no
// external ID for one who is not an admin of everything.
func TestReadOfAProject(t *testing.T) {
	h := newApp()
	h.runs[0].Epoch = 2
	for _, c := range []struct{ route, words, want string }{
		{"GET /installation", "", `{"name":"sw","bucket":"bucket","default":{"target":"default","account":"111122223333","region":"eu-west-1","role":"","execution_role":"","external_id":"","projects":[]},"place":"in 111122223333 eu-west-1 (installation sw)","caller":"` + ann + `"}`},
		{"GET" + ofShop + "/access", "", `{"project":"shop@prod","role":"admin","caller":"` + ann + `","grants":[{"role":"admin","to":"` + ann + `","granted_by":"access/access.yaml:2"}]}`},
		{"GET /projects", "", `{"projects":["shop@prod"]}`},
		{"GET /projects", "query.run=" + newest, `{"projects":["shop@prod"]}`},
		{"GET /projects", "query.run=" + others, `{"projects":[]}`},
		{"GET /projects", "query.run=" + missing, `{"projects":[]}`},
		{"GET /projects", "query.run=x", `{"projects":[]}`},
		{"GET /targets", "", `{"targets":[{"target":"eu","account":"111122223333","region":"eu-west-1","role":"","execution_role":"","external_id":"","projects":[]}]}`},
		{"GET" + ofShop + "/lock", "", `{"project":"shop@prod","owner":{"run":"` + newest + `"},"waiting":[]}`},
		{"GET" + ofShop + "/schedules", "", `{"schedules":[{"project":"shop@prod","schedule":"nightly","operation":"refresh","expression":"rate(1 day)","time_zone":"","disabled":true}]}`},
		{"GET" + ofShop + "/runs/{run}/execution", "", `{"execution":"` + newest + `-2","started":true,"running":false,"why":"` + newest + `-2"}`},
		{"GET" + ofShop + "/runs/{run}/execution", "run=" + middle, `{"started":false,"running":false}`},
		{"POST" + ofShop + "/uploads", "", `{"key":"revisions/shop/prod/` + digest + `.zip","method":"PUT","url":"https://bucket/revisions/shop/prod/` + digest +
			`.zip?signature","headers":{"content-length":"12","content-type":"application/zip","sum":"` + digest + `"}}`},
		{"GET /targets/{target}/accounts", "target=org", `{"target":"org","unit":"ou-abcd-12345678","accounts":[{"account":"111122223333","name":"shop","state":"ACTIVE","unit":"ou-abcd-12345678","target":"org-111122223333","deployed":true},` +
			`{"account":"222222222222","name":"old","state":"PENDING_CLOSURE","unit":"ou-abcd-87654321","target":"org-222222222222","deployed":false,"why":"it is being closed, and AWS can reinstate it for 90 days"},` +
			`{"account":"333333333333","name":"lab","state":"ACTIVE","unit":"ou-abcd-12345678","target":"org-333333333333","deployed":false,"why":"the target leaves it out"}]}`},
		{"DELETE /targets/{target}", "target=eu", `{"target":"eu"}`},
	} {
		body := ""
		if strings.HasPrefix(c.route, "POST") {
			body = anUpload
		}
		r, _ := h.ask(t, call(c.route, body, strings.Fields(c.words)...))
		if got := strings.TrimSpace(r.Body); got != c.want {
			t.Errorf("%s %s: %d %s\nwant %s", c.route, c.words, r.StatusCode, got, c.want)
		}
	}
}

// A request that makes no sense is answered with what to do, and signs nothing.
func TestUnusableUploadsAndTargets(t *testing.T) {
	for _, c := range []struct{ route, body, want string }{
		{"POST" + ofShop + "/uploads", `{}`, "bytes: 0: a configuration has 1 to 16777216 bytes; sha256: give the SHA-256 of the content as 64 lower-case hexadecimal digits; format: \"\": give zip, tar.gz or yaml"},
		{"POST" + ofShop + "/uploads", strings.Replace(anUpload, "12", "16777217", 1), "bytes: 16777217: a configuration has 1 to 16777216 bytes"},
		{"POST" + ofShop + "/uploads", strings.Replace(anUpload, digest, digest[:62], 1), "sha256: give the SHA-256 of the content as 64 lower-case hexadecimal digits"},
		{"POST" + ofShop + "/uploads", strings.Replace(anUpload, digest, strings.ToUpper(digest), 1), "sha256: give the SHA-256 of the content as 64 lower-case hexadecimal digits"},
		{"POST" + ofShop + "/uploads", strings.Replace(anUpload, `"zip"`, `"../x"`, 1), `format: "../x": give zip, tar.gz or yaml`},
		{"POST" + ofShop + "/uploads", `{"key":"access/access.yaml"}`, `"key" is not a key of a request: available: bytes, format, sha256`},
		{"PUT /targets/{target}", `{"target":"us"}`, `target: "us": the path names target "eu": leave it out`},
		{"PUT /targets/{target}", `[]`, "the request: a list found, an object expected"},
		{"PUT /targets/{target}", `{"account":"111122223333"} junk`, "the request is not valid JSON: there is more text behind the first value"},
		{"PUT /targets/{target}", `{"projects":["a@b"],"projects":["*@*"]}`, "projects: this key occurs twice: keep one of them"},
		{"PUT /targets/{target}", `{"projects":["a@b"],"PROJECTS":["*@*"]}`, `"PROJECTS" is not a key of a request: did you mean projects?`},
		{"PUT /targets/{target}", `{"projects":"a@b"}`, "projects: a string found, a list of strings expected"},
		{"GET" + ofShop + "/stacks", "", ""},
	} {
		words := []string{"target=eu"}
		if c.body == "" {
			words, c.want = append(words, "query.page=2"), `"page" is not understood: there is after and fields`
		}
		r, said := newApp().ask(t, call(c.route, c.body, words...))
		if r.StatusCode != 400 || said.Kind == "" || said.Detail != c.want {
			t.Errorf("%s %s: %d %s\nwant %s", c.route, c.body, r.StatusCode, r.Body, c.want)
		}
	}
}

// Lists that Lambda would not pass on have pages, which together are the whole, and no page has a secret.
func TestPagesOfStacksAndSteps(t *testing.T) {
	h := newApp()
	after, stacks := "", ""
	for range 3 {
		r, _ := h.ask(t, call("GET"+ofShop+"/stacks", "", "query.after="+after))
		var page struct {
			Stacks []report.Stack
			After  string
		}
		if err := json.Unmarshal([]byte(r.Body), &page); err != nil || strings.Contains(r.Body, "secret") || len(page.Stacks) != 1 {
			t.Fatalf("%d, %v, %d stacks", r.StatusCode, err, len(page.Stacks))
		}
		after = page.After
		stacks += page.Stacks[0].Stack
	}
	if stacks != "abc" || after != "" {
		t.Errorf("the pages have the stacks %s, and then comes %q", stacks, after)
	}
	h.runs[0].Steps = nil
	for n := range 5 {
		h.runs[0].Steps = append(h.runs[0].Steps, run.Step{Step: plan.Step{ID: fmt.Sprintf("s%d/create", n), Node: fmt.Sprint("s", n)}, Number: n, Nonce: "secret", Status: run.Pending, Why: strings.Repeat("x", 1<<20)})
	}
	next, steps := 0, ""
	for {
		r, _ := h.ask(t, call(show, "", fmt.Sprint("query.from=", next)))
		var page report.Run
		if err := json.Unmarshal([]byte(r.Body), &page); err != nil || page.Run != newest || strings.Contains(r.Body, "secret") {
			t.Fatalf("%d, %v", r.StatusCode, err)
		}
		for _, s := range page.Steps {
			steps += s.Step + " "
		}
		if next = page.NextStep; next == 0 {
			break
		}
	}
	if steps != "s0/create s1/create s2/create s3/create s4/create " {
		t.Errorf("the pages have the steps %s", steps)
	}
	for _, from := range []string{"-1", "x", "99999999999"} {
		if r, _ := h.ask(t, call(show, "", "query.from="+from)); r.StatusCode != 400 {
			t.Errorf("from %s: %d", from, r.StatusCode)
		}
	}
}

// A caller that has an answer gets it again only after it has changed. A large answer is compressed for callers that
// understand that.
func TestTagsAndCompression(t *testing.T) {
	h := newApp()
	first, _ := h.ask(t, call(show, ""))
	tag := "header.if-none-match=" + first.Headers["etag"]
	again, err := h.api().Answer(t.Context(), call(show, "", tag))
	if again.StatusCode != 304 || again.Body != "" || again.Headers["etag"] != first.Headers["etag"] || err != nil {
		t.Errorf("%d %s %v", again.StatusCode, again.Body, err)
	}
	h.runs[0].Steps[0].Status = run.Done
	if changed, _ := h.ask(t, call(show, "", tag)); changed.StatusCode != 200 || changed.Headers["etag"] == first.Headers["etag"] {
		t.Errorf("%d %s", changed.StatusCode, changed.Headers["etag"])
	}
	r, err := h.api().Answer(t.Context(), call("GET"+ofShop+"/stacks", "", "header.accept-encoding=br, gzip"))
	packed, decoded := base64.StdEncoding.DecodeString(r.Body)
	z, unzipped := gzip.NewReader(bytes.NewReader(packed))
	if err != nil || decoded != nil || unzipped != nil || !r.IsBase64Encoded || r.Headers["content-encoding"] != "gzip" || len(r.Body) > 1<<20 {
		t.Fatalf("%v %v %v %v", err, decoded, unzipped, r.Headers)
	}
	text, err := io.ReadAll(z)
	if err != nil || !strings.HasPrefix(string(text), `{"stacks":[{"stack":"a"`) {
		t.Errorf("%.40s %v", text, err)
	}
}

// A deploy that is an upload supersedes older ones, and has no other options.
func TestStartUpload(t *testing.T) {
	h := newApp()
	if r, _ := h.ask(t, call(runs, `{"operation":"deploy",`+zip+`,"options":{"upload":true}}`)); r.StatusCode != 202 || !h.requested[0].Upload {
		t.Errorf("%d %v", r.StatusCode, h.requested)
	}
	r, said := h.ask(t, call(runs, `{"operation":"deploy",`+zip+`,"options":{"upload":true,"only":["a"]}}`))
	if r.StatusCode != 400 || len(h.requested) != 1 || !strings.HasPrefix(said.Detail, "options.upload: the newest upload replaces older ones") {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	if r, _ := h.ask(t, call(runs, `{"operation":"destroy","options":{"upload":true}}`)); r.StatusCode != 400 || len(h.requested) != 1 {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// A run that cannot be read can be unlocked by those who may unlock its project, if it holds the lock.
func TestUnlockOfAnUnreadableRun(t *testing.T) {
	h := newApp()
	h.runs[0].Project = "damaged@prod" // the lock of shop@prod is still its own
	if r, _ := h.ask(t, call(to("unlock"), `{"reason":"damaged"}`)); r.StatusCode != 202 || len(h.commands) != 1 || h.commands[0].Project != "shop@prod" {
		t.Errorf("%d %s %v", r.StatusCode, r.Body, h.commands)
	}
	for _, c := range []struct{ command, id string }{{"unlock", missing}, {"unlock", others}, {"cancel", newest}} {
		if r, said := h.ask(t, call(to(c.command), `{"reason":"x"}`, "run="+c.id)); r.StatusCode != 404 || !fault.Is(fault.New(fault.Kind(said.Kind), "x"), fault.Missing) || len(h.commands) != 1 {
			t.Errorf("%s of %s: %d %s", c.command, c.id, r.StatusCode, r.Body)
		}
	}
}
