package sceptre

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
	"github.com/stackwright/stackwright/pkg/remote"
)

// fetched is the text at an address. If it is not known yet, the error is errReported, and the project is not complete.
func (t *tree) fetched(written string) (text string, a remote.Address, err error) {
	if a, err = remote.Parse(written); err != nil {
		return "", a, fmt.Errorf("the URL is refused: %w", err)
	}
	switch one, ok := t.remote.Find(a); {
	case !ok:
		return "", a, errReported
	case one.Wrong != "":
		return "", a, fmt.Errorf("%s: %s", problem.Short(a.String()), one.Wrong)
	case !utf8.Valid(one.Body):
		return "", a, fmt.Errorf("%s is not UTF-8 text", problem.Short(a.String()))
	default:
		return string(one.Body), a, nil
	}
}

// object reads or renders a template that is in a bucket. written is BUCKET/KEY.
func (r *resolution) object(written string, at problem.Position) (*declared.Template, error) {
	return r.elsewhere(remote.S3+"://"+written, at)
}

// request is !request URL, of the plug-in sceptre-request-resolver.
func (r *resolution) request(argument any) (any, error) {
	if d, ok := argument.(*jinja.Dict); ok {
		for _, e := range d.Entries() {
			if e.Key != "url" {
				name, _ := jinja.Str(e.Key, 100)
				return nil, fmt.Errorf("%s is not supported: requests are sent without credentials: write only url", problem.Short(name))
			}
		}
		argument, _ = d.Get("url")
	}
	written, err := text(argument, "a URL")
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(written, remote.HTTPS+"://") {
		return nil, errors.New("expected a URL that begins with https://")
	}
	body, _, err := r.tree.fetched(written)
	return body, err
}

// elsewhere reads or renders a template from elsewhere. Sceptre renders it in a folder without other files, and in a file whose name does not end in .j2, so
// that values are escaped as in HTML.
func (r *resolution) elsewhere(written string, at problem.Position) (*declared.Template, error) {
	t := r.tree
	body, a, err := t.fetched(written)
	if a.String() != "" {
		switch a.Extension() {
		case ".yaml", ".json", ".template", ".j2":
		case ".py":
			t.Add(at, "template: templates in Python are not supported: %s", wayOut)
			return nil, errReported
		default:
			t.Add(at, "template: Sceptre reads only templates that end in .yaml, .json, .template and .j2")
			return nil, errReported
		}
	}
	if err != nil {
		return nil, err
	}
	one := &declared.Template{At: problem.Position{File: a.String()}}
	where := func(line, column int) problem.Position {
		return problem.Position{File: a.String(), Line: line, Column: column}
	}
	if a.Extension() == ".j2" {
		out, err := r.renderedFrom(a, body)
		if err != nil {
			return nil, err
		}
		body, where = out.Text, func(line, column int) problem.Position {
			p := out.Where(line, column)
			return problem.Position{File: a.String(), Line: p.Line, Column: p.Column}
		}
	}
	text, lines := sent(body)
	one.Body, one.Origin = []byte(text), func(line, column int) problem.Position { return where(max(line-lines, 1), column) }
	return one, nil
}

// renderedFrom renders a template that has no file in the project.
func (r *resolution) renderedFrom(a remote.Address, body string) (out jinja.Rendered, err error) {
	t := r.tree
	if t.full || t.TooMany() {
		return out, errReported
	}
	data, err := r.userData()
	if err != nil {
		return out, err
	}
	options, _ := r.stack.group.Entry("j2_environment")
	settings, ok := t.settings(options.Value, t.places[options.Place])
	if !ok {
		return out, errReported
	}
	name := strings.TrimSuffix(path.Base(a.Path), ".j2")
	env := &jinja.Environment{
		Settings: settings, Budget: &t.budget,
		Load:    func(other string) (string, bool) { return body, other == name },
		Escapes: func(string) bool { return true }, Unescaped: "save the template in the project",
	}
	out, err = env.Render(name, map[string]any{"sceptre_user_data": clone(data)})
	if err != nil {
		t.failAt(a.String(), func(string) string { return a.String() }, err)
		return out, errReported
	}
	return out, nil
}
