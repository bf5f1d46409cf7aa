package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/schema"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// sources are the folders with the types that the API shows, and closed their types of text that have only the values of their
// constants.
var (
	sources = []string{"../report", "../../plan", "../../run", "../../project", "../../fault", "../../purge", "../../lib/difference", "../../lib/resource"}
	closed  = []reflect.Type{
		reflect.TypeFor[fault.Kind](), reflect.TypeFor[run.State](), reflect.TypeFor[run.Command](), reflect.TypeFor[run.Status](),
		reflect.TypeFor[plan.StackAction](), reflect.TypeFor[plan.Certainty](), reflect.TypeFor[difference.Action](), reflect.TypeFor[resource.Replacement](),
		reflect.TypeFor[project.PolicyLevel](), reflect.TypeFor[report.EventKind](),
	}
)

type object = map[string]any

// TestDocument writes openapi.json, the document of the API, with -update.
func TestDocument(t *testing.T) {
	text, err := json.MarshalIndent(documentOf(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "openapi.json", string(text)+"\n")
}

// documentOf is the document of the API.
// https://spec.openapis.org/oas/v3.1.1.html
func documentOf(t *testing.T) object {
	m, err := schema.New("github.com/stackwright/stackwright/pkg/entry/api", sources, closed...)
	if err != nil {
		t.Fatal(err)
	}
	add := func(v any) string {
		name, err := m.Add(reflect.TypeOf(v))
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	add(report.Problem{})
	paths, bodies := object{}, map[string]route{}
	for _, key := range Routes() {
		r := routes()[key]
		method, path, _ := strings.Cut(key, " ")
		if paths[path] == nil {
			paths[path] = object{}
		}
		operation := object{
			"operationId": r.id, "summary": r.summary, "x-role": r.role.String(), "tags": []string{tagOf(path)},
			"parameters": parametersOf(method, path, r), "responses": responsesOf(method, r, add),
		}
		if r.body != nil {
			name := add(r.body)
			if r.options != nil {
				name = strings.ToUpper(r.id[:1]) + r.id[1:] + "Request"
				bodies[name] = r
			}
			operation["requestBody"] = object{"required": r.options == nil || len(r.needs) > 0, "content": object{"application/json": object{"schema": refTo(name)}}}
		}
		paths[path].(object)[strings.ToLower(method)] = operation
	}
	schemas := m.Schemas(components)
	for name, r := range bodies {
		schemas[name] = restricted(schemas[reflect.TypeOf(r.body).Name()].(object), r)
	}
	schemas["RunRequest"].(object)["properties"].(object)["operation"].(object)["enum"] = plan.AllOperations().Requestable()
	open(schemas)
	return object{
		"openapi": "3.1.1",
		"info": object{
			"title": "Stackwright", "version": "1",
			"description": "Starts runs, shows them, and gives them commands. Callers sign requests with AWS credentials for the service execute-api, or send a token, as the installation is set.",
			"license":     object{"name": "Apache 2.0", "identifier": "Apache-2.0"},
		},
		"security": []object{{"signature": []string{}}, {"token": []string{}}},
		"paths":    paths,
		"components": object{
			"schemas": schemas,
			"securitySchemes": object{
				"signature": object{"type": "apiKey", "in": "header", "name": "Authorization", "x-amazon-apigateway-authtype": "awsSigv4", "description": "AWS Signature Version 4"},
				"token":     object{"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
			},
		},
	}
}

// Table is the table of the routes in the documents.
func Table() string {
	var b strings.Builder
	b.WriteString("| route | role | |\n|---|---|---|\n")
	keys := Routes()
	slices.SortStableFunc(keys, func(x, y string) int { return strings.Compare(pathIn(x), pathIn(y)) })
	for _, key := range keys {
		r := routes()[key]
		role := r.role.String()
		if !isOfProject(key) {
			role += map[bool]string{true: " of all", false: " of any"}[r.role == access.Admin]
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, role, r.summary)
	}
	return b.String()
}

// pathIn is the path in the key of a route.
func pathIn(key string) string {
	_, path, _ := strings.Cut(key, " ")
	return path
}

// compiled has the document for Fits, in which answers have no other properties than those that are described.
var compiled = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	for _, s := range read.(object)["components"].(object)["schemas"].(object) {
		if s := s.(object); s["properties"] != nil {
			s["additionalProperties"] = false
		}
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	return c, c.AddResource("openapi.json", read)
})

// schemaAt compiles a schema of the document, by the keys that lead to it from the route.
func schemaAt(route string, keys ...string) (*jsonschema.Schema, error) {
	c, err := compiled()
	if err != nil {
		return nil, err
	}
	method, path, _ := strings.Cut(route, " ")
	at := "openapi.json#"
	for _, key := range append([]string{"paths", path, strings.ToLower(method)}, keys...) {
		at += "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(key)
	}
	return c.Compile(at)
}

// Fits reports an error if a request or its answer is not what the document says: the answer, and the body if it was accepted.
func Fits(t testing.TB, e events.APIGatewayV2HTTPRequest, r events.APIGatewayV2HTTPResponse) {
	t.Helper()
	to, known := routes()[e.RouteKey]
	if !known || r.StatusCode == http.StatusNotModified || r.IsBase64Encoded {
		return
	}
	check := func(what, text string, keys ...string) {
		s, err := schemaAt(e.RouteKey, keys...)
		if err != nil {
			t.Errorf("the document does not say that %s has %s (%d, %s): %v", e.RouteKey, what, r.StatusCode, r.Headers["content-type"], err)
			return
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("the document does not say that %s has %s: %v\n%.2000s", e.RouteKey, what, err, text)
		}
	}
	if kind := r.Headers["content-type"]; slices.Contains(to.media, kind) {
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s answers %d as %s", e.RouteKey, r.StatusCode, kind)
		}
		return
	}
	keys := []string{"responses", strconv.Itoa(r.StatusCode), "content", r.Headers["content-type"], "schema"}
	if _, some := e.QueryStringParameters[fieldsName]; to.selects() && !some && r.StatusCode < http.StatusBadRequest {
		keys = append(keys, "anyOf", "0") // the whole answer
	}
	check("this answer", r.Body, keys...)
	if to.body != nil && r.StatusCode < http.StatusBadRequest && !e.IsBase64Encoded && e.Body != "" && !strings.Contains(e.Body, `"who":""`) {
		check("this body", e.Body, "requestBody", "content", "application/json", "schema")
	}
}

// The options of requests in the document are those that there are.
func TestOptions(t *testing.T) {
	keys := func(v any) map[string]bool {
		all := map[string]bool{}
		for i := range reflect.TypeOf(v).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
			all[name] = true
		}
		return all
	}
	runs, commands, known := keys(report.RunOptions{}), keys(report.CommandRequest{}), map[string]bool{"run": true} // a retry names its run as an option
	for _, o := range plan.Options() {
		if known[string(o)] = true; !runs[string(o)] && !commands[string(o)] {
			t.Errorf("no request has the option %s", o)
		}
	}
	for name := range maps.All(runs) {
		if !known[name] {
			t.Errorf("there is no option %s", name)
		}
	}
	for _, c := range run.Controls() {
		for _, o := range c.Options {
			if !commands[string(o)] {
				t.Errorf("a request for %s has no option %s", c.Name, o)
			}
		}
	}
}

// components is where the document has its schemas.
const components = "#/components/schemas/"

func refTo(name string) object { return object{"$ref": components + name} }

// tagOf is what a path is about: the last of its words that names things.
func tagOf(path string) string {
	for _, tag := range []string{"runs", "uploads", "stacks", "schedules", "lock", "approvals", "revisions", "targets", "projects"} {
		if strings.Contains(path, "/"+tag) {
			return tag
		}
	}
	return "installation"
}

// parametersOf are the parameters of a route: those of its path, its query and its headers.
func parametersOf(method, path string, r route) []object {
	all := []object{}
	add := func(in, name, text string, required bool, s object) {
		all = append(all, object{"in": in, "name": name, "description": text, "required": required, "schema": s})
	}
	words := map[string]struct{ text, pattern string }{
		"project":     {"the name of the project", project.Name.String()},
		"environment": {"the name of the environment; default where a project has none", project.EnvironmentName.String()},
		"run":         {"the ID of the run", runID.String()},
		"revision":    {"the revision: a run that has deployed it, the beginning of the ID of the run, current, previous or current~2", ""},
		"from":        {"the revision before: a run that has deployed it, or has read its files, the beginning of the ID of the run, current, previous or current~2", ""},
		"to":          {"the revision after, in the same way", ""},
		"target":      {"the name of the target", project.Name.String()},
	}
	for _, part := range strings.Split(path, "/") {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(part, "}"), "{"); ok {
			schema := object{"type": "string", "minLength": 1}
			if words[name].pattern != "" {
				schema = object{"type": "string", "pattern": words[name].pattern}
			}
			add("path", name, words[name].text, true, schema)
		}
	}
	for _, p := range r.query {
		s := object{"type": "string"}
		switch {
		case p.number:
			s = object{"type": "integer", "minimum": p.least, "maximum": p.most, "default": p.usual}
		case p.moment:
			s["format"] = "date-time"
		case p.needed:
			s["minLength"] = 1
		case p.values != nil:
			s = object{"type": "string", "enum": p.values}
		}
		add("query", p.name, p.text, p.needed, s)
	}
	switch {
	case method == http.MethodGet:
		add("header", "If-None-Match", "the ETag of an answer: if it is still the same, the answer is 304", false, object{"type": "string"})
	case r.status == http.StatusAccepted:
		add("header", "Idempotency-Key", "requests of one caller with the same key make one run, or give one command", false, object{"type": "string", "minLength": 1, "maxLength": mostKey, "pattern": "^[ -~]*$"})
	}
	return all
}

// responsesOf are the answers of a route by their statuses.
func responsesOf(method string, r route, add func(any) string) object {
	body := object{"type": "object"}
	if _, any := r.answers.(json.RawMessage); !any && r.answers != nil {
		body = refTo(add(r.answers))
	}
	if r.selects() {
		body = object{"anyOf": []object{body, {"type": "object", "description": "if the request has the parameter fields: the same, with these fields alone"}}}
	}
	if r.other != nil {
		body = object{"anyOf": []object{body, refTo(add(r.other))}}
	}
	status := max(r.status, http.StatusOK)
	good := object{"description": http.StatusText(status), "content": object{"application/json": object{"schema": body}}}
	if r.answers == nil {
		good["content"] = object{}
	}
	for _, media := range r.media {
		good["content"].(object)[media] = object{"schema": object{"type": "string"}}
	}
	headers, all := object{}, object{}
	header := func(name, text string) {
		headers[name] = object{"description": text, "schema": object{"type": "string"}}
	}
	bad := []int{400, 403, 404, 409, 429, 500, 503}
	if method == http.MethodGet {
		bad = append(bad, http.StatusNotAcceptable) // for callers that do not understand compression
		header("ETag", "identifies the answer, but for forecasts")
		all["304"] = object{"description": "the answer is the one with the ETag that the request has"}
	}
	if status == http.StatusAccepted {
		header("Location", "the path of the run")
		good["links"] = linksOfRun()
	}
	if len(headers) > 0 {
		good["headers"] = headers
	}
	if r.body != nil {
		bad = append(bad, 413, 415)
	}
	all[strconv.Itoa(status)] = good
	for _, code := range bad {
		refused := object{"description": http.StatusText(code), "content": object{problemType: object{"schema": refTo("Problem")}}}
		if code == 429 || code == 503 {
			refused["headers"] = object{"Retry-After": object{"description": "the seconds after which to repeat the request", "schema": object{"type": "integer"}}}
		}
		all[strconv.Itoa(code)] = refused
	}
	// API Gateway itself answers who may not call the route, and who calls too often.
	for _, code := range []string{"401", "403", "429"} {
		own := object{"schema": object{"type": "object", "properties": object{"message": object{"type": "string"}}, "required": []string{"message"}}}
		if all[code] == nil {
			all[code] = object{"description": http.StatusText(http.StatusUnauthorized), "content": object{}}
		}
		all[code].(object)["content"].(object)["application/json"] = own
	}
	return all
}

// linksOfRun lead from an answer that names a run to what can be done with the run.
func linksOfRun() object {
	all := object{}
	for _, key := range Routes() {
		if strings.Contains(key, "{run}") {
			id := routes()[key].id
			all[id] = object{"operationId": id, "parameters": object{
				"path.project": "$request.path.project", "path.environment": "$request.path.environment", "path.run": "$response.body#/run",
			}}
		}
	}
	return all
}

// restricted is the schema of a body of a route that takes only some options.
func restricted(s object, r route) object {
	properties := object{}
	for _, o := range r.options {
		properties[string(o)] = s["properties"].(object)[string(o)]
	}
	required := []string{}
	for _, o := range r.needs {
		required = append(required, string(o))
	}
	return object{"type": "object", "description": s["description"], "additionalProperties": false, "properties": properties, "required": required}
}

// open lets the objects of answers have more properties than are described: later versions may add some.
func open(schemas object) {
	closed := map[string]bool{}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case object:
			if to, ok := v["$ref"].(string); ok {
				if name := strings.TrimPrefix(to, components); !closed[name] {
					closed[name] = true
					visit(schemas[name])
				}
			}
			for _, inner := range v {
				visit(inner)
			}
		case []any:
			for _, inner := range v {
				visit(inner)
			}
		}
	}
	for name := range schemas {
		if strings.HasSuffix(name, "Request") {
			visit(refTo(name))
		}
	}
	delete(schemas, reflect.TypeFor[report.CommandRequest]().Name())
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if !closed[name] {
			delete(schemas[name].(object), "additionalProperties")
		}
	}
}
