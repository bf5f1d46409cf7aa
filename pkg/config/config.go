// Package config reads a project from files.
//
// A project is a project file, stackwright.yaml, and the templates that it
// names:
//
//	project: shop
//	variables:                    # for all environments
//	  size: small
//	defaults:                     # by prefix of the stacks' names
//	  "":         { tags: { team: shop } }
//	  "network/": { capabilities: [CAPABILITY_IAM] }
//	stacks:
//	  network/vpc:
//	    template: templates/vpc.yaml
//	    parameters: { Cidr: 10.0.0.0/16, Zones: [a, b] }
//	  data/db:
//	    template: templates/db.yaml
//	    parameters:
//	      VpcId: ${network/vpc.VpcId}
//	      Size: ${var.size}
//	    needs: [network/vpc]
//	    tags: { for: "${environment}" }
//	    capabilities: [CAPABILITY_NAMED_IAM]
//	    targets: [eu, us]
//	    protect: true
//	    stack_name: legacy-db
//	    timeout: 30m              # of one operation on it
//	environments:
//	  prod: { variables: { size: large }, max_deletions: 0 }
//	max_deletions: 20             # that a deploy may carry out; plan has a default
//	on_failure: rollback          # of a deploy: go back to what was last deployed well; else keep
//	timeout: 2h                   # of a run
//	schedules:                    # what is done with it though nobody asks
//	  nightly: { operation: deploy, cron: 0 3 * * ? *, time_zone: Europe/Berlin }
//	  end: { operation: destroy, once: 2026-12-31T18:00:00 }
//
// Template. The path of a file of the project, or, so that a project can be one
// file, the template itself as a mapping. Such a template is carried out as the
// text that the mapping makes, without comments; it has no aliases in it, but
// may be named as a whole by one.
//
// Values. A parameter is text, a number or a truth value, taken as it is
// written (010 is 010, 1.10 is 1.10), or a list of these, which is written with
// commas. A tag is one text. A variable is as a parameter is, but holds no
// references.
//
// Targets. A stack goes to each of its targets, which are registered elsewhere;
// to the default one if it names none. With one target its node is called as it
// is, with more vpc@eu and vpc@us. Another stack means by vpc the only one there
// is, or the one in its own target; else it says vpc@eu.
//
// References stand in parameters, tags and options (protect, stack_name,
// capabilities, targets, timeout), which must be known before any stack is up:
//
//	${stack.Output}     an output of another stack, which comes before; ${stack@target.Output}
//	${stack:name}       its physical name, which makes no order by itself
//	${var.x}            the environment's variable, else the one at the top
//	${file:path}        a file's text, without the end of its last line
//	${project} ${environment} ${account} ${region}
//	$${                 a literal ${
//
// Schedules. One comes up by cron:, in the six fields of EventBridge Scheduler,
// by rate:, as in 12 hours, or once:, at a date and time of day, in its time zone.
// An environment has those at the top, but for the ones that it has another of the
// same name for. They are no part of any stack.
//
// Defaults. Those for a longer prefix lie over those for a shorter one, and
// what the stack says itself over all. Parameters and tags are merged name by
// name; lists and all else replace what was said before. Of the default
// parameters a stack takes those that its template has; one that no template
// has is refused.
//
// Order. A stack comes after those that it names under needs, whose outputs it
// takes, and whose exports its template imports as far as names can be told
// before any stack is up: from parameters, their defaults, and the name,
// account and region of the stack.
//
// Physical name. project-environment-name, without the environment when it is
// default, slashes as hyphens; stack_name says it otherwise.
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
	MaxSchedules  = 50   // in an environment
	MaxParameters = 200  // of a stack, as CloudFormation has it
	MaxValue      = 4096 // bytes of a parameter's value, as CloudFormation has it
	MaxTags       = 50   // of a stack, as CloudFormation has it
)

// Options is what is known besides the files.
type Options struct {
	Project     string                    // what the project must be called; "" is whatever the file says
	Environment string                    // "" is project.DefaultEnvironment
	Targets     map[string]project.Target // the registered targets by name; project.DefaultTarget must be one

	Installation Installation // that reads the project; the zero value is none
}

// Loaded is a project with all that carrying it out and showing it takes.
type Loaded struct {
	Project   project.Project   `json:"project"`
	Templates map[string][]byte `json:"-"`       // by digest, as in project.Template
	Sources   map[string]string `json:"sources"` // node → where its template stands, such as "templates/vpc.yaml"
	Foreign   []string          `json:"-"`       // targets that are named and not registered; known even if the project is refused for them
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
