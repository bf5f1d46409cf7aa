package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/cdk"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/format/sceptre"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/project"
)

// A loaded is a project that was read and checked.
type loaded struct {
	format.Loaded
	files  archive.Files
	access map[string]project.Access // to the targets that were looked up, by name
	places []project.Access          // the targets that a laptop still has to register
}

// load reads and checks the project that the call names. It reads the registered
// targets only if the project names a target other than default.
func (c *call) load(ctx context.Context) (loaded, error) {
	path, err := c.folder()
	if err != nil {
		return loaded{}, err
	}
	files, err := c.files(path)
	if err == nil {
		err = c.inEnvironment(files)
	}
	if err != nil {
		return loaded{}, err
	}
	home, err := c.home(ctx)
	if err != nil {
		return loaded{}, err
	}
	store, err := c.store(ctx)
	if err != nil {
		return loaded{}, err
	}
	access := map[string]project.Access{project.DefaultTarget: home}
	targets := map[string]project.Target{project.DefaultTarget: home.Target}
	read, err := c.read(ctx, files, format.Options{Holds: policy.Holds, Name: projectName(path), Environment: c.flags.env, Targets: targets, Store: store})
	if len(read.Unregistered) == 0 {
		c.showLacked(read.Lacked)
		return loaded{read, files, access, nil}, errors.Join(err, policy.Checker{}.Valid(read.Project.Policies))
	}
	registered, lost := c.registered(ctx)
	if lost != nil {
		return loaded{}, errors.Join(err, fmt.Errorf("see which targets are registered: %w", lost))
	}
	if len(registered) == 0 && len(c.missing(read)) == 0 {
		return loaded{}, err
	}
	var units []string
	for name, a := range registered {
		if access[name] = a; a.Unit == "" {
			targets[name] = a.Target
		} else {
			units = append(units, name)
		}
	}
	options := format.Options{
		Holds: policy.Holds, Name: projectName(path), Environment: c.flags.env, Targets: targets, Units: units, Store: store,
	}
	again := func() error {
		return format.WithUnits(options, func(o format.Options) (unregistered []string, err error) {
			read, err = c.read(ctx, files, o)
			return read.Unregistered, err
		}, func(names []string) (project.Members, error) { return c.members(ctx, registered, access, names) })
	}
	err = again()
	places := c.missing(read)
	if len(places) > 0 {
		for _, a := range places {
			targets[a.Name], access[a.Name] = a.Target, a
		}
		err = again()
	}
	c.showLacked(read.Lacked)
	return loaded{read, files, access, places}, errors.Join(err, policy.Checker{}.Valid(read.Project.Policies))
}

// missing returns the targets that a laptop registers by itself: those of its account that are not registered, and whose
// region the files say.
func (c *call) missing(read format.Loaded) (all []project.Access) {
	if c.flags.onAWS() || c.flags.endpoint != "" {
		return nil
	}
	for _, name := range read.Unregistered {
		at := read.Required[name]
		at.Account = cmp.Or(at.Account, Account)
		if at.Region == "" || at.Account != Account || !project.TargetName.MatchString(name) {
			continue
		}
		all = append(all, project.Access{Target: at, Projects: Projects()})
	}
	return all
}

// register registers the targets that a laptop lacks.
func (s *session) register(ctx context.Context, places []project.Access) error {
	for _, a := range places {
		if _, err := s.to.AddTarget(ctx, a); err != nil {
			return fmt.Errorf("register target %s on this laptop: %w", a.Name, err)
		}
		fmt.Fprintf(s.call.Err, "target %s is account %s, region %s: registered on this laptop\n", a.Name, a.Account, a.Region)
	}
	return nil
}

// members returns the targets of the accounts of the organizational units whose targets are among the names, and adds the access to them to access. The API
// keeps such a list for up to half a minute; a plan lists the accounts again. A partial request does not need all units: the accounts of those that cannot be listed are lost.
func (c *call) members(ctx context.Context, registered, access map[string]project.Access, names []string) (all project.Members, err error) {
	units := unitsAmong(registered, names)
	if len(units) == 0 {
		return all, nil
	}
	s, err := c.openReadOnly(ctx)
	if err != nil {
		return all, err
	}
	partial := len(c.flags.only)+len(c.flags.exclude) > 0 || c.flags.since != ""
	for _, name := range units {
		page, why := s.to.UnitAccounts(ctx, name)
		switch {
		case why == nil:
			all.Add(registered[name], page.All())
		case partial && fault.Is(why, fault.Missing, fault.Denied):
			all.Lose(name, why)
		default:
			err = errors.Join(err, fmt.Errorf("list the accounts of target %s: %w", name, why))
		}
		for _, t := range all.Units[name] {
			access[t.Name] = registered[name].Member(t.Account)
		}
	}
	if s.host() != nil {
		err = errors.Join(err, s.end())
	}
	return all, err
}

// unitsAmong returns those of some names that are targets of organizational units, and the units of the targets of accounts among them, sorted.
func unitsAmong(registered map[string]project.Access, names []string) []string {
	var units []string
	for _, name := range names {
		if of, _, member := project.UnitOf(name); member && registered[name].Name == "" {
			name = of
		}
		if registered[name].Unit != "" {
			units = append(units, name)
		}
	}
	slices.Sort(units)
	return slices.Compact(units)
}

// files reads the files of a project, with what the command line gives to one of Sceptre or the CDK.
func (c *call) files(path string) (archive.Files, error) {
	f := c.flags
	given := sceptre.Given{Variables: f.variables, Targets: f.mapped}
	for _, name := range f.variableFiles {
		body, err := os.ReadFile(name)
		if err != nil {
			return nil, fault.New(fault.Invalid, "--var-file: %w", err)
		}
		given.Files = append(given.Files, sceptre.VariableFile{Name: name, Body: body})
	}
	all, err := archive.Open(path)
	if err != nil {
		return nil, err
	}
	files, withheld := all.Withheld()
	if len(withheld) > 0 && !c.withholds {
		c.withholds = true
		fmt.Fprintf(c.Err, "not part of the project, and not uploaded: %s\n", strings.Join(withheld, ", "))
	}
	if cdk.Detect(files) && len(given.Files)+len(given.Variables) == 0 {
		return cdk.Map(files, f.mapped)
	}
	return given.Into(files)
}

// home is the account and region of the installation that the call is about. On a
// laptop they are constants.
func (c *call) home(ctx context.Context) (project.Access, error) {
	if !c.flags.onAWS() {
		return home(), nil
	}
	at, err := c.site(ctx)
	return at.home, err
}

// store is the bucket of the installation that the call is about.
func (c *call) store(ctx context.Context) (packages.Store, error) {
	if !c.flags.onAWS() {
		return packages.Store{Bucket: Name, Region: Region}, nil
	}
	at, err := c.site(ctx)
	return packages.Store{Bucket: at.bucket, Region: at.home.Region}, err
}

// registered are the registered targets. Without an installation, an endpoint
// and a data folder there are none.
func (c *call) registered(ctx context.Context) (map[string]project.Access, error) {
	if !c.flags.onAWS() && c.flags.endpoint == "" {
		if _, err := os.Stat(c.flags.data); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	s, err := c.openReadOnly(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.to.Targets(ctx)
	if s.host() != nil {
		err = errors.Join(err, s.end())
	}
	return all, err
}

// altering is what a command does that changes the registered targets.
func altering(change func(s *session, ctx context.Context, target string) error) func(context.Context, *call) (int, error) {
	return func(ctx context.Context, c *call) (int, error) {
		return c.in(ctx, c.open, func(s *session) (int, error) {
			if err := change(s, ctx, c.args[0]); err != nil {
				return c.refuse(err)
			}
			return ExitOK, nil
		})
	}
}

// listTargets lists the targets, each unit with its accounts.
func listTargets(ctx context.Context, c *call) (int, error) {
	head := []string{"TARGET", "ACCOUNT", "REGION", "PROJECTS", "ROLE", "EXECUTION ROLE", "EXTERNAL ID", "STATE"}
	return c.show(ctx, head, func(s *session) (objects []any, cells [][]string, err error) {
		all, err := s.to.Targets(ctx)
		if err != nil {
			return nil, nil, err
		}
		all[project.DefaultTarget] = s.home
		for _, name := range slices.Sorted(maps.Keys(all)) {
			a := all[name]
			object := map[string]any{
				"target": a.Name, "account": a.Account, "region": a.Region, "role": a.Role, "execution_role": a.Execution, "external_id": a.ExternalID,
				"projects": append([]string{}, a.Projects...),
			}
			objects = append(objects, object)
			row := []string{a.Name, cmp.Or(a.Account, a.Unit), a.Region, cmp.Or(a.Projects.String(), "none"), a.Role, a.Execution, a.ExternalID, ""}
			if cells = append(cells, row); a.Unit == "" {
				continue
			}
			page, err := s.to.UnitAccounts(ctx, name)
			object["unit"], object["except"], object["accounts"] = a.Unit, append([]string{}, a.Except...), page.Accounts
			if err != nil { // the other targets are shown all the same
				row[len(row)-1], object["error"] = "accounts are not known: "+err.Error(), err.Error()
				continue
			}
			row[len(row)-1] = countOf(page.Accounts)
			for _, one := range page.Accounts {
				of := a.Member(one.Account)
				cells = append(cells, []string{of.Name, of.Account, of.Region, "", of.Role, of.Execution, "", stateOf(one)})
			}
		}
		return objects, cells, nil
	})
}

// countOf says how many accounts a unit has, and how many of them are not deployed to.
func countOf(all []report.UnitAccount) string {
	closed, out := 0, 0
	for _, one := range all {
		switch {
		case one.State.Closed() != "":
			closed++
		case !one.Deployed:
			out++
		}
	}
	text := fmt.Sprintf("%d accounts", len(all))
	if len(all) == 1 {
		text = "1 account"
	}
	if closed > 0 {
		text += fmt.Sprintf(", %d not active", closed)
	}
	if out > 0 {
		text += fmt.Sprintf(", %d left out", out)
	}
	return text
}

// stateOf says in what state an account of a unit is, and why no stack is deployed there.
func stateOf(a report.UnitAccount) string {
	text := fmt.Sprintf("%s (%s)", a.State, a.Name)
	if a.Why != "" {
		text += ": " + a.Why
	}
	return text
}

// addTarget registers a target. If the target has stacks, only its roles can be
// changed.
func (s *session) addTarget(ctx context.Context, name string) error {
	f := s.call.flags
	t := project.Access{Target: project.Target{Name: name, Account: f.account, Region: f.region}, Role: f.role, Execution: f.execution, Projects: project.Listed(f.projects), Unit: f.unit, Except: f.except}
	if t.Unit == "" && len(t.Except) == 0 {
		t.Account = cmp.Or(t.Account, s.home.Account)
	}
	all, err := s.to.Targets(ctx)
	if err != nil {
		return err
	}
	a, err := s.to.AddTarget(ctx, t)
	if err != nil {
		return err
	}
	if dropped := slices.DeleteFunc(all[name].Except, func(id string) bool { return a.Unit == "" || slices.Contains(a.Except, id) }); len(dropped) > 0 {
		fmt.Fprintf(s.call.Out, "left out no longer: %s: the next deploy creates stacks there; to leave them out still, repeat the command with --except %s\n", strings.Join(dropped, ", "), strings.Join(dropped, " --except "))
	}
	if a.Unit != "" {
		fmt.Fprintf(s.call.Out, "target %s is %s, for the projects %s\n", name, a.Place(), a.Projects)
		fmt.Fprintf(s.call.Out, "allow account %s in each of them to assume %s with the external ID %s\n", s.home.Account, a.Role, a.ExternalID)
		return nil
	}
	fmt.Fprintf(s.call.Out, "target %s is account %s, region %s, for the projects %s\n", name, a.Account, a.Region, a.Projects)
	if a.Role != "" {
		fmt.Fprintf(s.call.Out, "allow account %s to assume %s with the external ID %s\n", s.home.Account, a.Role, a.ExternalID)
	}
	return nil
}

// removeTarget removes a target that has no stacks.
func (s *session) removeTarget(ctx context.Context, name string) error {
	if name == "" {
		return fault.New(fault.Invalid, "the name of the target is empty: stackwright targets lists them")
	}
	if err := s.to.RemoveTarget(ctx, name); err != nil {
		return err
	}
	fmt.Fprintf(s.call.Out, "target %s is removed\n", name)
	return nil
}
