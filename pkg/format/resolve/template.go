package resolve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/function"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

// A Template is a template of the project, without values of its parameters.
type Template struct {
	*template.Template
	At             problem.Position
	Body           []byte // with the addresses of the objects that the packaged files became
	ParameterNames []string
	Objects        []string           // the digests of these objects
	Regional       []problem.Position // the files that can be packaged only for the region of the bucket
	File           string             // of the project whose text it is; empty if it is elsewhere, or is made of something else

	about            project.Template
	imports, exports bool // in any scope
	reads            bool // outputs of other stacks, in any scope
	nests            bool // it has nested stacks
	origin           func(line, column int) problem.Position
}

// Where returns the position at which a line and column of the template were
// written.
func (t *Template) Where(line, column int) problem.Position {
	if t.origin == nil {
		return problem.Position{File: t.At.File, Line: line, Column: column}
	}
	return t.origin(line, column)
}

// Nests reports whether the template has nested stacks.
func (t *Template) Nests() bool { return t.nests }

// String names the template in messages.
func (t *Template) String() string {
	if t.origin != nil {
		return "its template"
	}
	return t.At.File
}

// templates loads each template once.
type templates struct {
	packager *packages.Packager
	remote   *remote.Files

	files  archive.Files
	paths  []string
	limits *limits
	byPath map[string]*Template // also by address; nil for a template that could not be read, which was reported
	inline map[*declared.Template]*Template
}

func newTemplates(f archive.Files, elsewhere *remote.Files, store packages.Store, l *limits) *templates {
	packager := &packages.Packager{Files: f, Store: store, List: l.List, Admit: l.template}
	return &templates{packager: packager, remote: elsewhere, files: f, paths: f.Paths(), limits: l, byPath: map[string]*Template{}, inline: map[*declared.Template]*Template{}}
}

// load returns nil for a template that cannot be read, and adds a problem.
func (t *templates) load(what string, d *declared.Template) *Template {
	if d == nil || d.Broken {
		return nil
	}
	if d.Path == "" && d.Body != nil {
		one, ok := t.inline[d]
		if !ok && t.limits.template(d.Body) {
			one = t.parse(&Template{At: d.At, Body: d.Body, origin: d.Origin}, d.Nested)
			t.inline[d] = one
		}
		return one
	}
	name, body, err := t.find(d)
	switch {
	case errors.Is(err, errLacked):
		return nil
	case err != nil:
		t.limits.Add(d.At, "%s: template: %v", what, err)
		return nil
	}
	one, ok := t.byPath[name]
	if !ok && t.limits.template(body) {
		one = t.parse(&Template{At: problem.Position{File: name}, Body: body}, d.Nested)
		t.byPath[name] = one
	}
	return one
}

// errLacked is returned for a template that is elsewhere and was not fetched yet.
var errLacked = errors.New("the template was not fetched")

// find returns the name and the bytes of a template: the name is its path or its address.
func (t *templates) find(d *declared.Template) (name string, body []byte, err error) {
	if d.Remote == nil {
		name, err = t.path(d.Path)
		return name, t.files[name], err
	}
	name = d.Remote.String()
	switch one, ok := t.remote.Find(*d.Remote); {
	case !ok:
		return name, nil, errLacked
	case one.Wrong != "":
		return name, nil, fmt.Errorf("%s: %s", problem.Short(name), one.Wrong)
	default:
		return name, one.Body, nil
	}
}

// parse reads a template. nested are the nested stacks whose templates are known to follow from the project alone.
func (t *templates) parse(one *Template, nested []string) *Template {
	parsed, err := template.Parse(one.At.File, one.Body)
	for _, e := range problem.Errors(one.At.File, err) {
		at := problem.Position{File: e.File, Line: e.Line, Column: e.Column}
		if one.origin != nil {
			at = one.Where(e.Line, e.Column)
		}
		t.limits.Add(at, "%s", e.Text)
	}
	if err != nil {
		return nil
	}
	for _, w := range parsed.Warnings() {
		t.limits.Warn(one.Where(w.Line, w.Column), "%s", w.Text)
	}
	one.Template = parsed
	if file, here := t.files[one.At.File]; here && bytes.Equal(bytes.TrimPrefix(one.Body, []byte("---\n")), bytes.TrimPrefix(file, []byte("---\n"))) {
		one.File = one.At.File
	}
	packed, ok := t.packager.Template(one.At.File, one.Body, one.Where)
	packed.Nested = append(packed.Nested, nested...)
	written := !ok || bytes.Equal(packed.Body, one.Body)
	if ok {
		one.Body, one.Objects, one.Regional = packed.Body, packed.Objects, packed.Regional
	}
	sum := sha256.Sum256(one.Body)
	one.about = project.Template{Digest: hex.EncodeToString(sum[:]), Bytes: len(one.Body), Pinned: packed.Pinned(parsed), Creation: parsed.CreationTime()}
	if one.origin == nil && written { // else its lines are not those of the file
		one.about.Path = one.At.File
	}
	one.ParameterNames = parsed.ParameterNames()
	unscoped := parsed.In(template.Scope{Room: t.limits.values})
	one.imports = len(unscoped.Imports())+len(unscoped.HiddenImports()) > 0
	one.reads = len(unscoped.Reads())+len(unscoped.HiddenReads()) > 0
	for _, resource := range parsed.Resources {
		one.nests = one.nests || resource.Type == nestedType
	}
	for _, o := range parsed.Outputs {
		one.exports = one.exports || o.Export != nil
	}
	return one
}

// path returns the file of the project that a written path means.
func (t *templates) path(written string) (string, error) {
	name := path.Clean(written)
	if written == "" {
		return "", errors.New("the path is empty: write one, such as templates/vpc.yaml")
	}
	if why := archive.Inadmissible(name); why != "" {
		return "", fmt.Errorf("%s %s", problem.Short(written), why)
	}
	if _, ok := t.files[name]; ok {
		return name, nil
	}
	switch {
	case archive.Hidden(name):
		return "", fmt.Errorf("%s: names that begin with a dot are not part of a project: rename it", problem.Short(written))
	case t.isFolder(name):
		return "", fmt.Errorf("%s is a folder: write the path of a file", problem.Short(written))
	}
	return "", function.Missing(fmt.Errorf("there is no file %s%s", problem.Short(written), t.limits.Closest(name, t.paths)))
}

func (t *templates) isFolder(name string) bool {
	within := name + "/"
	at, _ := slices.BinarySearch(t.paths, within)
	return at < len(t.paths) && strings.HasPrefix(t.paths[at], within)
}
