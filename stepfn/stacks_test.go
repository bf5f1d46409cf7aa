package stepfn_test

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/project"
)

// A world is a project as stories write it: a word for each stack.
//
//	db<vpc,net!v2=other   db needs the outputs of vpc and net, has version v2 and the physical name other
//	db<~vpc               db uses an output of vpc that does not change
//	db<.vpc               db uses an output of vpc, and imports nothing
//	db+                   db is protected
//	db@eu,us<vpc          db goes to two targets; it needs vpc in the same, or wherever that is
//	db@eu<vpc@us          db is in one target and needs vpc in another
//	db^data<vpc           db was called data until now, and keeps its stack
type stacks []stack

type stack struct {
	name, version, physical string
	moved                   string // the name that it had; "" if it has not been moved
	protected               bool
	targets                 []string // none is the default one
	needs                   []need
}

type need struct {
	name   string // with its target, if it is told
	output string
	bare   bool // it is not imported too
}

func parseStacks(words []string) stacks {
	var w stacks
	for _, word := range words {
		word, physical, _ := strings.Cut(word, "=")
		word, version, _ := strings.Cut(word, "!")
		name, needs, _ := strings.Cut(word, "<")
		name, protected := strings.CutSuffix(name, "+")
		name, targets, abroad := strings.Cut(name, "@")
		name, moved, _ := strings.Cut(name, "^")
		s := stack{name: name, version: version, physical: physical, moved: moved, protected: protected}
		if abroad {
			s.targets = strings.Split(targets, ",")
		}
		if s.version == "" {
			s.version = "v1"
		}
		if s.physical == "" {
			s.physical = physicalName(cmp.Or(moved, name))
		}
		for n := range strings.SplitSeq(needs, ",") {
			if stable, ok := strings.CutPrefix(n, "~"); ok {
				s.needs = append(s.needs, need{name: stable, output: "Name"})
			} else if n, bare := strings.CutPrefix(n, "."); n != "" {
				s.needs = append(s.needs, need{name: n, output: "Value", bare: bare})
			}
		}
		w = append(w, s)
	}
	return w
}

func physicalName(node string) string { return "shop-" + node }

// physicals finds a stack's physical name by node.
func (w stacks) physicalNames() map[string]string {
	names := make(map[string]string)
	for _, s := range w {
		names[s.name] = s.physical
	}
	return names
}

// placed returns the stack of a name, which may say a target.
func (w stacks) named(name string) stack {
	name, _, _ = strings.Cut(name, "@")
	for _, s := range w {
		if s.name == name {
			return s
		}
	}
	return stack{name: name}
}

// in lists the targets of a stack.
func (s stack) in() []string {
	if len(s.targets) == 0 {
		return []string{"default"}
	}
	return s.targets
}

// node is what the stack is called in one of its targets.
func (s stack) node(target string) string {
	if len(s.targets) > 1 {
		return s.name + "@" + target
	}
	return s.name
}

// at is where the stack is in one of its targets: what stages call it.
func at(name, target string) string {
	if target == "default" {
		return name
	}
	return name + "@" + target
}

// where says in which target a stack in one finds what it needs.
func (w stacks) targetOfNeed(n need, from string) string {
	if _, target, told := strings.Cut(n.name, "@"); told {
		return target
	}
	if on := w.named(n.name).in(); !slices.Contains(on, from) {
		return on[0]
	}
	return from
}

// imports reports whether a stack imports what it needs: from where it is, in
// all its targets.
func (w stacks) imports(s stack, n need) bool {
	return !n.bare && !slices.ContainsFunc(s.in(), func(t string) bool { return w.targetOfNeed(n, t) != t })
}

// param is the parameter that is given an output of what is needed.
func (n need) param() string { return "From" + strings.ReplaceAll(n.name, "@", "") }

// accesses are the targets that stories know: two accounts and three regions.
var accesses = map[string]project.Access{
	"eu": access("eu", "111111111111", "eu-west-1"),
	"us": access("us", "222222222222", "us-west-2"),
	"ap": access("ap", "111111111111", "ap-south-1"),
}

func access(name, account, region string) project.Access {
	return project.Access{
		Target: project.Target{Name: name, Account: account, Region: region},
		Role:   "arn:aws:iam::" + account + ":role/stackwright-" + name, Execution: "arn:aws:iam::" + account + ":role/stackwright-execution",
	}
}

func targetOf(name string) project.Target {
	if a, ok := accesses[name]; ok {
		return a.Target
	}
	return project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"}
}

// project makes of w what a configuration would.
func (w stacks) project() project.Project {
	p := project.Project{Name: "shop", Environment: "default", Nodes: make(map[string]project.Node)}
	for _, s := range w {
		for _, target := range s.in() {
			n := project.Node{
				Name: s.node(target), Stack: s.physical, Target: targetOf(target),
				Template:   project.Template{Digest: s.version, Pinned: true},
				Parameters: make(map[string]project.Text), Protect: s.protected,
			}
			imports := []string{s.version, "imports"}
			for _, need := range s.needs {
				there := w.targetOfNeed(need, target)
				on := w.named(need.name).node(there)
				n.Needs = append(n.Needs, on)
				n.Parameters[need.param()] = project.Text{{Node: on, Output: need.output}}
				if w.imports(s, need) {
					imports = append(imports, at(w.named(need.name).physical, there))
				}
			}
			n.Needs = slices.Compact(sorted(n.Needs))
			n.Template.Digest = strings.Join(imports, " ")
			p.Nodes[n.Name] = n
		}
	}
	return p
}

// words writes stacks as parseStacks reads them.
func (w stacks) words() []string {
	var words []string
	for _, s := range w {
		words = append(words, s.word())
	}
	return words
}

func (s stack) word() string {
	var needs []string
	for _, n := range s.needs {
		switch {
		case n.output == "Name":
			needs = append(needs, "~"+n.name)
		case n.bare:
			needs = append(needs, "."+n.name)
		default:
			needs = append(needs, n.name)
		}
	}
	word := s.name
	if len(needs) > 0 {
		word += "<" + strings.Join(needs, ",")
	}
	if s.version != "v1" {
		word += "!" + s.version
	}
	if s.physical != physicalName(s.name) {
		word += "=" + s.physical
	}
	return word
}
