package sceptre

import (
	"path"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
)

// template makes the template of a stack.
func (r *resolution) template() *declared.Template {
	t, s := r.tree, r.stack
	broken := &declared.Template{At: s.at, Broken: true}
	e, ok := s.config.Entry("template")
	old, oldGiven := s.config.Entry("template_path")
	given, oldGiven := ok && jinja.Truth(e.Value), oldGiven && jinja.Truth(old.Value)
	switch {
	case given && oldGiven:
		t.Add(t.places[old.Place], "template and template_path are both given: remove template_path")
		return broken
	case oldGiven:
		d := jinja.NewDict()
		d.Put(jinja.Entry{Key: "path", Value: old.Value, Place: old.Place})
		e = jinja.Entry{Value: d, Place: old.Place}
	case !given:
		t.Add(s.at, "template is missing: write template: with path:, the path of a file below templates/")
		return broken
	}
	at := t.places[e.Place]
	v, err := r.resolve(e.Value, at)
	if err != nil {
		r.refuse(at, "template", err)
		return broken
	}
	d, isDict := v.(*jinja.Dict)
	if !isDict {
		t.Add(at, "template: expected a mapping with path:, found %s", jinja.Kind(v))
		return broken
	}
	name := "file"
	if written, ok := d.Get("type"); ok && written != nil {
		name, _ = jinja.Str(written, 100)
	}
	h, ok := handlers[name]
	if !ok {
		t.Add(at, "template: the handler %s is not supported: save the template in a file below templates/, and write path:", problem.Short(name))
		return broken
	}
	from, ok := d.Entry(h.key)
	written, isText := from.Value.(string)
	if !ok || !isText {
		t.Add(at, "template: %s is missing, or is no text", h.key)
		return broken
	}
	at = t.places[from.Place]
	one, err := h.load(r, written, at)
	if err != nil {
		r.refuse(at, "template", err)
		return broken
	}
	return one
}

// A handler loads the templates that have its type.
type handler struct {
	key  string // that says where the template is
	load func(r *resolution, written string, at problem.Position) (*declared.Template, error)
}

// handlers is the table.
var handlers map[string]handler

func init() {
	handlers = map[string]handler{
		"file": {"path", (*resolution).load},
		"http": {"url", (*resolution).elsewhere},
		"s3":   {"path", (*resolution).object},
	}
}

// load reads or renders a template.
func (r *resolution) load(written string, at problem.Position) (*declared.Template, error) {
	t := r.tree
	name := path.Join(templates, strings.ReplaceAll(written, `\`, "/"))
	if path.IsAbs(written) {
		name = written
	}
	switch path.Ext(name) {
	case ".yaml", ".json", ".template":
		return t.static(name)
	case ".j2":
		return r.rendered(name, at)
	case ".py":
		t.Add(at, "template: templates in Python are not supported: %s", wayOut)
		return nil, errReported
	}
	t.Add(at, "template: Sceptre reads only templates that end in .yaml, .json, .template and .j2")
	return nil, errReported
}

// sent is the text that Sceptre sends: it begins with ---.
func sent(body string) (text string, lines int) {
	if strings.HasPrefix(body, "---") {
		return body, 0
	}
	return "---\n" + body, 1
}

// static reads a template once for all stacks.
func (t *tree) static(name string) (*declared.Template, error) {
	if one := t.unrendered[name]; one != nil {
		return one, nil
	}
	body, file, err := t.open(name)
	if err != nil {
		return nil, err
	}
	text, lines := sent(body)
	one := &declared.Template{At: problem.Position{File: file}, Body: []byte(text), Origin: func(line, column int) problem.Position {
		return problem.Position{File: file, Line: max(line-lines, 1), Column: column}
	}}
	t.unrendered[name] = one
	return one, nil
}

// rendered renders a template with sceptre_user_data.
func (r *resolution) rendered(name string, at problem.Position) (*declared.Template, error) {
	t := r.tree
	if t.full || t.TooMany() {
		return nil, errReported
	}
	_, file, err := t.open(name)
	if err != nil {
		return nil, err
	}
	data, err := r.userData()
	if err != nil {
		return nil, err
	}
	options, _ := r.stack.group.Entry("j2_environment")
	folder := path.Dir(file)
	env, ok := t.jinjaIn(folder, options.Value, t.places[options.Place], ".j2", true)
	if !ok {
		return nil, errReported
	}
	out, err := env.Render(path.Base(file), map[string]any{"sceptre_user_data": clone(data)})
	if err != nil {
		t.fail(folder, err)
		return nil, errReported
	}
	text, lines := sent(out.Text)
	return &declared.Template{At: problem.Position{File: file}, Body: []byte(text), Origin: func(line, column int) problem.Position {
		p := out.Where(max(line-lines, 1), column)
		if p.Line == 0 {
			return problem.Position{File: file}
		}
		return problem.Position{File: path.Join(folder, p.Template), Line: p.Line, Column: p.Column}
	}}, nil
}

// userData is sceptre_user_data with its resolvers resolved.
func (r *resolution) userData() (any, error) {
	e, ok := r.stack.config.Entry("sceptre_user_data")
	if !ok || !jinja.Truth(e.Value) {
		return jinja.NewDict(), nil
	}
	return r.resolve(e.Value, r.tree.places[e.Place])
}
