package sceptre

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
	"go.yaml.in/yaml/v4"
)

// A strategy is how the value of a key in a configuration is merged with the value in the
// configuration above it. These are the strategies of sceptre/config/strategies.py.
type strategy int

const (
	childWins strategy = iota
	childOrParent
	listJoin
	dictMerge
)

// strategies are those of the keys that Sceptre knows, in its order.
var strategies = []struct {
	key string
	is  strategy
}{
	{"dependencies", listJoin}, {"dependencies_inheritance", childOrParent},
	{"hooks", childWins}, {"hooks_inheritance", childOrParent},
	{"iam_role", childWins}, {"sceptre_role", childWins}, {"iam_role_session_duration", childWins}, {"sceptre_role_session_duration", childWins},
	{"notifications", childWins}, {"notifications_inheritance", childOrParent},
	{"on_failure", childWins},
	{"parameters", childWins}, {"parameters_inheritance", childOrParent},
	{"profile", childWins}, {"project_code", childWins}, {"protect", childWins}, {"region", childWins}, {"required_version", childWins},
	{"role_arn", childWins}, {"cloudformation_service_role", childWins},
	{"sceptre_user_data", childWins}, {"sceptre_user_data_inheritance", childOrParent},
	{"stack_name", childWins},
	{"stack_tags", childWins}, {"stack_tags_inheritance", childOrParent},
	{"stack_timeout", childWins}, {"template_bucket_name", childWins}, {"template_key_value", childWins},
	{"template", childWins}, {"template_path", childWins}, {"ignore", childWins}, {"obsolete", childWins},
}

// overrides are the strategies of *_inheritance: merge.
var overrides = map[string]strategy{
	"dependencies": listJoin, "hooks": listJoin, "notifications": listJoin,
	"parameters": dictMerge, "sceptre_user_data": dictMerge, "stack_tags": dictMerge,
}

// errReported says that problems were added.
var errReported = errors.New("reported already")

func update(on, with *jinja.Dict) {
	for _, e := range with.Entries() {
		on.Put(e)
	}
}

// merged returns the values of the keys that are merged. It is _get_merge_with_stratgies of
// sceptre/config/reader.py.
func (t *tree) merged(left, right *jinja.Dict) (*jinja.Dict, error) {
	out := jinja.NewDict()
	for _, s := range strategies {
		is := s.is
		if override, ok := overrides[s.key]; ok {
			name, _ := right.Entry(s.key + "_inheritance")
			if !jinja.Truth(name.Value) {
				name, _ = left.Entry(s.key + "_inheritance")
			}
			switch {
			case !jinja.Truth(name.Value):
			case name.Value == "merge":
				is = override
			case name.Value == "override":
				is = childWins
			default:
				text, _ := jinja.Str(name.Value, 200)
				t.Add(t.places[name.Place], "%s_inheritance: %q is not merge or override", s.key, problem.Short(text))
				return nil, errReported
			}
		}
		a, _ := left.Entry(s.key)
		b, _ := right.Entry(s.key)
		v, err := t.apply(is, s.key, a, b)
		if err != nil {
			return nil, err
		}
		if jinja.Truth(v.Value) {
			v.Key = s.key
			out.Put(v)
		}
	}
	return out, nil
}

// apply merges two values of a key.
func (t *tree) apply(is strategy, key string, parent, child jinja.Entry) (jinja.Entry, error) {
	switch is {
	case childWins:
		return child, nil
	case childOrParent:
		if jinja.Truth(child.Value) {
			return child, nil
		}
		return parent, nil
	}
	for _, e := range []jinja.Entry{parent, child} {
		_, isList := e.Value.(*jinja.List)
		_, isDict := e.Value.(*jinja.Dict)
		switch {
		case !jinja.Truth(e.Value) || is == listJoin && isList || is == dictMerge && isDict:
		case key == "hooks":
			t.Add(t.places[e.Place], "hooks_inheritance: merge: Sceptre joins only lists, and fails on %s: remove it, and write all hooks of the stack in one file", jinja.Kind(e.Value))
			return jinja.Entry{}, errReported
		default:
			t.Add(t.places[e.Place], "%s: expected %s, found %s", key, map[strategy]string{listJoin: "a list", dictMerge: "a mapping"}[is], jinja.Kind(e.Value))
			return jinja.Entry{}, errReported
		}
	}
	switch {
	case parent.Value == nil:
		return child, nil
	case child.Value == nil:
		return parent, nil
	case is == listJoin:
		var all []any
		for _, e := range []jinja.Entry{parent, child} {
			if l, ok := e.Value.(*jinja.List); ok {
				all = append(all, l.Items...)
			}
		}
		return jinja.Entry{Value: &jinja.List{Items: all}, Place: child.Place}, nil
	}
	all := jinja.NewDict()
	for _, e := range []jinja.Entry{parent, child} {
		if d, ok := e.Value.(*jinja.Dict); ok {
			update(all, d)
		}
	}
	return jinja.Entry{Value: all, Place: child.Place}, nil
}

// group returns the configuration of a stack group.
func (t *tree) group(folder string) (*jinja.Dict, bool) {
	config, ok := t.groups[folder]
	if !ok {
		var err error
		if config, err = t.read(folder, group, nil); err != nil {
			config = nil
		}
		t.groups[folder] = config
	}
	return config, config != nil
}

// read reads a file with those of the same name in the folders above it. base is the
// configuration of the stack group of a stack, or nil. It is _read.
func (t *tree) read(folder, file string, base *jinja.Dict) (*jinja.Dict, error) {
	config := jinja.NewDict()
	config.Set("project_path", jinja.Undefined{Why: "project_path is a folder on the machine that runs Sceptre: write a path of the project"})
	config.Set("stack_group_path", folder)
	if base != nil {
		update(config, base)
	}
	this, err := t.readAll(folder, file, config, base)
	if err != nil {
		return nil, err
	}
	merged, err := t.merged(config, this)
	if err != nil {
		return nil, err
	}
	update(this, merged)
	update(config, this)
	return config, nil
}

// readAll reads a file in a folder and in those above it, the topmost first. It is
// _recursive_read.
func (t *tree) readAll(folder, file string, around, base *jinja.Dict) (*jinja.Dict, error) {
	config := jinja.NewDict()
	if folder != "" {
		parent := path.Dir(folder)
		if parent == "." {
			parent = ""
		}
		var err error
		if config, err = t.readAll(parent, file, around, base); err != nil {
			return nil, err
		}
	}
	variables := around.Copy()
	update(variables, config)
	child, err := t.render(folder, file, variables, base)
	if err != nil {
		return nil, err
	}
	merged, err := t.merged(config, child)
	if err != nil {
		return nil, err
	}
	update(child, merged)
	update(config, child)
	return config, nil
}

// render renders a configuration and reads the result. It is empty if there is no file.
func (t *tree) render(folder, file string, variables, base *jinja.Dict) (*jinja.Dict, error) {
	name := path.Join("config", folder, file)
	if _, ok := t.files[name]; !ok {
		return jinja.NewDict(), nil
	}
	if t.full || t.TooMany() {
		return nil, errReported
	}
	options, _ := variables.Entry("j2_environment")
	env, ok := t.jinjaIn(path.Join("config", folder), options.Value, t.places[options.Place], ".yaml", false)
	if !ok {
		return nil, errReported
	}
	values := map[string]any{"var": clone(t.side.variables)}
	if base != nil {
		values["stack_group_config"] = clone(base)
	}
	for _, e := range variables.Entries() {
		if key, ok := e.Key.(string); ok {
			values[key] = clone(e.Value)
		}
	}
	values["command_path"] = jinja.Undefined{Why: "command_path is an argument of Sceptre's command line: write the value itself"}
	values["environment_variable"] = t.shell()
	rendered, err := env.Render(file, values)
	if err != nil {
		t.fail(path.Join("config", folder), err)
		return nil, errReported
	}
	return t.parse(name, path.Join("config", folder), rendered)
}

// shell are the environment variables that are given.
func (t *tree) shell() *jinja.Dict {
	d := jinja.NewDict()
	for _, name := range slices.Sorted(maps.Keys(t.side.shell)) {
		d.Set(name, t.side.shell[name])
	}
	return d
}

// clone copies what a template could change.
func clone(v any) any {
	switch v := v.(type) {
	case *jinja.Dict:
		d := jinja.NewDict()
		for _, e := range v.Entries() {
			e.Value = clone(e.Value)
			d.Put(e)
		}
		return d
	case *jinja.List:
		l := &jinja.List{Items: make([]any, len(v.Items))}
		for i, item := range v.Items {
			l.Items[i] = clone(item)
		}
		return l
	}
	return v
}

// fail adds the problem that a template in a folder has.
func (t *tree) fail(folder string, err error) {
	t.failAt(folder, func(name string) string { return path.Join(folder, name) }, err)
}

// failAt adds the problem of rendering a file. place returns the file of a template.
func (t *tree) failAt(whole string, place func(name string) string, err error) {
	one, ok := errors.AsType[*jinja.Error](err)
	if !ok {
		t.Add(problem.Position{File: whole}, "%v", err)
		return
	}
	at := problem.Position{File: place(one.At.Template), Line: one.At.Line, Column: one.At.Column}
	if jinja.Exhausted(err) {
		t.exhausted(at)
		return
	}
	t.Add(at, "%s", one.Text)
}

// parse reads a rendered configuration. Positions are those of the file before it was
// rendered.
func (t *tree) parse(name, folder string, rendered jinja.Rendered) (*jinja.Dict, error) {
	where := func(line, column int) problem.Position {
		at := rendered.Where(line, max(column, 1))
		if at.Line == 0 {
			return problem.Position{File: name}
		}
		return problem.Position{File: path.Join(folder, at.Template), Line: at.Line, Column: at.Column}
	}
	if strings.TrimSpace(rendered.Text) == "" {
		return jinja.NewDict(), nil
	}
	root, err := document.Read(name, []byte(rendered.Text))
	if err != nil {
		all := problem.Errors(name, err)
		if len(all) == 1 && strings.Contains(all[0].Text, "empty") {
			return jinja.NewDict(), nil
		}
		for _, e := range all {
			at := problem.Position{File: name}
			if e.Line > 0 {
				at = where(e.Line, e.Column)
			}
			t.Add(at, "%s", e.Text)
		}
		return nil, errReported
	}
	v, ok := t.value(root, 0, func(n *yaml.Node) problem.Position { return where(n.Line, n.Column) })
	if !ok {
		return nil, errReported
	}
	switch v := v.(type) {
	case nil:
		return jinja.NewDict(), nil
	case *jinja.Dict:
		return v, nil
	}
	t.Add(where(root.Line, root.Column), "expected a mapping with keys of Sceptre, found %s", document.Kind(root))
	return nil, errReported
}
