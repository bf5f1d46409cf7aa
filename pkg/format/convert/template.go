package convert

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
)

// bodies are the different templates that the stacks of all environments get from each file.
func bodies(f archive.Files, d declared.Project) map[string][][]byte {
	all := make(map[string][][]byte)
	layers := []declared.Layer{d.Layer}
	for _, e := range d.Environments {
		layers = append(layers, e.Layer)
	}
	for _, l := range layers {
		for _, s := range l.Stacks {
			from, body := source(f, s)
			if !slices.ContainsFunc(all[from], func(other []byte) bool { return bytes.Equal(body, other) }) {
				all[from] = append(all[from], body)
			}
		}
	}
	return all
}

// source is the file from which the template of a stack is made, and the template.
func source(f archive.Files, s declared.Stack) (from string, body []byte) {
	if s.Template.Body == nil {
		return s.Template.Path, f[s.Template.Path]
	}
	return s.Template.At.File, s.Template.Body
}

// template adds the template of a stack to the files, and returns its path: that of the file from which it is made, or
// that of the stack if several templates are made of that file.
func (w *writer) template(s declared.Stack) string {
	from, body := source(w.from, s)
	file := strings.TrimSuffix(from, ".j2")
	extension := cmp.Or(path.Ext(file), ".yaml")
	if bytes.HasPrefix(body, []byte("---")) {
		extension = ".yaml" // it is no JSON any more
	}
	file = strings.TrimSuffix(file, path.Ext(file)) + extension
	if len(w.bodies[from]) > 1 {
		file = "templates/" + s.Name + extension
	}
	for n := 2; ; n++ {
		other, taken := w.files[file]
		if !taken || bytes.Equal(other, body) {
			w.files[file] = body
			return file
		}
		file = "templates/" + s.Name + "-" + strconv.Itoa(n) + extension
	}
}
