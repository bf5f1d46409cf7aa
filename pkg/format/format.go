// Package format reads a project from its files.
//
// A format is a package that makes a declared project of the files, and one row
// of the table. The next steps are the same for all formats: package resolve makes
// the nodes of one environment, and package check checks them.
package format

import (
	"cmp"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/cdk"
	"github.com/stackwright/stackwright/pkg/format/check"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/native"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/format/plain"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/format/sceptre"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

// A reader reads projects of one format. Read adds every problem to the list. The
// result lacks the parts that it could not read.
type reader struct {
	name   string
	detect func(archive.Files) bool
	read   read // reads all stacks

	withoutIgnored read // reads only the names of the stacks that operations leave alone, if some have problems; nil if that is no reason to leave them out
}

// read reads a project. It is not ok if the project cannot be resolved.
type read func(archive.Files, *remote.Files, *problem.List) (d declared.Project, ok bool)

// alone is a reader that needs no files from elsewhere to read a project.
func alone(read func(archive.Files, *problem.List) (declared.Project, bool)) read {
	return func(f archive.Files, _ *remote.Files, list *problem.List) (declared.Project, bool) {
		return read(f, list)
	}
}

// formats is the table. The first format that detects its files reads them.
var formats = []reader{
	{"stackwright", native.Detect, alone(native.Read), nil},
	{"sceptre", sceptre.Detect, sceptre.Read, sceptre.ReadWithoutIgnored},
	{"cdk", cdk.Detect, alone(cdk.Read), nil},
	{"plain", plain.Detect, alone(plain.Read), nil},
}

// Options are the inputs of Read besides the files.
type Options struct {
	Project     string                    // the required name of the project; "" allows any name
	Name        string                    // of a project without a project file
	Environment string                    // "" is project.DefaultEnvironment
	Targets     map[string]project.Target // the registered targets by name, project.DefaultTarget among them

	// Members has the accounts of organizational units. A target of one that is not in it is among Loaded.Unregistered: its accounts are
	// listed only if the project names it.
	Members project.Members

	// Assumed are targets of which an empty account or region was assumed: what is in a template there is not judged by
	// it.
	Assumed []project.Target

	// Accepted says that AWS has accepted the templates before: they are not compared with the schemas of resource types.
	Accepted bool

	Units []string // the names of all registered targets of organizational units

	Store        packages.Store         // the bucket for the files that templates name
	Installation check.Installation     // that reads the project; the zero value is none
	Remote       map[string]remote.File // from elsewhere, by address
	Holds        project.Condition      // evaluates the conditions of hooks; package policy has it. Without it, such a hook is refused
}

// Loaded is a project with the data that runs and commands need. If files from elsewhere are lacked, it is not
// complete: it lacks the stacks whose templates, and the values, that need them.
type Loaded struct {
	Project      project.Project           `json:"project"`
	Templates    map[string][]byte         `json:"-"`       // by digest, as in project.Template
	Objects      map[string][]byte         `json:"-"`       // that templates name by their addresses in S3, by digest
	Needs        map[string][]string       `json:"-"`       // the digests of the objects that a template needs, by its digest
	Sources      map[string]string         `json:"sources"` // node → where its template is, such as "templates/vpc.yaml"
	Lacked       []remote.Address          `json:"-"`       // files from elsewhere that the project needs and that Options.Remote lacks; sorted
	Unregistered []string                  `json:"-"`       // targets that are named and not registered; set even if the project is refused
	Required     map[string]project.Target `json:"-"`       // the account and region that the files require of them; "" is any
	Edges        []resolve.Edge            `json:"edges"`   // why nodes are deployed after others; sorted
	Origins      map[string]Origin         `json:"-"`       // by node
	Warnings     []problem.Problem         `json:"-"`       // sorted; set even if the project is refused
}

// An Origin is where the files say what a stack is.
type Origin struct {
	File       string                    // whose text is the template; empty if that is elsewhere, or is made of something else
	Parameters map[string]declared.Entry // that the files give, with the defaults merged in
}

// WithUnits reads a project with read, and once more if it names targets of organizational units: members returns the targets of
// their accounts, and those of the names that are none are left out. read returns the targets that are not registered.
func WithUnits(o Options, read func(Options) (unregistered []string, err error), members func(names []string) (project.Members, error)) error {
	names, err := read(o)
	if len(names) == 0 {
		return err
	}
	found, lost := members(names)
	if lost != nil { // without the units, the problems of err say of registered targets that they are not
		return lost
	}
	if len(found.Units) == 0 {
		return err
	}
	o.Members, o.Targets = found, maps.Clone(o.Targets)
	for _, targets := range found.Units {
		for _, t := range targets {
			o.Targets[t.Name] = t
		}
	}
	_, err = read(o)
	return err
}

// Environments lists the environments that the files list, in their order, and for each pattern a name that fits it. It is
// project.DefaultEnvironment alone if they list none, or cannot be read.
func Environments(f archive.Files) []string {
	d := Declared(f)
	var all []string
	for _, name := range d.EnvironmentNames() {
		if sample := d.Sample(name); sample != "" {
			all = append(all, sample)
		}
	}
	if all == nil {
		return []string{project.DefaultEnvironment}
	}
	return all
}

// Read reads the project that files describe. It reports all problems at once, as
// an error of kind fault.Invalid that joins one error for each problem (see
// fault.Messages), ordered by file and position, at most 100. Read uses only its arguments: no network, no clock, no disk.
func Read(f archive.Files, o Options) (Loaded, error) { return readAs(formats, f, o) }

func readAs(formats []reader, f archive.Files, o Options) (Loaded, error) {
	i := slices.IndexFunc(formats, func(r reader) bool { return r.detect(f) })
	if i < 0 {
		var list problem.List
		list.Add(problem.Position{}, "there is no stackwright.yaml at the top of the project, and no CloudFormation template: write one of them")
		return Loaded{}, list.Err()
	}
	l, err := load(formats[i].read, f, o)
	if err == nil || formats[i].withoutIgnored == nil {
		return l, err
	}
	known := fault.Messages(err)
	without, wrong := load(formats[i].withoutIgnored, f, o)
	if slices.ContainsFunc(fault.Messages(wrong), func(m string) bool { return !slices.Contains(known, m) }) { // others use the stacks that are left alone
		return l, err
	}
	return without, wrong
}

// load reads a project, and resolves and checks it.
func load(read read, f archive.Files, o Options) (Loaded, error) {
	var list problem.List
	elsewhere := &remote.Files{Known: o.Remote}
	d, ok := read(f, elsewhere, &list)
	if !ok {
		return Loaded{}, list.Err()
	}
	p := resolve.Declared(d, f, resolve.Options{
		Project: o.Project, Name: o.Name, Store: o.Store, Environment: cmp.Or(o.Environment, project.DefaultEnvironment),
		Targets: o.Targets, Members: o.Members, Units: o.Units, Holds: o.Holds, Remote: elsewhere, Assumed: o.Assumed,
		Accepted: o.Accepted,
	}, &list)
	check.Project(p, o.Installation, o.Targets[project.DefaultTarget], &list)
	l := Loaded{Unregistered: p.Unregistered, Required: p.Required, Warnings: list.Warnings()}
	if err := list.Err(); err != nil {
		return l, err
	}
	l.Project, l.Templates = p.Of(d)
	l.Project.Lost = o.Members.Lost
	for _, w := range l.Warnings {
		l.Project.Warnings = append(l.Project.Warnings, w.String())
	}
	l.Edges, l.Lacked = p.SortedEdges(), elsewhere.Lacked()
	l.Sources, l.Objects, l.Needs, l.Origins = map[string]string{}, p.Objects, map[string][]string{}, map[string]Origin{}
	for _, s := range p.Stacks {
		if s.Template == nil { // it was not fetched
			continue
		}
		if needs := s.Objects(); len(needs) > 0 {
			l.Needs[s.Node.Template.Digest] = slices.Compact(slices.Sorted(slices.Values(append(l.Needs[s.Node.Template.Digest], needs...))))
		}
		l.Sources[s.Node.Name] = s.Template.At.String()
		l.Origins[s.Node.Name] = Origin{s.Template.File, s.Settings.Parameters}
	}
	return l, nil
}

// Declared is the project as its files declare it, for all environments, in the first format that detects them. It lacks
// what could not be read; Read reports why. Stacks that operations leave alone may be in it although Read leaves them out.
func Declared(f archive.Files) declared.Project {
	if i := slices.IndexFunc(formats, func(r reader) bool { return r.detect(f) }); i >= 0 {
		d, _ := formats[i].read(f, &remote.Files{}, &problem.List{})
		return d
	}
	return declared.Project{}
}

// Policies reads a file of policies, or those of a project file. It reports all problems at
// once, as Read does.
func Policies(file string, body []byte) ([]project.Policy, error) {
	var list problem.List
	all := native.Policies(file, body, &list)
	return all, list.Err()
}
