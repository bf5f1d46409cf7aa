package property

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/resource"
)

// readSchemas reads the schemas of the types that AWS publishes in any region, as JSON by name. A type has one schema
// in all regions.
func readSchemas(t *testing.T, folder string) map[string]string {
	t.Helper()
	regions, err := filepath.Glob(filepath.Join(folder, "providers", "*.json"))
	if err != nil || len(regions) == 0 {
		t.Fatal("there are no schemas in", folder, err)
	}
	files := make(map[string]string)
	for _, region := range regions {
		var here map[string]string
		readFile(t, region, &here)
		for name, file := range here {
			if other, known := files[name]; known && other != file {
				t.Errorf("%s has several schemas", name)
			}
			files[name] = file
		}
	}
	all := make(map[string]string)
	for name, file := range files {
		if !Public(name) {
			continue
		}
		var s source
		readFile(t, filepath.Join(folder, "resources", file+".json"), &s)
		all[name] = encode(t, s.root(t, name))
	}
	for _, name := range resource.Names() { // AWS publishes no schema of a service that it is ending
		if all[name] == "" && Public(name) {
			all[name] = "{}"
		}
	}
	return all
}

func readFile(t *testing.T, file string, v any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(file, err)
	}
}

// A source is the schema of a resource type as AWS publishes it, with what cfn-lint has added.
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
// https://github.com/aws-cloudformation/cfn-lint/blob/main/docs/cfn-schema-specification.md
type source struct {
	sourceNode
	Definitions map[string]sourceNode `json:"definitions"`
	ReadOnly    []string              `json:"readOnlyProperties"`
}

type sourceNode struct {
	Reference  string                `json:"$ref"`
	Type       any                   `json:"type"`
	Properties map[string]sourceNode `json:"properties"`
	Additional json.RawMessage       `json:"additionalProperties"`
	Patterns   map[string]sourceNode `json:"patternProperties"`
	Required   []string              `json:"required"`
	Items      json.RawMessage       `json:"items"`
	Enum       []any                 `json:"enum"`
	AnyCase    []any                 `json:"enumCaseInsensitive"`
	Pattern    string                `json:"pattern"`
	MinLength  float64               `json:"minLength"`
	MaxLength  float64               `json:"maxLength"`
	MinItems   float64               `json:"minItems"`
	MaxItems   float64               `json:"maxItems"`
	Minimum    *float64              `json:"minimum"`
	Maximum    *float64              `json:"maximum"`
	Default    any                   `json:"default"`

	AnyOf []sourceNode `json:"anyOf"`
	OneOf []sourceNode `json:"oneOf"`
	AllOf []sourceNode `json:"allOf"`
	If    *sourceNode  `json:"if"`
	Then  *sourceNode  `json:"then"`
	Else  *sourceNode  `json:"else"`
}

// parts are the schemas that say more about the same value.
func (n sourceNode) parts() []sourceNode {
	all := slices.Concat(n.AnyOf, n.OneOf, n.AllOf)
	for _, one := range []*sourceNode{n.If, n.Then, n.Else} {
		if one != nil {
			all = append(all, *one)
		}
	}
	return all
}

// local are the properties that name a file of the user's machine, which aws cloudformation package replaces.
// https://docs.aws.amazon.com/cli/latest/reference/cloudformation/package.html
var local = map[string][]string{
	"AWS::ApiGateway::RestApi":                  {"BodyS3Location"},
	"AWS::CodeCommit::Repository":               {"Code", "S3"},
	"AWS::ElasticBeanstalk::ApplicationVersion": {"SourceBundle"},
	"AWS::Lambda::Function":                     {"Code"},
	"AWS::Lambda::LayerVersion":                 {"Content"},
	"AWS::StepFunctions::StateMachine":          {"DefinitionS3Location"},
}

// A maker makes the schema of the table.
type maker struct {
	t        *testing.T
	source   source
	made     root
	readOnly map[string]bool // the last names of paths below properties
}

func (s source) root(t *testing.T, name string) root {
	m := &maker{t, s, root{Definitions: make(map[string]*Node)}, make(map[string]bool)}
	for _, pointer := range s.ReadOnly {
		path := strings.Split(strings.TrimPrefix(pointer, "/properties/"), "/")
		if len(path) > 1 {
			m.readOnly[path[len(path)-1]] = true
		}
		if m.isList(path) {
			m.made.Lists = append(m.made.Lists, strings.Join(path, "."))
		}
	}
	slices.Sort(m.made.Lists)
	m.made.Node = *m.node(s.sourceNode)
	m.made.Required = slices.DeleteFunc(m.made.Required, func(name string) bool {
		return slices.Contains(s.ReadOnly, "/properties/"+name)
	})
	m.allowFiles(local[name])
	return m.made
}

// isList reports whether the value at the path is a list of texts.
func (m *maker) isList(path []string) bool {
	at := m.source.sourceNode
	for _, name := range path {
		at = m.follow(m.follow(at).Properties[name])
	}
	var items sourceNode
	return at.Type == "array" && json.Unmarshal(at.Items, &items) == nil && m.follow(items).Type == "string"
}

// follow is the schema that a reference names.
func (m *maker) follow(n sourceNode) sourceNode {
	for n.Reference != "" {
		n = m.source.Definitions[strings.TrimPrefix(n.Reference, "#/definitions/")]
	}
	return n
}

// allowFiles lets the value at the path be a text.
func (m *maker) allowFiles(path []string) {
	if path == nil {
		return
	}
	at := &m.made.Node
	for _, name := range path {
		at = at.Properties[name]
		for at.Reference != "" {
			definition := *m.made.Definitions[at.Reference]
			*at = definition // this place alone
		}
	}
	at.Kinds += string(textKind)
}

// node is what the table says of a value. A definition is made when something refers to it.
func (m *maker) node(from sourceNode) *Node {
	n := &Node{
		Kinds: kindsOf(from.Type), Enum: texts(from.Enum), Pattern: from.Pattern,
		MinLength: int(from.MinLength), MaxLength: int(from.MaxLength), MinItems: int(from.MinItems),
		MaxItems: int(from.MaxItems), Minimum: from.Minimum, Maximum: from.Maximum,
	}
	if from.AnyCase != nil {
		n.Enum, n.AnyCase = texts(from.AnyCase), true
	}
	if !compiles(n.Pattern) || n.Pattern == tagPattern {
		n.Pattern = ""
	}
	var items sourceNode
	if json.Unmarshal(from.Items, &items) == nil {
		n.Items = m.node(items)
	}
	if from.Reference != "" {
		n.Reference = m.definition(from.Reference)
	}
	m.properties(n, from)
	if encode(m.t, n) == "{}" {
		return &Node{}
	}
	return n
}

// definition makes a definition, and returns its name.
func (m *maker) definition(reference string) string {
	name := strings.TrimPrefix(reference, "#/definitions/")
	if m.made.Definitions[name] != nil {
		return name
	}
	from, ok := m.source.Definitions[name]
	if !ok { // it refers into a property
		return ""
	}
	n := &Node{}
	m.made.Definitions[name] = n
	*n = *m.node(from)
	return name
}

// properties adds what is said of the properties of a mapping.
func (m *maker) properties(n *Node, from sourceNode) {
	for name, p := range from.Properties {
		if n.Properties == nil {
			n.Properties = make(map[string]*Node)
		}
		n.Properties[name] = m.node(p)
	}
	complete := true
	for pattern, p := range from.Patterns {
		if !compiles(pattern) {
			complete = false
			continue
		}
		if n.Patterns == nil {
			n.Patterns = make(map[string]*Node)
		}
		n.Patterns[pattern] = m.node(p)
	}
	var others sourceNode
	switch {
	case string(from.Additional) == "false":
		n.Closed = complete && len(n.Properties)+len(n.Patterns) > 0
	case json.Unmarshal(from.Additional, &others) == nil && complete:
		n.Others = m.node(others)
	}
	for _, name := range from.Required {
		p, has := from.Properties[name]
		if has && p.Default == nil && !(m.readOnly[name] && n != &m.made.Node) {
			n.Required = append(n.Required, name)
		}
	}
	slices.Sort(n.Required)
	for _, part := range from.parts() {
		m.mention(n, part)
	}
}

// mention adds the properties that other parts of a schema have: they are known, and not judged.
func (m *maker) mention(n *Node, part sourceNode) {
	n.Closed = n.Closed && part.Reference == ""
	if n.Properties == nil {
		return
	}
	for name := range part.Properties {
		if n.Properties[name] == nil {
			n.Properties[name] = &Node{}
		}
	}
	for _, more := range part.parts() {
		m.mention(n, more)
	}
}

// kindsOf are the kinds of a type, which is a text or a list of texts.
func kindsOf(t any) string {
	var all []byte
	for _, one := range append(list(t), texts([]any{t})...) {
		if one != "null" && one != "" {
			all = append(all, one[0])
		}
	}
	slices.Sort(all)
	return string(slices.Compact(all))
}

func list(v any) []string {
	all, _ := v.([]any)
	return texts(all)
}

// texts are scalars, as CloudFormation writes them.
func texts(values []any) []string {
	var all []string
	for _, v := range values {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case bool:
			all = append(all, strconv.FormatBool(v))
		case float64:
			all = append(all, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	return all
}

// tagPattern is what cfn-lint says of tags of many types. Some services accept more than that.
// https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html
const tagPattern = `^([\p{L}\p{Z}\p{N}_.:/=+\-@]*)$`

// compiles reports whether Go understands the pattern as AWS does. && is an intersection in Java alone.
func compiles(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil && !strings.Contains(pattern, "&&")
}
