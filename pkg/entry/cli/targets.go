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
}

// load reads and checks the project that the call names. It reads the registered
// targets only if the project names a target other than default.
func (c *call) load(ctx context.Context) (loaded, error) {
	path, err := c.folder()
	if err != nil {
		return loaded{}, err
	}
	files, err := c.files(path)
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
		return loaded{read, files, access}, errors.Join(err, policy.Checker{}.Valid(read.Project.Policies))
	}
	registered, lost := c.registered(ctx)
	if lost != nil {
		return loaded{}, errors.Join(err, fmt.Errorf("see which targets are registered: %w", lost))
	}
	if len(registered) == 0 {
		return loaded{}, err
	}
	for name, a := range registered {
		access[name], targets[name] = a, a.Target
	}
	read, err = c.read(ctx, files, format.Options{Holds: policy.Holds, Name: projectName(path), Environment: c.flags.env, Targets: targets, Store: store})
	c.showLacked(read.Lacked)
	return loaded{read, files, access}, errors.Join(err, policy.Checker{}.Valid(read.Project.Policies))
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
	files, err := archive.Open(path)
	if err != nil {
		return nil, err
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
	if s.host != nil {
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

// listTargets lists the targets.
func listTargets(ctx context.Context, c *call) (int, error) {
	head := []string{"TARGET", "ACCOUNT", "REGION", "PROJECTS", "ROLE", "EXECUTION ROLE", "EXTERNAL ID"}
	return c.show(ctx, head, func(s *session) (objects []any, cells [][]string, err error) {
		all, err := s.to.Targets(ctx)
		if err != nil {
			return nil, nil, err
		}
		all[project.DefaultTarget] = s.home
		for _, name := range slices.Sorted(maps.Keys(all)) {
			a := all[name]
			objects = append(objects, map[string]any{
				"target": a.Name, "account": a.Account, "region": a.Region, "role": a.Role, "execution_role": a.Execution, "external_id": a.ExternalID,
				"projects": append([]string{}, a.Projects...),
			})
			cells = append(cells, []string{a.Name, a.Account, a.Region, cmp.Or(a.Projects.String(), "none"), a.Role, a.Execution, a.ExternalID})
		}
		return objects, cells, nil
	})
}

// addTarget registers a target. If the target has stacks, only its roles can be
// changed.
func (s *session) addTarget(ctx context.Context, name string) error {
	f := s.call.flags
	grants, err := project.ParseGrants(f.projects)
	if err != nil {
		return err
	}
	a, err := s.to.AddTarget(ctx, project.Access{
		Target: project.Target{Name: name, Account: cmp.Or(f.account, s.home.Account), Region: f.region}, Role: f.role, Execution: f.execution, Projects: grants,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.call.Out, "target %s is account %s, region %s, for the projects %s\n", name, a.Account, a.Region, a.Projects)
	if a.Role != "" {
		fmt.Fprintf(s.call.Out, "allow account %s to assume %s with the external ID %s\n", s.home.Account, a.Role, a.ExternalID)
	}
	return nil
}

// removeTarget removes a target that has no stacks.
func (s *session) removeTarget(ctx context.Context, name string) error {
	return s.to.RemoveTarget(ctx, name)
}
