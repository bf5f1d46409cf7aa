// Package resolve makes one environment of a declared project into nodes: it
// merges defaults, loads templates, finds targets, puts values in the place of
// references, and finds the edges. Package check checks the result.
package resolve

import (
	"cmp"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

// Options are the inputs besides the files.
type Options struct {
	Project     string                    // the required name of the project; "" allows any name
	Name        string                    // of a project that has no project file
	Environment string                    // a name
	Store       packages.Store            // the bucket for the files that templates name
	Targets     map[string]project.Target // the registered targets by name, project.DefaultTarget among them
	Members     project.Members           // the accounts of the units that it names
	Units       []string                  // the names of all registered targets of organizational units
	Holds       project.Condition         // evaluates the conditions of hooks
	Remote      *remote.Files             // the files from elsewhere
	Accepted    bool                      // AWS has accepted the templates before: they are not compared with its schemas
	Assumed     []project.Target          // targets of which an empty account or region was assumed, and is not known
}

// A Project is one environment of a declared project. It lacks the parts that
// could not be resolved; a problem was added for each.
type Project struct {
	Name, Environment string
	Lives             declared.Environment // the environment, with what the files say of how long it lives
	ApprovePlan       bool                 // its plans have to be approved
	Stacks            []*Stack             // in the order of the file, one for each target
	Names             []string             // of the stacks, without targets
	Defaults          []*Defaults
	UnusedLimits      []declared.Limit            // limits for stacks of which there are none, in any environment
	Edges             map[Edge]problem.Position   // the first position that makes each
	Unregistered      []string                    // targets that are named and not registered
	Followed          map[string][]project.Target // the targets of the accounts of the units that are named, by the name of the target of the unit
	Unplaced          map[string]string           // stacks that are deployed nowhere because no account of their units is active, and those of one account, with why
	Required          map[string]project.Target   // the account and region that the first stack in each of them requires; "" is any
	Store             packages.Store
	Objects           map[string][]byte // that templates need, by digest; set when everything is resolved

	Unchecked   []string // what is not compared with the schemas of AWS
	UncheckedIn string   // the file where to write more of it
	Accepted    bool     // nothing is

	Promotion *project.Promotion // from and to other environments; nil if none is promoted by itself

	Home    project.Target                         // where they are called; zero if there are none
	Hooks   []project.Hook                         // of deploys
	HooksAt map[string]map[string]problem.Position // where hooks say what they call, by node, or "" for deploys, and their names

	concurrent, failures []project.Limit // of rollouts

	byNode    map[string]*Stack
	limits    *limits
	templates *templates
	assumed   []project.Target
}

// A Stack is a stack in one of its targets.
type Stack struct {
	Name      string // without the target
	At        problem.Position
	Settings  declared.Settings // with the defaults merged in
	Where     string            // its parameters are written, for messages
	StackName *declared.Value
	region    string // that it requires of its targets; "" is any
	account   string // the same
	mapIn     string // where to write its target, for messages; "" if no account or region says where it is
	assets    []declared.Asset
	ignored   bool      // operations leave it alone
	obsolete  bool      // the same, but a prune deletes it
	Template  *Template // nil if it could not be read
	Node      project.Node
	Known     map[string]string // parameters whose values are known, with the template's defaults
	Exports   []template.Export
	Reads     []Reading
	RetainAt  map[string]problem.Position // where each of Node.Retain is written

	targetsUnknown bool // which was reported
	unit           bool // one of its targets is a target of an organizational unit, or is one account of several that the files name, so that it has one target or many, from plan to plan
	evaluation     *template.Evaluation

	nestedExports []string // the names of exports that stacks nested in it make
	nestedImports []nestedImport
}

// Defaults are declared defaults, and the stacks of this environment that they
// apply to.
type Defaults struct {
	declared.Defaults
	Stacks    []*Stack
	Elsewhere bool // they apply to stacks that are not in this environment
}

// Declared resolves a declared project, and adds every problem to the list.
func Declared(d declared.Project, f archive.Files, o Options, list *problem.List) *Project {
	l := &limits{List: list, file: d.File, values: template.NewRoom(maxValues)}
	p := &Project{Environment: o.Environment, Required: map[string]project.Target{}, Store: o.Store, Followed: o.Members.Units, Edges: map[Edge]problem.Position{}, byNode: map[string]*Stack{}, limits: l}
	r := &resolver{
		Project: p, List: list, declared: d, options: o,
		templates: newTemplates(f, o.Remote, o.Store, l), byName: map[string][]*Stack{},
		attributes: map[given]project.Text{}, pending: map[given]bool{},
	}
	r.identify()
	r.layers = d.Layers(r.environment)
	r.Lives = r.environment
	for _, l := range r.layers {
		if l.Approval.Plan != nil {
			r.ApprovePlan = *l.Approval.Plan
		}
	}
	r.templates.packager.Project = p.Name
	p.Unchecked, p.UncheckedIn, p.Accepted = d.Unchecked, d.UncheckedIn, o.Accepted
	p.templates, p.assumed = r.templates, o.Assumed
	r.run()
	p.Objects = r.templates.packager.Objects
	r.unregistered.report(list, o)
	return p
}

// Node returns the stack that is a node.
func (p *Project) Node(name string) *Stack { return p.byNode[name] }

// Full reports whether to read no further, because the project is too large or has
// too many problems.
func (p *Project) Full() bool { return p.limits.reached() }

// Evaluation is a stack's template, evaluated with the values that are known
// before any stack is deployed.
func (p *Project) Evaluation(s *Stack) *template.Evaluation {
	if s.evaluation == nil {
		s.evaluation = s.Template.In(p.scope(s))
	}
	return s.evaluation
}

// scope is what is known of a stack before any stack is deployed.
func (p *Project) scope(s *Stack) template.Scope {
	return template.Scope{
		Parameters:       s.Known,
		StackName:        s.Node.Stack,
		AccountID:        s.Node.Target.Account,
		Region:           s.Node.Target.Region,
		NotificationARNs: []string{},
		Room:             p.limits.values,
	}
}

// Certain is Evaluation without accounts and regions that were only assumed.
func (p *Project) Certain(s *Stack) *template.Evaluation {
	at := s.Node.Target
	for _, t := range p.assumed {
		if t.Name == at.Name {
			at.Account, at.Region = t.Account, t.Region
		}
	}
	if at == s.Node.Target {
		return p.Evaluation(s)
	}
	scope := p.scope(s)
	scope.AccountID, scope.Region = at.Account, at.Region
	return s.Template.In(scope)
}

// NestedTemplate is the template of a nested stack, if it is a file of the project, and its name.
func (p *Project) NestedTemplate(s *Stack, resource string) (*template.Template, string) {
	r := s.Template.Resources[resource]
	written, literal := r.Property("TemplateURL").Literal()
	if r.Type != "AWS::CloudFormation::Stack" || !literal {
		return nil, ""
	}
	return p.templates.packager.Nested(s.Template.At.File, written)
}

// A resolver resolves one environment, step by step: each step needs the results
// of those before it for all stacks.
type resolver struct {
	*Project
	*problem.List
	declared     declared.Project
	environment  declared.Environment
	layers       []declared.Layer // whose keys it has: each overrides those before it
	options      Options
	templates    *templates
	byName       map[string][]*Stack // in their targets
	unregistered unregistered
	elsewhere    map[string]string // stacks that are not in this environment, with why
	moved        map[string]string // the names that stacks had, by the names that they have

	attributes map[given]project.Text // of stacks; nil if a problem was added
	pending    map[given]bool         // the attributes that are being resolved
}

// identify finds the names of the project and the environment.
func (r *resolver) identify() {
	d := r.declared
	if !d.Kind.SaysName() {
		r.identifyWithoutFile()
		return
	}
	if d.Name != "" && r.options.Project != "" && r.options.Project != d.Name {
		r.Add(d.NameAt, "project: the file says %s, but it was uploaded or requested as %s: change one of them", d.Name, r.options.Project)
	} else {
		r.Name = d.Name
	}
	name := r.options.Environment
	e, listed := d.Environment(name)
	r.environment = e
	switch best := d.Fitting(name); {
	case listed && declared.IsPattern(name):
		r.Add(e.At, "environments: %s is a pattern: name an environment that fits it, such as %s", problem.Short(name), d.Sample(name))
	case listed || name == project.DefaultEnvironment:
	case len(best) > 1:
		r.Add(best[1].At, "environments: %s fits %s and %s equally well: list it by its name, or write more letters in one of the patterns", problem.Short(name), best[0].Name, best[1].Name)
	default:
		what := "is not listed"
		if slices.ContainsFunc(d.EnvironmentNames(), declared.IsPattern) {
			what += " and fits no pattern"
		}
		r.Add(d.ListAt, "environments: %s %s: list it, or name another%s", problem.Short(name), what, r.Hint(name, d.EnvironmentNames()))
	}
}

// identifyWithoutFile finds the names if there is no project file.
func (r *resolver) identifyWithoutFile() {
	if d := r.declared; d.Name != "" && r.options.Project != "" && r.options.Project != d.Name {
		r.Add(d.NameAt, "project: the file says %s, but it was uploaded or requested as %s: change one of them", d.Name, r.options.Project)
	}
	if r.Name = cmp.Or(r.declared.Name, r.options.Project, r.options.Name); r.Name == "" {
		r.Add(problem.Position{}, "the project has no name: there is no project file, and the name of the folder has no letter: rename the folder, or write a project file")
	}
	switch {
	case r.options.Environment == project.DefaultEnvironment:
	case r.declared.File != "":
		r.Add(problem.Position{File: r.declared.File}, "environment %s: %s has only the environment %s: leave --env out, and choose stacks with --only", problem.Short(r.options.Environment), r.declared.Kind, project.DefaultEnvironment)
	default:
		r.Add(problem.Position{}, "environment %s: without a project file there is only the environment %s: write one that lists it", problem.Short(r.options.Environment), project.DefaultEnvironment)
	}
}

func (r *resolver) run() {
	home, ok := r.options.Targets[project.DefaultTarget]
	if !ok {
		r.Add(problem.Position{}, "target %s is not registered: the installation must know its own account and region", project.DefaultTarget)
		return
	}
	r.merge()
	r.move()
	r.spread(home)
	steps := []func(*Stack){r.setOptions, r.setAssets, r.addNeeds, r.setTexts, r.setHooks, r.setKnown, r.findExports, r.findImports, r.linkNested}
	for _, step := range steps {
		for _, s := range r.Stacks {
			if r.Full() {
				return
			}
			step(s)
		}
	}
	r.checkGroups()
	r.addImports()
	r.addHiddenImports()
	r.addReads()
	r.setProjectHooks(home)
	r.setPromotion()
}

// Of returns the project that a run executes, and the templates of its nodes by
// digest.
func (p *Project) Of(d declared.Project) (project.Project, map[string][]byte) {
	env, _ := d.Environment(p.Environment)
	all := project.Project{Name: p.Name, Environment: p.Environment, Nodes: map[string]project.Node{}, Kind: d.Kind, Policies: d.Policies, Hooks: p.Hooks, Home: p.Home, Promotion: p.Promotion, Pattern: env.Pattern, Unplaced: p.Unplaced}
	if env.TTL != nil {
		all.TTL = *env.TTL
	}
	for _, l := range d.Layers(env) {
		all.Ignored, all.Obsolete = append(all.Ignored, l.Ignored...), append(all.Obsolete, l.Obsolete...)
		if l.MaxDeletions != nil {
			all.MaxDeletions = l.MaxDeletions
		}
		if l.MaxFailures != nil {
			all.MaxFailures = []project.Limit{{Most: l.MaxFailures.Of(len(p.Stacks))}}
		}
		if l.Rollback != nil {
			all.Rollback = *l.Rollback
		}
		if l.Snapshots != nil {
			all.Snapshots = *l.Snapshots
		}
		if l.Timeout != 0 {
			all.Timeout = l.Timeout
		}
		a := &all.Approval
		if l.Approval.Plan != nil {
			a.Plan = *l.Approval.Plan
		}
		if l.Approval.NotByAuthor != nil {
			a.NotByAuthor = *l.Approval.NotByAuthor
		}
		if l.Approval.Approvers != nil {
			a.Approvers = l.Approval.Approvers
		}
		a.Approvals, a.Expires = cmp.Or(l.Approval.Approvals, a.Approvals), cmp.Or(l.Approval.Expires, a.Expires)
		for _, limit := range l.MaxParallel {
			same := func(other project.Limit) bool { return other.Compare(limit.Limit) == 0 }
			all.MaxParallel = append(slices.DeleteFunc(all.MaxParallel, same), limit.Limit)
		}
		for name, s := range l.Schedules {
			if all.Schedules == nil {
				all.Schedules = map[string]project.Schedule{}
			}
			all.Schedules[name] = s
		}
	}
	all.MaxParallel, all.MaxFailures = append(all.MaxParallel, p.concurrent...), append(all.MaxFailures, p.failures...)
	slices.SortFunc(all.MaxParallel, project.Limit.Compare)
	slices.SortFunc(all.MaxFailures, project.Limit.Compare)
	needs := map[string][]string{}
	for e := range p.Edges {
		needs[e.Node] = append(needs[e.Node], e.Needs)
	}
	templates := map[string][]byte{}
	for _, s := range p.Stacks {
		if s.Template == nil { // it was not fetched
			continue
		}
		n := s.Node
		n.Needs, n.Unchecked = needs[n.Name], d.Unchecked
		slices.Sort(n.Needs)
		n.Needs = slices.Compact(n.Needs)
		switch {
		case s.obsolete:
			all.Obsolete = append(all.Obsolete, n.Name)
		case s.ignored:
			all.Ignored = append(all.Ignored, n.Name)
		}
		if s.obsolete || s.ignored {
			n.Adopt, n.Import, n.MoveFrom, n.Assets = false, nil, nil, nil
		}
		all.Nodes[n.Name] = n
		templates[n.Template.Digest] = s.Template.Body
	}
	slices.Sort(all.Ignored)
	slices.Sort(all.Obsolete)
	return all, templates
}
