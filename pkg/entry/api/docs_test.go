package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html/template"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/lib/golden"
)

// A docsGroup is the routes about one thing, in the document for people.
type docsGroup struct {
	Name   string
	Routes []docsRoute
}

// A docsRoute is a route in the document for people.
type docsRoute struct {
	ID, Method, Path, Summary, Role string
	Parameters                      []docsField
	Body                            string // the name of the schema
	Answers                         []string
	Media                           []string
}

// A docsSchema is a type of a body or an answer, or of a part of one.
type docsSchema struct {
	Name, Text string
	Fields     []docsField
}

// A docsField is a parameter, or a field of a type.
type docsField struct {
	Name, In, Type, Link, Text string
	Required                   bool
}

// docsTemplate is the document for people. Texts are escaped.
var docsTemplate = template.Must(template.New("docs").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stackwright: the HTTP API</title>
<style>{{.Style}}</style>
</head>
<body>
<main>
<h1>The HTTP API of Stackwright</h1>
<p>{{.Text}}</p>
<p>The same for programs, in OpenAPI 3.1: <a href="openapi.json">openapi.json</a>. Answers with an error are <a href="#type-Problem">problem documents</a>.</p>
<nav aria-label="Routes">
{{range .Groups}}<p><strong>{{.Name}}</strong></p>
<ul>{{range .Routes}}<li><a href="#{{.ID}}">{{.Summary}}</a></li>{{end}}</ul>
{{end}}</nav>
{{range .Groups}}<h2>{{.Name}}</h2>
{{range .Routes}}<section id="{{.ID}}">
<h3><code>{{.Method}} {{.Path}}</code></h3>
<p>{{.Summary}}.</p>
<p class="soft">Needs the role {{.Role}}.{{if .Body}} The body is <a href="#type-{{.Body}}">{{.Body}}</a>.{{end}}{{if .Answers}} The answer is {{range $i, $a := .Answers}}{{if $i}} or {{end}}<a href="#type-{{$a}}">{{$a}}</a>{{end}}.{{end}}{{if .Media}}{{if .Answers}} It can also be {{else}} The answer is {{end}}{{range $i, $m := .Media}}{{if $i}} or {{end}}{{$m}}{{end}}.{{end}}</p>
{{if .Parameters}}<table><tbody>
{{range .Parameters}}<tr><td><code>{{.Name}}</code>{{if .Required}} <span class="soft">required</span>{{end}}</td><td class="soft">{{.In}}</td><td>{{.Text}}{{if .Type}} <span class="soft">({{.Type}})</span>{{end}}</td></tr>
{{end}}</tbody></table>
{{end}}</section>
{{end}}{{end}}<h2>Types</h2>
{{range .Schemas}}<details id="type-{{.Name}}"><summary><code>{{.Name}}</code> {{.Text}}</summary>
<table><tbody>
{{range .Fields}}<tr><td><code>{{.Name}}</code>{{if .Required}} <span class="soft">required</span>{{end}}</td><td>{{if .Link}}<a href="#type-{{.Link}}">{{.Type}}</a>{{else}}{{.Type}}{{end}}</td><td>{{.Text}}</td></tr>
{{end}}</tbody></table>
</details>
{{end}}</main>
</body>
</html>
`))

// TestDocsForPeople writes docs.html, the document for people, with -update.
func TestDocsForPeople(t *testing.T) {
	style, err := os.ReadFile("docs.css")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Info       struct{ Description string }
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]object }
	}
	text, err := json.Marshal(documentOf(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	var groups []docsGroup
	for _, key := range Routes() {
		method, path, _ := strings.Cut(key, " ")
		r := docsRouteOf(t, d.Paths[path][strings.ToLower(method)], routes()[key])
		r.Method, r.Path = method, path
		i := slices.IndexFunc(groups, func(g docsGroup) bool { return g.Name == tagOf(path) })
		if i < 0 {
			i, groups = len(groups), append(groups, docsGroup{Name: tagOf(path)})
		}
		groups[i].Routes = append(groups[i].Routes, r)
	}
	slices.SortFunc(groups, func(a, b docsGroup) int { return cmp.Compare(a.Name, b.Name) })
	var schemas []docsSchema
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		schemas = append(schemas, docsSchemaOf(name, d.Components.Schemas[name]))
	}
	var b bytes.Buffer
	if err := docsTemplate.Execute(&b, map[string]any{"Style": template.CSS(style), "Text": d.Info.Description, "Groups": groups, "Schemas": schemas}); err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "docs.html", b.String())
}

// docsRouteOf is a route by its description in the document.
func docsRouteOf(t *testing.T, description []byte, of route) docsRoute {
	t.Helper()
	var o struct {
		Parameters []struct {
			In, Name, Description string
			Required              bool
			Schema                object
		}
		RequestBody struct {
			Content map[string]struct{ Schema object }
		}
	}
	if err := json.Unmarshal(description, &o); err != nil {
		t.Fatal(err)
	}
	r := docsRoute{ID: of.id, Summary: of.summary, Role: of.role.String(), Media: of.media}
	for _, p := range o.Parameters {
		kind, _ := typeOf(p.Schema)
		r.Parameters = append(r.Parameters, docsField{Name: p.Name, In: p.In, Type: kind, Text: p.Description, Required: p.Required})
	}
	_, r.Body = typeOf(o.RequestBody.Content["application/json"].Schema)
	for _, v := range []any{of.answers, of.other} {
		if _, raw := v.(json.RawMessage); v != nil && !raw {
			r.Answers = append(r.Answers, reflect.TypeOf(v).Name())
		}
	}
	return r
}

// docsSchemaOf is a schema of the document.
func docsSchemaOf(name string, s object) docsSchema {
	p := docsSchema{Name: name}
	p.Text, _ = s["description"].(string)
	properties, _ := s["properties"].(object)
	required, _ := s["required"].([]any)
	for _, field := range slices.Sorted(maps.Keys(properties)) {
		of, _ := properties[field].(object)
		f := docsField{Name: field, Required: slices.Contains(required, any(field))}
		f.Type, f.Link = typeOf(of)
		f.Text, _ = of["description"].(string)
		p.Fields = append(p.Fields, f)
	}
	return p
}

// typeOf names a type in the document for people, and the schema that it leads to.
func typeOf(s object) (kind, link string) {
	if to, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(to, components)
		return name, name
	}
	if values, ok := s["enum"].([]any); ok {
		var all []string
		for _, v := range values {
			text, _ := v.(string)
			all = append(all, text)
		}
		return strings.Join(all, ", "), ""
	}
	if items, ok := s["items"].(object); ok {
		kind, link = typeOf(items)
		return "list of " + kind, link
	}
	if values, ok := s["additionalProperties"].(object); ok {
		kind, link = typeOf(values)
		return "map of " + kind, link
	}
	if kind, _ = s["format"].(string); kind == "" {
		kind, _ = s["type"].(string)
	}
	return kind, ""
}

// The document for people loads nothing, has no scripts, and its policy allows its own style only. Each of its links leads to a place in it.
func TestDocsAreSafe(t *testing.T) {
	said, err := API{}.docs(t.Context(), question{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := said.response(events.APIGatewayV2HTTPRequest{})
	if err != nil || r.Headers["content-type"] != htmlType || !strings.Contains(r.Headers["content-security-policy"], "default-src 'none'; style-src 'sha256-") {
		t.Errorf("%v %v", r.Headers, err)
	}
	for _, unsafe := range []string{"<script", "<img", "<link", "<iframe", " style=", " onclick", "src=", `href="http`, `href="//`, "url(", "@import"} {
		if at := strings.Index(r.Body, unsafe); at >= 0 {
			t.Errorf("it has %q: %.100s", unsafe, r.Body[at:])
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(r.Body, -1) {
		if strings.Count(r.Body, `id="`+m[1]+`"`) != 1 {
			t.Errorf("a link leads to %s", m[1])
		}
	}
	for _, key := range Routes() {
		if strings.Count(r.Body, "<h3><code>"+key+"</code></h3>") != 1 {
			t.Errorf("it lacks %s", key)
		}
	}
}
