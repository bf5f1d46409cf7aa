package api_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/target"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// The runs that there are: of shop@prod, but for the last one; and one that is not.
const (
	newest  = "nnnnnnnnnnnnnnnnnnnn"
	middle  = "mmmmmmmmmmmmmmmmmmmm"
	oldest  = "oooooooooooooooooooo"
	others  = "tttttttttttttttttttt"
	missing = "aaaaaaaaaaaaaaaaaaaa"
)

const (
	ann     = "arn:aws:sts::111122223333:assumed-role/ops/ann"
	zip     = `"key":"revisions/shop/prod/0a.zip","version":"v7"`
	runs    = "POST /projects/{project}/{environment}/runs"
	list    = "GET /projects/{project}/{environment}/runs"
	show    = list + "/{run}"
	aDeploy = `{"operation":"deploy",` + zip + `}`
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// An app is an Engine that records every request, and a Reader of its runs.
type app struct {
	runs      []run.Run // newest first
	requested []run.Request
	commands  []run.Request
	err       error             // what the engine answers
	blind     error             // what the reader answers
	gone      error             // what is answered about configurations
	history   run.History       // of the project
	files     int               // how many more files configurations have
	plans     map[string]string // what plans would change, by reference
	denies    bool              // everything
	role      access.Role       // of the caller; None is all that is not denied
	secret    string            // the project that nobody may read
	about     string            // what the role was needed for last
	undecided error             // why nothing can be decided
	followed  func()            // is called when a run is followed
	admin     bool              // the caller is one of all projects
	changedBy target.Requester  // who changed a target last
	purged    []string          // the calls of a purge
}

// newApp has three runs of a project, and one of another.
func newApp() *app {
	h := &app{}
	for i, id := range []string{newest, middle, oldest, others} {
		h.runs = append(h.runs, run.Run{
			Request: run.Request{ID: id, Project: "shop@prod", Operation: "deploy", Source: run.Source{Key: "k", Version: "v"},
				Who: "bob"}, State: run.StateSucceeded, Command: run.Continue, Requested: noon.Add(-time.Duration(i) * time.Hour),
		})
	}
	h.runs[3].Project = "other@prod"
	h.runs[0].State = run.StateRunning
	h.runs[0].Steps = []run.Step{{Step: plan.Step{ID: "vpc/create", Node: "vpc", Verb: plan.Create}, Status: run.Running, Attempt: 1, Claimed: noon}}
	return h
}

// Start is api.Engine.
func (h *app) Start(ctx context.Context, q run.Request) error {
	h.requested = append(h.requested, q)
	if _, err := h.Run(ctx, q.ID); h.err == nil && fault.Is(err, fault.Missing) {
		h.runs = append([]run.Run{{
			Request: q,
			State:   run.StatePending, Command: run.Continue, Requested: noon,
		}}, h.runs...)
	}
	return h.err
}

// Command is api.Engine.
func (h *app) Command(_ context.Context, q run.Request) error {
	h.commands = append(h.commands, q)
	return h.err
}

// Run is api.Reader.
func (h *app) Run(ctx context.Context, id string) (run.Run, error) {
	r, err := h.Follow(ctx, id)
	r.Steps = nil
	return r, err
}

// Follow is api.Reader.
func (h *app) Follow(_ context.Context, id string) (run.Run, error) {
	if h.followed != nil {
		h.followed()
	}
	for _, r := range h.runs {
		if r.ID == id && h.blind == nil {
			return r, nil
		}
	}
	if h.blind != nil {
		return run.Run{}, h.blind
	}
	return run.Run{}, fault.New(fault.Missing, "there is no run %s", id)
}

// Lock is api.Reader.
func (h *app) Lock(_ context.Context, project string) (run.Lock, error) {
	if project == "shop@prod" {
		return run.Lock{Version: 1, Owner: run.Writer{Run: newest}, History: h.history}, h.blind
	}
	return run.Lock{}, h.blind
}

// List is api.Reader.
func (h *app) List(ctx context.Context, project string, most int) ([]run.Run, error) {
	return h.Before(ctx, run.Run{Request: run.Request{Project: project}, Requested: noon.Add(time.Second)}, most)
}

// Audit is api.Reader: somebody has paused the newest run.
func (h *app) Audit(_ context.Context, id string) ([]run.AuditEntry, error) {
	if id != newest {
		return nil, h.blind
	}
	return []run.AuditEntry{{Run: id, Time: noon.Add(time.Minute), What: "pause", Who: "eve", Why: "<b>no</b>"}}, h.blind
}

// AuditOfInstallation is api.Reader: somebody has registered a target.
func (h *app) AuditOfInstallation(_ context.Context, since, before time.Time) ([]run.AuditEntry, error) {
	at := noon.Add(-30 * time.Minute)
	if at.Before(since) || !before.IsZero() && !at.Before(before) {
		return nil, h.blind
	}
	return []run.AuditEntry{{Time: at, What: "put target eu", Who: "root", From: "192.0.2.7"}}, h.blind
}

// Before is api.Reader.
func (h *app) Before(_ context.Context, than run.Run, most int) ([]run.Run, error) {
	var all []run.Run
	for _, r := range h.runs {
		if r.Project == than.Project && r.Requested.Before(than.Requested) && len(all) < most {
			all = append(all, r)
		}
	}
	return all, h.blind
}

// allows is API.Allows.
func (h *app) allows(_ context.Context, _ access.Principal, needed access.Role, about string) (bool, error) {
	h.about = about
	enough := h.role == access.None || h.role.Includes(needed)
	return enough && !h.denies && (h.secret == "" || h.secret != about), h.undecided
}

// parse reads requests as the function does.
func parse(project string, text []byte) run.Request {
	return trigger.ParseRequest(plan.AllOperations(), project, text)
}

// to is the route of a command.
func to(command string) string { return runs + "/{run}/" + command }

// api is the API of the app.
func (h *app) api() api.API {
	return api.API{
		Engine: h, Reader: h, Plans: h, ParseRequest: parse, ParseCommand: trigger.ParseCommand, Allows: h.allows, Among: h.among, Grants: h.grants,
		Records: h, Schedules: nightly{}, Executions: h, Uploads: h, Targets: h, Inside: h, Configurations: h, Purger: h,
		Installation: report.Installation{Name: "sw", Bucket: "bucket", Place: "in 111122223333 eu-west-1 (installation sw)", Home: report.Target{Target: "default", Account: "111122223333", Region: "eu-west-1", Projects: []string{}}},
	}
}

// call is a request of ann's: the route, what the path, query and headers say,
// and the body.
func call(route, body string, words ...string) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: route, Body: body, Headers: map[string]string{"content-type": "application/json"},
		PathParameters: map[string]string{"project": "shop", "environment": "prod", "run": newest, "from": oldest, "to": middle, "revision": oldest}, QueryStringParameters: map[string]string{},
	}
	if strings.Contains(route, "/stacks/") {
		e.QueryStringParameters["stack"] = "a"
	}
	e.RequestContext.RequestID = "JKJaXmPLvHcESHA="
	e.RequestContext.HTTP.SourceIP = "192.0.2.1"
	e.RequestContext.HTTP.Method, e.RequestContext.HTTP.Path, _ = strings.Cut(route, " ")
	e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
		IAM: &events.APIGatewayV2HTTPRequestContextAuthorizerIAMDescription{UserARN: ann},
	}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch kind, rest, _ := strings.Cut(name, "."); kind {
		case "header":
			e.Headers[rest] = value
		case "query":
			e.QueryStringParameters[rest] = value
		default:
			e.PathParameters[name] = value
		}
	}
	return e
}

// A reported is what an answer says: about runs, or a problem.
type reported struct {
	Run       string
	Project   string
	Operation string
	State     string
	Who       string
	Of        string
	Steps     []struct{ Step, Status string }
	Lock      *struct{ Owner struct{ Run string } }
	Runs      []struct{ Run string }
	Before    string
	Kind      string
	Detail    string
	Messages  []string
}

// ask asks the app, and returns the status and what is said.
func (h *app) ask(t testing.TB, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, reported) {
	t.Helper()
	r, err := h.api().Answer(t.Context(), e)
	var said reported
	if bad := json.Unmarshal([]byte(r.Body), &said); bad != nil && !strings.HasPrefix(r.Headers["content-type"], "text/html") {
		t.Fatalf("%s answers %q, %v", e.RouteKey, r.Body, bad)
	}
	api.Fits(t, e, r)
	if (err != nil) != (said.Kind != "") || (err != nil) != (r.StatusCode >= 400) {
		t.Errorf("%s answers %d and %q, and its error is %v", e.RouteKey, r.StatusCode, r.Body, err)
	}
	return r, said
}

// What is requested is started in the name of who asks, and the answer says
// where to read on.
func TestBegin(t *testing.T) {
	for body, want := range map[string]run.Request{
		aDeploy: {Operation: "deploy", Source: run.Source{Key: "revisions/shop/prod/0a.zip", Version: "v7"}},
		`{"operation":"plan",` + zip + `,"options":{"only":["a"],"max_deletions":3}}`: {Operation: "plan", Source: run.Source{Key: "revisions/shop/prod/0a.zip", Version: "v7"}, Options: run.Options{Selection: plan.Selection{Only: []string{"a"}}, MaxDeletions: new(3)}},
		`{"operation":"destroy","options":{"refuse":true}}`:                           {Operation: "destroy", Options: run.Options{Refuse: true}},
		`{"operation":"refresh"}`: {Operation: "refresh"},
		`{"operation":"retry","options":{"run":"` + oldest + `","force":true}}`:           {Operation: "retry", Of: oldest, Options: run.Options{Force: true}},
		`{"operation":"deploy","options":{"rollback":true,"who":""},` + zip + `}`:         {Operation: "deploy", Source: run.Source{Key: "revisions/shop/prod/0a.zip", Version: "v7"}, Options: run.Options{Rollback: true}},
		base64.StdEncoding.EncodeToString([]byte(`{"operation":"refresh","options":{}}`)): {Operation: "refresh"},
	} {
		h := newApp()
		e := call(runs, body, "header.idempotency-key=release 7")
		e.IsBase64Encoded = body[0] != '{'
		r, said := h.ask(t, e)
		want.ID, want.Project, want.Who, want.Subject, want.From = engine.RunID("api", "shop@prod", "caller", ann, "key", "release 7"), "shop@prod", ann, ann, "192.0.2.1"
		if len(h.requested) != 1 || len(h.commands) > 0 {
			t.Fatalf("%s: %d %s; requested %v", body, r.StatusCode, r.Body, h.requested)
		}
		if d := cmp.Diff(want, h.requested[0]); d != "" {
			t.Errorf("%s: %s", body, d)
		}
		if r.StatusCode != 202 || r.Headers["location"] != "/projects/shop/prod/runs/"+want.ID || said.Run != want.ID || said.State != "pending" || said.Who != ann || said.Lock.Owner.Run != newest {
			t.Errorf("%s: %d %v %s", body, r.StatusCode, r.Headers, r.Body)
		}
	}
}

// The same key is the same run, whatever has become of it, and no key is another
// run each time; a key of one project is not that of another.
func TestBeginTwice(t *testing.T) {
	h := newApp()
	id := func(e events.APIGatewayV2HTTPRequest) string {
		r, said := h.ask(t, e)
		if r.StatusCode != 202 {
			t.Errorf("%d %s", r.StatusCode, r.Body)
		}
		return said.Run
	}
	key := "header.idempotency-key=a"
	one := id(call(runs, aDeploy, key))
	if again := id(call(runs, aDeploy, key)); again != one || len(h.runs) != 5 {
		t.Errorf("%s, then %s; %d runs", one, again, len(h.runs))
	}
	h.runs[0].State = run.StateSucceeded
	if again := id(call(runs, aDeploy, key)); again != one {
		t.Errorf("%s, then %s", one, again)
	}
	test := strings.ReplaceAll(aDeploy, "prod", "test")
	if other := id(call(runs, test, key, "environment=test")); other == one {
		t.Error("a key is the same in all projects")
	}
	e := call(runs, aDeploy)
	two := id(e)
	e.RequestContext.RequestID = "another"
	if three := id(e); two == three || two == one {
		t.Errorf("without a key it is %s, then %s", two, three)
	}
	again := `{"operation":"retry","options":{"run":"` + one + `"}}`
	retry := id(call(runs, again, "header.idempotency-key=b"))
	h.runs[0].Operation, h.runs[0].Source = "deploy", h.runs[1].Source // it is planned: it does what that one did
	if twice := id(call(runs, again, "header.idempotency-key=b")); twice != retry {
		t.Errorf("%s, then %s", retry, twice)
	}
	for _, body := range []string{
		`{"operation":"destroy"}`, aDeploy, `{"operation":"retry","options":{"run":"` + oldest + `"}}`, `{"operation":"retry","options":{"run":"` + one + `","force":true}}`,
		`{"operation":"retry","options":{"run":"` + one + `","max_deletions":3}}`,
	} {
		r, said := h.ask(t, call(runs, body, "header.idempotency-key=b"))
		if r.StatusCode != 409 || !strings.Contains(said.Detail, "use another key") {
			t.Errorf("%s with the key of a retry: %d %s", body, r.StatusCode, r.Body)
		}
	}
	for _, options := range []string{`"max_deletions":3`, `"rollback":true`, `"refuse":true`, `"only":["a"]`, `"exclude":["a"]`, `"changed_since":"` + oldest + `"`, `"adopt":["a"]`, `"plan":"` + strings.Repeat("0a", 32) + `"`} {
		r, _ := h.ask(t, call(runs, `{"operation":"deploy",`+zip+`,"options":{`+options+`}}`, key))
		if r.StatusCode != 409 {
			t.Errorf("%s with the key of a deploy without: %d %s", options, r.StatusCode, r.Body)
		}
	}
}

// Each option is a part of the request: with the key of a request that differs in one of them, another run would be joined.
func TestKeyOfAnotherRequest(t *testing.T) {
	// Why something is requested is no part of it, a project may have turned on rollbacks, and the digest and the step belong to a command.
	left := []string{"Reason", "Rollback", "PlanDigest", "Step"}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[run.Options]()) {
		if f.Anonymous || f.Tag.Get("json") == "-" || slices.Contains(left, f.Name) {
			continue
		}
		id := engine.RunID("api", "shop@prod", "caller", ann, "key", "k")
		stored, h := run.Request{ID: id, Project: "shop@prod", Operation: "plan"}, newApp()
		value := reflect.New(f.Type).Elem()
		switch f.Type.Kind() {
		case reflect.Bool:
			value.SetBool(true)
		case reflect.String:
			value.SetString("a")
		case reflect.Slice:
			value.Set(reflect.ValueOf([]string{"a"}))
		case reflect.Int64:
			value.SetInt(1)
		case reflect.Struct:
			value.Set(reflect.ValueOf(noon))
		default:
			value.Set(reflect.New(f.Type.Elem()))
		}
		reflect.ValueOf(&stored.Options).Elem().FieldByIndex(f.Index).Set(value)
		h.runs = append(h.runs, run.Run{Request: stored})
		a := h.api()
		a.ParseRequest = func(string, []byte) run.Request { return run.Request{Project: "shop@prod", Operation: "plan"} }
		if r, err := a.Answer(t.Context(), call(runs, "{}", "header.idempotency-key=k")); r.StatusCode != 409 || !fault.Is(err, fault.Refused) {
			t.Errorf("a request without %s joins a run with it: %d %s", f.Name, r.StatusCode, r.Body)
		}
	}
}

// A run is shown with its steps and its project's lock; a list, page by page.
func TestRead(t *testing.T) {
	h := newApp()
	r, said := h.ask(t, call(show, ""))
	if r.StatusCode != 200 || said.Run != newest || said.State != "running" || len(said.Steps) != 1 || said.Steps[0].Status != "running" || said.Lock.Owner.Run != newest {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	if r, said := h.ask(t, call(show, "", "project=other", "run="+others)); r.StatusCode != 200 || said.Lock != nil {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	for _, c := range []struct{ query, want, before string }{
		{"", newest + " " + middle + " " + oldest, ""},
		{"query.limit=2", newest + " " + middle, middle},
		{"query.before=" + middle, oldest, ""},
		{"query.before=" + oldest, "", ""},
		{"query.limit=3", newest + " " + middle + " " + oldest, oldest},
	} {
		r, said := h.ask(t, call(list, "", c.query))
		var got []string
		for _, r := range said.Runs {
			got = append(got, r.Run)
		}
		if r.StatusCode != 200 || strings.Join(got, " ") != c.want || said.Before != c.before || !strings.HasPrefix(r.Body, `{"runs":[`) {
			t.Errorf("%s: %d %s", c.query, r.StatusCode, r.Body)
		}
	}
	if len(h.requested)+len(h.commands) > 0 {
		t.Error("to read asks for something")
	}
}

// What is not allowed is answered 403 in each route without a reason, and changes nothing. If
// nothing can be decided, nothing is allowed.
func TestNotAllowed(t *testing.T) {
	for _, route := range api.Routes() {
		for _, id := range []string{newest, others, missing, "x"} {
			h := newApp()
			h.denies = true
			r, said := h.ask(t, call(route, aDeploy, "run="+id))
			if r.StatusCode != 403 || r.Body != `{"type":"urn:stackwright:problem:denied","title":"Forbidden","status":403,"detail":"not allowed","kind":"Denied","messages":["not allowed"]}`+"\n" || len(h.requested)+len(h.commands) > 0 {
				t.Errorf("%s: %d %s %v", route, r.StatusCode, r.Body, said)
			}
		}
		h := newApp()
		h.undecided = fault.New(fault.Unavailable, "S3 does not answer")
		if r, _ := h.ask(t, call(route, aDeploy)); r.StatusCode != 503 || len(h.requested)+len(h.commands) > 0 {
			t.Errorf("%s: %d %s", route, r.StatusCode, r.Body)
		}
	}
}

// What is requested decides which role starts a run: one that only has plans made deploys nothing.
func TestPlannerDeploysNothing(t *testing.T) {
	for body, want := range map[string]int{
		aDeploy: 403, strings.Replace(aDeploy, `"deploy"`, `"plan"`, 1): 202, `{"operation": "plan-destroy"}`: 202,
		`{"operation": "destroy"}`: 403, `{"operation": "suspend"}`: 403,
	} {
		h := newApp()
		h.role = access.Planner
		if r, _ := h.ask(t, call(runs, body)); r.StatusCode != want || len(h.requested) > 0 != (want == 202) {
			t.Errorf("%s: %d %s, requested %v", body, r.StatusCode, r.Body, h.requested)
		}
	}
}

// The role of a route is needed for the project of the path. What is about the whole installation is changed by admins of all projects
// only.
func TestRoleIsNeededForThePath(t *testing.T) {
	for _, route := range api.Routes() {
		h := newApp()
		h.denies, h.about = true, "nothing"
		h.ask(t, call(route, aDeploy))
		want := "shop@prod"
		if !strings.Contains(route, "{environment}") {
			want = map[bool]string{true: access.Somewhere, false: access.Everywhere}[strings.HasPrefix(route, "GET ")]
		}
		if h.about != want {
			t.Errorf("%s needs its role for %q, want %q", route, h.about, want)
		}
	}
}

// A run of another project is answered in each route as a run that does not exist, and gets no
// command.
func TestRunOfAnotherProject(t *testing.T) {
	for _, route := range api.Routes() {
		if !strings.Contains(route, "{run}") {
			continue
		}
		h := newApp()
		theirs, _ := h.ask(t, call(route, `{"reason":"test"}`, "run="+others))
		none, _ := h.ask(t, call(route, `{"reason":"test"}`, "run="+missing))
		if d := cmp.Diff(none.Body, strings.ReplaceAll(theirs.Body, others, missing)); d != "" || theirs.StatusCode != 404 || none.StatusCode != 404 || len(h.commands) > 0 {
			t.Errorf("%s: %d %s", route, theirs.StatusCode, d)
		}
	}
}

// A command is carried out in the name of the caller, and the answer is the run.
func TestCommand(t *testing.T) {
	for _, c := range []struct {
		command, body string
		want          run.Options
	}{
		{"pause", "", run.Options{}},
		{"pause", " {} ", run.Options{}},
		{"pause", `{"reason":"check the logs first"}`, run.Options{Reason: "check the logs first"}},
		{"continue", `{}`, run.Options{}},
		{"cancel", `{"rollback":true,"force":true}`, run.Options{Rollback: true, Force: true}},
		{"cancel", `{"rollback":false,"reason":"x"}`, run.Options{Reason: "x"}},
		{"unlock", `{"reason":"it does not react"}`, run.Options{Reason: "it does not react"}},
	} {
		h := newApp()
		r, said := h.ask(t, call(to(c.command), c.body, "header.idempotency-key=k"))
		want := run.Request{Project: "shop@prod", Operation: c.command, Of: newest, Who: ann, Subject: ann, From: "192.0.2.1", Options: c.want}
		if d := cmp.Diff([]run.Request{want}, h.commands, cmpopts.IgnoreFields(run.Request{}, "ID")); d != "" || len(h.requested) > 0 {
			t.Errorf("%s %s: %s", c.command, c.body, d)
		}
		if r.StatusCode != 202 || said.Run != newest || len(said.Steps) != 1 || r.Headers["location"] != "/projects/shop/prod/runs/"+newest {
			t.Errorf("%s %s: %d %s", c.command, c.body, r.StatusCode, r.Body)
		}
	}
}

// An idempotency key belongs to its caller: another one neither sees nor joins the run, nor has the same command.
func TestKeyOfAnotherCaller(t *testing.T) {
	const key = "header.idempotency-key=a"
	h := newApp()
	seen := make(map[string]bool)
	for i, c := range []struct {
		arn    string
		claims map[string]string
	}{
		{arn: ann}, {arn: "arn:aws:sts::111122223333:assumed-role/ci/build-1"}, {arn: "arn:aws:sts::111122223333:assumed-role/ci/build-2"},
		{claims: map[string]string{"iss": "https://a.example", "sub": "1"}}, {claims: map[string]string{"iss": "https://a.example", "sub": "2"}},
		{claims: map[string]string{"iss": "https://b.example", "sub": "1"}}, {claims: map[string]string{"iss": "https://a.example", "sub": ann}},
	} {
		r, said := h.ask(t, by(call(runs, aDeploy, key), c.arn, c.claims))
		if r.StatusCode != 202 || seen[said.Run] {
			t.Errorf("caller %d: %d %s", i, r.StatusCode, r.Body)
		}
		again := c.claims
		if again != nil {
			again = map[string]string{"iss": c.claims["iss"], "sub": c.claims["sub"], "email": "ann@example.com", "email_verified": "true"}
		}
		if r, twice := h.ask(t, by(call(runs, aDeploy, key), c.arn, again)); twice.Run != said.Run {
			t.Errorf("caller %d: %s, then %d %s", i, said.Run, r.StatusCode, r.Body)
		}
		h.ask(t, by(call(to("pause"), "", key), c.arn, c.claims))
		command := h.commands[len(h.commands)-1].ID
		if seen[command] {
			t.Errorf("caller %d gives the command of another", i)
		}
		seen[said.Run], seen[command] = true, true
	}
}

// One user of an issuer is one subject, with an ID token and with an access token. Other users and other issuers are others.
func TestSubject(t *testing.T) {
	subject := func(claims map[string]string) string {
		h := newApp()
		h.ask(t, by(call(runs, aDeploy), "", claims))
		return h.requested[0].Subject
	}
	iss := "https://issuer.example"
	want := subject(map[string]string{"iss": iss, "sub": "0a1b", "aud": "c", "email": "ann@example.com", "email_verified": "true"})
	if got := subject(map[string]string{"iss": iss, "sub": "0a1b", "client_id": "c"}); got != want || want == "" {
		t.Errorf("the ID token is of %q, the access token of %q", want, got)
	}
	for _, other := range []map[string]string{{"iss": iss, "sub": "2c3d"}, {"iss": "https://other.example", "sub": "0a1b"}} {
		if subject(other) == want {
			t.Errorf("%v is %s", other, want)
		}
	}
}

// by is the request with another caller.
func by(e events.APIGatewayV2HTTPRequest, arn string, claims map[string]string) events.APIGatewayV2HTTPRequest {
	e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{IAM: &events.APIGatewayV2HTTPRequestContextAuthorizerIAMDescription{UserARN: arn}}
	if claims != nil {
		e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: claims}}
	}
	return e
}

// A command that is sent again with its idempotency key has the same ID. Another
// command, or one with other options, has another ID, so that none is lost.
func TestCommandTwice(t *testing.T) {
	commands := []struct{ command, body string }{
		{"pause", ``}, {"continue", ``}, {"cancel", ``}, {"cancel", `{"force":true}`}, {"cancel", `{"rollback":true}`}, {"unlock", `{"reason":"x"}`},
	}
	ids := make(map[string]string)
	for _, c := range append(commands, commands...) {
		h := newApp()
		h.ask(t, call(to(c.command), c.body, "header.idempotency-key=k"))
		if len(h.commands) != 1 {
			t.Fatalf("%s %s: %d commands", c.command, c.body, len(h.commands))
		}
		if of, ok := ids[h.commands[0].ID]; ok && of != c.command+c.body {
			t.Errorf("%s %s has the ID of %s", c.command, c.body, of)
		}
		ids[h.commands[0].ID] = c.command + c.body
	}
	if len(ids) != len(commands) {
		t.Errorf("%d commands have %d IDs", len(commands), len(ids))
	}
}

// Who asks is who the authorizer says it is.
func TestWhoAsks(t *testing.T) {
	jwt := func(claims map[string]string) *events.APIGatewayV2HTTPRequestContextAuthorizerDescription {
		return &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: claims}}
	}
	for _, c := range []struct {
		by   *events.APIGatewayV2HTTPRequestContextAuthorizerDescription
		want string
	}{
		{jwt(map[string]string{"sub": "0a1b"}), "0a1b"},
		{jwt(map[string]string{"sub": "0a1b", "email": "ann@example.com", "email_verified": "true"}), "ann@example.com (0a1b)"},
		{jwt(map[string]string{"sub": "0a1b", "email": "boss@example.com"}), "0a1b"},
		{jwt(map[string]string{"sub": "0a1b", "email": "boss@example.com", "email_verified": "false"}), "0a1b"},
		{jwt(map[string]string{"sub": "0a1b", "iss": "https://issuer.example"}), "0a1b of https://issuer.example"},
		{jwt(map[string]string{"sub": "0a1b", "iss": "https://issuer.example", "email": "ann@example.com", "email_verified": "true"}), "ann@example.com (0a1b) of https://issuer.example"},
		{jwt(map[string]string{"email": "ann@example.com"}), ""},
		{jwt(map[string]string{"iss": "https://issuer.example"}), ""},
		{jwt(map[string]string{"sub": "a\nb"}), ""},
		{jwt(map[string]string{"sub": strings.Repeat("a", 1025)}), ""},
		{jwt(nil), ""},
		{&events.APIGatewayV2HTTPRequestContextAuthorizerDescription{IAM: &events.APIGatewayV2HTTPRequestContextAuthorizerIAMDescription{AccountID: "1"}}, ""},
		{&events.APIGatewayV2HTTPRequestContextAuthorizerDescription{Lambda: map[string]any{"who": "x"}}, ""},
		{nil, ""},
	} {
		for _, route := range api.Routes() {
			h := newApp()
			e := call(route, aDeploy)
			if strings.HasPrefix(route, runs+"/") {
				e.Body = `{"reason":"test"}`
			}
			if strings.HasSuffix(route, "/retry") {
				e.Body = ""
			}
			if strings.HasSuffix(route, "/approve") || strings.HasSuffix(route, "/reject") {
				e.Body = `{"reason":"test","plan_digest":"d"}`
			}
			e.RequestContext.Authorizer = c.by
			switch {
			case strings.HasPrefix(route, "POST") && strings.HasSuffix(route, "/uploads"):
				e.Body = anUpload
			case strings.HasPrefix(route, "PUT"):
				e.Body = `{"account":"111122223333","region":"eu-west-1","projects":["*@*"]}`
			case strings.HasSuffix(route, "/purge"):
				e.Body = `{"older_than":"90d"}`
			}
			h.runs[2].Started = noon
			if strings.HasSuffix(route, "/plan") {
				h.runs[0].Operation, h.runs[0].Changes, h.plans = "plan", "reference", map[string]string{"reference": stored()}
			}
			r, said := h.ask(t, e)
			if c.want == "" && (r.StatusCode != 403 || said.Kind != "Denied" || len(h.requested)+len(h.commands) > 0) {
				t.Errorf("%s: %d %s", route, r.StatusCode, r.Body)
			}
			for _, q := range append(h.requested, h.commands...) {
				if q.Who != c.want {
					t.Errorf("%s: the caller is %q, not %q", route, q.Who, c.want)
				}
			}
			if c.want != "" && r.StatusCode >= 300 {
				t.Errorf("%s: %d %s", route, r.StatusCode, r.Body)
			}
		}
	}
}

// What is wrong is reported with what to do, all at once, and changes nothing.
func TestRefused(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, c := range []struct {
		e      events.APIGatewayV2HTTPRequest
		status int
		want   []string
	}{
		{call("GET /nothing", ""), 404, []string{`there is no route for GET "/nothing": GET /openapi.json describes all routes`}},
		{call("$default", ""), 404, nil},
		{call("DELETE /projects/{project}/{environment}/runs/{run}", ""), 405, nil},
		{call(show, "", "run="+missing), 404, []string{"there is no run " + missing + " of shop@prod"}},
		{call(show, "", "run=../x"), 404, []string{`there is no run "../x": its ID has 20 lower-case letters and digits`}},
		{call(to("pause"), `{}`, "run="+missing), 404, nil},
		{call(to("pause"), `{}`, "run="), 404, nil},
		{call(list, "", "query.before="+missing), 404, []string{"before: there is no run " + missing + " of shop@prod"}},
		{call(list, "", "query.before="+others), 404, []string{"before: there is no run " + others + " of shop@prod"}},
		{call(list, "", "query.limit=101", "query.after=x"), 400, []string{`"after" is not understood: there is before and limit and fields`, `limit: "101": it is a number from 1 to 100`}},
		{call(list, "", "query.limit=0"), 400, nil},
		{call(list, "", "query.limit=2,3"), 400, nil},
		{call(list, "", "project=a b"), 400, []string{`the path names project "a b" and environment "prod", which cannot be: names are letters, digits and hyphens, 64 at most`}},
		{call(runs, aDeploy, "environment=p@q"), 400, nil},
		{call(runs, ``), 400, []string{"the request is empty: send a JSON object"}},
		{call(runs, `[]`), 400, nil},
		{call(runs, aDeploy+`{}`), 400, []string{"the request is not valid JSON: there is more text behind the first value"}},
		{call(runs, `{"operation":"refresh","optoins":1}`), 400, []string{`"optoins" is not a key of a request: did you mean options?`}},
		{call(runs, `{"operation":"weekly"}`), 400, nil},
		{call(runs, `{"operation":"destroy"}`, "environment=prdo"), 404, []string{"there is no shop@prdo: it has had no run"}},
		{call(runs, `{"operation":"deploy","options":{"who":"boss","max_deletions":-1}}`, "header.idempotency-key=\n"), 400, []string{
			"key: missing: a deploy needs the key of the configuration's object", "options.max_deletions: -1: give a number of stacks, 0 or more",
			"options.who: the API knows the caller: remove this option", "idempotency-key: it has to be 1 to 255 characters of ASCII",
		}},
		{call(runs, `{"operation":"plan","key":"projects/shop/test.zip","version":"1"}`), 400, []string{`key: "projects/shop/test.zip" belongs to shop@test, and this request is for shop@prod: send it to shop@test`}},
		{call(runs, `{"operation":"cancel","options":{"run":"`+newest+`"}}`), 400, []string{"operation: cancel is a command to a run, and starts none: use POST /projects/{project}/{environment}/runs/{run}/cancel"}},
		{call(runs, aDeploy, "header.idempotency-key="+strings.Repeat("k", 256)), 400, nil},
		{call(runs, aDeploy, "header.idempotency-key="), 400, nil},
		{call(runs, aDeploy, "header.content-type=application/x-www-form-urlencoded"), 415, []string{`content-type: "application/x-www-form-urlencoded" is not understood: send JSON, as application/json`}},
		{call(runs, aDeploy, "header.content-type=;"), 415, nil},
		{call(runs, long), 413, []string{"the body has more than 65536 bytes: no request needs that"}},
		{call(to("pause"), long), 413, nil},
		{call(to("stop"), `{}`), 404, nil},
		{call(to("pause"), `[]`), 400, []string{"the request: a list found, an object expected"}},
		{call(to("pause"), `{"who":"boss"}`), 400, []string{`"who" is not a key of a request: available: reason`}},
		{call(to("pause"), `{"reason":"a","reason":"b"}`), 400, []string{`reason: this key occurs twice: keep one of them`}},
		{call(to("unlock"), ``), 400, []string{"reason: missing: say why, for the record"}},
		{call(to("cancel"), `{"forse":true,"rollback":"yes"}`), 400, []string{`"forse" is not a key of a request: did you mean force?`, `rollback: a string found, true or false expected`}},
		{call(to("pause"), `{"force":true,"rollback":true}`), 400, []string{`"force" is not a key of a request: available: reason`, `"rollback" is not a key of a request: available: reason`}},
		{call(to("pause"), `{"reason":"`+strings.Repeat("x", 1025)+`"}`), 400, []string{"reason: it has 1025 bytes, at most 1024 are allowed"}},
	} {
		h := newApp()
		r, said := h.ask(t, c.e)
		if r.StatusCode != c.status || said.Kind == "" || len(h.requested)+len(h.commands) > 0 {
			t.Errorf("%s %.100s: %d %.300s; requested %v", c.e.RouteKey, c.e.Body, r.StatusCode, r.Body, h.requested)
			continue
		}
		if d := cmp.Diff(c.want, said.Messages); d != "" && c.want != nil {
			t.Errorf("%s %.100s: %s", c.e.RouteKey, c.e.Body, d)
		}
		if said.Detail != strings.Join(said.Messages, "; ") || len(said.Messages) == 0 {
			t.Errorf("%s", r.Body)
		}
	}
}

// A body in base64 that is not, or too long, or without any ID, is refused too.
func TestRefusedEvents(t *testing.T) {
	for status, change := range map[int]func(*events.APIGatewayV2HTTPRequest){
		400: func(e *events.APIGatewayV2HTTPRequest) { e.IsBase64Encoded = true },
		413: func(e *events.APIGatewayV2HTTPRequest) { e.IsBase64Encoded, e.Body = true, strings.Repeat("A", 1<<20) },
	} {
		h, e := newApp(), call(runs, aDeploy)
		change(&e)
		if r, _ := h.ask(t, e); r.StatusCode != status || len(h.requested) > 0 {
			t.Errorf("%d %s", r.StatusCode, r.Body)
		}
	}
	h, e := newApp(), call(runs, aDeploy)
	e.RequestContext.RequestID = ""
	if r, _ := h.ask(t, e); r.StatusCode != 400 || !strings.Contains(r.Body, "requestId") || len(h.requested) > 0 {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// What goes wrong is reported by its kind, with when to come again; of what missing
// classified only the log tells.
func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		err       error
		status    int
		kind      string
		wait      string
		says, not string
	}{
		{fault.New(fault.Refused, "pause: run x has ended (succeeded)"), 409, "Refused", "", "pause: run x has ended (succeeded)", "all the same"},
		{fault.New(fault.Missing, "there is no run x"), 404, "Missing", "", "there is no run x", "all the same"},
		{fault.New(fault.Throttled, "write table: slow down"), 429, "Throttled", "5", "write table: slow down: ", "§"},
		{fault.New(fault.Unavailable, "write table: no answer"), 503, "Unavailable", "10", "the same Idempotency-Key", "§"},
		{fault.New(fault.Stale, "it was changed"), 503, "Stale", "1", "the same Idempotency-Key", "§"},
		{fault.New(fault.Denied, "write table: may not"), 500, "Denied", "", "write table: may not", "§"},
		{fault.New(fault.Broken, "hunter2"), 500, "Broken", "", "see the log of the function api for request", "hunter2"},
		{errors.New("hunter2"), 500, "Broken", "", "see the log of the function api for request", "hunter2"},
	} {
		for _, e := range []events.APIGatewayV2HTTPRequest{call(runs, aDeploy), call(to("pause"), `{}`)} {
			h := newApp()
			h.err = c.err
			r, said := h.ask(t, e)
			if r.StatusCode != c.status || said.Kind != c.kind || r.Headers["retry-after"] != c.wait {
				t.Errorf("%v: %d %v %s", c.err, r.StatusCode, r.Headers, r.Body)
			}
			if !strings.Contains(said.Detail, c.says) || strings.Contains(r.Body, c.not) {
				t.Errorf("%v: %s", c.err, r.Body)
			}
		}
		for _, e := range []events.APIGatewayV2HTTPRequest{call(show, ""), call(list, "")} {
			h := newApp()
			h.blind = c.err
			if r, _ := h.ask(t, e); r.StatusCode != c.status || strings.Contains(r.Body, "hunter2") {
				t.Errorf("%v: %d %s", c.err, r.StatusCode, r.Body)
			}
		}
	}
}

// A run that was started and cannot be read now was started all the same.
func TestStartedWithoutRecord(t *testing.T) {
	h := newApp()
	h.blind = fault.New(fault.Throttled, "slow down")
	r, said := h.ask(t, call(runs, aDeploy))
	if r.StatusCode != 202 || len(h.requested) != 1 || said.Run != h.requested[0].ID || r.Headers["location"] != "/projects/shop/prod/runs/"+said.Run {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// An answer that Lambda would not pass on says what to do instead.
func TestAnswerTooLong(t *testing.T) {
	h := newApp()
	h.runs[0].Messages = []string{strings.Repeat("x", 5<<20)}
	r, said := h.ask(t, call(list, ""))
	if r.StatusCode != 406 || !strings.Contains(said.Detail, "list fewer with limit") {
		t.Errorf("%d %.300s", r.StatusCode, r.Body)
	}
}

// Proposal is report.Plans.
func (h *app) Proposal(context.Context, string) (plan.Proposal, error) { return plan.Proposal{}, nil }

// Changes is report.Plans.
func (h *app) Changes(_ context.Context, reference string) ([]byte, error) {
	if text, ok := h.plans[reference]; ok {
		return []byte(text), nil
	}
	return nil, fault.New(fault.Missing, "the object does not exist")
}

// stored is what a plan would change, as it is stored.
func stored() string {
	text, err := json.Marshal(plan.Changes{Format: plan.ChangesFormat, Project: "shop", Environment: "prod", Operation: "plan", Digest: "d", Stacks: []plan.StackChange{}, Steps: []plan.PlannedStep{}, Basis: []plan.Basis{}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestPlanOfRun(t *testing.T) {
	h := newApp()
	h.runs[0].Operation = "plan"
	planned, deployed := h.runs[0].ID, h.runs[1].ID
	ask := func(id string) events.APIGatewayV2HTTPResponse {
		r, _ := h.ask(t, call(show+"/plan", "", "run="+id))
		return r
	}
	h.runs[0].State = run.StateRunning
	if r := ask(planned); r.StatusCode != 404 || !strings.Contains(r.Body, "is stored when the run has succeeded") {
		t.Errorf("before it has succeeded: %d %s", r.StatusCode, r.Body)
	}
	h.runs[0].State = run.StateRefused
	if r := ask(planned); r.StatusCode != 404 || !strings.Contains(r.Body, "is refused, so it has no plan") {
		t.Errorf("of a refused plan: %d %s", r.StatusCode, r.Body)
	}
	h.runs[0].State = run.StateSucceeded
	h.runs[0].Changes = "reference"
	if r := ask(planned); r.StatusCode != 404 || !strings.Contains(r.Body, "no longer stored: plan again") {
		t.Errorf("when the document has expired: %d %s", r.StatusCode, r.Body)
	}
	h.plans = map[string]string{"reference": stored()}
	if r := ask(planned); r.StatusCode != 200 || strings.TrimSpace(r.Body) != stored() {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	if r := ask(deployed); r.StatusCode != 404 || !strings.Contains(r.Body, "only runs of the operation plan, and of those that begin with plan-, and runs that have to be approved, show") {
		t.Errorf("of a deploy: %d %s", r.StatusCode, r.Body)
	}
}
