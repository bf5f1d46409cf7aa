// Package schema makes JSON schemas of Go types. Descriptions are the comments of their source, and the values of a type of text
// are its constants.
package schema

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/invopop/jsonschema"
)

// A Maker makes schemas of types whose source it has read.
type Maker struct {
	reflector jsonschema.Reflector
	values    map[string][]string // of constants, by the import path and the name of their type
	closed    map[reflect.Type]bool
	names     map[string]reflect.Type
	schemas   map[string]any
}

// New reads the source of the packages in some folders, given relative to the present one, whose import path is base. The
// closed types are those of text that have no values but their constants.
func New(base string, folders []string, closed ...reflect.Type) (*Maker, error) {
	m := &Maker{values: make(map[string][]string), closed: make(map[reflect.Type]bool), names: make(map[string]reflect.Type), schemas: make(map[string]any)}
	for _, t := range closed {
		m.closed[t] = true
	}
	m.reflector = jsonschema.Reflector{Anonymous: true, Mapper: m.constants, Namer: m.name}
	for _, folder := range folders {
		if err := m.reflector.AddGoComments(base, folder, jsonschema.WithFullComment()); err != nil {
			return nil, fmt.Errorf("read the comments of %s: %w", folder, err)
		}
		if err := m.readConstants(path.Join(base, folder), folder); err != nil {
			return nil, fmt.Errorf("read the constants of %s: %w", folder, err)
		}
	}
	return m, nil
}

// readConstants reads the constants of a package.
func (m *Maker) readConstants(importPath, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(source, func(n ast.Node) bool {
			if c, ok := n.(*ast.ValueSpec); ok && len(c.Values) == 1 {
				typ, named := c.Type.(*ast.Ident)
				value, literal := c.Values[0].(*ast.BasicLit)
				if text, err := strconv.Unquote(literalOf(value)); named && literal && err == nil {
					key := importPath + "." + typ.Name
					m.values[key] = append(m.values[key], text)
				}
			}
			return true
		})
	}
	return nil
}

// literalOf is the source of a literal; of none it is empty.
func literalOf(l *ast.BasicLit) string {
	if l == nil {
		return ""
	}
	return l.Value
}

// constants is the schema of a closed type.
func (m *Maker) constants(t reflect.Type) *jsonschema.Schema {
	if !m.closed[t] {
		return nil
	}
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range m.values[t.PkgPath()+"."+t.Name()] {
		s.Enum = append(s.Enum, v)
	}
	return s
}

// name names a type; of two with one name, the second has its package in front.
func (m *Maker) name(t reflect.Type) string {
	name := t.Name()
	if name == "" {
		return ""
	}
	if first, taken := m.names[name]; taken && first != t {
		pkg := []rune(path.Base(t.PkgPath()))
		name = string(unicode.ToUpper(pkg[0])) + string(pkg[1:]) + name
	}
	m.names[name] = t
	return name
}

// Add makes the schema of a type of a struct, and of all types that it has, and returns the name of its own.
func (m *Maker) Add(t reflect.Type) (string, error) {
	text, err := json.Marshal(m.reflector.ReflectFromType(t))
	if err != nil {
		return "", fmt.Errorf("make the schema of %s: %w", t, err)
	}
	var made struct {
		Ref  string         `json:"$ref"`
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return "", fmt.Errorf("read the schema of %s: %w", t, err)
	}
	for name, s := range made.Defs {
		m.schemas[name] = s
	}
	return strings.TrimPrefix(made.Ref, "#/$defs/"), nil
}

// Schemas returns the schemas by their names. They refer to each other below prefix, as in "#/$defs/".
func (m *Maker) Schemas(prefix string) map[string]any {
	return refer(m.schemas, prefix).(map[string]any)
}

// refer is a schema whose references begin with prefix.
func refer(v any, prefix string) any {
	switch v := v.(type) {
	case map[string]any:
		all := make(map[string]any, len(v))
		for key, inner := range v {
			text, isText := inner.(string)
			switch {
			case isText && key == "$ref":
				all[key] = prefix + strings.TrimPrefix(text, "#/$defs/")
			case isText && key == "description":
				all[key] = strings.ReplaceAll(text, "\n", " ")
			default:
				all[key] = refer(inner, prefix)
			}
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i, inner := range v {
			all[i] = refer(inner, prefix)
		}
		return all
	}
	return v
}
