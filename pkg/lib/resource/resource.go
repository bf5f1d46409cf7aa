// Package resource knows the resource types of CloudFormation: their properties, which
// of these cannot be changed in place, and which resources hold data.
//
// Its table is made from two sources that AWS publishes: the resource schemas, as the Python package
// cfn-lint distributes them (licence MIT-0; https://github.com/aws-cloudformation/cfn-lint), and the
// specification in the npm package @aws-cdk/aws-service-spec (Apache-2.0;
// https://github.com/cdklabs/awscdk-service-spec), which has what the schemas leave out.
// See TestTableIsMadeFromSources.
package resource

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the table
	"io"
	"slices"
	"strings"
	"sync"
)

// types.gz is the table: one line for each type, its name and then its properties. A
// property is a name, or a path whose segments are joined by slashes, where * is any
// item of a list or any key of a mapping. Marks follow it: see the constants.
//
//go:embed types.gz
var compressed []byte

// The marks of a path in the table.
const (
	alwaysMark      = '!' // create-only
	conditionalMark = '?' // create-only in some cases
	unorderedMark   = '%' // a list whose order has no meaning
	identifierMark  = '=' // identifies a resource, of a type that can be imported
)

// A Replacement says whether CloudFormation has to replace a resource in order to change
// a property of it.
type Replacement string

// The replacements, weakest first.
const (
	Never       Replacement = "never"
	Conditional Replacement = "conditional" // it depends on the values
	Always      Replacement = "always"
)

// Replacements lists the replacements.
func Replacements() []Replacement { return []Replacement{Never, Conditional, Always} }

// A Type is a resource type. It does not change.
type Type struct {
	Name       string
	Properties []string // names, sorted
	Identifier []string // paths of the properties that together identify a resource, sorted; empty if the type cannot be imported

	createOnly, conditional, unordered []string // paths
	inPlace                            []string // paths that are neither, below one that is
}

// Named returns the type of the given name, and whether the table has it.
func Named(name string) (Type, bool) {
	line, ok := table().lines[name]
	if !ok {
		return Type{}, false
	}
	t := parse(name, line)
	t.correct()
	return t, true
}

// Names lists the names of all types, sorted.
func Names() []string { return table().names }

// Public reports whether the name is of a type that AWS itself publishes, so that the
// table should have it. Custom, private and third-party types and modules are not.
func Public(name string) bool {
	return strings.HasPrefix(name, "AWS::") && !strings.HasSuffix(name, "::MODULE")
}

// Unordered reports whether the list at the path has no order: the same items in
// another order are the same value.
func (t Type) Unordered(path []string) bool {
	return slices.ContainsFunc(t.unordered, func(p string) bool {
		return strings.Count(p, "/")+1 == len(path) && overlaps(p, path)
	})
}

// Has reports whether the type has a property of that name.
func (t Type) Has(property string) bool {
	_, ok := slices.BinarySearch(t.Properties, property)
	return ok
}

// within reports whether a path of a value is that of the table, or below it.
func within(pattern string, path []string) bool {
	return strings.Count(pattern, "/") < len(path) && overlaps(pattern, path)
}

// overlaps reports whether one of a path of the table and a path of a value begins
// with the other.
func overlaps(pattern string, path []string) bool {
	for i, segment := range strings.Split(pattern, "/") {
		if i == len(path) {
			return true
		}
		if segment != "*" && segment != path[i] {
			return false
		}
	}
	return true
}

// lookup is the decompressed table.
type lookup struct {
	names []string
	lines map[string]string // by name
}

var (
	whole        lookup
	decompressed sync.Once
)

// table decompresses the table when it is first used. No variable is initialized with it,
// so that programs that do not use it do not contain the table.
func table() lookup {
	decompressed.Do(func() { whole = decompress() })
	return whole
}

func decompress() lookup {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic("the table of resource types is damaged: " + err.Error()) // it is a part of the program
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic("the table of resource types is damaged: " + err.Error())
	}
	all := lookup{lines: make(map[string]string)}
	for line := range strings.Lines(string(text)) {
		name, properties, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all.names = append(all.names, name)
		all.lines[name] = properties
	}
	return all
}

// under reports whether a path of the table is the other one, or below it.
func under(above, path string) bool { return path == above || strings.HasPrefix(path, above+"/") }

// parse reads a line of the table.
func parse(name, line string) Type {
	t := Type{Name: name}
	for word := range strings.FieldsSeq(line) {
		path := strings.TrimRight(word, "!?%=")
		for _, mark := range word[len(path):] {
			switch mark {
			case alwaysMark:
				t.createOnly = append(t.createOnly, path)
			case conditionalMark:
				t.conditional = append(t.conditional, path)
			case unorderedMark:
				t.unordered = append(t.unordered, path)
			case identifierMark:
				t.Identifier = append(t.Identifier, path)
			}
		}
		if !strings.Contains(path, "/") {
			t.Properties = append(t.Properties, path)
		}
	}
	slices.Sort(t.Properties)
	return t
}
