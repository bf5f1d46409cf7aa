package config

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// A source is a template and where it stands: in a file, or in the project file
// itself.
type source struct {
	at       place
	body     []byte
	about    project.Template
	template *template.Template
	names    []string // of its parameters
	outputs  []string
	imports  bool             // whether it imports anything, in any scope
	exports  bool             // whether it exports anything
	namings  []naming         // properties that may name what Stackwright is made of
	origin   map[[2]int]place // where what stands at a line and column of body was written; nil for a file
}

// where says where a line and column of the template were written.
func (s *source) where(line, column int) place {
	if s.origin == nil {
		return place{s.at.file, line, column}
	}
	if p, ok := s.origin[[2]int{line, column}]; ok {
		return p
	}
	return s.at
}

// String names the template in messages.
func (s *source) String() string {
	if s.origin != nil {
		return "its template"
	}
	return s.at.file
}

// readTemplate finds and reads the template of a stack: a path, or the template
// itself as a mapping. It returns nil where that cannot be, having said why.
func (r *reader) readTemplate(what string, n *yaml.Node) *source {
	what += ": template"
	n = document.Resolve(n)
	if n.Kind == yaml.MappingNode && document.Tagged(n) == "" {
		s, ok := r.inlined[n]
		if !ok {
			s = r.inline(n)
			r.inlined[n] = s
		}
		return s
	}
	if document.Null(n) {
		r.add(r.place(n), "%s: nothing found: write its path, or the template itself", what)
		return nil
	}
	v, ok := r.scalar(what, n)
	if !ok {
		return nil
	}
	if _, plain := v.literal(); !plain {
		r.add(v.at, "%s: %s: references are for parameters, tags and options: write the path out", what, short(n.Value))
		return nil
	}
	if strings.Contains(n.Value, "://") {
		r.add(v.at, "%s: %s: not yet: this is understood, but not carried out yet: put the template in the project and write its path", what, short(n.Value))
		return nil
	}
	name, ok := r.path(what, v.at, n.Value)
	if !ok {
		return nil
	}
	if s, ok := r.sources[name]; ok {
		return s
	}
	if !r.weigh(r.files[name]) {
		return nil
	}
	s := &source{at: place{file: name}}
	t, err := template.Parse(name, r.files[name])
	r.join(name, err)
	if err != nil {
		s = nil
	} else {
		s.take(r.files[name], t, r.values)
	}
	r.sources[name] = s // a template that is no good is told of once
	return s
}

// path returns the file of the project that a path written in it means.
func (r *reader) path(what string, at place, written string) (string, bool) {
	name := path.Clean(written)
	if written == "" {
		r.add(at, "%s: no path: write one, such as templates/vpc.yaml", what)
		return "", false
	}
	if why := inadmissible(name); why != "" {
		r.add(at, "%s: %s %s", what, short(written), why)
		return "", false
	}
	if _, ok := r.files[name]; ok {
		return name, true
	}
	switch {
	case hidden(name):
		r.add(at, "%s: %s: what begins with a dot is not part of a project: rename it", what, short(written))
	case r.isFolder(name):
		r.add(at, "%s: %s is a folder: write the path of a file", what, short(written))
	default:
		r.add(at, "%s: there is no file %s%s", what, short(written), r.closest(name, r.paths))
	}
	return "", false
}

func (r *reader) isFolder(name string) bool {
	within := name + "/"
	at, _ := slices.BinarySearch(r.paths, within)
	return at < len(r.paths) && strings.HasPrefix(r.paths[at], within)
}

// take keeps what is known of a template whatever its parameters.
func (s *source) take(body []byte, t *template.Template, values *template.Room) {
	sum := sha256.Sum256(body)
	s.body, s.template = body, t
	s.about = project.Template{Digest: hex.EncodeToString(sum[:]), Bytes: len(body), Pinned: t.Pinned()}
	s.names, s.outputs, s.namings = t.ParameterNames(), t.OutputNames(), namings(t)
	whatever := t.In(template.Scope{Room: values})
	s.imports = len(whatever.Imports())+len(whatever.HiddenImports()) > 0
	for _, o := range t.Outputs {
		s.exports = s.exports || o.Export != nil
	}
}
