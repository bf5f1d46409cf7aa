package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/wire"
)

// An entry is a way in which requests reach the functions.
type entry struct {
	name  string
	field string                 // of access.Principal that says who comes through it
	needs map[string]access.Role // what can be requested through it, with the role that this needs

	// event is the event of a request: by principals that have a role, about a project and
	// environment. It may put an object into the bucket.
	event func(b *objects, request string, has access.Role, name, environment string) (function, payload string)
}

// The routes of the API, with the role that each needs.
var routes = map[string]access.Role{
	"POST /projects/{project}/{environment}/runs":                      access.Deployer, // of a deploy; requests have the others
	"GET /projects/{project}/{environment}/runs":                       access.Reader,
	"GET /projects/{project}/{environment}/runs/{run}":                 access.Reader,
	"GET /projects/{project}/{environment}/runs/{run}/plan":            access.Reader,
	"POST /projects/{project}/{environment}/runs/{run}/approve":        access.Approver,
	"POST /projects/{project}/{environment}/runs/{run}/reject":         access.Approver,
	"POST /projects/{project}/{environment}/runs/{run}/cancel":         access.Deployer,
	"POST /projects/{project}/{environment}/runs/{run}/continue":       access.Deployer,
	"POST /projects/{project}/{environment}/runs/{run}/pause":          access.Deployer,
	"POST /projects/{project}/{environment}/runs/{run}/unlock":         access.Admin,
	"GET /projects/{project}/{environment}/runs/{run}/execution":       access.Reader,
	"GET /projects/{project}/{environment}/lock":                       access.Reader,
	"GET /projects/{project}/{environment}/schedules":                  access.Reader,
	"GET /projects/{project}/{environment}/stacks":                     access.Reader,
	"POST /projects/{project}/{environment}/uploads":                   access.Planner,
	"POST /projects/{project}/{environment}/runs/{run}/retry":          access.Deployer,
	"GET /projects/{project}/{environment}/runs/{run}/steps":           access.Reader,
	"GET /projects/{project}/{environment}/runs/{run}/events":          access.Reader,
	"GET /projects/{project}/{environment}/runs/{run}/graph":           access.Reader,
	"GET /projects/{project}/{environment}/runs/{run}/timeline":        access.Reader,
	"GET /projects/{project}/{environment}/runs/{run}/metrics":         access.Reader,
	"GET /projects/{project}/{environment}/graph":                      access.Reader,
	"GET /projects/{project}/{environment}/approvals":                  access.Reader,
	"GET /projects/{project}/{environment}/access":                     access.Reader,
	"GET /projects/{project}/{environment}/audit":                      access.Reader,
	"GET /projects/{project}/{environment}/revisions":                  access.Reader,
	"GET /projects/{project}/{environment}/snapshots":                  access.Reader,
	"GET /projects/{project}/{environment}/stacks/resources":           access.Reader,
	"GET /projects/{project}/{environment}/stacks/events":              access.Reader,
	"GET /projects/{project}/{environment}/stacks/history":             access.Reader,
	"GET /projects/{project}/{environment}/revisions/{revision}":       access.Reader,
	"GET /projects/{project}/{environment}/stacks/why":                 access.Reader,
	"GET /projects/{project}/{environment}/revisions/{from}/diff/{to}": access.Reader,
	"GET /projects/{project}/{environment}":                            access.Reader,

	"GET /approvals":          access.Reader,
	"GET /audit":              access.Reader,
	"GET /runs":               access.Reader,
	"GET /events":             access.Reader,
	"GET /environments":       access.Reader,
	"GET /stacks":             access.Reader,
	"GET /resources":          access.Reader,
	"GET /docs":               access.Reader,
	"GET /projects/{project}": access.Reader,
	"GET /installation":       access.Reader,
	"GET /openapi.json":       access.Reader,
	"GET /projects":           access.Reader,
	"GET /targets":            access.Reader,

	"GET /targets/{target}/accounts": access.Reader,

	"PUT /targets/{target}":    access.Admin,
	"DELETE /targets/{target}": access.Admin,
	"POST /purge":              access.Admin,
}

// about reports whether a request is allowed for a project and environment to those who have the role that it needs for
// shop@prod. What is about the whole installation may be read by all who may read some project, and is changed by admins
// of all projects only.
func about(request, id string) bool {
	if _, path, http := strings.Cut(request, " "); http && !strings.Contains(path, "{environment}") {
		return strings.HasPrefix(request, "GET ")
	}
	return id == "shop@prod"
}

// What users can request, with the role that each needs.
var requests = map[string]access.Role{
	"deploy":            access.Deployer,
	"plan":              access.Planner,
	"destroy":           access.Deployer,
	"plan-destroy":      access.Planner,
	"refresh":           access.Deployer,
	"check":             access.Deployer,
	"drift":             access.Deployer,
	"revert-drift":      access.Deployer,
	"plan-revert-drift": access.Planner,
	"suspend":           access.Deployer,
	"plan-suspend":      access.Deployer,
	"resume":            access.Deployer,
	"plan-resume":       access.Deployer,
	"retry":             access.Deployer,
	"adopt":             access.Deployer,
	"plan-adopt":        access.Planner,
	"forget":            access.Deployer,
	"plan-forget":       access.Planner,
	"prune":             access.Deployer,
	"plan-prune":        access.Planner,
	"replace":           access.Deployer,
	"plan-replace":      access.Planner,
	"cancel":            access.Deployer,
	"continue":          access.Deployer,
	"pause":             access.Deployer,
	"unlock":            access.Admin,
	"approve":           access.Approver,
	"reject":            access.Approver,
	"rollback-to":       access.Deployer,
	"plan-rollback-to":  access.Planner,
	"promote":           access.Deployer,
	"plan-promote":      access.Planner,
	"extend":            access.Deployer,
	"snapshot":          access.Deployer,
	"delete-snapshot":   access.Deployer,
	"prune-snapshots":   access.Deployer,

	"plan-delete-snapshot": access.Planner,
	"plan-prune-snapshots": access.Planner,

	"restore":      access.Deployer,
	"plan-restore": access.Planner,
}

// The entries. The command line uploads, puts request objects and calls the API: it has no entry of
// its own.
var entries = []entry{
	{name: "HTTP with IAM", field: "ARN", needs: routes, event: func(_ *objects, route string, has access.Role, name, environment string) (string, string) {
		return "api", httpEvent(route, name, environment, `"iam": {"userArn": "arn:aws:sts::111122223333:assumed-role/`+has.String()+`/ann"}`)
	}},
	{name: "HTTP with a token", field: "Claims", needs: routes, event: func(_ *objects, route string, has access.Role, name, environment string) (string, string) {
		return "api", httpEvent(route, name, environment, `"jwt": {"claims": {"iss": "https://issuer.example", "aud": "stackwright", "sub": "`+has.String()+`"}}`)
	}},
	{name: "upload", field: "Account", needs: map[string]access.Role{"deploy": access.Deployer}, event: func(_ *objects, _ string, has access.Role, name, environment string) (string, string) {
		return "start", put("projects/"+name+"/"+environment+".zip", has)
	}},
	{name: "request object", field: "Account", needs: requests, event: func(b *objects, operation string, has access.Role, name, environment string) (string, string) {
		b.body = `{"operation": "` + operation + `", ` + arguments(operation, name, environment) + `}`
		return "start", put("requests/"+name+"/"+environment+"/1.json", has)
	}},
	{name: "schedule", field: "Schedule", needs: map[string]access.Role{"deploy": access.Deployer, "destroy": access.Deployer, "refresh": access.Deployer, "check": access.Deployer, "drift": access.Deployer, "suspend": access.Deployer, "resume": access.Deployer, "prune-snapshots": access.Deployer}, event: func(_ *objects, operation string, _ access.Role, name, environment string) (string, string) {
		return "start", `{"source": "stackwright.schedule", "detail-type": "Stackwright Schedule", "time": "2026-03-01T12:00:00Z", "detail": {"project": "` + name + "@" + environment + `", "schedule": "nightly", "operation": "` + operation + `"}}`
	}},
}

// arguments are those of the request for an operation or a command.
func arguments(operation, name, environment string) string {
	const about = `"options": {"run": "abcdefghijklmnopqrs2"`
	switch o := plan.AllOperations().Of(operation); {
	case strings.HasSuffix(operation, "forget"):
		return `"options": {"only": ["a"]}`
	case o.Promotes:
		return `"options": {"from_environment": "below"}`
	case o.NeedsSource():
		return `"key": "revisions/` + name + `/` + environment + `/1.zip", "version": "v1"`
	case o.NeedsOnly:
		return `"options": {"only": ["a"]}`
	case operation == "unlock":
		return about + `, "reason": "test"}`
	case o.Name == "" || o.Repeats:
		return about + `}`
	}
	return `"options": {}`
}

// httpEvent is the event of a request to a route.
func httpEvent(route, name, environment, authorizer string) string {
	body, about := "", ""
	if strings.Contains(route, "/stacks/") {
		about = `, "queryStringParameters": {"stack": "a"}`
	}
	if strings.HasPrefix(route, "POST") {
		body = `{\"reason\": \"test\"}`
		if strings.HasSuffix(route, "/runs") {
			body = `{\"operation\": \"refresh\"}`
		}
	}
	return `{"version": "2.0", "routeKey": "` + route + `", "body": "` + body + `", "pathParameters": {"project": "` + name + `", "environment": "` + environment +
		`", "run": "abcdefghijklmnopqrs2", "from": "abcdefghijklmnopqrs2", "to": "abcdefghijklmnopqrs2", "target": "eu"}` + about + `, "requestContext": {"requestId": "r1", "authorizer": {` + authorizer + `}}}`
}

// put is the event of an object that was put by an account whose uploads have a role.
func put(key string, has access.Role) string {
	return `{"source": "aws.s3", "detail-type": "Object Created", "detail": {"bucket": {"name": "stackwright"}, "object": {"key": "` + key +
		`", "version-id": "v1", "sequencer": "0A"}, "requester": "` + account(has) + `"}}`
}

// account is the account whose uploads have a role.
func account(has access.Role) string { return fmt.Sprintf("11112222333%d", has) }

// grants is an access file that grants each role to a role of IAM, a token and the uploads of an
// account, for shop@prod.
func grants() string {
	text := "grants:\n"
	for _, name := range access.Roles() {
		role, _ := access.RoleNamed(name)
		to := "\n    to:\n      - arn: arn:aws:iam::111122223333:role/" + name +
			"\n      - token: {iss: https://issuer.example, aud: stackwright, sub: " + name + "}\n      - account: " + account(role) + "\n"
		text += "  - projects: shop@prod\n    role: " + name + to + "  - projects: shop@below\n    role: reader" + to
	}
	return text
}

// objects is a bucket with an access file and one other object, beside a table that denies
// everything and records what it was sent.
type objects struct {
	file, body string
	table      []string
	failing    bool   // the access file cannot be read
	projects   string // the answer of the table, if it gives one
}

// Do is aws.HTTPClient.
func (b *objects) Do(r *http.Request) (*http.Response, error) {
	answer := func(text string) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Length": {strconv.Itoa(len(text))}}, Body: readCloser{strings.NewReader(text)}, ContentLength: int64(len(text))}, nil
	}
	switch {
	case strings.HasSuffix(r.URL.Path, access.Key) && b.failing:
		return newAnswer(r), nil
	case strings.HasSuffix(r.URL.Path, access.Key):
		return answer(b.file)
	case strings.Contains(r.URL.Path, "/projects/"), strings.Contains(r.URL.Path, "/requests/"):
		if r.Method == http.MethodHead {
			return answer("")
		}
		return answer(b.body)
	}
	sent, err := io.ReadAll(r.Body)
	b.table = append(b.table, string(sent))
	if b.projects != "" {
		return answer(b.projects)
	}
	return newAnswer(r), err
}

// A request that is made through an entry is carried out if the role allows it, and never for
// another project or environment. What is denied reaches the table only as a refused run.
func TestAccess(t *testing.T) {
	env, err := wire.FromEnv(func(k string) string { return complete()[k] })
	if err != nil {
		t.Fatal(err)
	}
	b, log := &objects{file: grants()}, &bytes.Buffer{}
	h := wire.New(aws.Config{Region: env.Region, HTTPClient: b, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}, env, log)
	cells := 0
	for _, d := range entries {
		for _, request := range slices.Sorted(maps.Keys(d.needs)) {
			for has := access.None; has <= access.Admin; has++ {
				for _, id := range []string{"shop@prod", "shop@test", "other@prod", "other@test"} {
					name, environment, _ := strings.Cut(id, "@")
					b.table = nil
					log.Reset()
					function, payload := d.event(b, request, has, name, environment)
					text, err := invoke(t, h, function, payload)
					want := has.Includes(d.needs[request]) && about(request, id) || d.field == "Schedule"
					got := carriedOut(t, function, text, err, b.table)
					denied := strings.Contains(log.String(), `"msg":"denied"`) && strings.Contains(log.String(), `"RequestsDenied":1`)
					if got != want || denied == want {
						t.Errorf("%s, %s as %s of %s: carried out: %v, want %v; %s %v\n%s\n%s", d.name, request, has, id, got, want, text, err, b.table, log)
					}
					cells++
				}
			}
		}
	}
	t.Logf("%d cells", cells)
}

// A reader learns which role he has, and not who has which. An admin of a project sees what the file grants for that project.
func TestGrantsAreForAdmins(t *testing.T) {
	env, err := wire.FromEnv(func(k string) string { return complete()[k] })
	if err != nil {
		t.Fatal(err)
	}
	other := "  - projects: other@prod\n    role: admin\n    to: [{arn: 'arn:aws:iam::111122223333:role/secret'}]\n"
	h := wire.New(aws.Config{Region: env.Region, HTTPClient: &objects{file: grants() + other, projects: `{"Item": {"PK": {"S": "PROJECTS"}, "SK": {"S": "shop@prod"}}}`}, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}, env, io.Discard)
	for _, role := range access.Roles() {
		text, err := invoke(t, h, "api", httpEvent("GET /projects/{project}/{environment}/access", "shop", "prod", `"iam": {"userArn": "arn:aws:sts::111122223333:assumed-role/`+role+`/ann"}`))
		if err != nil || !strings.Contains(text, `{\"project\":\"shop@prod\",\"role\":\"`+role+`\",\"caller\":\"arn:aws:sts::111122223333:assumed-role/`+role+`/ann\"`) {
			t.Errorf("%s: %s, %v", role, text, err)
		}
		shown := strings.Contains(text, `{\"role\":\"deployer\",\"to\":\"arn:aws:iam::111122223333:role/deployer\",\"granted_by\":\"access/access.yaml:`)
		if shown != (role == access.Admin.String()) || strings.Contains(text, "role/secret") || !shown && strings.Contains(text, "grants") {
			t.Errorf("%s is shown %s", role, text)
		}
	}
}

// Who promotes has to be allowed to read the environment whose revision is promoted, whether he asks the API or puts a request object.
func TestPromotionReadsBothEnvironments(t *testing.T) {
	env, err := wire.FromEnv(func(k string) string { return complete()[k] })
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]bool{"below": true, "secret": false} {
		b := &objects{file: grants(), body: `{"operation": "promote", "options": {"from_environment": "` + from + `"}}`}
		h := wire.New(aws.Config{Region: env.Region, HTTPClient: b, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}, env, io.Discard)
		text, err := invoke(t, h, "start", put("requests/shop/prod/1.json", access.Deployer))
		if got := carriedOut(t, "start", text, err, b.table); got != want {
			t.Errorf("a request object that promotes %s is carried out: %v, want %v; %s", from, got, want, b.table)
		}
		b.table = nil
		route := httpEvent("POST /projects/{project}/{environment}/runs", "shop", "prod", `"iam": {"userArn": "arn:aws:sts::111122223333:assumed-role/deployer/ann"}`)
		text, err = invoke(t, h, "api", strings.Replace(route, `{\"operation\": \"refresh\"}`, `{\"operation\": \"promote\", \"options\": {\"from_environment\": \"`+from+`\"}}`, 1))
		if got := carriedOut(t, "api", text, err, b.table); got != want {
			t.Errorf("a request to the API that promotes %s is carried out: %v, want %v; %s", from, got, want, text)
		}
	}
}

// A list of projects has those that the caller may read.
func TestProjectsAreLimited(t *testing.T) {
	env, err := wire.FromEnv(func(k string) string { return complete()[k] })
	if err != nil {
		t.Fatal(err)
	}
	b := &objects{file: grants(), projects: `{"Count": 2, "Items": [{"PK": {"S": "PROJECTS"}, "SK": {"S": "other@prod"}}, {"PK": {"S": "PROJECTS"}, "SK": {"S": "shop@prod"}}]}`}
	h := wire.New(aws.Config{Region: env.Region, HTTPClient: b, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}, env, io.Discard)
	text, err := invoke(t, h, "api", httpEvent("GET /projects", "", "", `"iam": {"userArn": "arn:aws:sts::111122223333:assumed-role/reader/ann"}`))
	if err != nil || !strings.Contains(text, `{\"projects\":[\"shop@prod\"]}`) {
		t.Errorf("%s, %v", text, err)
	}
}

// carriedOut reports whether a function tried to carry out a request: it did not answer that it is
// not allowed, and did not store a run that says so.
func carriedOut(t *testing.T, function, text string, err error, table []string) bool {
	t.Helper()
	stored := strings.Join(table, "\n")
	if function == "api" {
		refused := strings.Contains(text, `"statusCode":403`)
		if refused != strings.Contains(text, `not allowed`) || refused && stored != "" || err != nil {
			t.Errorf("%s, %v; the table got %s", text, err, stored)
		}
		return !refused
	}
	if kind(err) != "Denied" || stored == "" {
		t.Errorf("%s, %v; the table got %s", text, err, stored)
	}
	return !strings.Contains(stored, "not allowed")
}

// If S3 does not answer, nothing is allowed, and a later attempt decides.
func TestNothingIsAllowedWithoutADecision(t *testing.T) {
	env, err := wire.FromEnv(func(k string) string { return complete()[k] })
	if err != nil {
		t.Fatal(err)
	}
	b := &objects{body: "{}", failing: true}
	cfg := aws.Config{Region: env.Region, HTTPClient: b, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), Retryer: func() aws.Retryer { return aws.NopRetryer{} }}
	h := wire.New(cfg, env, io.Discard)
	for _, e := range entries {
		for request := range e.needs {
			function, payload := e.event(b, request, access.Admin, "shop", "prod")
			text, err := invoke(t, h, function, payload)
			if len(b.table) > 0 || function == "api" && !strings.Contains(text, `"statusCode":500`) || function != "api" && kind(err) != "Broken" {
				t.Errorf("%s, %s: %s %v; the table got %s", e.name, request, text, err, b.table)
			}
		}
	}
}

// Each route, each operation and command that can be requested, each operation that can be scheduled and each kind of
// principal is in the table of entries, with the role that it needs.
func TestNothingIsWithoutAccess(t *testing.T) {
	if got := slices.Sorted(maps.Keys(routes)); !slices.Equal(got, api.Routes()) {
		t.Errorf("the table has the routes %q, and there are %q", got, api.Routes())
	}
	all := slices.Sorted(slices.Values(append(plan.AllOperations().Requestable(), run.ControlNames()...)))
	if got := slices.Sorted(maps.Keys(requests)); !slices.Equal(got, all) {
		t.Errorf("the table has the requests %q, and there are %q", got, all)
	}
	for name, role := range requests {
		if got := (run.Request{Operation: name}).Role(); got != role {
			t.Errorf("%s needs the role %s, want %s", name, got, role)
		}
	}
	fields := make(map[string]bool)
	for _, d := range entries {
		fields[d.field] = true
		if want := plan.AllOperations().Schedulable(); d.field == "Schedule" && !slices.Equal(slices.Sorted(maps.Keys(d.needs)), slices.Sorted(slices.Values(want))) {
			t.Errorf("schedules can request %q", want)
		}
	}
	for f := range reflect.TypeFor[access.Principal]().Fields() {
		if !fields[f.Name] {
			t.Errorf("principals with the field %s come through no entry of the table", f.Name)
		}
	}
}
