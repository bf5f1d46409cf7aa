package sceptre

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/project"
)

// wayOut is what a user can always do.
const wayOut = "remove it, or render the templates with sceptre generate and write a stackwright.yaml that names them"

// A stack is a configuration of a stack after its file was merged with those above it.
type stack struct {
	file, name string // such as dev/vpc.yaml and dev/vpc
	at         problem.Position
	config     *jinja.Dict // nil if it could not be read
	group      *jinja.Dict
	physical   string
	account    account
}

// has reports whether the stack is declared.
func (t *tree) has(s *stack) bool { return !t.onlyNames || !s.is("obsolete") && !s.is("ignore") }

func (s *stack) is(key string) bool {
	if s.config == nil {
		return false
	}
	v, _ := s.config.Get(key)
	return v == true
}

// text is the text of a key, or "".
func (s *stack) text(key string) string {
	v, _ := s.config.Get(key)
	text, _ := v.(string)
	return text
}

// known are the keys that Sceptre knows, which are no configuration of a stack group.
func known(key string) bool {
	return slices.ContainsFunc(strategies, func(s struct {
		key string
		is  strategy
	}) bool {
		return s.key == key
	})
}

// stacks reads all stacks. Sceptre gives a template the configuration of the stack group
// without the keys that Sceptre knows.
func (t *tree) stacks() []*stack {
	var all []*stack
	files := t.stackFiles()
	if len(files) > declared.MaxStacks {
		t.Add(problem.Position{File: configs + group}, "%d stacks: a project has at most %d: divide it into several projects", len(files), declared.MaxStacks)
		return nil
	}
	for _, file := range files {
		s := &stack{file: file, name: nodeName(file), at: problem.Position{File: configs + file}}
		if !declared.StackName.MatchString(s.name) || len(s.name) > declared.MaxName {
			t.Add(s.at, "the stack is named after this file, and %q is not a valid name: use letters, digits and hyphens, at most %d", problem.Short(s.name), declared.MaxName)
			continue
		}
		all = append(all, s)
		folder := path.Dir(file)
		if folder == "." {
			folder = ""
		}
		base, ok := t.group(folder)
		if !ok {
			continue
		}
		config, err := t.read(folder, path.Base(file), base)
		if err != nil {
			continue
		}
		s.config, s.group = config, jinja.NewDict()
		for _, e := range base.Entries() {
			if key, _ := e.Key.(string); !known(key) && key != "stack_group_path" {
				s.group.Put(e)
			}
		}
		t.identify(s)
	}
	return all
}

// identify finds where a stack is and what CloudFormation calls it.
func (t *tree) identify(s *stack) {
	missing := false
	for _, key := range []string{"project_code", "region"} {
		e, ok := s.config.Entry(key)
		text, isText := e.Value.(string)
		switch {
		case !ok:
			t.Add(s.at, "%s is missing: write it in %s%s", key, configs, group)
			missing = true
		case !isText || text == "":
			t.Add(t.places[e.Place], "%s: expected text, found %s", key, jinja.Kind(e.Value))
			missing = true
		}
	}
	for _, key := range []string{"ignore", "obsolete", "protect", "disable_rollback"} {
		e, ok := s.config.Entry(key)
		if _, isBool := e.Value.(bool); ok && !isBool {
			t.Add(t.places[e.Place], "%s: expected true or false, found %s", key, jinja.Kind(e.Value))
		}
	}
	role, at := t.role(s, "sceptre_role", "iam_role")
	serviceRole, used := t.role(s, "cloudformation_service_role", "role_arn")
	if serviceRole != "" {
		at = used
	}
	if e, ok := s.config.Entry("profile"); ok && jinja.Truth(e.Value) {
		if _, isText := e.Value.(string); !isText {
			t.Add(t.places[e.Place], "profile: expected text, found %s", jinja.Kind(e.Value))
		}
		at = t.places[e.Place]
	}
	if missing {
		s.config = nil
		return
	}
	s.account = account{s.text("profile"), s.text("region"), role, serviceRole}
	if t.has(s) {
		t.requireTarget(s.account, at)
	}
	s.physical = s.text("project_code") + "-" + strings.ReplaceAll(strings.TrimSuffix(s.file, ".yaml"), "/", "-")
	if e, ok := s.config.Entry("stack_name"); ok && jinja.Truth(e.Value) {
		text, isText := e.Value.(string)
		if !isText {
			t.Add(t.places[e.Place], "stack_name: expected text, found %s: write it in quotes", jinja.Kind(e.Value))
		}
		s.physical = text
	}
}

// role is the ARN of a role, which has a key and an older one, and where it is written.
func (t *tree) role(s *stack, key, older string) (arn string, at problem.Position) {
	at = s.at
	for _, one := range []string{key, older} {
		e, ok := s.config.Entry(one)
		text, isText := e.Value.(string)
		switch {
		case !ok || !jinja.Truth(e.Value):
		case !isText:
			t.Add(t.places[e.Place], "%s: expected the ARN of a role, found %s: Stackwright must know the role before it deploys", one, jinja.Kind(e.Value))
		case arn != "":
			t.Add(t.places[e.Place], "%s and %s are the same: remove one of them", older, key)
		default:
			arn, at = text, t.places[e.Place]
		}
	}
	return arn, at
}

// declared declares a stack among those of its environment.
func (t *tree) declared(s *stack, all []*stack) (declared.Stack, bool) {
	if s.config == nil {
		return declared.Stack{Name: s.name, At: s.at, Template: &declared.Template{At: s.at, Broken: true}, Settings: declared.Settings{Incomplete: true}}, true
	}
	r := &resolution{tree: t, stack: s, stacks: all}
	one := declared.Stack{Name: s.name, At: s.at, ParametersIn: "under parameters: in " + s.at.File}
	one.StackName = literal(t.position(s, "stack_name"), s.physical)
	if target := t.target(s.account); target != "" {
		one.Region = s.account.region
		if target != project.DefaultTarget {
			one.Settings.Targets = &[]declared.Value{*literal(t.position(s, "region"), target)}
		}
	}
	if one.Region != "" {
		one.MapIn = "write under targets: in sceptre.yaml the line - {region: " + problem.Short(one.Region) + ", target: NAME}"
	}
	capabilities := []declared.Value{}
	for _, name := range []string{"CAPABILITY_AUTO_EXPAND", "CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"} {
		capabilities = append(capabilities, *literal(s.at, name))
	}
	one.Settings.Capabilities = &capabilities
	if s.is("protect") {
		one.Settings.Protect = literal(t.position(s, "protect"), "true")
	}
	if s.is("ignore") {
		one.Settings.Enabled = literal(t.position(s, "ignore"), "false")
	}
	if s.is("obsolete") {
		one.Settings.Obsolete = literal(t.position(s, "obsolete"), "true")
	}
	t.timeout(s, &one.Settings)
	t.failure(s, &one.Settings)
	one.Settings.Notifications = r.notifications()
	one.Settings.Needs = r.needs()
	one.Settings.Hooks = r.hooks()
	one.Settings.Parameters, one.Settings.Incomplete = r.parameters()
	one.Settings.Tags = r.tags()
	one.Template = r.template()
	return one, true
}

// position is where a key is written; that of the stack if it is not.
func (t *tree) position(s *stack, key string) problem.Position {
	if e, ok := s.config.Entry(key); ok && e.Place > 0 {
		return t.places[e.Place]
	}
	return s.at
}

func literal(at problem.Position, text string) *declared.Value {
	return &declared.Value{At: at, Items: [][]declared.Part{{{Literal: text}}}, Kind: "text"}
}

// timeout sets the timeout of stack_timeout, which is in minutes.
func (t *tree) timeout(s *stack, to *declared.Settings) {
	e, ok := s.config.Entry("stack_timeout")
	if !ok || !jinja.Truth(e.Value) {
		return
	}
	minutes, isInt := e.Value.(int64)
	if !isInt || minutes < 1 || minutes > 100_000 {
		t.Add(t.places[e.Place], "stack_timeout: expected a number of minutes")
		return
	}
	to.Timeout = literal(t.places[e.Place], strconv.FormatInt(minutes, 10)+"m")
}

// failure sets what CloudFormation does if an operation on the stack fails. Sceptre ignores on_failure beside disable_rollback: true.
func (t *tree) failure(s *stack, to *declared.Settings) {
	if s.is("disable_rollback") {
		to.DisableRollback = literal(t.position(s, "disable_rollback"), "true")
		return
	}
	e, ok := s.config.Entry("on_failure")
	if !ok || !jinja.Truth(e.Value) {
		return
	}
	text, isText := e.Value.(string)
	if !isText {
		t.Add(t.places[e.Place], "on_failure: expected DO_NOTHING, ROLLBACK or DELETE, found %s", jinja.Kind(e.Value))
		return
	}
	to.OnFailure = literal(t.places[e.Place], text)
}

// notifications are the topics of the stack.
func (r *resolution) notifications() *[]declared.Value {
	e, ok := r.stack.config.Entry("notifications")
	if !ok || !jinja.Truth(e.Value) {
		return nil
	}
	at := r.tree.places[e.Place]
	v, err := r.resolve(e.Value, at)
	if err != nil {
		r.refuse(at, "notifications", err)
		return nil
	}
	list, isList := v.(*jinja.List)
	if !isList {
		r.tree.Add(at, "notifications: expected a list, found %s", jinja.Kind(v))
		return nil
	}
	all := []declared.Value{}
	for _, item := range list.Items {
		value, err := parameterValue(at, item)
		if err != nil {
			r.refuse(at, "notifications", err)
			continue
		}
		all = append(all, value)
	}
	return &all
}

// needs are the dependencies that the configuration lists.
func (r *resolution) needs() *[]declared.Value {
	e, ok := r.stack.config.Entry("dependencies")
	if !ok || !jinja.Truth(e.Value) {
		return nil
	}
	at := r.tree.places[e.Place]
	list, isList := e.Value.(*jinja.List)
	if !isList {
		r.tree.Add(at, "dependencies: expected a list, found %s", jinja.Kind(e.Value))
		return nil
	}
	needs := []declared.Value{}
	seen := map[string]bool{}
	for _, item := range list.Items {
		written, isText := item.(string)
		if !isText {
			r.tree.Add(at, "dependencies: expected the path of a configuration below config/, found %s", jinja.Kind(item))
			continue
		}
		other, err := r.find(written)
		switch {
		case err != nil:
			r.tree.Add(at, "dependencies: %v", err)
		case !r.tree.has(other) || other == r.stack || seen[other.name]:
		default:
			seen[other.name] = true
			needs = append(needs, *literal(at, other.name))
		}
	}
	return &needs
}

// find returns the stack of a configuration, as it is written in dependencies and in
// stack_output.
func (r *resolution) find(written string) (*stack, error) {
	file := strings.ReplaceAll(written, `\`, "/")
	file = strings.TrimPrefix(file, "/")
	var names []string
	for _, s := range r.stacks {
		if s.file == file {
			return s, nil
		}
		names = append(names, s.file)
	}
	if _, ok := r.tree.files[configs+file]; ok && r.tree.side.environments != nil {
		return nil, fmt.Errorf("%s is in another environment: list its folder under environments: in %s", problem.Short(written), sideFile)
	}
	hint := ""
	if closest := suggest.Closest(file, names); closest != "" {
		hint = ": did you mean " + closest + "?"
	}
	return nil, fmt.Errorf("there is no configuration config/%s%s", problem.Short(file), hint)
}

// parameters are those of the stack. They are incomplete if one could not be resolved.
func (r *resolution) parameters() (map[string]declared.Entry, bool) {
	e, ok := r.stack.config.Entry("parameters")
	if !ok || !jinja.Truth(e.Value) {
		return nil, false
	}
	d, isDict := e.Value.(*jinja.Dict)
	if !isDict {
		r.tree.Add(r.tree.places[e.Place], "parameters: expected a mapping, found %s", jinja.Kind(e.Value))
		return nil, true
	}
	if d.Len() > declared.MaxParameters {
		r.tree.Add(r.tree.places[e.Place], "parameters: %d: CloudFormation accepts at most %d", d.Len(), declared.MaxParameters)
		return nil, true
	}
	all := map[string]declared.Entry{}
	incomplete := false
	for _, p := range d.Entries() {
		at := r.tree.places[p.Place]
		name, isText := p.Key.(string)
		if !isText {
			r.tree.Add(at, "parameters: expected a name, found %s: write it in quotes", jinja.Kind(p.Key))
			incomplete = true
			continue
		}
		v, err := r.resolve(cast(p.Value), at)
		var value declared.Value
		if err == nil && v != nil {
			value, err = parameterValue(at, v)
		}
		switch {
		case err != nil:
			r.refuse(at, "parameter "+name, err)
			incomplete = true
		case v == nil && p.Value == nil:
			r.tree.Add(at, `parameter %s: expected text, found nothing: write "" for empty text, or !no_value`, name)
			incomplete = true
		case v != nil:
			all[name] = declared.Entry{At: at, Value: value}
		}
	}
	return all, incomplete
}

// cast makes texts of what Sceptre takes for a parameter: of numbers, and of true and false.
func cast(v any) any {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64, float64:
		text, _ := jinja.Str(v, 100)
		return text
	case *jinja.List:
		l := &jinja.List{}
		for _, item := range v.Items {
			l.Items = append(l.Items, cast(item))
		}
		return l
	}
	return v
}

// parameterValue is a text, or a list of texts.
func parameterValue(at problem.Position, v any) (declared.Value, error) {
	switch v := v.(type) {
	case string:
		return *literal(at, v), nil
	case parts:
		return declared.Value{At: at, Items: [][]declared.Part{v}, Kind: "text"}, nil
	case *jinja.List:
		value := declared.Value{At: at, List: true, Kind: "a list"}
		for _, item := range v.Items {
			one, err := parameterValue(at, item)
			if err != nil || one.List {
				return value, fmt.Errorf("expected a list of texts, found one with %s", jinja.Kind(item))
			}
			value.Items = append(value.Items, one.Items...)
		}
		return value, nil
	}
	return declared.Value{}, fmt.Errorf("expected text, a number, true, false or a list of them, found %s", jinja.Kind(v))
}

// tags are those of the stack. Sceptre writes keys and values as Python's str does.
func (r *resolution) tags() map[string]declared.Entry {
	e, ok := r.stack.config.Entry("stack_tags")
	if !ok || !jinja.Truth(e.Value) {
		return nil
	}
	d, isDict := e.Value.(*jinja.Dict)
	if !isDict {
		r.tree.Add(r.tree.places[e.Place], "stack_tags: expected a mapping, found %s", jinja.Kind(e.Value))
		return nil
	}
	all := map[string]declared.Entry{}
	for _, p := range d.Entries() {
		at := r.tree.places[p.Place]
		name, _ := jinja.Str(p.Key, 200)
		v, err := r.resolve(p.Value, at)
		if err != nil {
			r.refuse(at, "tag "+name, err)
			continue
		}
		switch v := v.(type) {
		case nil:
			if p.Value == nil {
				all[name] = declared.Entry{At: at, Value: *literal(at, "None")}
			}
		case parts:
			all[name] = declared.Entry{At: at, Value: declared.Value{At: at, Items: [][]declared.Part{v}, Kind: "text"}}
		default:
			text, wrong := jinja.Str(v, declared.MaxValue)
			if wrong != "" {
				r.tree.Add(at, "tag %s: %s", name, wrong)
				continue
			}
			all[name] = declared.Entry{At: at, Value: *literal(at, text)}
		}
	}
	return all
}
