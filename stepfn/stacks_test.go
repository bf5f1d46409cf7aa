package stepfn_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/project"
)

// stacks are the stacks of a project. Scenarios write one word for each stack.
//
//	db<vpc,net!v2=other   db needs the outputs of vpc and net, has version v2 and the physical name other
//	db<~vpc               db uses an output of vpc that does not change
//	db<.vpc               db uses an output of vpc, and imports nothing
//	db<^vpc               db uses a function of an output of vpc; before ~ and .
//	db+                   db is protected
//	db*                   db is deployed in express mode
//	db%                   db adopts a stack that exists
//	db&orders             db imports the table orders, which exists
//	db$orders             db has the table orders, and creates it
//	db$orders~            the same, and a table that leaves its template is deleted
//	db$orders:app         db has the table orders, and takes it from app if app has it
//	db$                   db has no table, and can import one later
//	db>always<vpc         db has to be approved before each change
//	db?DELETE?topic<vpc   db has these options: see options_test.go
//	db@eu,us<vpc          db is in two targets; each needs vpc of the same target, or of the first that has it
//	db@eu<vpc@us          db is in one target and needs vpc of another
//	db|zone,key<vpc       db makes the exports zone and key
//	db<|zone              db imports the export zone, whichever stack makes it
//	db|Inner.zone!n1      the stack nested in db makes the export zone
//	db<|Inner.zone!n1     the stack nested in db imports the export zone
//	db^data<vpc           db had the name data in the last project, and keeps its physical stack
type stacks []stack

type stack struct {
	name, version, physical string
	moved                   string // its former name; "" if it has not been moved
	protected, express      bool
	adopts                  bool
	approve                 string   // which steps have to be approved; "" is none
	table                   string   // the name of its table; "" if it has none
	unkept                  bool     // the policy of its table keeps no data
	giver                   string   // the stack from which it takes the table
	readable                bool     // its template in memory is one of CloudFormation
	importsTable            bool     // it imports the table
	options                 []string // keys of stackOptions
	targets                 []string // empty: the default target
	of                      string   // the target in which it is one of the stacks that were one in a unit; "" if it is none
	unit                    bool     // one of the targets was a unit, in whose place are its accounts
	exports                 []string // names of exports, besides that of its name
	imports                 []string // names of exports that any stack makes
	needs                   []need
}

type need struct {
	name   string // with the target, if the project names one
	output string
	bare   bool // the export of the dependency is not imported
	upper  bool // the value is the output in capitals, computed by an expression
}

// text is the value of the parameter that gets the output of a node.
func (n need) text(node string) project.Text {
	if !n.upper {
		return project.Text{{Node: node, Output: n.output}}
	}
	output := project.Term{Expression: &project.Expression{Function: "??", Arguments: []project.Term{{Node: node, Output: n.output}, {Known: "none"}}}}
	return project.Text{{Expression: &project.Expression{Function: "upper", Arguments: []project.Term{output}}}}
}

// written is the same in a project file.
func (n need) written() string {
	if !n.upper {
		return fmt.Sprintf("${%s.%s}", n.name, n.output)
	}
	return fmt.Sprintf("${upper(%s.%s ?? 'none')}", n.name, n.output)
}

// of is what the parameter gets from an output.
func (n need) of(output string) string {
	if n.upper {
		return strings.ToUpper(output)
	}
	return output
}

func parseStacks(words []string) stacks {
	var w stacks
	for _, word := range words {
		word, physical, _ := strings.Cut(word, "=")
		word, version, _ := strings.Cut(word, "!")
		name, needs, _ := strings.Cut(word, "<")
		name, exports, _ := strings.Cut(name, "|")
		name, level, _ := strings.Cut(name, ">")
		name, options, optional := strings.Cut(name, "?")
		name, protected := strings.CutSuffix(name, "+")
		name, express := strings.CutSuffix(name, "*")
		name, adopts := strings.CutSuffix(name, "%")
		name, targets, placed := strings.Cut(name, "@")
		name, moved, _ := strings.Cut(name, "^")
		name, table, imports := strings.Cut(name, "&")
		readable := imports
		if !imports {
			name, table, readable = strings.Cut(name, "$")
		}
		table, giver, _ := strings.Cut(table, ":")
		table, unkept := strings.CutSuffix(table, "~")
		s := stack{giver: giver, unkept: unkept, name: name, version: version, physical: physical, moved: moved, protected: protected, express: express, adopts: adopts, approve: level, table: table, readable: readable, importsTable: imports}
		if placed {
			s.targets = strings.Split(targets, ",")
		}
		if optional {
			s.options = strings.Split(options, "?")
		}
		if s.version == "" {
			s.version = "v1"
		}
		if s.physical == "" {
			s.physical = physicalName(cmp.Or(moved, name))
		}
		if exports != "" {
			s.exports = strings.Split(exports, ",")
		}
		for n := range strings.SplitSeq(needs, ",") {
			if export, ok := strings.CutPrefix(n, "|"); ok {
				s.imports = append(s.imports, export)
				continue
			}
			n, upper := strings.CutPrefix(n, "^")
			if stable, ok := strings.CutPrefix(n, "~"); ok {
				s.needs = append(s.needs, need{name: stable, output: "Name", upper: upper})
			} else if n, bare := strings.CutPrefix(n, "."); n != "" {
				s.needs = append(s.needs, need{name: n, output: "Value", bare: bare, upper: upper})
			}
		}
		w = append(w, s)
	}
	return w
}

func physicalName(node string) string { return "shop-" + node }

// physicalNames maps nodes to physical names.
func (w stacks) physicalNames() map[string]string {
	names := make(map[string]string)
	for _, s := range w {
		names[s.name] = s.physical
	}
	return names
}

// named returns the stack of a name. The name may have a target.
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
	if len(s.targets) == 0 && !s.unit {
		return []string{"default"}
	}
	return s.targets
}

// node returns the name of the node of a stack in one of its targets.
func (s stack) node(target string) string {
	if len(s.targets) > 1 || s.unit {
		return s.name + "@" + target
	}
	return s.name
}

// at returns the name of a stack in one of its targets, in calls of backends.
func at(name, target string) string {
	if target == "default" {
		return name
	}
	return name + "@" + target
}

// targetOfNeed returns the target of the dependency that a stack in the target from
// uses.
func (w stacks) targetOfNeed(n need, from string) string {
	if _, target, given := strings.Cut(n.name, "@"); given {
		return target
	}
	if on := w.named(n.name).in(); !slices.Contains(on, from) {
		return on[0]
	}
	return from
}

// makers lists the stacks that make an export in a target.
func (w stacks) makers(export, target string) []stack {
	return slices.DeleteFunc(slices.Clone(w), func(s stack) bool {
		makes := slices.Contains(s.exports, export) || slices.Contains(s.exports, sim.InNested+export)
		return !makes || !slices.Contains(s.in(), target)
	})
}

// uses reports whether a stack imports the export of the name of a dependency. That is possible
// only if, in each target of the stack, the dependency is in the same target.
func (w stacks) uses(s stack, n need) bool {
	return !n.bare && !slices.ContainsFunc(s.in(), func(t string) bool { return w.targetOfNeed(n, t) != t })
}

// exportsFor reports whether all dependencies of s are there and have exports. Without them CloudFormation creates
// no stack that imports.
func (w stacks) exportsFor(b backend, s stack) bool {
	return !slices.ContainsFunc(s.needs, func(n need) bool {
		status := b.Status(w.named(n.name).nameOnBackend())
		return status.Gone() || status.Busy() || status.Dead()
	})
}

// param returns the name of the parameter that gets the output of the dependency. Of a
// very long name it has the beginning.
func (n need) param() string {
	name := strings.NewReplacer("@", "", "-", "").Replace(n.name)
	return "From" + name[:min(len(name), 40)]
}

// accesses are the targets of scenarios: two accounts and three regions.
var accesses = map[string]project.Access{
	"eu": access("eu", "111111111111", "eu-west-1"),
	"us": access("us", "222222222222", "us-west-2"),
	"ap": access("ap", "111111111111", "ap-south-1"),
}

func access(name, account, region string) project.Access {
	return project.Access{
		Target: project.Target{Name: name, Account: account, Region: region},
		Role:   "arn:aws:iam::" + account + ":role/stackwright-" + name, Execution: "arn:aws:iam::" + account + ":role/stackwright-execution",
		Projects: project.Grants{"shop@*"}, ExternalID: "sw-" + name,
	}
}

func targetOf(name string) project.Target {
	if a, ok := accesses[name]; ok {
		return a.Target
	}
	if unit, account, ok := project.UnitOf(name); ok && unit == unitAccess.Name {
		return unitAccess.Member(account).Target
	}
	if number, ok := strings.CutPrefix(name, "fleet"); ok {
		return project.Target{Name: name, Account: fmt.Sprintf("%012s", number), Region: "eu-central-1"}
	}
	return project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"}
}

// project returns the project that a project file with these stacks declares.
func (w stacks) project() project.Project {
	p := project.Project{Name: "shop", Environment: "default", Nodes: make(map[string]project.Node)}
	for _, s := range w {
		for _, name := range s.options {
			if l, rolls := rolloutLimits[name]; rolls && len(s.targets) > 1 {
				p.MaxFailures = append(p.MaxFailures, project.Limit{Rollout: s.name, Most: l.failures})
				if l.concurrent > 0 {
					p.MaxParallel = append(p.MaxParallel, project.Limit{Rollout: s.name, Most: l.concurrent})
				}
			}
		}
		for _, target := range s.in() {
			n := project.Node{
				Name: s.node(target), Stack: s.physical, Target: targetOf(target),
				Template:   project.Template{Digest: s.version, Pinned: true, Creation: 5 * time.Second},
				Parameters: make(map[string]project.Text), Protect: s.protected, Adopt: s.adopts, Approve: project.ApprovalLevel(s.approve),
			}
			if s.express {
				n.Deployment = project.Express
			}
			for _, name := range s.options {
				stackOptions[name].set(&n)
			}
			switch {
			case slices.Contains(s.options, "obsolete"):
				p.Obsolete = append(p.Obsolete, n.Name)
			case s.ignored():
				p.Ignored = append(p.Ignored, n.Name)
			}
			n.Links.Exports = map[string]string{"Name": s.physical + "-Name"}
			digest := []string{s.version}
			if len(s.exports) > 0 {
				digest = append(append(digest, "exports"), s.exports...)
			}
			imports := append(digest, "imports")
			for _, x := range s.exports {
				n.Links.Exports[x] = strings.TrimPrefix(x, sim.InNested)
			}
			for _, x := range s.imports {
				imports = append(imports, at(":"+x, target))
				x = strings.TrimPrefix(x, sim.InNested)
				n.Links.Imports = append(n.Links.Imports, x)
				for _, on := range w.makers(x, target) {
					n.Needs = append(n.Needs, on.node(target))
				}
			}
			for _, need := range s.needs {
				from := w.targetOfNeed(need, target)
				on := w.named(need.name).node(from)
				n.Needs = append(n.Needs, on)
				n.Parameters[need.param()] = need.text(on)
				if w.uses(s, need) {
					n.Links.Imports = append(n.Links.Imports, w.named(need.name).physical+"-Name")
					imports = append(imports, at(w.named(need.name).physical, from))
				}
			}
			for _, resource := range s.restorable() {
				n.Parameters[backupParameter+resource] = project.Text{{Source: &project.Source{Restored: resource, Target: n.Target}}}
			}
			n.Needs = slices.Compact(sorted(n.Needs))
			if s.keeps() {
				n.IgnoreChanges = slices.Sorted(maps.Keys(n.Parameters))
			}
			n.Template.Digest = strings.Join(imports, " ")
			if s.readable {
				n.Template.Digest = "Description: " + n.Template.Digest + "\nResources:\n  Topic:\n    Type: AWS::SNS::Topic\n" + s.tableText()
			}
			if s.importsTable {
				n.Import = map[string]project.Identifier{"Table": nil}
			}
			if s.giver != "" {
				n.MoveFrom = map[string]map[string]string{w.named(s.giver).node(target): {"Table": "Table"}}
			}
			if s.ignored() {
				n.Adopt, n.Import, n.MoveFrom = false, nil, nil
			}
			p.Nodes[n.Name] = n
		}
	}
	slices.Sort(p.Ignored)
	slices.Sort(p.Obsolete)
	return p
}

// keeps reports whether the stack ignores changes of all its parameters.
func (s stack) keeps() bool { return slices.Contains(s.options, "keeps") }

// ignored reports whether operations leave the stack alone.
func (s stack) ignored() bool {
	return slices.Contains(s.options, "off") || slices.Contains(s.options, "obsolete")
}

// tableText is the table of a stack, in the section Resources of its template.
func (s stack) tableText() string {
	if s.table == "" {
		return ""
	}
	policy := "    DeletionPolicy: Retain\n"
	if s.unkept {
		policy = ""
	}
	return "  Table:\n    Type: AWS::DynamoDB::Table\n" + policy + "    Properties:\n      TableName: " + s.table + "\n" +
		"      KeySchema: [{ AttributeName: id, KeyType: HASH }]\n"
}

// words writes stacks in the form that parseStacks reads.
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
		signs := ""
		if n.upper {
			signs = "^"
		}
		switch {
		case n.output == "Name":
			signs += "~"
		case n.bare:
			signs += "."
		}
		needs = append(needs, signs+n.name)
	}
	word := s.name
	if s.importsTable {
		word += "&" + s.table
	} else if s.readable {
		word += "$" + s.table
	}
	if s.unkept {
		word += "~"
	}
	if s.giver != "" {
		word += ":" + s.giver
	}
	if len(s.targets) > 0 {
		word += "@" + strings.Join(s.targets, ",")
	}
	if s.adopts {
		word += "%"
	}
	for _, name := range s.options {
		word += "?" + name
	}
	if s.approve != "" {
		word += ">" + s.approve
	}
	if len(s.exports) > 0 {
		word += "|" + strings.Join(s.exports, ",")
	}
	for _, x := range s.imports {
		needs = append(needs, "|"+x)
	}
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

// given returns the parameters that s gets from the live outputs of its dependencies; nil if
// it has none.
func (s stack) given(b backend, w stacks) map[string]string {
	var all map[string]string
	for _, n := range s.needs {
		if all == nil {
			all = make(map[string]string)
		}
		all[n.param()] = n.of(b.OutputOf(w.named(n.name).nameOnBackend(), n.output))
	}
	return all
}
