package sceptre

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
	"github.com/stackwright/stackwright/pkg/remote"
	"go.yaml.in/yaml/v4"
)

// parts are a text that is known only after another stack is deployed.
type parts []declared.Part

// String is how the text is shown in messages.
func (parts) String() string {
	return "a value that is known only when the stack is deployed"
}

// A resolution resolves the values of one stack.
type resolution struct {
	tree   *tree
	stack  *stack
	stacks []*stack // of its environment
	depth  int
}

// refuse adds a problem unless it was reported elsewhere.
func (r *resolution) refuse(at problem.Position, what string, err error) {
	if !errors.Is(err, errReported) {
		r.tree.Add(at, "%s: %v", what, err)
	}
}

// resolvers is the table. The argument has no resolvers any more.
var resolvers map[string]func(r *resolution, argument any) (any, error)

func init() {
	resolvers = map[string]func(*resolution, any) (any, error){
		"environment_variable":  (*resolution).environmentVariable,
		"file":                  (*resolution).file,
		"file_contents":         (*resolution).fileContents,
		"join":                  (*resolution).join,
		"no_value":              func(*resolution, any) (any, error) { return nil, nil },
		"request":               (*resolution).request,
		"secret":                dynamic("secret"),
		"select":                (*resolution).selected,
		"split":                 (*resolution).split,
		"ssm":                   dynamic("ssm"),
		"stack_attr":            (*resolution).attribute,
		"stack_output":          (*resolution).output,
		"stack_output_external": (*resolution).external,
		"sub":                   (*resolution).sub,
	}
}

// refusedResolver says why a tag is refused, or "".
func refusedResolver(name string) string {
	if resolvers[name] != nil {
		return ""
	}
	if hooks[name] != nil {
		return "it is a hook, and no hook is called here: write it under hooks, also if it has an anchor"
	}
	switch name {
	case "cmd", "rcmd":
		return "Stackwright runs no commands: write the value, or as a variable under variables: in " + sideFile
	case "kms", "kms_decrypt", "sops", "vault", "onepassword":
		return "Stackwright never knows a secret: store it in Secrets Manager, and write !secret NAME"
	case "Ref", "Sub", "GetAtt", "ImportValue", "GetStackOutput", "Join", "If", "Select", "Split", "FindInMap":
		return "it works only in templates: write !stack_output, !sub …"
	}
	return fmt.Sprintf("the resolver is not supported: there are %s; %s", strings.Join(slices.Sorted(maps.Keys(resolvers)), ", "), wayOut)
}

// resolve resolves a value with all that is in it. Items that resolve to nothing are removed.
func (r *resolution) resolve(v any, at problem.Position) (any, error) {
	if r.depth++; r.depth > document.MaxDepth {
		return nil, errors.New("resolvers refer to one another without end")
	}
	defer func() { r.depth-- }()
	switch v := v.(type) {
	case *jinja.List:
		l := &jinja.List{}
		var first error
		for _, item := range v.Items {
			one, err := r.resolve(item, at)
			first = cmp.Or(first, err)
			if _, is := item.(*resolver); one != nil || !is {
				l.Items = append(l.Items, one)
			}
		}
		return l, first
	case *jinja.Dict:
		d := jinja.NewDict()
		var first error
		for _, e := range v.Entries() {
			one, err := r.resolve(e.Value, at)
			first = cmp.Or(first, err)
			if _, is := e.Value.(*resolver); one != nil || !is {
				d.Put(jinja.Entry{Key: e.Key, Value: one, Place: e.Place})
			}
		}
		return d, first
	case *resolver:
		apply := resolvers[v.name]
		if apply == nil {
			return nil, errReported
		}
		argument, err := r.resolve(v.argument, v.at)
		if err == nil {
			argument, err = apply(r, argument)
		}
		if err != nil && !errors.Is(err, errReported) {
			r.tree.Add(v.at, "!%s: %v", v.name, err)
			err = errReported
		}
		return argument, err
	}
	return v, nil
}

// text is a text, or an error.
func text(v any, what string) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("expected %s, found %s", what, jinja.Kind(v))
	}
	return s, nil
}

// output is !stack_output dev/vpc.yaml::VpcId.
func (r *resolution) output(argument any) (any, error) {
	written, err := text(argument, "STACK::OUTPUT")
	if err != nil {
		return nil, err
	}
	file, output, ok := strings.Cut(written, "::")
	if !ok || !declared.OutputName.MatchString(output) {
		return nil, errors.New("expected STACK::OUTPUT, such as dev/vpc.yaml::VpcId")
	}
	other, err := r.find(file)
	if err != nil {
		return nil, err
	}
	return r.outputOf(other, output, "!stack_output "+written)
}

func (r *resolution) outputOf(other *stack, output, written string) (any, error) {
	if !r.tree.has(other) {
		return nil, fmt.Errorf("%s is ignored or obsolete, and such stacks cannot be read, so that its outputs are not known: write the value", other.file)
	}
	return parts{{Reference: &declared.Reference{Written: written, Kind: "output", Name: other.name, Key: output}}}, nil
}

// external is !stack_output_external physical-name::Output [profile[::region[::role]]]. A stack
// of the same tree is deployed first; the output of another one is read when a plan is made.
func (r *resolution) external(argument any) (any, error) {
	written, err := text(argument, "STACK::OUTPUT")
	if err != nil {
		return nil, err
	}
	words := strings.Fields(written)
	if len(words) == 0 || len(words) > 2 {
		return nil, errors.New("expected STACK::OUTPUT, and possibly PROFILE::REGION::ROLE")
	}
	name, output, ok := strings.Cut(words[0], "::")
	output, _, _ = strings.Cut(output, "::")
	if !ok || !declared.OutputName.MatchString(output) {
		return nil, errors.New("expected STACK::OUTPUT, such as shop-vpc::VpcId")
	}
	in := r.stack.account
	if len(words) == 2 {
		all := strings.Split(words[1], "::")
		if len(all) > 3 {
			return nil, errors.New("expected PROFILE::REGION::ROLE after the output")
		}
		for i, to := range []*string{&in.profile, &in.region, &in.role} {
			if i < len(all) && all[i] != "" {
				*to = all[i]
			}
		}
	}
	want := cmp.Or(r.tree.target(in.place()), r.tree.target(in))
	for _, s := range r.stacks {
		if s.config != nil && s.physical == name && s.account.region == in.region && (s.account.place() == in.place() || r.tree.target(s.account) == want) {
			return r.outputOf(s, output, "!stack_output_external "+written)
		}
	}
	ref := declared.Reference{Written: "!stack_output_external " + written, Kind: "external", Name: name, Key: output, Target: want}
	if _, err := reference.Parse("${external:" + name + "." + output + "}"); err != nil {
		return nil, fmt.Errorf("%q is not the name of a stack", problem.Short(name))
	}
	if want == "" {
		r.tree.requireTarget(in.place(), r.stack.at)
		return nil, errReported
	}
	return parts{{Reference: &ref}}, nil
}

// dynamic is a reference that CloudFormation resolves.
func dynamic(kind string) func(*resolution, any) (any, error) {
	return func(_ *resolution, argument any) (any, error) {
		name, err := text(argument, "a name; options such as region and profile are not supported")
		if err != nil {
			return nil, err
		}
		all, err := reference.Parse("${" + kind + ":" + name + "}")
		if err != nil || strings.Contains(name, "}") {
			return nil, fmt.Errorf("%q is not a name, or not one with a version", problem.Short(name))
		}
		return parts(all), nil
	}
}

func (r *resolution) environmentVariable(argument any) (any, error) {
	name, err := text(argument, "the name of a variable")
	if err != nil {
		return nil, err
	}
	if value, ok := r.tree.side.shell[name]; ok {
		return value, nil
	}
	return nil, fmt.Errorf("the environment variable %s is not given: write it under environment_variables: in %s", problem.Short(name), sideFile)
}

// open reads a text file of the project as Python does.
func (t *tree) open(written string) (body, name string, err error) {
	name = path.Clean(written)
	if why := archive.Inadmissible(name); why != "" {
		return "", "", fmt.Errorf("%s %s", problem.Short(written), why)
	}
	content, ok := t.files[name]
	switch {
	case !ok:
		return "", "", fmt.Errorf("there is no file %s%s", problem.Short(name), t.Closest(name, t.files.Paths()))
	case !utf8.Valid(content):
		return "", "", fmt.Errorf("%s is not UTF-8 text", problem.Short(name))
	}
	return strings.ReplaceAll(strings.ReplaceAll(string(content), "\r\n", "\n"), "\r", "\n"), name, nil
}

func (r *resolution) fileContents(argument any) (any, error) {
	written, err := text(argument, "the path of a file")
	if err != nil {
		return nil, err
	}
	body, _, err := r.tree.open(written)
	return body, err
}

func (r *resolution) file(argument any) (any, error) {
	written, err := text(argument, "the path of a file")
	if err != nil {
		return nil, err
	}
	var body, name, ext string
	if strings.HasPrefix(written, "http") {
		var a remote.Address
		body, a, err = r.tree.fetched(written)
		name, ext = a.String(), a.Extension()
	} else {
		body, name, err = r.tree.open(written)
		ext = path.Ext(name)
	}
	if err != nil || body == "" || ext != ".json" && ext != ".yaml" && ext != ".yml" {
		return body, err
	}
	root, err := document.Read(name, []byte(body))
	if err != nil {
		r.tree.Join(name, err)
		return nil, errReported
	}
	at := func(n *yaml.Node) problem.Position {
		return problem.Position{File: name, Line: n.Line, Column: n.Column}
	}
	v, ok := r.tree.value(root, 0, at)
	if !ok {
		return nil, errReported
	}
	if hasResolver(v) {
		return nil, fmt.Errorf("%s has tags such as !stack_output, which are not resolved in a file", name)
	}
	return v, nil
}

func hasResolver(v any) bool {
	switch v := v.(type) {
	case *resolver:
		return true
	case *jinja.List:
		return slices.ContainsFunc(v.Items, hasResolver)
	case *jinja.Dict:
		return slices.ContainsFunc(v.Entries(), func(e jinja.Entry) bool { return hasResolver(e.Value) })
	}
	return false
}

// pair is an argument with two items.
func pair(argument any, of string) (first, second any, err error) {
	l, ok := argument.(*jinja.List)
	if !ok || len(l.Items) != 2 {
		return nil, nil, fmt.Errorf("expected a list of two items: %s", of)
	}
	return l.Items[0], l.Items[1], nil
}

func (r *resolution) join(argument any) (any, error) {
	between, items, err := pair(argument, "the text between, and the list of items")
	if err != nil {
		return nil, err
	}
	separator, isText := between.(string)
	list, isList := items.(*jinja.List)
	if !isText || !isList {
		return nil, errors.New("expected a list of two items: the text between, and the list of items")
	}
	var all parts
	for i, item := range list.Items {
		if i > 0 {
			all = append(all, declared.Part{Literal: separator})
		}
		if later, ok := item.(parts); ok {
			all = append(all, later...)
			continue
		}
		one, wrong := jinja.Str(item, r.tree.budget.Bytes)
		if wrong != "" {
			return nil, errors.New(wrong)
		}
		all = append(all, declared.Part{Literal: one})
	}
	return all.joined(), nil
}

// joined is one text if all is known.
func (p parts) joined() any {
	var b strings.Builder
	for _, one := range p {
		if one.Reference != nil {
			return p
		}
		b.WriteString(one.Literal)
	}
	return b.String()
}

func (r *resolution) split(argument any) (any, error) {
	separator, of, err := pair(argument, "the text between, and the text to split")
	if err != nil {
		return nil, err
	}
	if _, later := of.(parts); later {
		return nil, errors.New("the text is known only when the stack is deployed: pass it as a parameter, and write Fn::Split in the template")
	}
	by, isText := separator.(string)
	whole, alsoText := of.(string)
	if !isText || !alsoText || by == "" {
		return nil, errors.New("expected a list of two items: the text between, and the text to split")
	}
	l := &jinja.List{}
	for one := range strings.SplitSeq(whole, by) {
		l.Items = append(l.Items, one)
	}
	return l, nil
}

func (r *resolution) selected(argument any) (any, error) {
	key, of, err := pair(argument, "the index or the key, and the list or the mapping")
	if err != nil {
		return nil, err
	}
	switch of := of.(type) {
	case *jinja.Dict:
		if v, ok := of.Get(key); ok {
			return v, nil
		}
		return nil, errors.New("there is no such key")
	case *jinja.List:
		i, isInt := key.(int64)
		if i < 0 {
			i += int64(len(of.Items))
		}
		if !isInt || i < 0 || i >= int64(len(of.Items)) {
			return nil, fmt.Errorf("the list has %d items: write a number from 0, or from -1 back", len(of.Items))
		}
		return of.Items[i], nil
	}
	return nil, fmt.Errorf("expected a list or a mapping, found %s", jinja.Kind(of))
}

// sub is !sub with a text in the format of Python, and a mapping with its variables.
func (r *resolution) sub(argument any) (any, error) {
	format, values, err := pair(argument, "the text with {names}, and the mapping of their values")
	if err != nil {
		return nil, err
	}
	template, isText := format.(string)
	d, isDict := values.(*jinja.Dict)
	if !isText || !isDict || strings.Contains(template, "\x00") {
		return nil, errors.New("expected a list of two items: the text with {names}, and the mapping of their values")
	}
	known := d.Copy()
	later := map[string]parts{}
	for i, e := range d.Entries() {
		if p, ok := e.Value.(parts); ok {
			mark := "\x00" + strconv.Itoa(i) + "\x00"
			later[mark] = p
			known.Put(jinja.Entry{Key: e.Key, Value: mark, Place: e.Place})
			name, _ := e.Key.(string)
			if n := strings.Count(template, "{"+name); n != strings.Count(template, "{"+name+"}")+otherNames(template, name) {
				return nil, fmt.Errorf("%s is known only when the stack is deployed: write {%s} without a format", name, name)
			}
		}
	}
	out, err := jinja.Format(template, known, min(r.tree.budget.Bytes, 1<<20))
	if err != nil {
		if one, ok := errors.AsType[*jinja.Error](err); ok {
			err = errors.New(one.Text)
		}
		return nil, err
	}
	var all parts
	for i, one := range strings.Split(out, "\x00") {
		if i%2 == 1 {
			all = append(all, later["\x00"+one+"\x00"]...)
		} else if one != "" {
			all = append(all, declared.Part{Literal: one})
		}
	}
	return all.joined(), nil
}

// otherNames counts the fields of a format whose names only begin with a name.
func otherNames(template, name string) int {
	n := 0
	for rest := template; ; {
		i := strings.Index(rest, "{"+name)
		if i < 0 {
			return n
		}
		rest = rest[i+1+len(name):]
		if rest != "" && (rest[0] == '_' || '0' <= rest[0] && rest[0] <= '9' || 'a' <= rest[0]|0x20 && rest[0]|0x20 <= 'z') {
			n++
		}
	}
}

// attributes are the fields of a stack in Sceptre, by the key of the configuration.
var attributes = map[string]string{
	"template_handler_config": "template", "protected": "protect", "external_name": "stack_name", "tags": "stack_tags", "iam_role": "sceptre_role", "role_arn": "cloudformation_service_role",
}

// plainAttributes are the keys that are fields of a stack with the same name.
var plainAttributes = []string{
	"project_code", "region", "template_bucket_name", "template_key_prefix", "required_version", "parameters", "sceptre_user_data", "sceptre_role",
	"cloudformation_service_role", "notifications", "on_failure", "disable_rollback", "profile", "stack_timeout", "ignore", "obsolete",
	"template", "protect", "stack_name", "stack_tags",
}

// attribute is !stack_attr key.key.0.
func (r *resolution) attribute(argument any) (any, error) {
	written, err := text(argument, "the path of a value, such as sceptre_user_data.name")
	if err != nil {
		return nil, err
	}
	first, rest, more := strings.Cut(written, ".")
	var v any
	key := first
	if other, ok := attributes[first]; ok {
		key = other
	}
	e, given := r.stack.config.Entry(key)
	switch {
	case first == "name":
		v = strings.TrimSuffix(r.stack.file, ".yaml")
	case key == "stack_name":
		v = r.stack.physical
	case first == "stack_group_config":
		v = r.stack.group
	case slices.Contains(plainAttributes, key):
		if v = e.Value; key == "parameters" && given {
			if d, ok := v.(*jinja.Dict); ok {
				casted := jinja.NewDict()
				for _, p := range d.Entries() {
					casted.Put(jinja.Entry{Key: p.Key, Value: cast(p.Value), Place: p.Place})
				}
				v = casted
			}
		}
	default:
		var ok bool
		if v, ok = r.stack.group.Get(first); !ok {
			return nil, fmt.Errorf("a stack has no attribute %s: write a key that Sceptre knows, or one of the configuration of the stack group", problem.Short(first))
		}
	}
	for more {
		var part string
		part, rest, more = strings.Cut(rest, ".")
		if _, is := v.(*resolver); is {
			if v, err = r.resolve(v, r.stack.at); err != nil {
				return nil, err
			}
		}
		switch of := v.(type) {
		case *jinja.Dict:
			var ok bool
			if v, ok = of.Get(part); !ok {
				return nil, fmt.Errorf("%s has no key %s", problem.Short(written), problem.Short(part))
			}
		case *jinja.List:
			i, err := strconv.Atoi(part)
			if i < 0 {
				i += len(of.Items)
			}
			if err != nil || i < 0 || i >= len(of.Items) {
				return nil, fmt.Errorf("%s has no item %s", problem.Short(written), problem.Short(part))
			}
			v = of.Items[i]
		default:
			return nil, fmt.Errorf("%s: %s has no key %s", problem.Short(written), jinja.Kind(v), problem.Short(part))
		}
	}
	return r.resolve(v, r.stack.at)
}
