// Package document reads YAML or JSON into nodes with their positions.
package document

import (
	"go.yaml.in/yaml/v4"
)

// What a document may at most be. Together they bound the memory and the time
// that reading takes: about 300 bytes a node.
const (
	MaxBytes    = 10 << 20  // bytes of the file
	MaxDepth    = 100       // lists and mappings within one another, aliases followed
	MaxNodes    = 500_000   // keys and values as written
	MaxExpanded = 1_000_000 // keys and values with every alias written out
	MaxText     = 20 << 20  // bytes of keys and values with every alias written out
)

// Read reads one document of YAML or JSON and returns its topmost node (a
// mapping, list or scalar; never the document node itself, never nil without an error).
// The file's name is only used to say where an error is.
//
// Refused, each with its place: more than MaxBytes, text that is not UTF-8, no
// document or more than one, duplicate keys, keys that are not scalars, merge
// keys (<<), %TAG directives, aliases that contain themselves, and whatever
// exceeds MaxDepth, MaxNodes, MaxExpanded or MaxText.
// An error is of type Errors: a syntax error comes alone, others all at once.
//
// Tags such as !Ref are kept on the nodes: a reader that does not support them must refuse them
// (see Tagged).
func Read(file string, body []byte) (*yaml.Node, error) { return read(file, body) }

// Weight is about how many keys and values a text makes, and never less, found
// without reading it: a reader of many documents limits their sum.
func Weight(body []byte) int { return signs(body) }
