// Package property checks the properties of resources against the resource schemas that AWS publishes.
//
// Its table is made from the schemas, as the Python package cfn-lint distributes them (licence MIT-0;
// https://github.com/aws-cloudformation/cfn-lint). See TestTableIsMadeFromSchemas.
package property

import (
	"bytes"
	"compress/flate"
	_ "embed" // the table
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// schemas.bin is the table. It begins with the length of its head, in four bytes. The head is compressed: one line for
// each type, with its name and the length of its schema, then an empty line, and then the dictionary of the schemas.
// The schemas follow in the same order, each compressed with the dictionary, so that each is read alone.
//
//go:embed schemas.bin
var compressed []byte

// A Type is a resource type whose properties are known. It does not change.
type Type struct {
	Name string
	root root
}

// A root is the schema of a type.
type root struct {
	Node
	Definitions map[string]*Node `json:"d,omitempty"`
	Lists       []string         `json:"l,omitempty"` // the attributes that are lists of texts, sorted
}

// A Node is the schema of a value. What it does not say is not judged.
type Node struct {
	Reference  string           `json:"f,omitempty"` // to a definition that applies, too
	Kinds      string           `json:"k,omitempty"` // the kinds that the value may be of, by their first letters
	Properties map[string]*Node `json:"p,omitempty"`
	Closed     bool             `json:"c,omitempty"` // it has no other properties
	Patterns   map[string]*Node `json:"m,omitempty"` // properties whose names match
	Others     *Node            `json:"o,omitempty"` // all other properties
	Required   []string         `json:"r,omitempty"` // sorted
	Items      *Node            `json:"i,omitempty"`
	Enum       []string         `json:"e,omitempty"`
	AnyCase    bool             `json:"a,omitempty"` // small and capital letters of Enum are the same
	Pattern    string           `json:"x,omitempty"`
	MinLength  int              `json:"s,omitempty"`
	MaxLength  int              `json:"t,omitempty"` // 0 is no limit, here and below
	MinItems   int              `json:"u,omitempty"`
	MaxItems   int              `json:"v,omitempty"`
	Minimum    *float64         `json:"y,omitempty"`
	Maximum    *float64         `json:"z,omitempty"`
}

// Named returns the type of a name, and whether the table has it. It reads the schema once.
func Named(name string) (Type, bool) {
	read, ok := index().types[name]
	if !ok {
		return Type{}, false
	}
	return read(), true
}

// decompress reads the schema of a type.
func decompress(name string, from, dictionary []byte) Type {
	t := Type{Name: name}
	r := flate.NewReaderDict(bytes.NewReader(from), dictionary)
	if err := json.NewDecoder(r).Decode(&t.root); err != nil {
		panic("the schema of " + name + " is damaged: " + err.Error()) // it is a part of the program
	}
	return t
}

// Names lists the names of all types, sorted.
func Names() []string { return index().names }

// Public reports whether AWS itself publishes the type, so that the table should have it. Custom resources, types of
// others, modules, and what the macro AWS::Serverless makes something else of are not such types.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html
func Public(name string) bool {
	service, found := strings.CutPrefix(name, "AWS::")
	return found && name != "AWS::CloudFormation::CustomResource" && !strings.HasSuffix(name, "::MODULE") &&
		!strings.HasPrefix(service, "Serverless::") || strings.HasPrefix(name, "Alexa::")
}

// ListAttribute reports whether an attribute of the type is a list of texts.
func (t Type) ListAttribute(name string) bool {
	_, found := slices.BinarySearch(t.root.Lists, name)
	return found
}

// contents say what is in the table.
type contents struct {
	names []string
	types map[string]func() Type
}

// index reads the head of the table when it is first used. No variable is initialized with it, so that programs that
// do not use it do not contain the table.
func index() contents {
	read.Do(func() { whole = readHead() })
	return whole
}

var (
	whole contents
	read  sync.Once
)

func readHead() contents {
	at := 4 + int(binary.BigEndian.Uint32(compressed))
	head, err := io.ReadAll(flate.NewReader(bytes.NewReader(compressed[4:at])))
	if err != nil {
		panic("the table of schemas is damaged: " + err.Error()) // it is a part of the program
	}
	lines, dictionary, _ := bytes.Cut(head, []byte("\n\n"))
	c := contents{types: make(map[string]func() Type)}
	for line := range strings.SplitSeq(string(lines), "\n") {
		name, size, _ := strings.Cut(line, " ")
		length, err := strconv.Atoi(size)
		if err != nil {
			panic("the table of schemas is damaged: " + err.Error())
		}
		c.names = append(c.names, name)
		from := compressed[at : at+length]
		c.types[name] = sync.OnceValue(func() Type { return decompress(name, from, dictionary) })
		at += length
	}
	return c
}
