// Package config reads a project from files.
package config

import (
	"github.com/stackwright/stackwright/pkg/project"
)

// What a project may at most be.
const (
	MaxBytes      = 10 << 20 // of all its files together, unpacked
	MaxPacked     = 16 << 20 // of an archive as it comes
	MaxFiles      = 20_000   // files, and entries of an archive
	MaxStacks     = 10_000
	MaxParameters = 200  // of a stack, as CloudFormation has it
	MaxValue      = 4096 // bytes of a parameter's value, as CloudFormation has it
	MaxTags       = 50   // of a stack, as CloudFormation has it
)

// Options is what is known besides the files.
type Options struct {
	Project     string                    // what the project must be called; "" is whatever the file says
	Environment string                    // "" is project.DefaultEnvironment
	Targets     map[string]project.Target // the registered targets by name; project.DefaultTarget must be one
}

// Loaded is a project with all that carrying it out and showing it takes.
type Loaded struct {
	Project   project.Project   `json:"project"`
	Templates map[string][]byte `json:"-"`       // by digest, as in project.Template
	Sources   map[string]string `json:"sources"` // node → where its template stands, such as "templates/vpc.yaml"
	Edges     []Edge            `json:"edges"`   // why nodes come after others; sorted by node, need, cause, what and place
}

// A Cause is what makes an edge.
type Cause string

// The causes of edges. The zero Cause is none.
const (
	Named    Cause = "needs"  // it stands under needs:
	Output   Cause = "output" // a reference to an output
	Imported Cause = "import" // the template imports what the other's exports
)

// An Edge says that a node comes after another, and why. Two nodes may have
// several edges between them.
type Edge struct {
	Node  string `json:"node"`           // the one that comes after
	Needs string `json:"needs"`          // the one that comes before
	Cause Cause  `json:"cause"`          //
	What  string `json:"what,omitempty"` // the output's name, or the export's
	For   string `json:"for,omitempty"`  // "parameter VpcId" or "tag vpc", which takes the output
	Place string `json:"place"`          // file:line:column
}

// Read reads the project that files describe. All that is wrong with it is told
// at once, as an error of kind fault.Invalid that joins one error for each
// thing (see fault.Messages), ordered by file and place, 100 at most.
// Read asks nothing but its arguments: no network, no clock, no disk.
//
// The project file is stackwright.yaml or stackwright.yml at the top; a project
// of one file may call it anything that ends so.
func Read(files Files, o Options) (Loaded, error) { return read(files, o) }
