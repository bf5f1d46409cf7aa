// Package cdk reads a cloud assembly, the folder that cdk synth writes, into a declared
// project. https://github.com/aws/aws-cdk-cli/blob/main/packages/@aws-cdk/cloud-assembly-schema/README.md
package cdk

import (
	"bytes"
	"path"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/project"
)

const (
	manifest = "manifest.json" // of an assembly, and of each assembly in it
	marker   = "cdk.out"       // a file that is beside each manifest
)

// Detect reports whether the files are a cloud assembly.
func Detect(f archive.Files) bool {
	body, ok := f[manifest]
	_, marked := f[marker]
	return ok && (marked || bytes.Contains(body, []byte(`"artifacts"`)))
}

// A reader reads one assembly.
type reader struct {
	*problem.List
	files  archive.Files
	side   side
	paths  []string                    // of all files, sorted; nil until they are needed
	read   map[string]bool             // the folders of the assemblies that were read
	newer  bool                        // a manifest has a version of which keys may not be known
	stacks []*stack                    // in the order of the manifests
	byName map[string]*stack           // the same
	own    map[string]bool             // the files that are templates of stacks
	assets map[string][]declared.Asset // by the path of their manifest
}

// Read declares a stack for each stack in the assembly and in those that it contains.
func Read(f archive.Files, list *problem.List) (declared.Project, bool) {
	r := &reader{List: list, files: f, read: map[string]bool{}, byName: map[string]*stack{}, own: map[string]bool{}, assets: map[string][]declared.Asset{}}
	at := problem.Position{File: manifest}
	d := declared.Project{File: manifest, Kind: project.CDK, NameAt: problem.Position{File: sideFile}, ListAt: at}
	r.side = r.readSide()
	d.Name, d.Unchecked, d.UncheckedIn = r.side.project, r.side.unchecked, sideFile
	a, ok := r.assembly("", 0)
	if !ok {
		return d, false
	}
	if len(r.stacks) == 0 {
		r.Add(at, "the assembly has no stacks: a project has at least one; to delete all its stacks, use destroy")
	}
	r.order(a)
	for _, s := range r.stacks {
		if one, ok := r.declared(s); ok {
			d.Stacks = append(d.Stacks, one)
		}
	}
	r.reportUnused()
	return d, true
}

// within returns the path of a file or folder that an assembly names. It must be in the project.
func within(dir, written string) (name, why string) {
	if path.IsAbs(written) || strings.Contains(written, `\`) {
		return "", "it is not inside the assembly: let cdk synth copy it there, without --no-staging"
	}
	name = path.Join(dir, written)
	if name == "." {
		return "", "it is the assembly itself"
	}
	if why := archive.Inadmissible(name); why != "" {
		return "", "it " + why + ": upload the whole folder that cdk synth has written"
	}
	return name, ""
}
