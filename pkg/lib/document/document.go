// Package document reads YAML or JSON into nodes with their positions.
package document

// What a document may at most be. Together they bound the memory and the time
// that reading takes: about 300 bytes a node.
const (
	MaxBytes    = 10 << 20  // bytes of the file
	MaxDepth    = 100       // lists and mappings within one another, aliases followed
	MaxNodes    = 500_000   // keys and values as written
	MaxExpanded = 1_000_000 // keys and values with every alias written out
	MaxText     = 20 << 20  // bytes of keys and values with every alias written out
)
