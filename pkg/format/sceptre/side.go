package sceptre

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// sideFile has what Sceptre gets from its command line, from the environment and from
// the profiles of the AWS CLI. All its keys are optional.
const sideFile = "sceptre.yaml"

// A side is the side file.
type side struct {
	project      string
	projectAt    problem.Position
	environments []environment
	targets      []mapping
	variables    *jinja.Dict       // --var and --var-file
	shell        map[string]string // environment variables
	unchecked    []string          // what is not compared with the schemas of AWS
}

// An environment is the stacks below some folders of config/.
type environment struct {
	name    string
	at      problem.Position
	folders []string // "" is all
}

func (e environment) has(file string) bool {
	return slices.ContainsFunc(e.folders, func(folder string) bool { return folder == "." || strings.HasPrefix(file, folder+"/") })
}

// An account is where a configuration says that its stack is.
type account struct{ profile, region, role, serviceRole string }

// place is the account without the role that CloudFormation uses there.
func (a account) place() account {
	a.serviceRole = ""
	return a
}

// String is the account as a user writes it in the side file.
func (a account) String() string {
	var all []string
	for _, one := range []struct{ key, value string }{{"profile", a.profile}, {"region", a.region}, {"role", a.role}, {"service_role", a.serviceRole}} {
		if one.value != "" {
			all = append(all, one.key+": "+one.value)
		}
	}
	return strings.Join(all, ", ")
}

// A mapping maps the accounts with its values to a registered target.
type mapping struct {
	account // an empty value is for all, but for the service role: it is for stacks that have none
	target  string
	at      problem.Position
}

func (m mapping) matches(a account) bool {
	return (m.profile == "" || m.profile == a.profile) && (m.region == "" || m.region == a.region) && (m.role == "" || m.role == a.role) && m.serviceRole == a.serviceRole
}

var (
	sideKeys    = []string{"project", "environments", "targets", "variables", "environment_variables", "unchecked"}
	mappingKeys = []string{"profile", "region", "role", "service_role", "target"}
)

// readSide reads the side file, if there is one.
func (t *tree) readSide() side {
	s := side{variables: jinja.NewDict(), shell: map[string]string{}}
	body, ok := t.files[sideFile]
	if !ok {
		return s
	}
	root, err := document.Read(sideFile, body)
	if err != nil {
		t.Join(sideFile, err)
		return s
	}
	if root.Kind != yaml.MappingNode {
		t.Add(t.sideAt(root), "expected a mapping, found %s", document.Kind(root))
		return s
	}
	for _, p := range document.Pairs(root) {
		switch p.Key.Value {
		case "project":
			if s.project, ok = t.sideText("project", p.Value); ok {
				s.projectAt = t.sideAt(p.Value)
				if !project.Name.MatchString(s.project) {
					t.Add(s.projectAt, "project: %q is not a name: use lower-case letters, digits and hyphens", problem.Short(s.project))
					s.project = ""
				}
			}
		case "environments":
			s.environments = t.sideEnvironments(p.Value)
		case "targets":
			for _, item := range t.sideItems("targets", p.Value) {
				s.targets = append(s.targets, t.sideTarget(item))
			}
		case "variables":
			v, ok := t.value(p.Value, 0, t.sideAt)
			d, isDict := v.(*jinja.Dict)
			if ok && !isDict {
				t.Add(t.sideAt(p.Value), "variables: expected a mapping, found %s", document.Kind(p.Value))
			} else if ok {
				s.variables = d
			}
		case "environment_variables":
			for _, one := range t.sidePairs("environment_variables", p.Value) {
				if text, ok := t.sideText("environment_variables: "+problem.Short(one.Key.Value), one.Value); ok {
					s.shell[one.Key.Value] = text
				}
			}
		case "unchecked":
			for _, item := range t.sideItems("unchecked", p.Value) {
				switch text, ok := t.sideText("unchecked", item); {
				case ok && declared.UncheckedName.MatchString(text):
					s.unchecked = append(s.unchecked, text)
				case ok:
					t.Add(t.sideAt(item), "unchecked: %s", declared.NotUnchecked)
				}
			}
		default:
			t.Add(t.sideAt(p.Key), "unknown key %q%s", problem.Short(p.Key.Value), t.Hint(p.Key.Value, sideKeys))
		}
	}
	return s
}

func (t *tree) sideAt(n *yaml.Node) problem.Position {
	if n = document.Resolve(n); n == nil {
		return problem.Position{File: sideFile}
	}
	return problem.Position{File: sideFile, Line: n.Line, Column: n.Column}
}

func (t *tree) sideText(what string, n *yaml.Node) (string, bool) {
	r := document.Resolve(n)
	if r == nil || r.Kind != yaml.ScalarNode || document.Null(r) || document.Tagged(r) != "" {
		t.Add(t.sideAt(n), "%s: expected text, found %s", what, document.Kind(n))
		return "", false
	}
	return r.Value, true
}

func (t *tree) sidePairs(what string, n *yaml.Node) []document.Pair {
	if r := document.Resolve(n); !document.Null(n) && r.Kind != yaml.MappingNode {
		t.Add(t.sideAt(n), "%s: expected a mapping, found %s", what, document.Kind(n))
	}
	return document.Pairs(n)
}

func (t *tree) sideItems(what string, n *yaml.Node) []*yaml.Node {
	if r := document.Resolve(n); !document.Null(n) && r.Kind != yaml.SequenceNode {
		t.Add(t.sideAt(n), "%s: expected a list, found %s", what, document.Kind(n))
	}
	return document.Items(n)
}

func (t *tree) sideEnvironments(n *yaml.Node) []environment {
	var all []environment
	for _, p := range t.sidePairs("environments", n) {
		e := environment{name: p.Key.Value, at: t.sideAt(p.Key)}
		if !project.EnvironmentName.MatchString(e.name) {
			t.Add(e.at, "environments: %q is not a name of an environment: use lower-case letters, digits and hyphens", problem.Short(e.name))
			continue
		}
		items := []*yaml.Node{p.Value}
		if r := document.Resolve(p.Value); r.Kind == yaml.SequenceNode {
			items = document.Items(r)
		}
		for _, item := range items {
			if folder, ok := t.sideText("environments: "+e.name, item); ok {
				e.folders = append(e.folders, strings.Trim(folder, "/"))
			}
		}
		all = append(all, e)
	}
	return all
}

func (t *tree) sideTarget(n *yaml.Node) mapping {
	m := mapping{at: t.sideAt(n)}
	to := map[string]*string{"profile": &m.profile, "region": &m.region, "role": &m.role, "service_role": &m.serviceRole, "target": &m.target}
	for _, p := range t.sidePairs("targets", n) {
		if to[p.Key.Value] == nil {
			t.Add(t.sideAt(p.Key), "targets: unknown key %q%s", problem.Short(p.Key.Value), t.Hint(p.Key.Value, mappingKeys))
			continue
		}
		*to[p.Key.Value], _ = t.sideText("targets: "+p.Key.Value, p.Value)
	}
	if m.target == "" {
		t.Add(m.at, "targets: target is missing: write the name of a registered target")
	}
	return m
}

// An unmapped account is one that has no target.
type unmapped struct {
	at     problem.Position
	stacks int
}

// target is the target of an account, or "". The default target needs no mapping.
func (t *tree) target(a account) string {
	for _, m := range t.side.targets {
		if m.matches(a) {
			return m.target
		}
	}
	if a.profile == "" && a.role == "" && a.serviceRole == "" {
		return project.DefaultTarget
	}
	return ""
}

// requireTarget records a stack whose account has no target.
func (t *tree) requireTarget(a account, at problem.Position) {
	if t.target(a) != "" {
		return
	}
	u := t.missing[a]
	if u == nil {
		u = &unmapped{at: at}
		t.missing[a] = u
		t.order = append(t.order, a)
	}
	u.stacks++
}

// reportUnmapped reports each account without a target once, with the line to write.
func (t *tree) reportUnmapped() {
	for _, a := range t.order {
		u := t.missing[a]
		more := ""
		if u.stacks > 1 {
			more = fmt.Sprintf(" (%d stacks)", u.stacks)
		}
		t.Add(u.at, "no target is given for %s%s: register one with stackwright targets add NAME, and write under targets: in %s the line - {%s, target: NAME}", a, more, sideFile, a)
	}
}
