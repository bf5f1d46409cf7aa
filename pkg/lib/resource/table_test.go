package resource

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	schemas = flag.String("schemas", "", "the folder cfnlint/data/schemas of an installed cfn-lint")
	update  = flag.Bool("update", false, "write the table of types anew, from -schemas")
)

// maxTable is how many bytes the table may add to a program.
const maxTable = 300 << 10

func TestTableIsSmall(t *testing.T) {
	if len(compressed) > maxTable {
		t.Errorf("the table of types has %d bytes, at most %d are allowed", len(compressed), maxTable)
	}
	if n := len(Names()); n < 1500 {
		t.Errorf("the table has %d types", n)
	}
	if !slices.IsSorted(Names()) {
		t.Error("the types are not sorted")
	}
}

// The table is made from the schemas that a pinned version of cfn-lint holds:
// .ci/integration/requirements.txt names it. make types writes the table, make
// integration compares it.
func TestTableIsMadeFromSchemas(t *testing.T) {
	if *schemas == "" {
		t.Skip("needs -schemas: make integration and make types give it")
	}
	made := makeTable(t, *schemas)
	if *update {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, made); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("types.gz", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d types, %d bytes, %d compressed", strings.Count(made, "\n"), len(made), b.Len())
		return
	}
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := io.ReadAll(r); err != nil || string(kept) != made {
		t.Errorf("types.gz is not what the schemas say: run make types (%v)", err)
	}
}

// makeTable makes the text of the table from the schemas of one region.
func makeTable(t *testing.T, folder string) string {
	t.Helper()
	var files map[string]string
	read(t, filepath.Join(folder, "providers", "us-east-1.json"), &files)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		var s schema
		read(t, filepath.Join(folder, "resources", files[name]+".json"), &s)
		fmt.Fprintln(&b, strings.Join(append([]string{name}, s.words()...), " "))
	}
	return b.String()
}

func read(t *testing.T, file string, v any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(file, err)
	}
}

// A schema is what the table takes from the schema of a resource type.
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
type schema struct {
	Properties  map[string]node `json:"properties"`
	Definitions map[string]node `json:"definitions"`
	CreateOnly  []string        `json:"createOnlyProperties"`
	Conditional []string        `json:"conditionalCreateOnlyProperties"`
	Identifier  []string        `json:"primaryIdentifier"`
	Handlers    map[string]any  `json:"handlers"`
}

// A node is the schema of a value.
type node struct {
	Reference      string          `json:"$ref"`
	Properties     map[string]node `json:"properties"`
	Items          *node           `json:"items"`
	InsertionOrder *bool           `json:"insertionOrder"`
}

// words are the marked paths of the properties, sorted.
func (s schema) words() []string {
	marks := make(map[string]string)
	for name := range s.Properties {
		marks[name] = ""
	}
	for mark, pointers := range map[string][]string{"!": s.CreateOnly, "?": s.Conditional} {
		for _, p := range pointers {
			p = strings.TrimPrefix(p, "/properties/")
			p = strings.ReplaceAll(strings.ReplaceAll(p, "/items/", "/"), "/properties/", "/")
			marks[strings.TrimSuffix(p, "/items")] = mark
		}
	}
	// CloudFormation reads a resource to import it.
	if _, readable := s.Handlers["read"]; readable {
		for _, p := range s.Identifier {
			marks[strings.ReplaceAll(strings.TrimPrefix(p, "/properties/"), "/properties/", "/")] += "="
		}
	}
	s.unordered(nil, node{Properties: s.Properties}, nil, marks)
	var words []string
	for _, path := range slices.Sorted(maps.Keys(marks)) {
		words = append(words, path+marks[path])
	}
	return words
}

// unordered adds the mark of the lists without order in n. The definitions that the path
// has passed through are not entered again.
func (s schema) unordered(path []string, n node, passed []string, marks map[string]string) {
	if name, ok := strings.CutPrefix(n.Reference, "#/definitions/"); ok {
		if slices.Contains(passed, name) {
			return
		}
		passed = append(slices.Clone(passed), name)
		n = s.Definitions[name]
	}
	if n.InsertionOrder != nil && !*n.InsertionOrder && len(path) > 0 {
		marks[strings.Join(path, "/")] += "%"
	}
	if n.Items != nil {
		s.unordered(append(slices.Clone(path), "*"), *n.Items, passed, marks)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		s.unordered(append(slices.Clone(path), name), n.Properties[name], passed, marks)
	}
}
