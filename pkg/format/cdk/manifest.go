package cdk

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
)

// oldest is the first version of the schema of assemblies that is read: that of aws-cdk-lib of November 2023 (2.110).
// In a version after checked, the keys of an assembly decide whether it is read: see known.
const (
	oldest  = 35
	checked = 55
)

const maxDepth = 10 // of assemblies in one another

// The types of artifacts that are read. The others say nothing about stacks.
const (
	stackType    = "aws:cloudformation:stack"
	assetsType   = "cdk:asset-manifest"
	assemblyType = "cdk:cloud-assembly"
)

// An assembly is a manifest that was read.
type assembly struct {
	dir, file string // its folder and its manifest
	artifacts []*artifact
	byID      map[string]*artifact
}

// An artifact is an entry of a manifest.
type artifact struct {
	id, kind   string
	at         problem.Position
	entry      *yaml.Node
	properties *yaml.Node
	needs      []string // IDs of artifacts

	unknown bool // its type is not known

	stack  *stack    // of a stack
	inner  *assembly // of an assembly
	assets string    // the path of an asset manifest
}

// assembly reads the manifest in a folder, and those of the assemblies in it.
func (r *reader) assembly(dir string, depth int) (*assembly, bool) {
	a := &assembly{dir: dir, file: path.Join(dir, manifest), byID: map[string]*artifact{}}
	r.read[dir] = true
	root, ok := r.document(a.file)
	if !ok || !r.version(a.file, root) {
		return nil, false
	}
	r.missing(a.file, root)
	r.mayIgnore(a.file, "the manifest", root, manifestKeys)
	entries, _ := document.Lookup(root, "artifacts")
	for _, p := range r.pairs(a.file, "artifacts", entries) {
		one := &artifact{id: p.Key.Value, at: r.at(a.file, p.Key), entry: document.Resolve(p.Value)}
		one.kind = r.text(a.file, one.id+": type", one.entry, "type")
		one.properties, _ = document.Lookup(one.entry, "properties")
		needs, _ := document.Lookup(one.entry, "dependencies")
		for _, n := range document.Items(needs) {
			one.needs = append(one.needs, document.Resolve(n).Value)
		}
		a.artifacts, a.byID[one.id] = append(a.artifacts, one), one
	}
	for _, one := range a.artifacts {
		switch one.kind {
		case assetsType:
			r.known(a.file, "asset manifest "+one.id, one.properties, assetsKeys)
			one.assets = r.file(a, one, "file")
			r.assetManifest(a, one.assets)
		case stackType:
			r.known(a.file, "stack "+one.id, one.entry, artifactKeys)
			r.known(a.file, "stack "+one.id, one.properties, stackKeys)
			one.stack = r.stack(a, one)
		case assemblyType:
			if inner := r.file(a, one, "directoryName"); inner != "" {
				one.inner = r.nested(inner, one, depth)
			}
			r.known(a.file, "assembly "+one.id, one.properties, assemblyKeys)
		case "", "none", "cdk:tree", "cdk:feature-flag-report":
		default:
			one.unknown = true
		}
	}
	return a, true
}

// nested reads the assembly of a stage.
func (r *reader) nested(dir string, one *artifact, depth int) *assembly {
	switch {
	case r.read[dir]:
		r.Add(one.at, "%s: %s is the folder of another assembly: run cdk synth again", problem.Short(one.id), problem.Short(dir))
		return nil
	case depth == maxDepth:
		r.Add(one.at, "%s: more than %d assemblies are in one another", problem.Short(one.id), maxDepth)
		return nil
	}
	inner, _ := r.assembly(dir, depth+1)
	return inner
}

// version reports whether the schema of a manifest is known.
func (r *reader) version(file string, root *yaml.Node) bool {
	n, _ := document.Lookup(root, "version")
	written := r.text(file, "version", root, "version")
	first, _, _ := strings.Cut(written, ".")
	version, err := strconv.Atoi(first)
	at := r.at(file, n)
	switch {
	case written == "":
		return false
	case err != nil:
		r.Add(at, "version: %q is no version of a cloud assembly: run cdk synth again", problem.Short(written))
	case version < oldest:
		r.Add(at, "the assembly has version %s of the schema, and this Stackwright reads versions from %d on: synthesize with aws-cdk-lib 2.110 or later", problem.Short(written), oldest)
	default:
		r.newer = r.newer || version > checked
		return true
	}
	return false
}

// missing refuses what cdk synth could not look up.
func (r *reader) missing(file string, root *yaml.Node) {
	all, _ := document.Lookup(root, "missing")
	for _, item := range document.Items(all) {
		item = document.Resolve(item)
		key := r.text(file, "missing: key", item, "key")
		if key == "" {
			continue
		}
		r.Add(r.at(file, item), "the context %q is missing, so the templates have values that stand in for it: run cdk synth with credentials for the account, which writes the context into cdk.context.json, and upload the new assembly", problem.Short(key))
	}
}

// document reads a JSON file of the assembly.
func (r *reader) document(file string) (*yaml.Node, bool) {
	body, ok := r.files[file]
	if !ok {
		r.Add(problem.Position{File: file}, "the file is missing: upload the whole folder that cdk synth has written")
		return nil, false
	}
	root, err := document.Read(file, body)
	if err != nil {
		r.Join(file, err)
		return nil, false
	}
	if root.Kind != yaml.MappingNode {
		r.Add(r.at(file, root), "expected a mapping, found %s: run cdk synth again", document.Kind(root))
		return nil, false
	}
	return root, true
}

// file returns the path of a file or folder that a property of an artifact names; "" if it names none.
func (r *reader) file(a *assembly, one *artifact, key string) string {
	written := r.text(a.file, one.id+": "+key, one.properties, key)
	if written == "" {
		return ""
	}
	name, why := within(a.dir, written)
	if why != "" {
		n, _ := document.Lookup(one.properties, key)
		r.Add(r.at(a.file, n), "%s: %s: %s: %s", problem.Short(one.id), key, problem.Short(written), why)
	}
	return name
}

// at is the position of a node.
func (r *reader) at(file string, n *yaml.Node) problem.Position {
	if n = document.Resolve(n); n == nil {
		return problem.Position{File: file}
	}
	return problem.Position{File: file, Line: n.Line, Column: n.Column}
}

// text returns the text of a key of a mapping, which has to be there.
func (r *reader) text(file, what string, of *yaml.Node, key string) string {
	n, ok := document.Lookup(of, key)
	if !ok || document.Null(n) {
		r.Add(r.at(file, of), "%s is missing: run cdk synth again", problem.Short(what))
		return ""
	}
	text, ok := r.scalar(file, what, n)
	if ok && text == "" {
		r.Add(r.at(file, n), "%s is empty: run cdk synth again", problem.Short(what))
	}
	return text
}

// optional returns the text of a key of a mapping, or "".
func (r *reader) optional(file, what string, of *yaml.Node, key string) string {
	n, ok := document.Lookup(of, key)
	if !ok || document.Null(n) {
		return ""
	}
	text, _ := r.scalar(file, what, n)
	return text
}

// scalar returns a text, a number or a truth value as text.
func (r *reader) scalar(file, what string, n *yaml.Node) (string, bool) {
	n = document.Resolve(n)
	if n.Kind != yaml.ScalarNode || document.Null(n) || document.Tagged(n) != "" {
		r.Add(r.at(file, n), "%s: expected text, found %s: run cdk synth again", problem.Short(what), document.Kind(n))
		return "", false
	}
	return n.Value, true
}

// pairs returns the entries of a mapping that may be absent.
func (r *reader) pairs(file, what string, n *yaml.Node) []document.Pair {
	if n = document.Resolve(n); n != nil && !document.Null(n) && n.Kind != yaml.MappingNode {
		r.Add(r.at(file, n), "%s: expected a mapping, found %s: run cdk synth again", problem.Short(what), document.Kind(n))
	}
	return document.Pairs(n)
}

// texts returns the entries of a mapping of texts.
func (r *reader) texts(file, what string, n *yaml.Node) []text {
	var all []text
	for _, p := range r.pairs(file, what, n) {
		if value, ok := r.scalar(file, fmt.Sprintf("%s: %s", what, p.Key.Value), p.Value); ok {
			all = append(all, text{p.Key.Value, value, r.at(file, p.Key), r.at(file, p.Value)})
		}
	}
	return all
}

// A text is an entry of a mapping of texts.
type text struct {
	key, value  string
	at, valueAt problem.Position
}
